//! `f16` and `f128`: known bit patterns, and agreement with `f64` where that has the digits for it.

use proptest::prelude::*;

use crate::program::{F128BinOp, F128UnOp, FloatBinOp, FloatTy, FloatUnOp, IntTy, Op, Width};

use super::compute::{compute, one};

const F16: FloatTy = FloatTy::F16;
const F64: FloatTy = FloatTy::F64;

const HALF_NAN: u64 = 0x7e00;
const QUAD_ONE: u128 = 0x3fff << 112;
const QUAD_INFINITY: u128 = 0x7fff << 112;
const QUAD_NAN: u128 = QUAD_INFINITY | 1 << 111;
const SIGN: u128 = 1 << 127;

fn halves(op: FloatBinOp, a: u64, b: u64) -> u64 {
    one(&[a, b], |r| vec![Op::FloatBin { op, ty: F16, dst: r(10), a: r(0), b: r(1) }])
}

fn half(op: FloatUnOp, a: u64) -> u64 {
    one(&[a], |r| vec![Op::FloatUn { op, ty: F16, dst: r(10), src: r(0) }])
}

fn cast(from: FloatTy, to: FloatTy, a: u64) -> u64 {
    one(&[a], |r| vec![Op::FloatCast { from, to, dst: r(10), src: r(0) }])
}

fn words(values: &[u128]) -> Vec<u64> {
    values.iter().flat_map(|value| [*value as u64, (*value >> 64) as u64]).collect()
}

/// The pair that operations leave in registers 10 and 11.
fn pair(inputs: &[u64], op: impl Fn(&dyn Fn(u16) -> crate::program::Reg) -> Op) -> u128 {
    let out = compute(inputs, &[10, 11], |r| vec![op(r)]).expect("operations that do not fail");
    u128::from(out[0]) | u128::from(out[1]) << 64
}

fn quads(op: F128BinOp, a: u128, b: u128) -> u128 {
    let inputs = words(&[a, b]);
    if op.compares() {
        return one(&inputs, |r| vec![Op::F128Bin { op, dst: r(10), a: r(0), b: r(2) }]).into();
    }
    pair(&inputs, |r| Op::F128Bin { op, dst: r(10), a: r(0), b: r(2) })
}

fn quad(op: F128UnOp, a: u128) -> u128 {
    pair(&words(&[a]), |r| Op::F128Un { op, dst: r(10), src: r(0) })
}

fn widen(a: f64) -> u128 {
    pair(&[a.to_bits()], |r| Op::FloatToF128 { from: F64, dst: r(10), src: r(0) })
}

fn narrow(a: u128) -> f64 {
    f64::from_bits(one(&words(&[a]), |r| vec![Op::F128ToFloat { to: F64, dst: r(10), src: r(0) }]))
}

#[test]
fn known_halves() {
    // 1, 2, 3, 1/3 and the ends of the format: IEEE 754 binary16, 5 bits of exponent (bias 15), 10 of fraction.
    let (one, two, three, third) = (0x3c00, 0x4000, 0x4200, 0x3555);
    let (max, smallest, infinity) = (0x7bff, 0x0001, 0x7c00);
    assert_eq!(halves(FloatBinOp::Add, one, two), three);
    assert_eq!(halves(FloatBinOp::Div, one, three), third);
    assert_eq!(halves(FloatBinOp::Add, max, max), infinity);
    // 65504 + 16 lies between 65504 and 65536, which would be next: ties to even, that is up.
    assert_eq!(halves(FloatBinOp::Add, max, 0x4c00), infinity);
    assert_eq!(halves(FloatBinOp::Add, max, 0x4bff), max);
    // Half of the smallest number ties to zero, with the sign of the product.
    assert_eq!(halves(FloatBinOp::Mul, smallest, 0xb800), 0x8000);
    assert_eq!(halves(FloatBinOp::Rem, 0x4500, two), one);
    assert_eq!(halves(FloatBinOp::Maximum, HALF_NAN, one) & 0x7fff, HALF_NAN);
    assert_eq!(halves(FloatBinOp::Max, HALF_NAN, one), one);
    assert_eq!(halves(FloatBinOp::Dim, one, three), 0);
    assert_eq!(halves(FloatBinOp::Lt, one, three), 1);
    assert_eq!(half(FloatUnOp::Sqrt, two), 0x3da8);
    // Signs change without a look at the rest, a signalling NaN included.
    assert_eq!(half(FloatUnOp::Neg, 0x7d01), 0xfd01);
    assert_eq!(half(FloatUnOp::Abs, 0xfd01), 0x7d01);
    assert_eq!(halves(FloatBinOp::CopySign, 0x7d01, 0x8000), 0xfd01);
}

#[test]
fn half_casts() {
    // 1 + 2^-11 is between 1 and the next number: to even. A little more, which an `f32` cannot hold, is up.
    assert_eq!(cast(F64, F16, (1.0 + 2f64.powi(-11)).to_bits()), 0x3c00);
    assert_eq!(cast(F64, F16, (1.0 + 2f64.powi(-11) + 2f64.powi(-40)).to_bits()), 0x3c01);
    let int = |from: IntTy, value: u64| {
        super::compute::one(&[value], |r| vec![Op::IntToFloat { from, to: F16, dst: r(10), src: r(0) }])
    };
    assert_eq!(int(IntTy::U64, 65519), 0x7bff);
    assert_eq!(int(IntTy::U64, 65520), 0x7c00);
    assert_eq!(int(IntTy { width: Width::W8, signed: true }, 0xff), 0xbc00);
    let to = |to: IntTy, bits: u64| {
        super::compute::one(&[bits], |r| vec![Op::FloatToInt { from: F16, to, dst: r(10), src: r(0) }])
    };
    assert_eq!(to(IntTy::U8, 0x7c00), 255);
    assert_eq!(to(IntTy { width: Width::W16, signed: true }, 0xfc00), 0x8000);
    assert_eq!(to(IntTy::U64, HALF_NAN), 0);
}

#[test]
fn half_mul_add_rounds_once() {
    // (1 + 2^-10) * (1 - 2^-10) * 2^-11 = 2^-11 - 2^-31: with 1 + 2^-10 just below the tie to 1 + 2^-9, on which an
    // `f32` in between would land.
    let (a, b) = (0x3c01, 0x0ffe);
    let sum = one(&[a, b, a], |r| vec![Op::FloatMulAdd { ty: F16, dst: r(10), a: r(0), b: r(1), c: r(2) }]);
    assert_eq!(sum, 0x3c01);
    let parts = one(&[a, b, a], |r| {
        let product = Op::FloatBin { op: FloatBinOp::Mul, ty: F16, dst: r(10), a: r(0), b: r(1) };
        vec![product, Op::FloatBin { op: FloatBinOp::Add, ty: F16, dst: r(10), a: r(10), b: r(2) }]
    });
    // 2^-11 - 2^-31 rounds to 2^-11, and that makes the tie.
    assert_eq!(parts, 0x3c02);
}

#[test]
fn known_quads() {
    let two = 0x4000u128 << 112;
    let three = quads(F128BinOp::Add, QUAD_ONE, two);
    assert_eq!(three, 0x4000_8000_0000_0000_0000_0000_0000_0000);
    assert_eq!(quads(F128BinOp::Div, QUAD_ONE, three), 0x3ffd_5555_5555_5555_5555_5555_5555_5555);
    assert_eq!(quads(F128BinOp::Sub, QUAD_ONE, QUAD_ONE), 0);
    assert_eq!(quads(F128BinOp::Mul, three, two), 0x4001_8000_0000_0000_0000_0000_0000_0000);
    assert_eq!(quads(F128BinOp::Rem, three, two), QUAD_ONE);
    // The root of two is 1.6a09e667f3bcc908b2fb1366ea957d3e... in hexadecimal digits.
    assert_eq!(quad(F128UnOp::Sqrt, two), 0x3fff_6a09_e667_f3bc_c908_b2fb_1366_ea95);
    // 2^-16494, the smallest number, has the root 2^-8247.
    assert_eq!(quad(F128UnOp::Sqrt, 1), (16383 - 8247) << 112);
    assert_eq!(quad(F128UnOp::Sqrt, SIGN), SIGN);
    assert_eq!(quad(F128UnOp::Sqrt, QUAD_INFINITY), QUAD_INFINITY);
    assert_eq!(quad(F128UnOp::Sqrt, SIGN | QUAD_ONE), QUAD_NAN);
    assert_eq!(quad(F128UnOp::Neg, QUAD_NAN), SIGN | QUAD_NAN);
    assert_eq!(quads(F128BinOp::Min, QUAD_NAN, two), two);
    assert_eq!(quads(F128BinOp::Minimum, QUAD_NAN, two), QUAD_NAN);
    assert_eq!(quads(F128BinOp::Minimum, 0, SIGN), SIGN);
    assert_eq!(quads(F128BinOp::Maximum, SIGN, 0), 0);
    assert_eq!(quads(F128BinOp::Ne, QUAD_NAN, QUAD_NAN), 1);
    assert_eq!(quads(F128BinOp::CopySign, two, SIGN), SIGN | two);
    // 1 + 2^-112, squared, is 1 + 2^-111 + 2^-224: what is beyond the format remains when the rest is taken away.
    let next = QUAD_ONE + 1;
    let square = quads(F128BinOp::Mul, next, next);
    let rest = pair(&words(&[next, next, SIGN | square]), |r| Op::F128MulAdd { dst: r(10), a: r(0), b: r(2), c: r(4) });
    assert_eq!((square, rest), (QUAD_ONE + 2, (16383 - 224) << 112));
    let exp = |value: i32| u64::from(value as u32);
    let powi = |power: i32| {
        let inputs = [words(&[three]), vec![exp(power)]].concat();
        pair(&inputs, |r| Op::F128Powi { dst: r(10), src: r(0), exp: r(2) })
    };
    assert_eq!((narrow(powi(5)), powi(-1), powi(0)), (243.0, quads(F128BinOp::Div, QUAD_ONE, three), QUAD_ONE));
    let inputs = [words(&[three]), vec![exp(-2)]].concat();
    assert_eq!(narrow(pair(&inputs, |r| Op::F128Scale { dst: r(10), src: r(0), exp: r(2) })), 0.75);
}

#[test]
fn quad_casts() {
    let from = |from: IntTy, value: u64| pair(&[value], |r| Op::IntToF128 { from, dst: r(10), src: r(0) });
    assert_eq!(from(IntTy { width: Width::W16, signed: true }, 0xffff), SIGN | QUAD_ONE);
    // 64 bits fit exactly: 2^64 - 1 is 2^63 * (1 + 63 ones).
    assert_eq!(from(IntTy::U64, u64::MAX), (16383 + 63) << 112 | (u128::MAX >> 65) << 49);
    let from128 = |signed, value: u128| pair(&words(&[value]), |r| Op::Int128ToF128 { signed, dst: r(10), src: r(0) });
    assert_eq!(from128(false, u128::MAX), (16383 + 128) << 112);
    assert_eq!(from128(true, u128::MAX), SIGN | QUAD_ONE);
    let to = |to: IntTy, value: u128| one(&words(&[value]), |r| vec![Op::F128ToInt { to, dst: r(10), src: r(0) }]);
    let i32 = IntTy { width: Width::W32, signed: true };
    assert_eq!(to(i32, widen(-2.75)), u64::from(-2i32 as u32));
    assert_eq!((to(i32, widen(1e10)), to(i32, widen(-1e10))), (i32::MAX as u64, u64::from(i32::MIN as u32)));
    assert_eq!((to(IntTy::U8, widen(-1.0)), to(IntTy::U8, widen(256.0)), to(IntTy::U8, QUAD_NAN)), (0, 255, 0));
    let to128 = |signed, value: u128| pair(&words(&[value]), |r| Op::F128ToInt128 { signed, dst: r(10), src: r(0) });
    assert_eq!((to128(false, QUAD_INFINITY), to128(true, QUAD_INFINITY)), (u128::MAX, i128::MAX as u128));
    assert_eq!((to128(true, SIGN | QUAD_INFINITY), to128(true, QUAD_NAN)), (i128::MIN as u128, 0));
}

#[test]
fn scaling_and_splitting() {
    let scale = |a: f64, exp: i32| {
        let bits = one(&[a.to_bits(), u64::from(exp as u32)], |r| {
            vec![Op::FloatScale { ty: F64, dst: r(10), src: r(0), exp: r(1) }]
        });
        f64::from_bits(bits)
    };
    assert_eq!((scale(0.75, 4), scale(1.0, -1074), scale(1.0, 5000)), (12.0, f64::from_bits(1), f64::INFINITY));
    let un =
        |op, a: f64| f64::from_bits(one(&[a.to_bits()], |r| vec![Op::FloatUn { op, ty: F64, dst: r(10), src: r(0) }]));
    assert_eq!((un(FloatUnOp::Significand, -12.0), un(FloatUnOp::Exponent, -12.0)), (-0.75, 4.0));
    assert_eq!((un(FloatUnOp::Significand, 0.0), un(FloatUnOp::Exponent, 0.0)), (0.0, 0.0));
}

/// Equal, all NaNs alike.
fn same(ours: f64, native: f64) -> bool {
    ours.to_bits() == native.to_bits() || (ours.is_nan() && native.is_nan())
}

proptest! {
    // A format of at least twice the digits and two more: rounding its result again gives the result of the smaller
    // format. That holds for sums, differences, products, quotients and roots.

    #[test]
    fn halves_agree_with_doubles(a in any::<u16>(), b in any::<u16>()) {
        let (a, b) = (u64::from(a), u64::from(b));
        let (x, y) = (f64::from_bits(cast(F16, F64, a)), f64::from_bits(cast(F16, F64, b)));
        let half_of = |native: f64| cast(F64, F16, native.to_bits());
        let same = |ours: u64, native: u64| ours == native || (ours & 0x7fff > 0x7c00 && native & 0x7fff > 0x7c00);
        prop_assert!(same(cast(F64, F16, x.to_bits()), a));
        for (op, native) in [
            (FloatBinOp::Add, x + y),
            (FloatBinOp::Sub, x - y),
            (FloatBinOp::Mul, x * y),
            (FloatBinOp::Div, x / y),
            (FloatBinOp::Rem, x % y),
        ] {
            prop_assert!(same(halves(op, a, b), half_of(native)), "{:?}", op);
        }
        for (op, native) in [
            (FloatUnOp::Sqrt, x.sqrt()),
            (FloatUnOp::Floor, x.floor()),
            (FloatUnOp::Ceil, x.ceil()),
            (FloatUnOp::Trunc, x.trunc()),
            (FloatUnOp::Round, x.round()),
            (FloatUnOp::RoundTiesEven, x.round_ties_even()),
        ] {
            prop_assert!(same(half(op, a), half_of(native)), "{:?}", op);
        }
        prop_assert_eq!(halves(FloatBinOp::Le, a, b), u64::from(x <= y));
    }

    #[test]
    fn quads_agree_with_doubles(a in any::<f64>(), b in any::<f64>()) {
        let (x, y) = (widen(a), widen(b));
        prop_assert!(same(narrow(x), a));
        for (op, native) in [
            (F128BinOp::Add, a + b),
            (F128BinOp::Sub, a - b),
            (F128BinOp::Mul, a * b),
            (F128BinOp::Div, a / b),
            (F128BinOp::Rem, a % b),
        ] {
            prop_assert!(same(narrow(quads(op, x, y)), native), "{:?}", op);
        }
        for (op, native) in [
            (F128UnOp::Sqrt, a.sqrt()),
            (F128UnOp::Floor, a.floor()),
            (F128UnOp::Ceil, a.ceil()),
            (F128UnOp::Trunc, a.trunc()),
            (F128UnOp::Round, a.round()),
            (F128UnOp::RoundTiesEven, a.round_ties_even()),
        ] {
            prop_assert!(same(narrow(quad(op, x)), native), "{:?}", op);
        }
        prop_assert_eq!(quads(F128BinOp::Lt, x, y), u128::from(a < b));
    }

    /// A root is the nearest number: its square and those of its neighbours are on the right sides.
    #[test]
    fn quad_roots(exponent in 1u128..0x7fff, fraction in any::<u128>()) {
        let a = exponent << 112 | fraction >> 16;
        let root = quad(F128UnOp::Sqrt, a);
        // `r * r - a`, rounded once, has the right sign.
        let error = |r: u128| pair(&words(&[r, r, SIGN | a]), |reg| Op::F128MulAdd { dst: reg(10), a: reg(0), b: reg(2), c: reg(4) });
        prop_assert_eq!(quads(F128BinOp::Lt, error(root - 1), 0), 1);
        prop_assert_eq!(quads(F128BinOp::Gt, error(root + 1), 0), 1);
    }
}
