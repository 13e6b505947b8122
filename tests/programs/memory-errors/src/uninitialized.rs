//! Reads of memory that nobody wrote.

use std::alloc::{Layout, alloc, dealloc};
use std::mem::MaybeUninit;

#[dpor::test]
fn number_never_written() {
    let number = MaybeUninit::<u32>::uninit();
    let number = unsafe { number.assume_init() }; // ERROR: uninitialized-read
    println!("{number}");
}

#[dpor::test]
fn number_written() {
    let mut number = MaybeUninit::<u32>::uninit();
    number.write(5);
    assert_eq!(unsafe { number.assume_init() }, 5);
}

#[dpor::test]
fn fresh_allocation() {
    let layout = Layout::new::<[u32; 4]>();
    unsafe {
        let block = alloc(layout).cast::<u32>();
        block.write(1);
        println!("{}", *block);
        let second = *block.add(1); // ERROR: uninitialized-read
        println!("{second}");
        dealloc(block.cast(), layout);
    }
}

#[dpor::test]
fn fresh_zeroed_allocation() {
    let layout = Layout::new::<[u32; 4]>();
    unsafe {
        let block = std::alloc::alloc_zeroed(layout).cast::<u32>();
        assert_eq!(*block.add(1), 0);
        dealloc(block.cast(), layout);
    }
}

#[repr(C)]
struct Padded {
    tag: u8,
    value: u32,
}

#[dpor::test]
fn padding() {
    let padded = Padded { tag: 1, value: 2 };
    let bytes = (&raw const padded).cast::<u8>();
    println!("{} {}", unsafe { *bytes }, padded.value);
    println!("{} {}", unsafe { *bytes.add(1) }, padded.tag); // ERROR: uninitialized-read
}

#[dpor::test]
fn padding_is_copied_unread() {
    let padded = [Padded { tag: 1, value: 2 }, Padded { tag: 3, value: 4 }];
    let mut copy = MaybeUninit::<[Padded; 2]>::uninit();
    unsafe { std::ptr::copy_nonoverlapping(padded.as_ptr().cast::<u8>(), copy.as_mut_ptr().cast(), 16) };
    let [first, second] = unsafe { copy.assume_init() };
    assert_eq!((first.tag, first.value, second.tag, second.value), (1, 2, 3, 4));
}

#[dpor::test]
fn branch_on_nothing() {
    let flags = [const { MaybeUninit::<u8>::uninit() }; 2];
    let pointer = flags.as_ptr().cast::<u8>();
    // ERROR: uninitialized-read
    if unsafe { *pointer.add(1) } > 3 {
        println!("large");
    }
}

#[dpor::test]
fn length_before_contents() {
    let mut list: Vec<i64> = Vec::with_capacity(4);
    list.push(1);
    unsafe { list.set_len(2) };
    let last = list[1]; // ERROR: uninitialized-read
    println!("{last}");
}

#[dpor::test]
fn half_a_number() {
    let mut number = MaybeUninit::<u64>::uninit();
    let half = number.as_mut_ptr().cast::<u32>();
    unsafe { half.write(1) };
    let number = unsafe { number.assume_init() }; // ERROR: uninitialized-read
    println!("{number}");
}

#[dpor::test]
fn two_halves_of_a_number() {
    let mut number = MaybeUninit::<u64>::uninit();
    let half = number.as_mut_ptr().cast::<u32>();
    unsafe {
        half.write(1);
        half.add(1).write(2);
    }
    assert_eq!(unsafe { number.assume_init() }, u64::from_ne_bytes([1, 0, 0, 0, 2, 0, 0, 0]));
}

#[repr(C)]
union Short {
    byte: u8,
    word: u32,
}

#[dpor::test]
fn larger_field_of_a_union() {
    let short = Short { byte: 1 };
    println!("{}", unsafe { short.byte });
    let word = unsafe { short.word }; // ERROR: uninitialized-read
    println!("{word}");
}

#[dpor::test]
fn sum_over_an_unfinished_buffer() {
    let mut buffer = [const { MaybeUninit::<u8>::uninit() }; 8];
    for slot in &mut buffer[..5] {
        slot.write(1);
    }
    let bytes = unsafe { buffer.assume_init_ref() };
    let mut sum = 0;
    for byte in bytes {
        sum += u32::from(*byte); // ERROR: uninitialized-read
    }
    println!("{sum}");
}

#[dpor::test]
fn pointer_never_written() {
    let pointer = MaybeUninit::<*const u8>::uninit();
    let value = unsafe { **pointer.as_ptr() }; // ERROR: uninitialized-read
    println!("{value}");
}
