//! Memory that is freed twice, or freed though it cannot be.

use std::alloc::{Layout, alloc, dealloc};
use std::hint::black_box;
use std::mem::ManuallyDrop;

#[dpor::test]
fn box_from_the_same_pointer_twice() {
    let pointer = Box::into_raw(Box::new(5));
    let first = unsafe { Box::from_raw(pointer) };
    let second = unsafe { Box::from_raw(pointer) };
    drop(first);
    drop(second); // ERROR: double-free
}

#[dpor::test]
fn manual_drop_twice() {
    let mut boxed = ManuallyDrop::new(Box::new(5));
    unsafe {
        ManuallyDrop::drop(&mut boxed);
        ManuallyDrop::drop(&mut boxed); // ERROR: double-free
    }
}

#[dpor::test]
fn manual_drop_once() {
    let mut boxed = ManuallyDrop::new(Box::new(5));
    unsafe { ManuallyDrop::drop(&mut boxed) };
}

#[dpor::test]
fn deallocation_twice() {
    let layout = Layout::new::<[u64; 4]>();
    unsafe {
        let block = alloc(layout);
        dealloc(block, layout);
        dealloc(block, layout); // ERROR: double-free
    }
}

#[dpor::test]
fn string_read_out_of_its_place() {
    let original = String::from("twice");
    let copy = unsafe { std::ptr::read(&original) };
    println!("{copy}");
    drop(copy);
    drop(original); // ERROR: double-free
}

#[dpor::test]
fn double_drop_at_the_end_of_the_scope() {
    let original = vec![1, 2, 3];
    let copy = unsafe { std::ptr::read(&original) };
    println!("{}", copy.len() + original.len());
} // ERROR: double-free

#[dpor::test]
fn string_read_and_forgotten() {
    let original = String::from("once");
    let copy = unsafe { std::ptr::read(&original) };
    std::mem::forget(original);
    drop(copy);
}

#[dpor::test]
fn free_of_a_local() {
    let mut local = [0u8; 16];
    let pointer = black_box(&mut local).as_mut_ptr();
    unsafe { dealloc(pointer, Layout::new::<[u8; 16]>()) }; // ERROR: invalid-free
}

#[dpor::test]
fn box_of_a_local() {
    let mut local = 7;
    let boxed = unsafe { Box::from_raw(&raw mut local) };
    println!("{boxed}");
    drop(boxed); // ERROR: invalid-free
}

static NUMBER: u32 = 12;

#[dpor::test]
fn free_of_a_static() {
    let pointer = (&raw const NUMBER).cast_mut().cast::<u8>();
    unsafe { dealloc(pointer, Layout::new::<u32>()) }; // ERROR: invalid-free
}

#[dpor::test]
fn free_of_an_interior_pointer() {
    let pointer = Box::into_raw(Box::new([1u32, 2, 3, 4]));
    let second = pointer.cast::<u32>().wrapping_add(1);
    drop(unsafe { Box::from_raw(second) }); // ERROR: invalid-free
}

#[dpor::test]
fn free_with_the_wrong_size() {
    let layout = Layout::from_size_align(16, 8).unwrap();
    let wrong = Layout::from_size_align(24, 8).unwrap();
    unsafe {
        let block = alloc(layout);
        dealloc(block, wrong); // ERROR: invalid-free
    }
}

#[dpor::test]
fn free_with_the_wrong_alignment() {
    let pointer = Box::into_raw(Box::new(0u64));
    drop(unsafe { Box::from_raw(pointer.cast::<[u8; 8]>()) }); // ERROR: invalid-free
}

#[dpor::test]
fn free_with_the_right_layout() {
    let pointer = Box::into_raw(Box::new(0u64));
    drop(unsafe { Box::from_raw(pointer.cast::<[u32; 2]>().cast::<i64>()) });
}

#[dpor::test]
fn vector_with_the_wrong_capacity() {
    let mut list = ManuallyDrop::new(Vec::<u16>::with_capacity(8));
    list.push(1);
    let other = unsafe { Vec::from_raw_parts(list.as_mut_ptr(), 1, 4) };
    println!("{other:?}");
    drop(other); // ERROR: invalid-free
}

#[dpor::test]
fn vector_with_the_right_capacity() {
    let mut list = ManuallyDrop::new(Vec::<u16>::with_capacity(8));
    list.push(1);
    let other = unsafe { Vec::from_raw_parts(list.as_mut_ptr(), 1, list.capacity()) };
    println!("{other:?}");
}
