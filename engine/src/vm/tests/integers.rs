//! Integer operations agree with arithmetic on mathematical integers.

use proptest::prelude::*;

use crate::program::{BinOp, IntTy, Op, OverflowOp, UnOp, Width};
use crate::verdict::ErrorKind;
use crate::vm::FailureKind;

use super::compute::{compute, one};

const WIDTHS: [Width; 4] = [Width::W8, Width::W16, Width::W32, Width::W64];
const BIN_OPS: [BinOp; 17] = [
    BinOp::Add,
    BinOp::Sub,
    BinOp::Mul,
    BinOp::Div,
    BinOp::Rem,
    BinOp::And,
    BinOp::Or,
    BinOp::Xor,
    BinOp::Shl,
    BinOp::Shr,
    BinOp::Eq,
    BinOp::Ne,
    BinOp::Lt,
    BinOp::Le,
    BinOp::Gt,
    BinOp::Ge,
    BinOp::Cmp,
];
const OVERFLOW_OPS: [OverflowOp; 5] =
    [OverflowOp::Add, OverflowOp::Sub, OverflowOp::Mul, OverflowOp::Shl, OverflowOp::Shr];
const COMPARISONS: [BinOp; 6] = [BinOp::Eq, BinOp::Ne, BinOp::Lt, BinOp::Le, BinOp::Gt, BinOp::Ge];

fn types() -> impl Strategy<Value = IntTy> {
    (prop::sample::select(&WIDTHS[..]), any::<bool>()).prop_map(|(width, signed)| IntTy { width, signed })
}

/// Numbers of every size, those at the edges more often.
fn numbers() -> impl Strategy<Value = u64> {
    prop_oneof![any::<u64>(), 0..4u64, (0..64u32).prop_map(|bit| 1 << bit), (0..64u32).prop_map(|bit| u64::MAX >> bit)]
}

/// The number that a register stands for.
fn value(ty: IntTy, register: u64) -> i128 {
    let bits = ty.width.bits();
    let unsigned = i128::from(register);
    if ty.signed && register >> (bits - 1) & 1 == 1 { unsigned - (1 << bits) } else { unsigned }
}

/// The register that holds a number, cut to the type.
fn register(ty: IntTy, value: i128) -> u64 {
    value.rem_euclid(1 << ty.width.bits()) as u64
}

fn reference(op: BinOp, ty: IntTy, a: u64, b: u64) -> Option<u64> {
    let (x, y) = (value(ty, a), value(ty, b));
    let shift = (b % u64::from(ty.width.bits())) as u32;
    let fits = |value: i128| (value == self::value(ty, register(ty, value))).then_some(value);
    Some(match op {
        BinOp::Add => register(ty, x + y),
        BinOp::Sub => register(ty, x - y),
        BinOp::Mul => register(ty, x.wrapping_mul(y)),
        BinOp::Div => register(ty, x.checked_div(y).and_then(fits)?),
        BinOp::Rem => {
            x.checked_div(y).and_then(fits)?;
            register(ty, x % y)
        }
        BinOp::And => a & b,
        BinOp::Or => a | b,
        BinOp::Xor => a ^ b,
        BinOp::Shl => register(ty, x.wrapping_shl(shift)),
        BinOp::Shr => register(ty, x >> shift),
        BinOp::Eq => (x == y).into(),
        BinOp::Ne => (x != y).into(),
        BinOp::Lt => (x < y).into(),
        BinOp::Le => (x <= y).into(),
        BinOp::Gt => (x > y).into(),
        BinOp::Ge => (x >= y).into(),
        BinOp::Cmp => register(IntTy { width: Width::W8, signed: true }, x.cmp(&y) as i128),
    })
}

/// What an operation would give without limits: its overflow is where that does not fit.
fn exact(op: OverflowOp, ty: IntTy, a: u64, b: u64) -> (u64, bool) {
    let (x, y) = (value(ty, a), value(ty, b));
    let fitting = |value: i128| (register(ty, value), value != self::value(ty, register(ty, value)));
    let bits = u64::from(ty.width.bits());
    match op {
        OverflowOp::Add => fitting(x + y),
        OverflowOp::Sub => fitting(x - y),
        OverflowOp::Mul => match x.checked_mul(y) {
            Some(product) => fitting(product),
            None => (register(ty, x.wrapping_mul(y)), true),
        },
        OverflowOp::Shl => (reference(BinOp::Shl, ty, a, b).unwrap(), b >= bits),
        OverflowOp::Shr => (reference(BinOp::Shr, ty, a, b).unwrap(), b >= bits),
    }
}

proptest! {
    #[test]
    fn binary_operations(
        op in prop::sample::select(&BIN_OPS[..]), ty in types(), a in numbers(), b in numbers(), imm in any::<i32>(),
    ) {
        let (a, b) = (a & ty.width.mask(), b & ty.width.mask());
        let ours = compute(&[a, b], &[10], |r| vec![Op::Bin { op, ty, dst: r(10), a: r(0), b: r(1) }]);
        match reference(op, ty, a, b) {
            Some(expected) => prop_assert_eq!(ours.unwrap(), [expected]),
            None => prop_assert_eq!(ours.unwrap_err().kind, FailureKind::Error(ErrorKind::UndefinedBehavior)),
        }
        for imm in [imm, imm % 70, i32::from(imm as i16)] {
            let b = register(ty, i128::from(imm));
            let ours = compute(&[a], &[10], |r| vec![Op::BinImm { op, ty, dst: r(10), a: r(0), imm }]);
            match reference(op, ty, a, b) {
                Some(expected) => prop_assert_eq!(ours.unwrap(), [expected]),
                None => prop_assert!(ours.is_err()),
            }
        }
    }

    #[test]
    fn overflow(op in prop::sample::select(&OVERFLOW_OPS[..]), ty in types(), a in numbers(), b in numbers()) {
        let (a, b) = (a & ty.width.mask(), b & ty.width.mask());
        let (result, overflows) = exact(op, ty, a, b);
        let ours = compute(&[a, b], &[10, 11], |r| {
            vec![Op::BinOverflow { op, ty, dst: r(10), flag: r(11), a: r(0), b: r(1) }]
        });
        prop_assert_eq!(ours.unwrap(), [result, overflows.into()]);
        let ours = compute(&[a, b], &[10], |r| vec![Op::BinUnchecked { op, ty, dst: r(10), a: r(0), b: r(1) }]);
        match ours {
            Ok(ours) => prop_assert_eq!((ours[0], false), (result, overflows)),
            Err(failure) => {
                prop_assert!(overflows);
                prop_assert_eq!(failure.kind, FailureKind::Error(ErrorKind::UndefinedBehavior));
            }
        }
    }

    #[test]
    fn jumps_compare_as_operations_do(
        op in prop::sample::select(&COMPARISONS[..]), ty in types(), a in numbers(), b in numbers(), imm in any::<i32>(),
    ) {
        let (a, b) = (a & ty.width.mask(), b & ty.width.mask());
        // Register 10 stays 1 where the jump is taken. Every operation is one instruction of the function.
        let jump = |compare: Op, r: &dyn Fn(u16) -> crate::program::Reg| {
            vec![Op::Imm { dst: r(10), value: 1 }, compare, Op::Imm { dst: r(10), value: 0 }]
        };
        let target = |inputs: u32| inputs + 3;
        let ours = one(&[a, b], |r| jump(Op::JumpCmp { op, ty, a: r(0), b: r(1), to: target(2) }, r));
        prop_assert_eq!(Some(ours), reference(op, ty, a, b));
        for imm in [imm, i32::from(imm as i16), value(ty, a) as i32, (value(ty, a) as i32).wrapping_add(1)] {
            let ours = one(&[a], |r| jump(Op::JumpCmpImm { op, ty, a: r(0), imm, to: target(1) }, r));
            prop_assert_eq!(Some(ours), reference(op, ty, a, register(ty, i128::from(imm))));
        }
    }

    #[test]
    fn unary_operations(ty in types(), a in numbers()) {
        let a = a & ty.width.mask();
        let ours = |op| one(&[a], |r| vec![Op::Un { op, ty, dst: r(10), src: r(0) }]);
        let bits: Vec<bool> = (0..ty.width.bits()).map(|bit| a >> bit & 1 == 1).collect();
        let number = |bits: &mut dyn Iterator<Item = bool>| bits.fold((0u64, 0), |(n, at), bit| (n | u64::from(bit) << at, at + 1)).0;
        prop_assert_eq!(ours(UnOp::Neg), register(ty, -value(ty, a)));
        prop_assert_eq!(ours(UnOp::Not), number(&mut bits.iter().map(|bit| !bit)));
        prop_assert_eq!(ours(UnOp::CountOnes), bits.iter().filter(|bit| **bit).count() as u64);
        prop_assert_eq!(ours(UnOp::LeadingZeros), bits.iter().rev().take_while(|bit| !**bit).count() as u64);
        prop_assert_eq!(ours(UnOp::TrailingZeros), bits.iter().take_while(|bit| !**bit).count() as u64);
        prop_assert_eq!(ours(UnOp::ReverseBits), number(&mut bits.iter().rev().copied()));
        prop_assert_eq!(ours(UnOp::SwapBytes), number(&mut bits.chunks(8).rev().flatten().copied()));
    }

    #[test]
    fn casts(from in types(), to in prop::sample::select(&WIDTHS[..]), a in numbers()) {
        let a = a & from.width.mask();
        let ours = one(&[a], |r| vec![Op::Cast { from, to, dst: r(10), src: r(0) }]);
        prop_assert_eq!(ours, register(IntTy { width: to, signed: false }, value(from, a)));
    }

    #[test]
    fn moves_and_selections(a in any::<u64>(), b in any::<u64>(), cond in 0..3u64) {
        prop_assert_eq!(one(&[a], |r| vec![Op::Mov { dst: r(10), src: r(0) }]), a);
        let pair = compute(&[a, b], &[10, 11], |r| vec![Op::Mov2 { dst: r(10), src: r(0) }]);
        prop_assert_eq!(pair.unwrap(), [a, b]);
        let overlapping = compute(&[a, b], &[1, 2], |r| vec![Op::Mov2 { dst: r(1), src: r(0) }]);
        prop_assert_eq!(overlapping.unwrap(), [a, b]);
        let select = one(&[a, b, cond], |r| vec![Op::Select { dst: r(10), cond: r(2), a: r(0), b: r(1) }]);
        prop_assert_eq!(select, if cond != 0 { a } else { b });
    }

    #[test]
    fn index(base in any::<u64>(), index in any::<u64>(), scale in any::<u32>()) {
        let ours = one(&[base, index], |r| vec![Op::Index { dst: r(10), base: r(0), index: r(1), scale }]);
        prop_assert_eq!(ours, base.wrapping_add(index.wrapping_mul(u64::from(scale))));
    }
}
