//! Operations on floats, as native Rust does them.

pub(super) mod f128;
mod f16;

use crate::program::{FloatBinOp, FloatTy, FloatUnOp, IntTy};

use super::arith::sign_extend;

macro_rules! float_bin {
    ($float:ty, $op:expr, $a:expr, $b:expr, $bits:ty) => {{
        let (a, b) = (<$float>::from_bits($a as $bits), <$float>::from_bits($b as $bits));
        let number = |value: $float| u64::from(value.to_bits());
        match $op {
            FloatBinOp::Add => number(a + b),
            FloatBinOp::Sub => number(a - b),
            FloatBinOp::Mul => number(a * b),
            FloatBinOp::Div => number(a / b),
            FloatBinOp::Rem => number(a % b),
            FloatBinOp::Eq => u64::from(a == b),
            FloatBinOp::Ne => u64::from(a != b),
            FloatBinOp::Lt => u64::from(a < b),
            FloatBinOp::Le => u64::from(a <= b),
            FloatBinOp::Gt => u64::from(a > b),
            FloatBinOp::Ge => u64::from(a >= b),
            FloatBinOp::Min => number(a.min(b)),
            FloatBinOp::Max => number(a.max(b)),
            FloatBinOp::Minimum => number(match (a.is_nan() || b.is_nan(), a == b) {
                (true, _) => <$float>::NAN,
                (_, true) => <$float>::from_bits(a.to_bits() | b.to_bits()),
                _ => a.min(b),
            }),
            FloatBinOp::Maximum => number(match (a.is_nan() || b.is_nan(), a == b) {
                (true, _) => <$float>::NAN,
                (_, true) => <$float>::from_bits(a.to_bits() & b.to_bits()),
                _ => a.max(b),
            }),
            FloatBinOp::CopySign => number(a.copysign(b)),
            FloatBinOp::Pow => number(a.powf(b)),
            FloatBinOp::Atan2 => number(a.atan2(b)),
            FloatBinOp::Hypot => number(a.hypot(b)),
            FloatBinOp::Dim if a <= b => 0,
            FloatBinOp::Dim => number(a - b),
        }
    }};
}

/// A binary operation.
#[inline]
pub fn bin(op: FloatBinOp, ty: FloatTy, a: u64, b: u64) -> u64 {
    match ty {
        FloatTy::F16 => f16::bin(op, a, b),
        FloatTy::F32 => float_bin!(f32, op, a, b, u32),
        FloatTy::F64 => float_bin!(f64, op, a, b, u64),
    }
}

macro_rules! float_un {
    ($float:ty, $op:expr, $a:expr, $bits:ty) => {{
        let a = <$float>::from_bits($a as $bits);
        let result = match $op {
            FloatUnOp::Neg => -a,
            FloatUnOp::Abs => a.abs(),
            FloatUnOp::Sqrt => a.sqrt(),
            FloatUnOp::Floor => a.floor(),
            FloatUnOp::Ceil => a.ceil(),
            FloatUnOp::Trunc => a.trunc(),
            FloatUnOp::Round => a.round(),
            FloatUnOp::RoundTiesEven => a.round_ties_even(),
            FloatUnOp::Exp => a.exp(),
            FloatUnOp::Exp2 => a.exp2(),
            FloatUnOp::ExpM1 => a.exp_m1(),
            FloatUnOp::Ln => a.ln(),
            FloatUnOp::Ln1p => a.ln_1p(),
            FloatUnOp::Log2 => a.log2(),
            FloatUnOp::Log10 => a.log10(),
            FloatUnOp::Sin => a.sin(),
            FloatUnOp::Cos => a.cos(),
            FloatUnOp::Tan => a.tan(),
            FloatUnOp::Asin => a.asin(),
            FloatUnOp::Acos => a.acos(),
            FloatUnOp::Atan => a.atan(),
            FloatUnOp::Sinh => a.sinh(),
            FloatUnOp::Cosh => a.cosh(),
            FloatUnOp::Tanh => a.tanh(),
            FloatUnOp::Asinh => a.asinh(),
            FloatUnOp::Acosh => a.acosh(),
            FloatUnOp::Atanh => a.atanh(),
            FloatUnOp::Cbrt => a.cbrt(),
            FloatUnOp::Gamma => libm::tgamma(a.into()) as $float,
            FloatUnOp::LnGamma => libm::lgamma(a.into()) as $float,
            FloatUnOp::Erf => libm::erf(a.into()) as $float,
            FloatUnOp::Erfc => libm::erfc(a.into()) as $float,
            FloatUnOp::Significand => libm::frexp(a.into()).0 as $float,
            FloatUnOp::Exponent => libm::frexp(a.into()).1 as $float,
        };
        u64::from(result.to_bits())
    }};
}

/// A unary operation.
#[inline]
pub fn un(op: FloatUnOp, ty: FloatTy, a: u64) -> u64 {
    match ty {
        FloatTy::F16 => f16::un(op, a),
        FloatTy::F32 => float_un!(f32, op, a, u32),
        FloatTy::F64 => float_un!(f64, op, a, u64),
    }
}

/// `a * b + c`, rounded once.
pub fn mul_add(ty: FloatTy, a: u64, b: u64, c: u64) -> u64 {
    match ty {
        FloatTy::F16 => f16::mul_add(a, b, c),
        FloatTy::F32 => {
            let [a, b, c] = [a, b, c].map(|bits| f32::from_bits(bits as u32));
            u64::from(a.mul_add(b, c).to_bits())
        }
        FloatTy::F64 => {
            let [a, b, c] = [a, b, c].map(f64::from_bits);
            a.mul_add(b, c).to_bits()
        }
    }
}

/// `a` to an integer power.
pub fn powi(ty: FloatTy, a: u64, exp: u64) -> u64 {
    let power = exp as u32 as i32;
    match ty {
        FloatTy::F16 => f16::from_f32(powi(FloatTy::F32, f16::to_f32(a), exp)),
        FloatTy::F32 => u64::from(f32::from_bits(a as u32).powi(power).to_bits()),
        FloatTy::F64 => f64::from_bits(a).powi(power).to_bits(),
    }
}

/// `a` times two to an integer power.
pub fn scale(ty: FloatTy, a: u64, exp: u64) -> u64 {
    // In `f64` it is exact for the smaller types, or far out of their range.
    let scaled = libm::ldexp(f64::from_bits(cast(ty, FloatTy::F64, a)), exp as u32 as i32);
    cast(FloatTy::F64, ty, scaled.to_bits())
}

/// From one float type to another.
#[inline]
pub fn cast(from: FloatTy, to: FloatTy, a: u64) -> u64 {
    match (from, to) {
        (FloatTy::F32, FloatTy::F64) => f64::from(f32::from_bits(a as u32)).to_bits(),
        (FloatTy::F64, FloatTy::F32) => u64::from((f64::from_bits(a) as f32).to_bits()),
        (FloatTy::F32, FloatTy::F16) => f16::from_f32(a),
        (FloatTy::F64, FloatTy::F16) => f16::from_f64(a),
        (FloatTy::F16, FloatTy::F32) => f16::to_f32(a),
        (FloatTy::F16, FloatTy::F64) => cast(FloatTy::F32, FloatTy::F64, f16::to_f32(a)),
        (FloatTy::F16, FloatTy::F16) | (FloatTy::F32, FloatTy::F32) | (FloatTy::F64, FloatTy::F64) => a,
    }
}

/// From an integer.
#[inline]
pub fn from_int(from: IntTy, to: FloatTy, a: u64) -> u64 {
    let signed = sign_extend(a, from.width);
    match (to, from.signed) {
        // What an `f32` has to round is beyond the largest `f16`.
        (FloatTy::F16, _) => f16::from_f32(from_int(from, FloatTy::F32, a)),
        (FloatTy::F32, true) => u64::from((signed as f32).to_bits()),
        (FloatTy::F32, false) => u64::from((a as f32).to_bits()),
        (FloatTy::F64, true) => (signed as f64).to_bits(),
        (FloatTy::F64, false) => (a as f64).to_bits(),
    }
}

/// From a 128-bit integer.
pub fn from_int128(signed: bool, to: FloatTy, a: u128) -> u64 {
    match (to, signed) {
        (FloatTy::F16, _) => f16::from_f32(from_int128(signed, FloatTy::F32, a)),
        (FloatTy::F32, true) => u64::from((a as i128 as f32).to_bits()),
        (FloatTy::F32, false) => u64::from((a as f32).to_bits()),
        (FloatTy::F64, true) => (a as i128 as f64).to_bits(),
        (FloatTy::F64, false) => (a as f64).to_bits(),
    }
}

/// To an integer: saturates, and NaN gives 0.
#[inline]
pub fn to_int(from: FloatTy, to: IntTy, a: u64) -> u64 {
    // Widening to f64 is exact; so is the saturation to 64 bits for every narrower type.
    let a = f64::from_bits(cast(from, FloatTy::F64, a));
    let mask = to.width.mask();
    if to.signed {
        let max = (mask >> 1) as i64;
        (a as i64).clamp(-max - 1, max) as u64 & mask
    } else {
        (a as u64).min(mask)
    }
}

/// To a 128-bit integer: saturates, and NaN gives 0.
pub fn to_int128(from: FloatTy, signed: bool, a: u64) -> u128 {
    let a = f64::from_bits(cast(from, FloatTy::F64, a));
    if signed { a as i128 as u128 } else { a as u128 }
}
