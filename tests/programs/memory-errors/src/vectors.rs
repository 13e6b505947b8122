//! Vectors and floats: what the compiler is promised about lanes, masks and numbers.

use std::hint::black_box;
use std::intrinsics::simd::{
    SimdAlign, simd_cast, simd_funnel_shl, simd_masked_load, simd_masked_store, simd_reduce_any, simd_select,
    simd_select_bitmask, simd_shl,
};
use std::intrinsics::{fadd_fast, fdiv_fast};
use std::simd::{f32x2, i32x2, i32x4, u32x4};

#[dpor::test]
fn shift_by_all_bits() {
    let (one, amounts) = black_box((i32x2::splat(1), i32x2::from_array([1, 32])));
    black_box(unsafe { simd_shl(one, amounts) }); // ERROR: undefined-behavior
}

#[dpor::test]
fn shift_by_less() {
    let (one, amounts) = black_box((i32x2::splat(1), i32x2::from_array([1, 31])));
    assert_eq!(unsafe { simd_shl(one, amounts) }.to_array(), [2, i32::MIN]);
}

#[dpor::test]
fn shift_of_two_by_all_bits() {
    let (one, amounts) = black_box((i32x2::splat(1), i32x2::from_array([1, 40])));
    black_box(unsafe { simd_funnel_shl(one, one, amounts) }); // ERROR: undefined-behavior
}

#[dpor::test]
fn mask_of_other_numbers() {
    let mask = black_box(i32x2::from_array([-1, 1]));
    black_box(unsafe { simd_reduce_any(mask) }); // ERROR: undefined-behavior
}

#[dpor::test]
fn selection_by_other_numbers() {
    let mask = black_box(i32x2::from_array([2, 0]));
    black_box(unsafe { simd_select(mask, mask, mask) }); // ERROR: undefined-behavior
}

#[dpor::test]
fn selection_by_more_bits_than_lanes() {
    let (mask, lanes) = black_box((0b1001u8, i32x2::splat(1)));
    black_box(unsafe { simd_select_bitmask(mask, lanes, lanes) }); // ERROR: undefined-behavior
}

#[dpor::test]
fn selection() {
    let (mask, other) = black_box((i32x2::from_array([-1, 0]), i32x2::splat(7)));
    assert_eq!(unsafe { simd_select(mask, mask, other) }.to_array(), [-1, 7]);
}

#[dpor::test]
fn lane_that_is_too_large() {
    let floats = black_box(f32x2::from_array([1.0, f32::MAX]));
    black_box(unsafe { simd_cast::<f32x2, i32x2>(floats) }); // ERROR: undefined-behavior
}

#[dpor::test]
fn load_that_is_not_aligned() {
    let numbers = black_box([0u32; 8]);
    let skip = usize::from(numbers.as_ptr().addr() % 16 == 0);
    let (pointer, mask) = (numbers.as_ptr().wrapping_add(skip), i32x4::splat(-1));
    // ERROR: misaligned
    black_box(unsafe { simd_masked_load::<_, _, _, { SimdAlign::Vector }>(mask, pointer, u32x4::splat(0)) });
}

#[dpor::test]
fn store_that_is_not_aligned() {
    let mut numbers = black_box([0u32; 8]);
    let skip = usize::from(numbers.as_ptr().addr() % 16 == 0);
    let (pointer, mask) = (numbers.as_mut_ptr().wrapping_add(skip), i32x4::splat(-1));
    // ERROR: misaligned
    unsafe { simd_masked_store::<_, _, _, { SimdAlign::Vector }>(mask, pointer, u32x4::splat(0)) };
}

#[dpor::test]
fn sum_with_what_is_no_number() {
    black_box(unsafe { fadd_fast(black_box(f32::NAN), 1.0) }); // ERROR: undefined-behavior
}

#[dpor::test]
fn quotient_that_is_infinite() {
    black_box(unsafe { fdiv_fast(1.0, black_box(0.0f64)) }); // ERROR: undefined-behavior
}

#[dpor::test]
fn quotient_that_is_finite() {
    assert_eq!(unsafe { fdiv_fast(1.0, black_box(4.0f64)) }, 0.25);
}
