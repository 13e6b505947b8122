//! Operations on `f16`: those of `f32`, rounded once more.
//!
//! `f32` has more than twice the digits of `f16`, so that the second rounding does not show in sums, differences,
//! products, quotients and square roots; the other operations are exact, or defined in just this way. What takes three
//! operands has to be rounded once.

use rustc_apfloat::ieee::{Double, Half, Single};
use rustc_apfloat::{Float, FloatConvert};

use crate::program::{FloatBinOp, FloatTy, FloatUnOp};

use crate::vm::float;

const SIGN: u64 = 1 << 15;

/// As an `f32`: exact.
#[cold]
pub fn to_f32(a: u64) -> u64 {
    let value: Single = Half::from_bits(u128::from(a)).convert(&mut false).value;
    value.to_bits() as u64
}

/// The nearest to an `f32`.
#[cold]
pub fn from_f32(a: u64) -> u64 {
    let value: Half = Single::from_bits(u128::from(a)).convert(&mut false).value;
    value.to_bits() as u64
}

/// The nearest to an `f64`.
#[cold]
pub fn from_f64(a: u64) -> u64 {
    let value: Half = Double::from_bits(u128::from(a)).convert(&mut false).value;
    value.to_bits() as u64
}

/// A binary operation.
#[cold]
pub fn bin(op: FloatBinOp, a: u64, b: u64) -> u64 {
    if op == FloatBinOp::CopySign {
        return a & !SIGN | b & SIGN;
    }
    let result = float::bin(op, FloatTy::F32, to_f32(a), to_f32(b));
    if op.compares() { result } else { from_f32(result) }
}

/// A unary operation.
#[cold]
pub fn un(op: FloatUnOp, a: u64) -> u64 {
    match op {
        FloatUnOp::Neg => a ^ SIGN,
        FloatUnOp::Abs => a & !SIGN,
        _ => from_f32(float::un(op, FloatTy::F32, to_f32(a))),
    }
}

/// `a * b + c`, rounded once.
#[cold]
pub fn mul_add(a: u64, b: u64, c: u64) -> u64 {
    let [a, b, c] = [a, b, c].map(|bits| Half::from_bits(u128::from(bits)));
    a.mul_add(b, c).value.to_bits() as u64
}
