//! References whose bytes are written through a raw pointer, and that are then used as what they no longer are.
#![allow(clippy::borrow_deref_ref, clippy::let_unit_value, reason = "these are the uses that are tried")]

use std::fmt::{Debug, Display};
use std::hint::black_box;
use std::mem::ManuallyDrop;

struct Pair {
    nothing: (),
    byte: u8,
}

struct Tail<T: ?Sized> {
    head: u32,
    _tail: T,
}

#[repr(align(64))]
#[derive(Debug)]
struct Aligned;

#[dpor::test]
fn reference_that_becomes_null() {
    let number = 5u8;
    let mut reference = &number;
    unsafe { (&raw mut reference).cast::<usize>().write(0) };
    let pointer = std::ptr::from_ref(reference); // ERROR: null-pointer
    black_box(pointer);
}

#[dpor::test]
fn reference_that_becomes_a_number() {
    let pair = Pair { nothing: (), byte: black_box(1) };
    let mut reference = &pair;
    black_box(reference.byte);
    unsafe { (&raw mut reference).cast::<usize>().write(16) };
    let _ = reference.nothing; // ERROR: null-pointer
}

#[dpor::test]
fn reference_that_becomes_odd() {
    let (numbers, number) = ([0u32; 4], 0u16);
    let mut reference = &number;
    unsafe { (&raw mut reference).cast::<*const u8>().write(numbers.as_ptr().cast::<u8>().wrapping_add(1)) };
    let pointer = &raw const *reference; // ERROR: misaligned
    black_box(pointer);
}

#[dpor::test]
fn box_that_becomes_a_number() {
    let mut pair = Box::new(Pair { nothing: (), byte: black_box(1) });
    black_box(pair.byte);
    unsafe { (&raw mut pair).cast::<usize>().write(16) };
    let _ = pair.nothing; // ERROR: null-pointer
}

#[dpor::test]
fn object_that_becomes_less_aligned() {
    let numbers = [0u32; 64];
    let mut object = &Aligned as &dyn Debug;
    unsafe { (&mut object as *mut &dyn Debug).cast::<*const u32>().write(numbers.as_ptr().wrapping_add(1)) };
    let reference = &*object; // ERROR: misaligned
    black_box(reference);
}

#[dpor::test]
fn pointer_that_loses_its_vtable() {
    let tail = Tail { head: 1, _tail: 2 };
    let mut pointer: *const Tail<dyn Display> = &tail;
    unsafe { (&raw mut pointer).cast::<usize>().add(1).write(0) };
    let head = unsafe { &(*pointer).head }; // ERROR: null-pointer
    black_box(head);
}

#[dpor::test]
fn reference_that_is_replaced() {
    let mut reference = &1;
    let pointer = &raw mut reference;
    unsafe { pointer.write(&2) };
    assert_eq!(*reference, 2);
    let mut object: &dyn Debug = &3;
    let pointer = &mut object as *mut &dyn Debug;
    unsafe { *pointer = &"four" };
    assert_eq!(format!("{object:?}"), "\"four\"");
}

#[dpor::test]
fn box_that_is_gone_and_may_dangle() {
    let mut number = ManuallyDrop::new(Box::new(black_box(1)));
    let pointer = &raw mut number;
    unsafe { ManuallyDrop::drop(&mut *pointer) };
    let moved = number;
    black_box(&raw const moved);
}
