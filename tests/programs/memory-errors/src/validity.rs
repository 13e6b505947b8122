//! Other undefined behaviour: impossible values, promises that are not kept, writes to what cannot change.

use std::hint::{black_box, unreachable_unchecked};
use std::num::NonZero;
use std::ptr;

#[dpor::test]
fn unreachable_code() {
    let n = black_box(7);
    if n % 2 == 1 {
        unsafe { unreachable_unchecked() } // ERROR: undefined-behavior
    }
}

#[dpor::test]
fn unreachable_code_is_not_reached() {
    let n = black_box(8);
    if n % 2 == 1 {
        unsafe { unreachable_unchecked() }
    }
}

#[dpor::test]
fn two_as_a_bool() {
    let byte = black_box(2u8);
    let flag = unsafe { std::mem::transmute::<u8, bool>(byte) }; // ERROR: undefined-behavior
    println!("{}", if flag { "yes" } else { "no" });
}

#[dpor::test]
fn one_as_a_bool() {
    let byte = black_box(1u8);
    assert!(unsafe { std::mem::transmute::<u8, bool>(byte) });
}

#[dpor::test]
fn bool_from_memory() {
    let bytes = vec![0u8, 1, 2];
    for i in 0..3 {
        let flag = unsafe { *bytes.as_ptr().cast::<bool>().add(i) }; // ERROR: undefined-behavior
        println!("{flag}");
    }
}

#[derive(Clone, Copy, Debug, PartialEq)]
#[repr(u8)]
#[allow(dead_code, reason = "made from its number")]
enum Level {
    Low = 1,
    Middle = 5,
    High = 9,
}

#[dpor::test]
fn enum_from_a_wrong_number() {
    let byte = black_box(6u8);
    let level = unsafe { std::mem::transmute::<u8, Level>(byte) }; // ERROR: undefined-behavior
    match level {
        Level::Low => println!("low"),
        Level::Middle => println!("middle"),
        Level::High => println!("high"),
    }
}

#[dpor::test]
fn enum_from_a_number() {
    let byte = black_box(5u8);
    assert_eq!(unsafe { std::mem::transmute::<u8, Level>(byte) }, Level::Middle);
}

#[dpor::test]
fn overflow_of_an_unchecked_addition() {
    let n = black_box(i32::MAX);
    println!("{}", unsafe { n.unchecked_add(1) }); // ERROR: undefined-behavior
}

#[dpor::test]
fn no_overflow_of_an_unchecked_addition() {
    let n = black_box(i32::MAX - 1);
    assert_eq!(unsafe { n.unchecked_add(1) }, i32::MAX);
}

#[dpor::test]
fn number_that_is_no_char() {
    let number = black_box(0xD800u32);
    let c = unsafe { char::from_u32_unchecked(number) }; // ERROR: undefined-behavior
    println!("{}", c.len_utf8());
}

#[dpor::test]
fn zero_as_a_nonzero() {
    let zero = black_box(0u32);
    let nonzero = unsafe { std::mem::transmute::<u32, NonZero<u32>>(zero) }; // ERROR: undefined-behavior
    println!("{nonzero}");
}

#[dpor::test]
fn null_as_a_reference() {
    let pointer: *const u8 = black_box(ptr::null());
    let reference = unsafe { std::mem::transmute::<*const u8, &u8>(pointer) }; // ERROR: undefined-behavior
    println!("{:?}", ptr::from_ref(reference).addr());
}

#[dpor::test]
fn overlapping_copy() {
    let mut bytes = [1u8, 2, 3, 4, 5, 6, 7, 8];
    let start = bytes.as_mut_ptr();
    unsafe { ptr::copy_nonoverlapping(start, start.add(2), 4) }; // ERROR: undefined-behavior
    println!("{bytes:?}");
}

#[dpor::test]
fn overlapping_copy_that_is_allowed() {
    let mut bytes = [1u8, 2, 3, 4, 5, 6, 7, 8];
    let start = bytes.as_mut_ptr();
    unsafe { ptr::copy(start, start.add(2), 4) };
    assert_eq!(bytes, [1, 2, 1, 2, 3, 4, 7, 8]);
}

static GREETING: [u8; 5] = *b"hello";

#[dpor::test]
fn write_to_an_immutable_static() {
    let pointer = (&raw const GREETING).cast::<u8>().cast_mut();
    unsafe { *black_box(pointer) = b'j' }; // ERROR: undefined-behavior
}

#[dpor::test]
fn write_to_a_string_literal() {
    let text: &'static str = black_box("literal");
    let first = text.as_ptr().cast_mut();
    unsafe { first.write(b'L') }; // ERROR: undefined-behavior
}

static mut COUNTER: u32 = 1;

#[dpor::test]
fn write_to_a_mutable_static() {
    unsafe {
        COUNTER += 1;
        assert_eq!(*&raw const COUNTER, 2);
    }
}

#[dpor::test]
fn none_without_a_check() {
    let list: Vec<u32> = black_box(Vec::new());
    let first = unsafe { list.first().copied().unwrap_unchecked() }; // ERROR: undefined-behavior
    println!("{first}");
}

#[dpor::test]
fn broken_assumption() {
    let divisor = black_box(0u32);
    unsafe { std::hint::assert_unchecked(divisor != 0) }; // ERROR: undefined-behavior
    println!("{}", 10u32.checked_div(divisor).unwrap_or(0));
}

#[dpor::test]
fn data_as_a_function() {
    let data = black_box(Box::new(5u64));
    let pointer = &raw const *data;
    let function = unsafe { std::mem::transmute::<*const u64, fn()>(pointer) }; // ERROR: undefined-behavior
    function();
}

#[dpor::test]
fn shift_by_too_much() {
    let amount = black_box(40);
    println!("{}", unsafe { 1u32.unchecked_shl(amount) }); // ERROR: undefined-behavior
}
