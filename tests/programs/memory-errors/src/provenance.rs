//! Pointers that are made of integers, without the right to what is there.
#![allow(integer_to_ptr_transmutes, reason = "that is the mistake")]

use std::hint::black_box;
use std::mem::transmute;
use std::ptr;

#[dpor::test]
fn read_without_provenance() {
    let number = black_box(5);
    let pointer = ptr::without_provenance::<i32>((&raw const number).expose_provenance());
    println!("{}", unsafe { *pointer }); // ERROR: undefined-behavior
}

#[dpor::test]
fn read_through_an_integer_that_is_transmuted() {
    let number = black_box(5u8);
    let address: usize = (&raw const number).expose_provenance();
    let pointer = unsafe { transmute::<usize, *const u8>(address) };
    let copy = pointer;
    println!("{}", unsafe { *copy }); // ERROR: undefined-behavior
}

#[dpor::test]
fn reference_without_provenance() {
    let number = black_box(5u8);
    let pointer = ptr::without_provenance::<u8>((&raw const number).addr());
    let reference = unsafe { &*pointer }; // ERROR: undefined-behavior
    black_box(reference);
}

#[dpor::test]
fn reference_that_was_an_integer() {
    let number = black_box(5u8);
    let address = (&raw const number).expose_provenance();
    let reference = unsafe { transmute::<usize, &u8>(address) }; // ERROR: undefined-behavior
    black_box(reference);
}

#[dpor::test]
fn text_that_was_an_integer() {
    let bits = unsafe { transmute::<&str, u128>(black_box("text")) };
    let text = unsafe { transmute::<u128, &str>(bits) }; // ERROR: undefined-behavior
    black_box(text);
}

#[dpor::test]
fn pointer_without_provenance_moved() {
    let numbers = black_box([1u8, 2]);
    let pointer = ptr::without_provenance::<u8>(numbers.as_ptr().addr());
    black_box(unsafe { pointer.add(1) }); // ERROR: undefined-behavior
}

#[dpor::test]
fn pointers_with_provenance() {
    let numbers = black_box([1u8, 2]);
    let exposed = ptr::with_exposed_provenance::<u8>(numbers.as_ptr().expose_provenance());
    assert_eq!(unsafe { *exposed.add(1) }, 2);
    let mut pointer = ptr::without_provenance::<u8>(black_box(8));
    assert_eq!(pointer.addr(), 8);
    pointer = numbers.as_ptr();
    assert_eq!(unsafe { *pointer }, 1);
    let tagged = numbers.as_ptr().map_addr(|address| address | 1 << 50);
    assert_eq!(unsafe { *tagged.with_addr(numbers.as_ptr().addr()) }, 1);
}

#[dpor::test]
fn nothing_without_provenance() {
    let pointer = ptr::without_provenance::<[u32; 0]>(black_box(16));
    assert!(unsafe { &*pointer }.is_empty());
    assert!(unsafe { *pointer }.is_empty());
    assert!(unsafe { transmute::<usize, Option<&u8>>(black_box(0)) }.is_none());
    unsafe { transmute::<usize, &()>(black_box(1)) };
    black_box(unsafe { pointer.cast::<u64>().add(black_box(0)) });
}
