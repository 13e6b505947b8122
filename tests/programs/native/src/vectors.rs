//! Vectors of the standard library.

use std::hint::black_box;
use std::intrinsics::simd::simd_bitmask;
use std::simd::num::{SimdFloat, SimdInt, SimdUint};
use std::simd::prelude::*;
use std::simd::{Select, StdFloat};

#[dpor::test]
fn integers() {
    let a = black_box(i32x4::from_array([1, -2, i32::MAX, 7]));
    let b = black_box(i32x4::from_array([5, 3, 1, -7]));
    println!("{:?} {:?} {:?} {:?}", a + b, a - b, a * b, -a);
    println!("{:?} {:?} {:?} {:?}", a & b, a | b, a ^ b, !a);
    println!("{:?} {:?} {:?}", a.saturating_add(b), a.saturating_sub(b), a.abs());
    println!("{} {} {} {}", a.reduce_sum(), a.reduce_product(), a.reduce_max(), a.reduce_min());
    println!("{} {} {}", a.reduce_and(), a.reduce_or(), a.reduce_xor());
    println!("{:?} {:?} {:?}", a.reverse_bits(), a.swap_bytes(), a.count_ones());
    println!("{:?} {:?}", a.leading_zeros(), a.trailing_zeros());
    println!("{:?} {:?}", a.simd_lt(b), a.simd_eq(b).to_bitmask());
    println!("{:?} {:?}", a.cast::<i64>(), a.cast::<f32>());
    let bytes = black_box(u8x16::from_array(std::array::from_fn(|i| i as u8 * 17)));
    println!("{:?} {:?} {}", bytes.reverse(), bytes.rotate_elements_left::<3>(), bytes.reduce_sum());
    println!("{:?}", bytes.swizzle_dyn(u8x16::splat(3)));
}

#[dpor::test]
fn floats() {
    let a = black_box(f32x4::from_array([1.5, -2.25, 0.0, 1e10]));
    let b = black_box(f32x4::from_array([0.5, f32::INFINITY, -0.0, 3.0]));
    println!("{:?} {:?} {:?} {:?} {:?}", a + b, a - b, a * b, a / b, -a);
    println!("{:?} {:?} {:?} {:?}", a.abs(), a.sqrt().is_nan(), a.floor(), a.ceil());
    println!("{:?} {:?} {:?} {:?}", a.round(), a.trunc(), a.fract(), a.mul_add(b, a));
    println!("{:?} {:?} {:?}", a.simd_min(b), a.simd_max(b), a.copysign(b));
    println!("{:?} {:?} {:?} {:?}", a.reduce_sum(), a.reduce_product(), a.reduce_max(), a.reduce_min());
    println!("{:?} {:?} {:?}", a.sin(), a.exp2(), a.abs().ln());
    println!("{:?} {:?}", a.cast::<i32>(), a.simd_clamp(f32x4::splat(-1.0), f32x4::splat(1.0)));
    println!("{:?} {:?}", a.to_bits(), a.recip());
    let doubles = black_box(f64x2::from_array([2.0, -3.5]));
    println!("{:?} {:?} {:?}", doubles.to_degrees(), doubles.signum(), -doubles);
    let halves = black_box(Simd::<f16, 4>::from_array([1.0, 0.333, 6e4, -0.0]));
    println!("{:?} {:?}", (halves + halves).to_array(), (halves * Simd::splat(0.1)).to_array());
    println!("{:?}", (-halves).to_array());
}

#[dpor::test]
fn masks() {
    let a = black_box(i16x8::from_array([1, 2, 3, 4, 5, 6, 7, 8]));
    let odd = (a & i16x8::splat(1)).simd_eq(i16x8::splat(1));
    println!("{:?} {:?} {:?}", odd.select(a, -a), odd.any(), odd.all());
    println!("{:b} {:?}", odd.to_bitmask(), mask16x8::from_bitmask(0b1100_0101));
    println!("{:?}", mask32x4::from_array([true, false, true, true]).select(f32x4::splat(1.0), f32x4::splat(2.0)));
}

#[dpor::test]
fn memory() {
    let data = black_box([10, 20, 30, 40, 50, 60]);
    let indices = black_box(usizex4::from_array([5, 0, 99, 2]));
    println!("{:?}", i32x4::gather_or(&data, indices, i32x4::splat(-1)));
    let mut target = [0; 6];
    i32x4::from_array([1, 2, 3, 4]).scatter(&mut target, indices);
    println!("{target:?}");
    println!("{:?} {:?}", i32x4::load_or_default(&data[..3]), i32x4::load_or_default(&data));
    let enable = mask32x4::from_array([true, false, false, true]);
    println!("{:?}", i32x4::load_select(&data, enable, i32x4::splat(7)));
    i32x4::splat(9).store_select(&mut target, enable);
    println!("{target:?}");
}

#[dpor::test]
fn masks_in_arrays() {
    let mask = black_box(mask8x32::from_array(std::array::from_fn(|lane| lane % 3 == 0)));
    println!("{:x}", mask.to_bitmask());
    // SAFETY: the array has a bit for each lane.
    let bytes: [u8; 3] =
        unsafe { simd_bitmask(black_box(Lanes(std::array::from_fn(|lane| -((lane % 5 == 0) as i8))))) };
    println!("{bytes:?}");
}

#[repr(simd)]
#[derive(Clone, Copy)]
struct Lanes([i8; 24]);
