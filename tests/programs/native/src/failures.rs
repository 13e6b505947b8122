//! Tests that fail by design, each in another way: their messages are compared.

use std::cell::RefCell;
use std::collections::HashMap;

#[dpor::test]
fn assertion_with_message() {
    let total: u32 = (1..=4).sum();
    println!("total is {total}");
    assert_eq!(total, 11, "the sum of {} numbers\nover two lines", 4);
}

#[dpor::test]
fn assertion_with_values() {
    let words = vec!["one", "two"];
    assert_ne!(words, ["one", "two"]);
}

#[dpor::test]
fn assertion_of_condition() {
    let (low, high) = (5, 3);
    assert!(low < high);
}

#[dpor::test]
fn index_out_of_bounds() {
    let list = [1, 2, 3];
    let index = list.len() + list[0];
    println!("{}", list[index]);
}

#[dpor::test]
fn missing_key() {
    let map = HashMap::from([("a", 1)]);
    println!("{} {}", map["a"], map["b"]);
}

#[dpor::test]
fn unwrap_of_none() {
    let first = "abc".chars().find(|c| c.is_ascii_digit());
    println!("{}", first.unwrap());
}

#[dpor::test]
fn unwrap_of_error() {
    let number: i32 = "12a".parse().unwrap();
    println!("{number}");
}

#[dpor::test]
fn arithmetic_overflow() {
    let mut n: u8 = 250;
    loop {
        println!("{n}");
        n += 2;
    }
}

#[dpor::test]
fn division_by_zero() {
    let numbers = vec![8, 4, 0];
    println!("{}", numbers[0] / numbers[1]);
    println!("{}", numbers[0] % numbers[2]);
}

#[dpor::test]
fn negation_overflow() {
    let lowest = std::hint::black_box(i32::MIN);
    println!("{}", -lowest);
}

#[dpor::test]
fn shift_overflow() {
    let amount = std::hint::black_box(64);
    println!("{}", 1u64 << amount);
}

#[dpor::test]
fn explicit_panic() {
    println!("so far so good");
    panic!("out of {}: {:?}", "order", [1.5, 2.0]);
}

#[dpor::test]
fn double_borrow() {
    let cell = RefCell::new(1);
    let _first = cell.borrow_mut();
    let _second = cell.borrow_mut();
}

#[dpor::test]
fn slice_range() {
    let list = vec![1, 2, 3];
    let end = list.len() + 2;
    println!("{:?}", &list[1..end]);
}

#[dpor::test]
fn string_boundary() {
    let text = "aé";
    println!("{}", &text[..2]);
}

struct Step(&'static str);

impl Drop for Step {
    fn drop(&mut self) {
        println!("undo {}", self.0);
    }
}

#[dpor::test]
fn drops_after_the_panic() {
    let _first = Step("first");
    let steps = vec![Step("second"), Step("third")];
    let moved = Step("moved away");
    std::mem::forget(moved);
    if steps.len() == 2 {
        let _inner = Step("inner");
        panic!("roll back");
    }
}

#[dpor::test]
fn result_of_error() -> Result<(), Box<dyn std::error::Error>> {
    let number: u16 = "70000".parse()?;
    println!("{number}");
    Ok(())
}

#[dpor::test]
fn panic_in_a_thread() {
    let handle = std::thread::spawn(|| {
        println!("in the thread");
        unreachable!("code {}", 42);
    });
    handle.join().unwrap();
}

#[dpor::test]
fn panic_with_a_value() {
    std::panic::panic_any(17u32);
}

#[dpor::test]
#[should_panic]
fn should_have_panicked() {
    println!("no panic here");
}

#[dpor::test]
#[should_panic(expected = "one thing")]
fn should_have_panicked_otherwise() {
    panic!("another thing");
}

fn countdown(n: u32) -> u32 {
    let _step = Step(if n.is_multiple_of(2) { "even frame" } else { "odd frame" });
    if n == 0 { [1, 2][std::hint::black_box(2)] } else { countdown(n - 1) + 1 }
}

#[dpor::test]
fn panic_through_recursion() {
    println!("{}", countdown(4));
}
