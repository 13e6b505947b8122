//! Null and misaligned pointers.

use std::hint::black_box;
use std::ptr;

#[dpor::test]
fn read_of_null() {
    let pointer: *const i32 = black_box(ptr::null());
    println!("{}", unsafe { *pointer }); // ERROR: null-pointer
}

#[dpor::test]
fn write_to_null() {
    let pointer: *mut i32 = black_box(ptr::null_mut());
    unsafe { *pointer = 1 }; // ERROR: null-pointer
}

#[dpor::test]
fn null_is_no_error_until_it_is_used() {
    let pointer: *const i32 = black_box(ptr::null());
    assert!(pointer.is_null());
    assert!(unsafe { pointer.as_ref() }.is_none());
}

struct Node {
    value: u64,
    next: *const Node,
}

#[dpor::test]
fn list_that_ends_too_early() {
    let second = Node { value: 2, next: ptr::null() };
    let first = Node { value: 1, next: &second };
    let mut node: *const Node = &first;
    let mut sum = 0;
    for _ in 0..3 {
        sum += unsafe { (*node).value }; // ERROR: null-pointer
        node = unsafe { (*node).next };
    }
    println!("{sum}");
}

#[dpor::test]
fn list_that_is_walked_to_its_end() {
    let second = Node { value: 2, next: ptr::null() };
    let first = Node { value: 1, next: &second };
    let mut node: *const Node = &first;
    let mut sum = 0;
    while let Some(current) = unsafe { node.as_ref() } {
        sum += current.value;
        node = current.next;
    }
    assert_eq!(sum, 3);
}

#[dpor::test]
fn number_at_an_odd_address() {
    let bytes = vec![0u32; 4];
    let pointer = bytes.as_ptr().cast::<u8>().wrapping_add(1).cast::<u32>();
    println!("{}", unsafe { *pointer }); // ERROR: misaligned
}

#[dpor::test]
fn number_read_unaligned() {
    let bytes = vec![0u32; 4];
    let pointer = bytes.as_ptr().cast::<u8>().wrapping_add(1).cast::<u32>();
    assert_eq!(unsafe { pointer.read_unaligned() }, 0);
}

#[dpor::test]
fn write_at_an_odd_address() {
    let mut words = vec![0u64; 2];
    let pointer = words.as_mut_ptr().cast::<u8>().wrapping_add(4).cast::<u64>();
    unsafe { pointer.write(5) }; // ERROR: misaligned
}

#[repr(C, packed)]
struct Packed {
    tag: u8,
    value: u32,
}

#[dpor::test]
fn pointer_to_a_packed_field() {
    let packed = Packed { tag: 1, value: 2 };
    println!("{} {}", packed.tag, { packed.value });
    let pointer = &raw const packed.value;
    println!("{}", unsafe { *pointer }); // ERROR: misaligned
}

#[dpor::test]
fn bytes_as_numbers() {
    let bytes = vec![1u8; 16];
    let numbers = bytes.as_ptr().cast::<u16>();
    let sum = unsafe { u32::from(*numbers) + u32::from(*numbers.add(1)) }; // ERROR: misaligned
    println!("{sum}");
}

#[dpor::test]
fn zero_sized_reads_need_no_memory() {
    let pointer = ptr::NonNull::<[u64; 0]>::dangling();
    let nothing = unsafe { pointer.read() };
    assert!(nothing.is_empty());
    assert!(unsafe { std::slice::from_raw_parts(pointer.as_ptr().cast::<u64>(), 0) }.is_empty());
}

#[dpor::test]
fn wide_number_at_half_of_its_alignment() {
    let words = [0u64; 5];
    let pointer = words.as_ptr();
    let pointer = if pointer.addr().is_multiple_of(16) { pointer.wrapping_add(1) } else { pointer };
    println!("{}", unsafe { *pointer.cast::<u128>() }); // ERROR: misaligned
}

#[dpor::test]
fn write_of_a_wide_number_at_half_of_its_alignment() {
    let mut words = [0u64; 5];
    let pointer = words.as_mut_ptr();
    let pointer = if pointer.addr().is_multiple_of(16) { pointer.wrapping_add(1) } else { pointer };
    unsafe { pointer.cast::<u128>().write(black_box(1)) }; // ERROR: misaligned
}

#[dpor::test]
fn wide_number_where_it_should_be() {
    let mut words = [0u64; 5];
    let pointer = words.as_mut_ptr();
    let pointer = if pointer.addr().is_multiple_of(16) { pointer } else { pointer.wrapping_add(1) };
    unsafe { pointer.cast::<u128>().write(black_box(1 << 64)) };
    assert_eq!(words.iter().sum::<u64>(), 1);
    assert_eq!(unsafe { words.as_ptr().cast::<u128>().read_unaligned() } >> 65, 0);
}

unsafe extern "C" {
    static SOMEWHERE_ELSE: u32;
}

#[dpor::test]
fn static_that_nobody_defines() {
    println!("{}", unsafe { SOMEWHERE_ELSE }); // OUTCOME: unsupported
}
