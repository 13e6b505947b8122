//! Values that are no values of their types, in parts of others; and places that are not accessed, and yet must be
//! there.
#![allow(dead_code, clippy::let_underscore_untyped, clippy::no_effect, reason = "the promises are broken by design")]

use std::alloc::Layout;
use std::fmt::Debug;
use std::hint::black_box;
use std::intrinsics::mir::*;
use std::mem::{MaybeUninit, transmute};
use std::num::NonZero;
use std::ptr;

#[derive(Clone, Copy)]
#[repr(C, u8)]
enum Flagged {
    Nothing,
    Flag(bool),
}

#[dpor::test]
fn field_of_a_variant() {
    let bytes = black_box([1u8, 16]);
    black_box(unsafe { transmute::<[u8; 2], Flagged>(bytes) }); // ERROR: undefined-behavior
}

#[dpor::test]
fn field_of_another_variant() {
    let bytes = black_box([0u8, 16]);
    assert!(matches!(unsafe { transmute::<[u8; 2], Flagged>(bytes) }, Flagged::Nothing));
}

#[derive(Clone, Copy)]
#[repr(C, usize)]
enum Pointing<'a> {
    Nowhere,
    There(&'a u32),
}

#[dpor::test]
fn reference_of_a_variant() {
    let words = black_box([1usize, 16]);
    black_box(unsafe { transmute::<[usize; 2], Pointing>(words) }); // ERROR: null-pointer
}

#[dpor::test]
fn slice_that_may_be_absent() {
    let words = black_box([16usize, 5]);
    black_box(unsafe { transmute::<[usize; 2], Option<&[u32]>>(words) }); // ERROR: null-pointer
}

#[dpor::test]
fn slice_that_is_absent() {
    let words = black_box([0usize, 5]);
    assert!(unsafe { transmute::<[usize; 2], Option<&[u32]>>(words) }.is_none());
}

#[derive(Clone, Copy)]
enum Sparse {
    Three = 3,
    Eight = 8,
}

#[dpor::test]
fn discriminant_between_two() {
    let byte = black_box(7u8);
    let sparse = unsafe { *(&raw const byte).cast::<Sparse>() }; // ERROR: undefined-behavior
    black_box(sparse as u8);
}

#[dpor::test]
fn discriminants_of_variants() {
    let bytes = black_box([3u8, 8]);
    let sum: u8 = bytes.iter().map(|byte| unsafe { *ptr::from_ref(byte).cast::<Sparse>() } as u8).sum();
    assert_eq!(sum, 11);
}

#[repr(i16)]
#[derive(Clone, Copy)]
enum Negative {
    Few = -2,
    Many = -3000,
}

#[dpor::test]
fn discriminants_below_zero() {
    let numbers = black_box([-2i16, -3000]);
    let sum: i16 = numbers.iter().map(|number| unsafe { *ptr::from_ref(number).cast::<Negative>() } as i16).sum();
    assert_eq!(sum, -3002);
}

#[dpor::test]
fn long_array_with_a_wrong_flag() {
    let mut bytes = [1u8; 200];
    bytes[black_box(150)] = 3;
    black_box(unsafe { transmute::<[u8; 200], [bool; 200]>(bytes) }); // ERROR: undefined-behavior
}

#[dpor::test]
fn long_arrays_of_anything() {
    let bytes = [1u8; 200];
    assert!(unsafe { transmute::<[u8; 200], [bool; 200]>(bytes) }[199]);
    black_box(unsafe { MaybeUninit::<[MaybeUninit<u64>; 5000]>::uninit().assume_init() });
}

#[dpor::test]
fn alignment_that_is_no_power_of_two() {
    let layout = unsafe { Layout::from_size_align_unchecked(8, black_box(3)) }; // ERROR: undefined-behavior
    black_box(layout.size());
}

#[dpor::test]
fn wrapped_reference_to_a_number() {
    struct Wrapped<'a>(&'a u32);
    let number = black_box(16usize);
    let wrapped = unsafe { transmute::<usize, Wrapped>(number) }; // ERROR: null-pointer
    black_box(ptr::from_ref(wrapped.0));
}

#[dpor::test]
fn pair_with_a_number_that_is_no_char() {
    let numbers = black_box((0xd800u32, 1u32));
    black_box(unsafe { transmute::<(u32, u32), (char, u32)>(numbers) }); // ERROR: undefined-behavior
}

#[dpor::test]
fn pointer_without_a_vtable() {
    let words = black_box([8usize, 0]);
    let pointer = unsafe { *words.as_ptr().cast::<*const dyn Debug>() }; // ERROR: null-pointer
    black_box(pointer);
}

#[dpor::test]
fn pointer_without_a_vtable_that_is_followed() {
    let words = black_box([8usize, 0]);
    let pointer = words.as_ptr().cast::<*const dyn Debug>();
    black_box(unsafe { &raw const **pointer }); // ERROR: null-pointer
}

#[dpor::test]
fn pointer_with_a_vtable() {
    let object: *const dyn Debug = &5u8;
    let pointer = black_box(&raw const object);
    assert_eq!(format!("{:?}", unsafe { &**pointer }), "5");
}

#[dpor::test]
fn function_that_gives_null() {
    fn gives() -> *const u32 {
        black_box(ptr::null())
    }
    let function = unsafe { transmute::<fn() -> *const u32, fn() -> Option<&'static u32>>(gives) };
    assert!(function().is_none());
    let function = unsafe { transmute::<fn() -> *const u32, fn() -> &'static u32>(gives) };
    black_box(ptr::from_ref(function())); // ERROR: null-pointer
}

#[dpor::test]
fn function_that_gives_a_number() {
    fn gives() -> *const u32 {
        black_box(ptr::without_provenance(4))
    }
    let function = unsafe { transmute::<fn() -> *const u32, fn() -> &'static u32>(gives) };
    black_box(ptr::from_ref(function())); // ERROR: null-pointer
}

#[dpor::test]
fn range_beyond_the_end() {
    let numbers = black_box([1u32, 2, 3]);
    let part = unsafe { numbers.get_unchecked(2..4) }; // ERROR: out-of-bounds
    black_box(part.len());
}

#[dpor::test]
fn range_of_a_string_beyond_the_end() {
    let string = black_box(String::from("abc"));
    let part = unsafe { string.get_unchecked(2..9) }; // ERROR: out-of-bounds
    black_box(part.len());
}

#[dpor::test]
fn range_to_the_end() {
    let mut numbers = black_box([1u32, 2, 3]);
    assert_eq!(unsafe { numbers.get_unchecked_mut(1..3) }, [2, 3]);
    assert_eq!(unsafe { black_box("abc").get_unchecked(3..) }, "");
}

fn freed() -> *const (u32, u32) {
    &raw const *Box::new((1, 2))
}

#[dpor::test]
fn part_that_is_named_and_not_read() {
    let pointer = freed();
    unsafe {
        let _ = (*pointer).1; // ERROR: use-after-free
    }
}

#[dpor::test]
fn whole_that_is_named_and_not_read() {
    let pointer = freed();
    unsafe {
        let _ = *pointer;
    }
}

#[dpor::test]
fn flag_that_makes_no_difference() {
    let byte = black_box(2u8);
    let flag = unsafe { &*(&raw const byte).cast::<bool>() };
    // ERROR: undefined-behavior
    match *flag {
        true | false => {}
    }
}

#[dpor::test]
fn nothing_at_an_odd_address() {
    let numbers = black_box([2u16, 3]);
    let pointer = numbers.as_ptr().cast::<u8>().wrapping_add(1).cast::<[u32; 0]>();
    let nothing = unsafe { *pointer }; // ERROR: misaligned
    black_box(nothing.len());
}

#[derive(Clone, Copy)]
enum Never {}

#[derive(Clone, Copy)]
union Impossible {
    never: Never,
    nothing: (),
}

#[dpor::test]
fn what_cannot_be_from_a_union() {
    let impossible = Impossible { nothing: () };
    let never = unsafe { impossible.never }; // ERROR: undefined-behavior
    match never {}
}

#[dpor::test]
fn assignment_to_a_neighbour() {
    let mut numbers = [1u64, 2, 3, 4, 5, 6];
    let pointer = numbers.as_mut_ptr();
    assign(unsafe { pointer.add(3) }.cast(), pointer.cast());
    assign(pointer.cast(), pointer.cast());
    assert_eq!(numbers, [1, 2, 3, 1, 2, 3]);
}

#[dpor::test]
fn assignment_to_an_overlapping_place() {
    let mut numbers = [1u64, 2, 3, 4, 5, 6];
    let pointer = numbers.as_mut_ptr();
    assign(unsafe { pointer.add(1) }.cast(), pointer.cast());
}

#[custom_mir(dialect = "runtime")]
fn assign(to: *mut [u64; 3], from: *mut [u64; 3]) {
    mir! {
        {
            *to = *from; // ERROR: undefined-behavior
            Return()
        }
    }
}

unsafe extern "C" fn sum(count: u32, mut numbers: ...) -> u32 {
    (0..count).map(|_| unsafe { numbers.next_arg::<u32>() }).sum()
}

#[dpor::test]
fn any_number_of_arguments() {
    assert_eq!(unsafe { sum(2, 3u32, 4u32) }, 7); // OUTCOME: unsupported
}

#[dpor::test]
fn any_number_of_arguments_through_a_pointer() {
    let function: unsafe extern "C" fn(u32, ...) -> u32 = black_box(sum);
    assert_eq!(unsafe { function(2, 3u32, 4u32) }, 7); // OUTCOME: unsupported
}

#[dpor::test]
fn zero_in_a_result() {
    #[repr(C, u64)]
    enum Either {
        One(NonZero<u64>),
        Other(u64),
    }
    let words = black_box([0u64, 0]);
    black_box(unsafe { transmute::<[u64; 2], Either>(words) }); // ERROR: undefined-behavior
}
