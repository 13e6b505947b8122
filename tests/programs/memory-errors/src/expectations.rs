//! Tests that say themselves which error they expect, and pass because they have it.

use std::hint::black_box;
use std::ptr;

#[dpor::test(expect = "null-pointer")]
fn null() {
    let pointer: *const u8 = black_box(ptr::null());
    println!("{}", unsafe { *pointer });
}

#[dpor::test(expect = "double-free")]
fn freed_twice() {
    let pointer = Box::into_raw(Box::new(1));
    unsafe {
        drop(Box::from_raw(pointer));
        drop(Box::from_raw(pointer));
    }
}

#[dpor::test(expect = "panic")]
fn panics() {
    assert_eq!(black_box(1) + 1, 3);
}

#[dpor::test(expect = "memory-leak")]
fn leaks() {
    std::mem::forget(vec![1]);
}

#[dpor::test]
#[should_panic(expected = "divide by zero")]
fn divides_by_zero() {
    println!("{}", 1 / black_box(0));
}

#[dpor::test(expect = "use-after-free")]
fn has_another_error() {
    let pointer: *const u8 = black_box(ptr::null());
    println!("{}", unsafe { *pointer }); // ERROR: null-pointer
}

#[dpor::test(expect = "misaligned")]
// ERROR: panic
fn has_no_error() {
    assert_eq!(black_box(2) + 2, 4);
}
