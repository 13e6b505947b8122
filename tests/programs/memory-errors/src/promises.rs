//! Promises to the compiler that are not kept, whether or not anything comes of it: references to what is not there,
//! pointers that leave what they point into, calls through pointers of another type, values that no value of the type
//! is.
#![allow(
    clashing_extern_declarations,
    dangling_pointers_from_temporaries,
    invalid_value,
    invalid_runtime_symbol_definitions,
    dropping_copy_types,
    dead_code,
    clippy::swap_ptr_to_ref,
    reason = "the promises are broken by design"
)]

use std::hint::black_box;
use std::mem::{self, MaybeUninit, transmute};
use std::num::NonZero;
use std::ptr::{self, NonNull};
use std::slice;

#[dpor::test]
fn reference_to_a_number() {
    let pointer = ptr::without_provenance::<u32>(black_box(16));
    let reference = unsafe { &*pointer }; // ERROR: null-pointer
    black_box(ptr::from_ref(reference));
}

#[dpor::test]
fn reference_to_nothing_may_be_anywhere() {
    let pointer = ptr::without_provenance::<[u32; 0]>(black_box(16));
    assert!(unsafe { &*pointer }.is_empty());
}

#[dpor::test]
fn reference_at_an_odd_address() {
    let numbers = black_box([0u32; 2]);
    let pointer = numbers.as_ptr().cast::<u8>().wrapping_add(1).cast::<u32>();
    let reference = unsafe { &*pointer }; // ERROR: misaligned
    black_box(ptr::from_ref(reference));
}

#[dpor::test]
fn reference_to_what_was_freed() {
    let pointer = Box::into_raw(Box::new(5u32));
    drop(unsafe { Box::from_raw(pointer) });
    let reference = unsafe { &*pointer }; // ERROR: use-after-free
    black_box(ptr::from_ref(reference));
}

#[dpor::test]
fn reference_to_more_than_there_is() {
    let byte = black_box(0u8);
    let pointer = (&raw const byte).cast::<[u8; 4]>();
    let reference = unsafe { &*pointer }; // ERROR: out-of-bounds
    black_box(ptr::from_ref(reference));
}

#[dpor::test]
fn reference_to_a_part() {
    let bytes = black_box([1u8, 2, 3, 4]);
    let pointer = bytes.as_ptr().wrapping_add(1).cast::<[u8; 3]>();
    assert_eq!(unsafe { &*pointer }, &[2, 3, 4]);
}

#[dpor::test]
fn box_of_a_number() {
    let number = black_box(8usize);
    mem::forget(unsafe { transmute::<usize, Box<u32>>(number) }); // ERROR: null-pointer
}

#[dpor::test]
fn null_as_a_nonnull() {
    let pointer: *mut u8 = black_box(ptr::null_mut());
    black_box(unsafe { NonNull::new_unchecked(pointer) }); // ERROR: undefined-behavior
}

#[dpor::test]
fn slice_of_more_than_there_is() {
    let bytes = black_box([0u8; 4]);
    let slice = unsafe { slice::from_raw_parts(bytes.as_ptr(), 5) }; // ERROR: out-of-bounds
    black_box(slice.len());
}

#[dpor::test]
fn slice_of_null() {
    let pointer: *const u8 = black_box(ptr::null());
    let slice = unsafe { slice::from_raw_parts(pointer, 0) }; // ERROR: null-pointer
    black_box(slice.len());
}

#[dpor::test]
fn slice_of_more_than_anything_has() {
    let bytes = black_box([0u8; 4]);
    let slice = unsafe { slice::from_raw_parts(bytes.as_ptr(), usize::MAX) }; // ERROR: undefined-behavior
    black_box(slice.len());
}

enum Never {}

#[dpor::test]
fn reference_to_what_cannot_be() {
    let never = unsafe { transmute::<&u8, &Never>(black_box(&0)) }; // ERROR: undefined-behavior
    black_box(ptr::from_ref(never));
}

trait One {
    fn one(&self) -> u32;
}

trait Two {
    fn two(&self) -> u32;
}

impl One for u8 {
    fn one(&self) -> u32 {
        1
    }
}

impl Two for u8 {
    fn two(&self) -> u32 {
        2
    }
}

#[dpor::test]
fn vtable_of_another_trait() {
    let one: &dyn One = &0u8;
    assert_eq!(one.one() + (&0u8 as &dyn Two).two(), 3);
    let two = unsafe { transmute::<&dyn One, &dyn Two>(one) }; // ERROR: undefined-behavior
    black_box(ptr::from_ref(two));
}

#[dpor::test]
fn pointer_moved_beyond_the_end() {
    let bytes = black_box([0u8; 4]);
    black_box(unsafe { bytes.as_ptr().add(5) }); // ERROR: out-of-bounds
}

#[dpor::test]
fn pointer_moved_before_the_start() {
    let bytes = black_box(vec![0u8; 4]);
    black_box(unsafe { bytes.as_ptr().sub(1) }); // ERROR: out-of-bounds
}

#[dpor::test]
fn pointer_moved_to_the_end() {
    let bytes = black_box([0u8; 4]);
    let end = unsafe { bytes.as_ptr().add(4) };
    assert_eq!(unsafe { end.offset(-4) }, bytes.as_ptr());
    assert_eq!(unsafe { end.offset_from(bytes.as_ptr()) }, 4);
    black_box(unsafe { NonNull::<u64>::dangling().add(0) });
}

#[dpor::test]
fn pointer_moved_by_too_much() {
    let numbers = black_box([0u32; 4]);
    black_box(unsafe { numbers.as_ptr().offset(isize::MAX) }); // ERROR: undefined-behavior
}

#[dpor::test]
fn null_moved() {
    let pointer: *const u8 = black_box(ptr::null());
    black_box(unsafe { pointer.add(1) }); // ERROR: null-pointer
}

#[dpor::test]
fn pointer_moved_after_the_end_of_its_memory() {
    let pointer = Box::into_raw(Box::new([0u8; 4]));
    drop(unsafe { Box::from_raw(pointer) });
    black_box(unsafe { pointer.cast::<u8>().add(1) }); // ERROR: use-after-free
}

#[dpor::test]
fn distance_of_strangers() {
    let (one, other) = black_box(([0u8; 4], Box::new([0u8; 4])));
    black_box(unsafe { one.as_ptr().offset_from(other.as_ptr()) }); // ERROR: undefined-behavior
}

#[dpor::test]
fn distance_in_pieces() {
    let numbers = black_box([0u32; 4]);
    let inside = numbers.as_ptr().cast::<u8>().wrapping_add(3).cast::<u32>();
    black_box(unsafe { inside.offset_from(numbers.as_ptr()) }); // ERROR: undefined-behavior
}

#[dpor::test]
fn function_of_another_argument() {
    fn takes(n: u32) {
        black_box(n);
    }
    let function = unsafe { transmute::<fn(u32), fn(f32)>(takes) };
    function(1.0); // ERROR: undefined-behavior
}

#[dpor::test]
fn function_of_another_result() {
    fn gives() -> f32 {
        1.0
    }
    let function = unsafe { transmute::<fn() -> f32, fn() -> u32>(gives) };
    black_box(function()); // ERROR: undefined-behavior
}

#[dpor::test]
fn function_of_another_convention() {
    extern "C" fn works() {}
    let function = unsafe { transmute::<extern "C" fn(), fn()>(works) };
    function(); // ERROR: undefined-behavior
}

#[dpor::test]
fn function_of_a_type_that_is_passed_alike() {
    #[repr(transparent)]
    struct Wrapper(u64);
    fn takes(wrapper: Wrapper, number: &u32) -> u64 {
        wrapper.0 + u64::from(*number)
    }
    type Other = fn(i64, Option<NonNull<u32>>) -> u64;
    let function = unsafe { transmute::<fn(Wrapper, &u32) -> u64, Other>(takes) };
    assert_eq!(function(4, Some(NonNull::from(&5))), 9);
}

#[dpor::test]
fn number_as_a_function() {
    let number = black_box(5usize);
    black_box(unsafe { transmute::<usize, fn()>(number) }); // ERROR: undefined-behavior
}

#[derive(Clone, Copy)]
struct Mixed {
    flag: bool,
    number: u32,
    size: u64,
}

#[dpor::test]
fn struct_with_a_wrong_flag() {
    let bytes = black_box([0x0707_0707_0707_0707u64; 2]);
    let mixed = unsafe { *bytes.as_ptr().cast::<Mixed>() }; // ERROR: undefined-behavior
    black_box(u64::from(mixed.number) + mixed.size + u64::from(mixed.flag));
}

#[dpor::test]
fn array_with_a_wrong_flag() {
    let bytes = black_box([1u8, 0, 3, 1]);
    black_box(unsafe { transmute::<[u8; 4], [bool; 4]>(bytes) }); // ERROR: undefined-behavior
}

#[dpor::test]
fn tuple_with_a_zero() {
    let numbers = black_box([0u64; 3]);
    black_box(unsafe { transmute::<[u64; 3], (NonZero<u64>, u64, u64)>(numbers) }); // ERROR: undefined-behavior
}

#[dpor::test]
fn array_that_was_never_written() {
    let numbers = MaybeUninit::<[u32; 8]>::uninit();
    black_box(unsafe { numbers.assume_init() }); // ERROR: uninitialized-read
}

#[dpor::test]
fn array_of_what_may_be_uninitialized() {
    let numbers = MaybeUninit::<[MaybeUninit<u32>; 8]>::uninit();
    black_box(unsafe { numbers.assume_init() });
}

#[dpor::test]
fn float_that_is_too_large() {
    let float = black_box(1e20f32);
    black_box(unsafe { float.to_int_unchecked::<i32>() }); // ERROR: undefined-behavior
}

#[dpor::test]
fn float_that_is_no_number() {
    let float = black_box(f64::NAN);
    black_box(unsafe { float.to_int_unchecked::<u8>() }); // ERROR: undefined-behavior
}

#[dpor::test]
fn floats_that_fit() {
    assert_eq!(unsafe { black_box(-0.9f32).to_int_unchecked::<u8>() }, 0);
    assert_eq!(unsafe { black_box(-2147483648f32).to_int_unchecked::<i32>() }, i32::MIN);
    assert_eq!(unsafe { black_box(255.9f64).to_int_unchecked::<u8>() }, 255);
    assert_eq!(unsafe { black_box(1e20f64).to_int_unchecked::<u128>() }, 100_000_000_000_000_000_000);
}

#[dpor::test]
fn copy_of_more_than_there_can_be() {
    let (from, mut to) = black_box((0u32, 0u32));
    // ERROR: undefined-behavior
    unsafe { ptr::copy_nonoverlapping(&raw const from, &raw mut to, 1 << 62) };
}

#[dpor::test]
fn function_of_what_may_be_uninitialized() {
    fn takes(number: u32, other: u64) -> u64 {
        u64::from(number) + other
    }
    type Other = fn(MaybeUninit<u32>, u64) -> u64;
    let function = unsafe { transmute::<fn(u32, u64) -> u64, Other>(takes) };
    assert_eq!(function(MaybeUninit::new(3), 4), 7);
}

#[dpor::test]
fn function_that_takes_what_was_never_written() {
    fn takes(number: u32) -> u32 {
        number
    }
    let function = unsafe { transmute::<fn(u32) -> u32, fn(MaybeUninit<u32>) -> u32>(takes) };
    function(MaybeUninit::uninit()); // ERROR: uninitialized-read
}

#[dpor::test]
fn reference_from_memory() {
    let numbers = black_box([1usize, 2]);
    let reference = unsafe { *numbers.as_ptr().cast::<&u8>() }; // ERROR: null-pointer
    black_box(ptr::from_ref(reference));
}

#[repr(C)]
struct Pair(u32, u32);

#[dpor::test]
fn field_of_null() {
    let pointer: *const Pair = black_box(ptr::null());
    black_box(unsafe { &raw const (*pointer).0 });
    black_box(unsafe { &raw const (*pointer).1 }); // ERROR: null-pointer
}

#[dpor::test]
fn field_of_what_is_there() {
    let pair = black_box(Pair(1, 2));
    let pointer = &raw const pair;
    assert_eq!(unsafe { *(&raw const (*pointer).1) } + pair.0, 3);
}

#[dpor::test]
fn vtable_of_a_number() {
    let numbers = black_box((8usize, 3usize));
    black_box(unsafe { transmute::<(usize, usize), *const dyn One>(numbers) }); // ERROR: null-pointer
}

#[dpor::test]
fn element_beyond_the_end() {
    let number = black_box(0u32);
    let index = black_box(3);
    let array = (&raw const number).cast::<[u32; 4]>();
    black_box(unsafe { &raw const (*array)[index] }); // ERROR: out-of-bounds
}

#[dpor::test]
fn destructor_at_an_odd_address() {
    let numbers = black_box([0u32; 2]);
    let pointer = numbers.as_ptr().cast::<u8>().wrapping_add(1).cast::<u32>();
    unsafe { ptr::drop_in_place(pointer.cast_mut()) }; // ERROR: misaligned
}

#[dpor::test]
fn object_that_was_freed() {
    let pointer: *mut dyn One = Box::into_raw(Box::new(5u8));
    drop(unsafe { Box::from_raw(pointer) });
    let reference = unsafe { &*pointer }; // ERROR: use-after-free
    black_box(ptr::from_ref(reference));
}

struct Tail {
    head: u8,
    rest: [u8],
}

#[dpor::test]
fn struct_with_a_longer_tail() {
    let bytes = black_box([1u8; 4]);
    let pointer = unsafe { transmute::<(*const u8, usize), *const Tail>((bytes.as_ptr(), 4)) };
    let reference = unsafe { &*pointer }; // ERROR: out-of-bounds
    black_box(reference.rest.len());
}

#[dpor::test]
fn struct_with_a_tail() {
    let bytes = black_box([1u8; 4]);
    let pointer = unsafe { transmute::<(*const u8, usize), *const Tail>((bytes.as_ptr(), 3)) };
    let reference = unsafe { &*pointer };
    assert_eq!((reference.head, reference.rest.len()), (1, 3));
}

#[repr(C, align(16))]
struct Aligned {
    number: u16,
}

#[dpor::test]
fn part_of_what_is_not_aligned() {
    let numbers = black_box([0u64; 4]);
    let mut pointer = numbers.as_ptr();
    if pointer.addr() % 16 == 0 {
        pointer = pointer.wrapping_add(1);
    }
    black_box(unsafe { (*pointer.cast::<Aligned>()).number }); // ERROR: misaligned
}

trait Of<T> {
    fn of(&self, _: T) -> u32 {
        1
    }
}

impl Of<u8> for u8 {}
impl Of<u16> for u8 {}

#[dpor::test]
fn vtable_of_the_trait_with_another_parameter() {
    let one: &dyn Of<u8> = &0u8;
    let other: &dyn Of<u16> = &0u8;
    assert_eq!(one.of(1) + other.of(1), 2);
    let other = unsafe { transmute::<&dyn Of<u8>, &dyn Of<u16>>(one) }; // ERROR: undefined-behavior
    black_box(ptr::from_ref(other));
}

#[dpor::test]
fn option_of_a_number() {
    let number = black_box(8usize);
    black_box(unsafe { transmute::<usize, Option<&u8>>(number) }); // ERROR: null-pointer
}

#[dpor::test]
fn option_of_nothing() {
    let number = black_box(0usize);
    assert!(unsafe { transmute::<usize, Option<&u8>>(number) }.is_none());
}

#[dpor::test]
fn tuple_of_null() {
    let numbers = black_box((0usize, 1u64));
    black_box(unsafe { transmute::<(usize, u64), (&u8, u64)>(numbers) }); // ERROR: null-pointer
}

union Bits {
    number: usize,
    reference: &'static u8,
}

#[dpor::test]
fn reference_from_a_union() {
    let bits = black_box(Bits { number: 64 });
    black_box(unsafe { bits.number });
    black_box(ptr::from_ref(unsafe { bits.reference })); // ERROR: null-pointer
}

#[repr(u8)]
enum Half {
    One,
    None(Never),
    Two,
}

#[dpor::test]
fn variant_without_values() {
    let number = black_box(1u8);
    let half = unsafe { transmute::<u8, Half>(number) }; // ERROR: undefined-behavior
    match half {
        Half::One | Half::Two => {}
        Half::None(_) => panic!(),
    }
}

#[dpor::test]
fn function_that_takes_what_cannot_be() {
    fn takes(_: Never) {} // ERROR: undefined-behavior
    let function = unsafe { transmute::<fn(Never), fn(())>(takes) };
    function(());
}

#[dpor::test]
fn function_that_gives_another_zero() {
    fn gives() -> u32 {
        black_box(0)
    }
    let function = unsafe { transmute::<fn() -> u32, fn() -> NonZero<u32>>(gives) };
    black_box(function()); // ERROR: undefined-behavior
}

#[dpor::test]
fn function_of_another_struct() {
    #[repr(C)]
    struct One(u32);
    #[repr(C)]
    struct Other(u32);
    fn takes(one: One) {
        black_box(one.0);
    }
    let function = unsafe { transmute::<fn(One), fn(Other)>(takes) };
    function(Other(black_box(1))); // ERROR: undefined-behavior
}

#[dpor::test]
fn function_of_another_array() {
    fn takes(_: [u8; 0]) {}
    let function = unsafe { transmute::<fn([u8; 0]), fn(())>(takes) };
    function(()); // ERROR: undefined-behavior
}

#[unsafe(no_mangle)]
extern "C" fn dpor_promises_one(number: i32) -> i32 {
    number + 1
}

#[unsafe(no_mangle)]
static DPOR_PROMISES_NUMBER: u32 = 5;

#[dpor::test]
fn declared_as_it_is_defined() {
    unsafe extern "C" {
        fn dpor_promises_one(number: i32) -> i32;
    }
    assert_eq!(unsafe { dpor_promises_one(4) }, 5);
}

#[dpor::test]
fn declared_with_another_number_of_parameters() {
    unsafe extern "C" {
        #[link_name = "dpor_promises_one"]
        fn two(number: i32, other: i32) -> i32;
    }
    unsafe { two(4, 5) }; // ERROR: undefined-behavior
}

#[dpor::test]
fn declared_with_another_number_of_parameters_and_called_through_a_pointer() {
    unsafe extern "C" {
        #[link_name = "dpor_promises_one"]
        fn none() -> i32; // ERROR: undefined-behavior
    }
    let function: unsafe extern "C" fn() -> i32 = black_box(none);
    unsafe { function() };
}

#[dpor::test]
fn declared_as_a_function() {
    unsafe extern "C" {
        #[link_name = "DPOR_PROMISES_NUMBER"]
        fn number();
    }
    assert_eq!(DPOR_PROMISES_NUMBER, 5);
    unsafe { number() }; // ERROR: undefined-behavior
}

#[dpor::test]
fn function_of_c_with_another_number_of_parameters() {
    unsafe extern "C" {
        #[link_name = "malloc"]
        fn allocate() -> *mut u8;
    }
    unsafe { allocate() }; // ERROR: undefined-behavior
}

#[dpor::test]
fn processor_feature_that_is_not_there() {
    #[target_feature(enable = "avx512f")]
    fn wide() {}
    if !is_x86_feature_detected!("avx512f") {
        unsafe { wide() }; // ERROR: undefined-behavior
    }
}

#[dpor::test]
fn swap_of_wrong_flags() {
    let mut bytes = black_box([1u8, 3]);
    let [one, other] = &mut bytes;
    let (one, other) = (ptr::from_mut(one).cast::<bool>(), ptr::from_mut(other).cast::<bool>());
    unsafe { mem::swap(&mut *one, &mut *other) }; // ERROR: undefined-behavior
}

#[dpor::test]
fn swap_of_what_overlaps() {
    let mut bytes = black_box([1u8; 4]);
    let start = bytes.as_mut_ptr();
    unsafe { ptr::swap_nonoverlapping(start, start.add(1), 2) }; // ERROR: undefined-behavior
}

#[dpor::test]
fn swap_of_neighbours() {
    let mut bytes = black_box([1u8, 2, 3, 4]);
    let start = bytes.as_mut_ptr();
    unsafe { ptr::swap_nonoverlapping(start, start.add(2), 2) };
    assert_eq!(bytes, [3, 4, 1, 2]);
}

#[dpor::test]
fn allocation_of_more_than_there_can_be() {
    let layout = unsafe { std::alloc::Layout::from_size_align_unchecked(black_box(1 << 63), 1) };
    black_box(unsafe { std::alloc::alloc(layout) }); // ERROR: undefined-behavior
}

#[dpor::test]
fn filling_of_more_than_there_can_be() {
    let mut bytes = black_box([0u8; 4]);
    unsafe { ptr::write_bytes(bytes.as_mut_ptr().wrapping_add(1), 1, usize::MAX) }; // ERROR: out-of-bounds
}

#[dpor::test]
fn reference_to_the_end_of_the_address_space() {
    let pointer = ptr::without_provenance::<u8>(black_box(usize::MAX));
    let reference = unsafe { &*pointer }; // ERROR: out-of-bounds
    black_box(reference);
}

#[dpor::test]
fn reference_that_may_dangle() {
    let dangling = unsafe { transmute::<usize, mem::MaybeDangling<&u32>>(black_box(16)) };
    black_box(&raw const dangling);
    let mut freed = mem::ManuallyDrop::new(Box::new(black_box(5)));
    unsafe { mem::ManuallyDrop::drop(&mut freed) };
    let moved = unsafe { ptr::read(&raw const freed) };
    black_box(&raw const moved);
    let moved = unsafe { transmute::<mem::ManuallyDrop<Box<i32>>, [mem::ManuallyDrop<Box<i32>>; 1]>(moved) };
    black_box(&raw const moved);
}

#[dpor::test]
fn odd_reference_that_may_dangle() {
    let pointer = black_box([0u32; 2]).as_ptr().wrapping_byte_add(1);
    let dangling = unsafe { transmute::<*const u32, mem::MaybeDangling<&u32>>(pointer) }; // ERROR: misaligned
    black_box(&raw const dangling);
}

/// An allocator with fields, so that a box with it is more than one pointer.
#[derive(Clone, Copy)]
struct Fields(usize, usize);

unsafe impl std::alloc::Allocator for Fields {
    fn allocate(&self, layout: std::alloc::Layout) -> Result<NonNull<[u8]>, std::alloc::AllocError> {
        std::alloc::Global.allocate(layout)
    }

    unsafe fn deallocate(&self, pointer: NonNull<u8>, layout: std::alloc::Layout) {
        unsafe { std::alloc::Global.deallocate(pointer, layout) }
    }
}

#[repr(C)]
struct Parts<T>(NonNull<T>, MaybeUninit<Fields>);

#[dpor::test]
fn box_with_an_allocator_of_nothing() {
    let parts = Parts(NonNull::<u32>::dangling(), MaybeUninit::new(Fields(1, 2)));
    let number: Box<u32, Fields> = unsafe { transmute(parts) }; // ERROR: null-pointer
    mem::forget(number);
}

#[dpor::test]
fn box_without_its_allocator() {
    let parts = Parts(NonNull::from(&5u32), MaybeUninit::uninit());
    let number: Box<u32, Fields> = unsafe { transmute(parts) }; // ERROR: uninitialized-read
    mem::forget(number);
}

#[dpor::test]
fn box_with_an_allocator() {
    let number = Box::new_in(black_box(5u32), Fields(1, 2));
    let parts: Parts<u32> = unsafe { transmute(number) };
    let number: Box<u32, Fields> = unsafe { transmute(parts) };
    assert_eq!(*number, 5);
}

#[repr(C)]
struct Vtable(usize, usize, usize);

trait Marker {}

#[dpor::test]
fn vtable_made_by_hand() {
    let (number, vtable) = (black_box(5u32), Vtable(0, 4, 4));
    let parts = (&raw const number, &raw const vtable);
    let object = unsafe { transmute::<(*const u32, *const Vtable), *const dyn Marker>(parts) }; // ERROR: undefined-behavior
    black_box(object);
}

#[dpor::test]
fn tag_of_the_variant_that_has_none() {
    enum Middle {
        First,
        Second(bool),
        Third,
    }
    let byte = black_box(3u8);
    let value = (&raw const byte).cast::<Middle>();
    // ERROR: undefined-behavior
    println!("{}", unsafe { matches!(*value, Middle::Second(_)) });
    black_box([Middle::First, Middle::Third]);
}

#[dpor::test]
fn value_from_nowhere() {
    #[expect(deprecated, reason = "it is tested")]
    let bytes: [u8; 4] = unsafe { mem::uninitialized() }; // ERROR: uninitialized-read
    black_box(bytes);
}

#[dpor::test]
fn function_that_gives_a_zero_into_memory() {
    fn gives() -> u32 {
        black_box(0)
    }
    let function = unsafe { transmute::<fn() -> u32, fn() -> NonZero<u32>>(gives) };
    let number = function(); // ERROR: undefined-behavior
    black_box(&raw const number);
}
