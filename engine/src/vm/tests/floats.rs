//! Float operations agree with native ones.

use proptest::prelude::*;

use crate::program::{FloatBinOp, FloatTy, FloatUnOp, IntTy, Op, Width};

use super::compute::{compute, one};

const F32: FloatTy = FloatTy::F32;
const F64: FloatTy = FloatTy::F64;

fn doubles() -> impl Strategy<Value = f64> {
    prop_oneof![
        any::<f64>(),
        prop::sample::select(
            &[0.0, -0.0, 1.0, -1.5, f64::NAN, f64::INFINITY, f64::NEG_INFINITY, f64::MIN_POSITIVE, 1e300][..]
        ),
        -1000.0..1000.0
    ]
}

/// Equal, all NaNs alike.
fn same(ours: u64, native: f64) -> bool {
    ours == native.to_bits() || (native.is_nan() && f64::from_bits(ours).is_nan())
}

fn same32(ours: u64, native: f32) -> bool {
    ours == u64::from(native.to_bits()) || (native.is_nan() && f32::from_bits(ours as u32).is_nan())
}

proptest! {
    #[test]
    fn binary(a in doubles(), b in doubles()) {
        let ours = |op| one(&[a.to_bits(), b.to_bits()], |r| vec![Op::FloatBin { op, ty: F64, dst: r(10), a: r(0), b: r(1) }]);
        let (x, y) = (a as f32, b as f32);
        let (xb, yb) = (u64::from(x.to_bits()), u64::from(y.to_bits()));
        let ours32 = |op| one(&[xb, yb], |r| vec![Op::FloatBin { op, ty: F32, dst: r(10), a: r(0), b: r(1) }]);
        for (op, double, single) in [
            (FloatBinOp::Add, a + b, x + y),
            (FloatBinOp::Sub, a - b, x - y),
            (FloatBinOp::Mul, a * b, x * y),
            (FloatBinOp::Div, a / b, x / y),
            (FloatBinOp::Rem, a % b, x % y),
            (FloatBinOp::CopySign, a.copysign(b), x.copysign(y)),
            (FloatBinOp::Pow, a.powf(b), x.powf(y)),
            (FloatBinOp::Atan2, a.atan2(b), x.atan2(y)),
            (FloatBinOp::Hypot, a.hypot(b), x.hypot(y)),
        ] {
            prop_assert!(same(ours(op), double), "{:?}", op);
            prop_assert!(same32(ours32(op), single), "{:?}", op);
        }
        for (op, double) in [
            (FloatBinOp::Eq, a == b),
            (FloatBinOp::Ne, a != b),
            (FloatBinOp::Lt, a < b),
            (FloatBinOp::Le, a <= b),
            (FloatBinOp::Gt, a > b),
            (FloatBinOp::Ge, a >= b),
        ] {
            prop_assert_eq!(ours(op), u64::from(double));
        }
        if a != b {
            prop_assert!(same(ours(FloatBinOp::Min), a.min(b)) && same(ours(FloatBinOp::Max), a.max(b)));
        }
        let nan = a.is_nan() || b.is_nan();
        prop_assert_eq!(f64::from_bits(ours(FloatBinOp::Minimum)).is_nan(), nan);
        prop_assert!(nan || a == b || same(ours(FloatBinOp::Maximum), a.max(b)));
    }

    #[test]
    fn unary(a in doubles()) {
        let ours = |op| one(&[a.to_bits()], |r| vec![Op::FloatUn { op, ty: F64, dst: r(10), src: r(0) }]);
        for (op, native) in [
            (FloatUnOp::Neg, -a),
            (FloatUnOp::Abs, a.abs()),
            (FloatUnOp::Sqrt, a.sqrt()),
            (FloatUnOp::Floor, a.floor()),
            (FloatUnOp::Ceil, a.ceil()),
            (FloatUnOp::Trunc, a.trunc()),
            (FloatUnOp::Round, a.round()),
            (FloatUnOp::RoundTiesEven, a.round_ties_even()),
            (FloatUnOp::Exp, a.exp()),
            (FloatUnOp::Exp2, a.exp2()),
            (FloatUnOp::ExpM1, a.exp_m1()),
            (FloatUnOp::Ln, a.ln()),
            (FloatUnOp::Ln1p, a.ln_1p()),
            (FloatUnOp::Log2, a.log2()),
            (FloatUnOp::Log10, a.log10()),
            (FloatUnOp::Sin, a.sin()),
            (FloatUnOp::Cos, a.cos()),
            (FloatUnOp::Tan, a.tan()),
            (FloatUnOp::Asin, a.asin()),
            (FloatUnOp::Acos, a.acos()),
            (FloatUnOp::Atan, a.atan()),
            (FloatUnOp::Sinh, a.sinh()),
            (FloatUnOp::Cosh, a.cosh()),
            (FloatUnOp::Tanh, a.tanh()),
            (FloatUnOp::Asinh, a.asinh()),
            (FloatUnOp::Acosh, a.acosh()),
            (FloatUnOp::Atanh, a.atanh()),
            (FloatUnOp::Cbrt, a.cbrt()),
        ] {
            prop_assert!(same(ours(op), native), "{:?}", op);
        }
        let single = a as f32;
        let ours = one(&[single.to_bits().into()], |r| vec![Op::FloatUn { op: FloatUnOp::Sqrt, ty: F32, dst: r(10), src: r(0) }]);
        prop_assert!(same32(ours, single.sqrt()));
    }

    #[test]
    fn more(a in doubles(), b in doubles(), c in doubles(), exp in any::<i32>()) {
        let bits = [a.to_bits(), b.to_bits(), c.to_bits()];
        let ours = one(&bits, |r| vec![Op::FloatMulAdd { ty: F64, dst: r(10), a: r(0), b: r(1), c: r(2) }]);
        prop_assert!(same(ours, a.mul_add(b, c)));
        let ours = one(&[a.to_bits(), u64::from(exp as u32)], |r| vec![Op::FloatPowi { ty: F64, dst: r(10), src: r(0), exp: r(1) }]);
        prop_assert!(same(ours, a.powi(exp)));
        let ours = one(&[a.to_bits()], |r| vec![Op::FloatCast { from: F64, to: F32, dst: r(10), src: r(0) }]);
        prop_assert!(same32(ours, a as f32));
        let ours = one(&[u64::from((a as f32).to_bits())], |r| vec![Op::FloatCast { from: F32, to: F64, dst: r(10), src: r(0) }]);
        prop_assert!(same(ours, f64::from(a as f32)));
    }

    #[test]
    fn conversions(a in doubles(), n in any::<u64>(), m in any::<u128>()) {
        let to = |width, signed| {
            let to = IntTy { width, signed };
            one(&[a.to_bits()], |r| vec![Op::FloatToInt { from: F64, to, dst: r(10), src: r(0) }])
        };
        prop_assert_eq!(to(Width::W8, false), u64::from(a as u8));
        prop_assert_eq!(to(Width::W8, true), u64::from(a as i8 as u8));
        prop_assert_eq!(to(Width::W16, true), u64::from(a as i16 as u16));
        prop_assert_eq!(to(Width::W32, false), u64::from(a as u32));
        prop_assert_eq!(to(Width::W32, true), u64::from(a as i32 as u32));
        prop_assert_eq!(to(Width::W64, false), a as u64);
        prop_assert_eq!(to(Width::W64, true), a as i64 as u64);
        let to128 = |signed| {
            let ours = compute(&[a.to_bits()], &[10, 11], |r| vec![Op::FloatToInt128 { from: F64, signed, dst: r(10), src: r(0) }]);
            let ours = ours.unwrap();
            u128::from(ours[0]) | u128::from(ours[1]) << 64
        };
        prop_assert_eq!(to128(false), a as u128);
        prop_assert_eq!(to128(true), a as i128 as u128);
        let from = |signed, to| {
            let from = IntTy { width: Width::W64, signed };
            one(&[n], |r| vec![Op::IntToFloat { from, to, dst: r(10), src: r(0) }])
        };
        prop_assert_eq!(from(false, F64), (n as f64).to_bits());
        prop_assert_eq!(from(true, F64), (n as i64 as f64).to_bits());
        prop_assert_eq!(from(false, F32), u64::from((n as f32).to_bits()));
        prop_assert_eq!(from(true, F32), u64::from((n as i64 as f32).to_bits()));
        let from128 = |signed, to| one(&[m as u64, (m >> 64) as u64], |r| vec![Op::IntToFloat128 { signed, to, dst: r(10), src: r(0) }]);
        prop_assert_eq!(from128(false, F64), (m as f64).to_bits());
        prop_assert_eq!(from128(true, F64), (m as i128 as f64).to_bits());
        prop_assert_eq!(from128(false, F32), u64::from((m as f32).to_bits()));
        prop_assert_eq!(from128(true, F32), u64::from((m as i128 as f32).to_bits()));
    }
}
