//! Accesses outside of an allocation.

use std::hint::black_box;

#[dpor::test]
fn read_past_the_end_of_a_box() {
    let list = vec![1, 2, 3].into_boxed_slice();
    let pointer = list.as_ptr();
    let value = unsafe { *pointer.add(3) }; // ERROR: out-of-bounds
    println!("{value}");
}

#[dpor::test]
fn read_up_to_the_end_of_a_box() {
    let list = vec![1, 2, 3].into_boxed_slice();
    let end = list.as_ptr_range().end;
    assert_eq!(unsafe { *end.sub(1) }, 3);
}

#[dpor::test]
fn write_past_the_end_of_a_vector() {
    let mut list: Vec<u64> = Vec::with_capacity(4);
    list.push(1);
    for i in 0..10 {
        unsafe { list.as_mut_ptr().add(i).write(7) }; // ERROR: out-of-bounds
    }
}

#[dpor::test]
fn write_within_the_capacity_of_a_vector() {
    let mut list: Vec<u64> = Vec::with_capacity(4);
    for i in 0..4 {
        unsafe { list.as_mut_ptr().add(i).write(7) };
    }
    unsafe { list.set_len(4) };
    assert_eq!(list, [7; 4]);
}

#[dpor::test]
fn read_past_a_local_array() {
    let before = [1u32; 4];
    let array = [2u32; 4];
    let after = [3u32; 4];
    black_box((&before, &after));
    let pointer = black_box(&array).as_ptr();
    let sum: u32 = (0..=4).map(|i| unsafe { *pointer.add(i) }).sum(); // ERROR: out-of-bounds
    println!("{sum}");
}

#[dpor::test]
fn read_before_a_local_array() {
    let array = [1u8, 2, 3];
    let pointer = black_box(&array).as_ptr();
    unsafe {
        let before = pointer.wrapping_sub(1);
        println!("{}", *before); // ERROR: out-of-bounds
    }
}

#[dpor::test]
fn unchecked_index() {
    let list = vec![10, 20, 30];
    let index = black_box(5);
    let value = unsafe { *list.get_unchecked(index) }; // ERROR: out-of-bounds
    println!("{value}");
}

#[dpor::test]
fn unchecked_index_within_the_slice() {
    let list = vec![10, 20, 30];
    let index = black_box(2);
    assert_eq!(unsafe { *list.get_unchecked(index) }, 30);
}

struct Point {
    x: u32,
    y: u32,
}

#[dpor::test]
fn read_past_a_struct() {
    let point = Box::new(Point { x: 1, y: 2 });
    println!("{} {}", point.x, point.y);
    let second = &raw const point.y;
    let wide = unsafe { second.cast::<[u32; 2]>().read() }; // ERROR: out-of-bounds
    println!("{wide:?}");
}

#[dpor::test]
fn string_beyond_its_end() {
    let text = String::from("short");
    let longer = unsafe { std::slice::from_raw_parts(text.as_ptr(), 9) }; // ERROR: out-of-bounds
    let spaces = longer.iter().filter(|byte| **byte == b' ').count();
    println!("{spaces}");
}

#[dpor::test]
fn vector_with_too_long_a_length() {
    let mut list = vec![1u16, 2, 3];
    list.shrink_to_fit();
    unsafe { list.set_len(6) };
    println!("{}", list[5]); // ERROR: out-of-bounds
}

static TABLE: [u16; 3] = [100, 200, 300];

#[dpor::test]
fn read_past_a_static() {
    let pointer = (&raw const TABLE).cast::<u16>();
    println!("{}", unsafe { *pointer.add(2) });
    println!("{}", unsafe { *pointer.add(black_box(3)) }); // ERROR: out-of-bounds
}

#[dpor::test]
fn copy_of_too_many_bytes() {
    let source = [1u8; 16];
    let mut target = Box::new([0u8; 8]);
    unsafe { std::ptr::copy_nonoverlapping(source.as_ptr(), target.as_mut_ptr(), 16) }; // ERROR: out-of-bounds
    println!("{target:?}");
}

#[dpor::test]
fn copy_of_as_many_bytes_as_fit() {
    let source = [1u8; 16];
    let mut target = Box::new([0u8; 8]);
    unsafe { std::ptr::copy_nonoverlapping(source.as_ptr(), target.as_mut_ptr(), 8) };
    assert_eq!(*target, [1; 8]);
}

/// Parses a length-prefixed record and trusts the length.
fn record(bytes: &[u8]) -> Vec<u8> {
    let length = usize::from(bytes[0]);
    let body = unsafe { bytes.get_unchecked(1..1 + length) };
    body.to_vec()
}

#[dpor::test]
fn trusted_length() {
    assert_eq!(record(&[2, b'o', b'k']), b"ok");
    let bytes = vec![200, b'n', b'o'];
    println!("{:?}", checked_sum(&bytes));
}

fn checked_sum(bytes: &[u8]) -> u32 {
    let length = usize::from(bytes[0]);
    let mut sum = 0;
    for i in 1..=length {
        sum += u32::from(unsafe { *bytes.as_ptr().add(i) }); // ERROR: out-of-bounds
    }
    sum
}
