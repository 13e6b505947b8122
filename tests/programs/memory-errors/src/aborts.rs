//! Programs that end abnormally: panics, aborts, stack overflows.

use std::hint::black_box;
use std::panic::catch_unwind;

#[dpor::test]
fn panic() {
    let list: Vec<u32> = black_box(Vec::new());
    println!("{}", list.iter().max().expect("a largest number")); // ERROR: panic
}

#[dpor::test]
fn panic_that_is_caught() {
    assert!(catch_unwind(|| black_box(Vec::<u32>::new())[0]).is_err());
}

#[dpor::test]
fn explicit_abort() {
    if black_box(2) > 1 {
        std::process::abort(); // ERROR: abort
    }
}

#[dpor::test]
fn abort_cannot_be_caught() {
    let _ = catch_unwind(|| {
        std::process::abort(); // ERROR: abort
    });
}

#[dpor::test]
fn panic_while_unwinding() {
    let _bomb = Bomb;
    panic!("the first");
} // ERROR: abort

struct Bomb;

impl Drop for Bomb {
    fn drop(&mut self) {
        panic!("the second");
    }
}

#[dpor::test]
fn panic_through_a_foreign_frame() {
    let _ = catch_unwind(|| callback(3));
}

extern "C" fn callback(n: u32) {
    if n > 2 {
        panic!("cannot leave a C function"); // ERROR: abort
    }
}

#[dpor::test]
fn panic_through_a_foreign_frame_that_allows_it() {
    assert!(catch_unwind(|| unwinding_callback(3)).is_err());
}

extern "C-unwind" fn unwinding_callback(n: u32) {
    if n > 2 {
        panic!("may leave this one");
    }
}

#[dpor::test]
fn endless_recursion() {
    println!("{}", endless(1));
}

#[allow(unconditional_recursion, reason = "that is the error")]
fn endless(n: u64) -> u64 {
    let local = black_box([n; 16]);
    endless(local[3] + 1) + local[4] // ERROR: abort
}

#[dpor::test]
fn deep_recursion() {
    fn depth(n: u32) -> u32 {
        if n == 0 { 0 } else { depth(n - 1) + 1 }
    }
    assert_eq!(depth(black_box(5_000)), 5_000);
}

#[dpor::test]
fn more_memory_than_there_is() {
    let list = Vec::<u8>::with_capacity(black_box(1 << 45)); // ERROR: abort
    println!("{}", list.capacity());
}

#[dpor::test]
fn more_memory_than_there_is_is_no_error_for_who_asks() {
    assert!(Vec::<u8>::new().try_reserve(black_box(1 << 45)).is_err());
}
