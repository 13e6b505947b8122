//! Operations on `f128`.

use rustc_apfloat::ieee::{Double, Half, Quad, Single};
use rustc_apfloat::{Float, FloatConvert, Round};

use crate::program::{F128BinOp, F128UnOp, FloatTy, IntTy};

use crate::vm::arith::sign_extend;

const SIGN: u128 = 1 << 127;
/// Bits of the fraction.
const FRACTION: u32 = 112;
const EXPONENT_BIAS: i32 = 16383;
const INFINITY: u128 = 0x7fff << FRACTION;
const NAN: u128 = INFINITY | 1 << (FRACTION - 1);

/// A binary operation; comparisons give 0 or 1.
pub fn bin(op: F128BinOp, a: u128, b: u128) -> u128 {
    let (x, y) = (Quad::from_bits(a), Quad::from_bits(b));
    match op {
        F128BinOp::Add => (x + y).value.to_bits(),
        F128BinOp::Sub => (x - y).value.to_bits(),
        F128BinOp::Mul => (x * y).value.to_bits(),
        F128BinOp::Div => (x / y).value.to_bits(),
        F128BinOp::Rem => x.c_fmod(y).value.to_bits(),
        F128BinOp::Eq => u128::from(x == y),
        F128BinOp::Ne => u128::from(x != y),
        F128BinOp::Lt => u128::from(x < y),
        F128BinOp::Le => u128::from(x <= y),
        F128BinOp::Gt => u128::from(x > y),
        F128BinOp::Ge => u128::from(x >= y),
        F128BinOp::Min => x.min(y).to_bits(),
        F128BinOp::Max => x.max(y).to_bits(),
        F128BinOp::Minimum => x.minimum(y).to_bits(),
        F128BinOp::Maximum => x.maximum(y).to_bits(),
        F128BinOp::Dim if x <= y => 0,
        F128BinOp::Dim => (x - y).value.to_bits(),
        F128BinOp::CopySign => a & !SIGN | b & SIGN,
    }
}

/// A unary operation.
pub fn un(op: F128UnOp, a: u128) -> u128 {
    let round = |mode| Quad::from_bits(a).round_to_integral(mode).value.to_bits();
    match op {
        F128UnOp::Neg => a ^ SIGN,
        F128UnOp::Abs => a & !SIGN,
        F128UnOp::Sqrt => sqrt(a),
        F128UnOp::Floor => round(Round::TowardNegative),
        F128UnOp::Ceil => round(Round::TowardPositive),
        F128UnOp::Trunc => round(Round::TowardZero),
        F128UnOp::Round => round(Round::NearestTiesToAway),
        F128UnOp::RoundTiesEven => round(Round::NearestTiesToEven),
    }
}

/// `a * b + c`, rounded once.
pub fn mul_add(a: u128, b: u128, c: u128) -> u128 {
    let [a, b, c] = [a, b, c].map(Quad::from_bits);
    a.mul_add(b, c).value.to_bits()
}

/// `a` to an integer power, by squaring.
pub fn powi(a: u128, exp: u64) -> u128 {
    let exp = exp as u32 as i32;
    let one = Quad::from_u128(1).value;
    let (mut base, mut result, mut left) = (Quad::from_bits(a), one, exp.unsigned_abs());
    loop {
        if left & 1 == 1 {
            result = (result * base).value;
        }
        left >>= 1;
        if left == 0 {
            break;
        }
        base = (base * base).value;
    }
    let result = if exp < 0 { (one / result).value } else { result };
    result.to_bits()
}

/// `a` times two to an integer power.
pub fn scale(a: u128, exp: u64) -> u128 {
    Quad::from_bits(a).scalbn(exp as u32 as i32).to_bits()
}

/// The square root, rounded to the nearest.
fn sqrt(a: u128) -> u128 {
    if a & !SIGN > INFINITY {
        return a | NAN;
    }
    if a & !SIGN == 0 || a == INFINITY {
        return a;
    }
    if a & SIGN != 0 {
        return NAN;
    }
    // The value is `significand * 2^exponent`, with the highest bit of 113 set.
    let (biased, fraction) = ((a >> FRACTION) as i32, a & ((1 << FRACTION) - 1));
    let (significand, exponent) = if biased == 0 {
        let shift = fraction.leading_zeros() - (127 - FRACTION);
        (fraction << shift, 1 - shift as i32)
    } else {
        (fraction | 1 << FRACTION, biased)
    };
    let exponent = exponent - EXPONENT_BIAS - FRACTION as i32;
    // Enough zeros behind it for a root of 114 bits, and an even exponent.
    let zeros = 114 + ((exponent - 114) & 1);
    let (root, exact) = integer_root(significand, zeros as u32);
    let round_up = root & 1 == 1 && (!exact || root >> 1 & 1 == 1);
    let rounded = (root >> 1) + u128::from(round_up);
    let exponent = (exponent - zeros) / 2 + 1 + FRACTION as i32 + EXPONENT_BIAS;
    // The highest bit of the significand adds one to the exponent.
    (((exponent - 1) as u128) << FRACTION) + rounded
}

/// The root of `significand << zeros`, a number of at most 228 bits, and whether it is exact. Digit by digit.
fn integer_root(significand: u128, zeros: u32) -> (u128, bool) {
    let bit = |index: u32| if index < zeros { 0 } else { significand >> (index - zeros) & 1 };
    let (mut root, mut rest) = (0u128, 0u128);
    for pair in (0..114).rev() {
        rest = rest << 2 | bit(2 * pair + 1) << 1 | bit(2 * pair);
        let trial = root << 2 | 1;
        root <<= 1;
        if rest >= trial {
            rest -= trial;
            root |= 1;
        }
    }
    (root, rest == 0)
}

/// From another type: exact.
pub fn from_float(from: FloatTy, a: u64) -> u128 {
    let bits = u128::from(a);
    let value: Quad = match from {
        FloatTy::F16 => Half::from_bits(bits).convert(&mut false).value,
        FloatTy::F32 => Single::from_bits(bits).convert(&mut false).value,
        FloatTy::F64 => Double::from_bits(bits).convert(&mut false).value,
    };
    value.to_bits()
}

/// To the nearest of another type.
pub fn to_float(to: FloatTy, a: u128) -> u64 {
    let value = Quad::from_bits(a);
    let bits = match to {
        FloatTy::F16 => FloatConvert::<Half>::convert(value, &mut false).value.to_bits(),
        FloatTy::F32 => FloatConvert::<Single>::convert(value, &mut false).value.to_bits(),
        FloatTy::F64 => FloatConvert::<Double>::convert(value, &mut false).value.to_bits(),
    };
    bits as u64
}

/// From an integer.
pub fn from_int(from: IntTy, a: u64) -> u128 {
    let value = if from.signed { i128::from(sign_extend(a, from.width)) } else { i128::from(a) };
    from_int128(true, value as u128)
}

/// From a 128-bit integer.
pub fn from_int128(signed: bool, a: u128) -> u128 {
    let value = if signed { Quad::from_i128(a as i128) } else { Quad::from_u128(a) };
    value.value.to_bits()
}

/// To an integer: saturates, and NaN gives 0.
pub fn to_int(to: IntTy, a: u128) -> u64 {
    let (value, bits) = (Quad::from_bits(a), to.width.bits() as usize);
    if to.signed { value.to_i128(bits).value as u64 & to.width.mask() } else { value.to_u128(bits).value as u64 }
}

/// To a 128-bit integer: saturates, and NaN gives 0.
pub fn to_int128(signed: bool, a: u128) -> u128 {
    let value = Quad::from_bits(a);
    if signed { value.to_i128(128).value as u128 } else { value.to_u128(128).value }
}
