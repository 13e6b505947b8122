//! 128-bit operations agree with native ones.

use proptest::prelude::*;

use crate::program::{BinOp, IntTy, Op, OverflowOp, UnOp, Width};

use super::compute::{compute, one};

fn halves(value: u128) -> [u64; 2] {
    [value as u64, (value >> 64) as u64]
}

fn whole(halves: &[u64]) -> u128 {
    u128::from(halves[0]) | u128::from(halves[1]) << 64
}

fn numbers() -> impl Strategy<Value = u128> {
    prop_oneof![
        any::<u128>(),
        0..4u128,
        (0..128u32).prop_map(|bit| 1 << bit),
        (0..128u32).prop_map(|bit| u128::MAX >> bit)
    ]
}

proptest! {
    #[test]
    fn arithmetic(a in numbers(), b in numbers(), signed in any::<bool>()) {
        let [a0, a1] = halves(a);
        let [b0, b1] = halves(b);
        let (sa, sb) = (a as i128, b as i128);
        let pair = |op| {
            let ours = compute(&[a0, a1, b0, b1], &[10, 11], |r| vec![Op::Bin128 { op, signed, dst: r(10), a: r(0), b: r(2) }]);
            ours.ok().map(|ours| whole(&ours))
        };
        prop_assert_eq!(pair(BinOp::Add), Some(a.wrapping_add(b)));
        prop_assert_eq!(pair(BinOp::Sub), Some(a.wrapping_sub(b)));
        prop_assert_eq!(pair(BinOp::Mul), Some(a.wrapping_mul(b)));
        prop_assert_eq!(pair(BinOp::And), Some(a & b));
        prop_assert_eq!(pair(BinOp::Or), Some(a | b));
        prop_assert_eq!(pair(BinOp::Xor), Some(a ^ b));
        if signed {
            prop_assert_eq!(pair(BinOp::Div), sa.checked_div(sb).map(|value| value as u128));
            prop_assert_eq!(pair(BinOp::Rem), sa.checked_rem(sb).map(|value| value as u128));
        } else {
            prop_assert_eq!(pair(BinOp::Div), a.checked_div(b));
            prop_assert_eq!(pair(BinOp::Rem), a.checked_rem(b));
        }
        let single = |op| one(&[a0, a1, b0, b1], |r| vec![Op::Bin128 { op, signed, dst: r(10), a: r(0), b: r(2) }]);
        let ordering = if signed { sa.cmp(&sb) } else { a.cmp(&b) };
        prop_assert_eq!(single(BinOp::Eq), u64::from(a == b));
        prop_assert_eq!(single(BinOp::Ne), u64::from(a != b));
        prop_assert_eq!(single(BinOp::Lt), u64::from(ordering.is_lt()));
        prop_assert_eq!(single(BinOp::Le), u64::from(ordering.is_le()));
        prop_assert_eq!(single(BinOp::Gt), u64::from(ordering.is_gt()));
        prop_assert_eq!(single(BinOp::Ge), u64::from(ordering.is_ge()));
        prop_assert_eq!(single(BinOp::Cmp), u64::from(ordering as i8 as u8));
    }

    #[test]
    fn shifts(a in numbers(), amount in 0..300u64, signed in any::<bool>()) {
        let [a0, a1] = halves(a);
        let shift = |op| whole(&compute(&[a0, a1, amount], &[10, 11], |r| {
            vec![Op::Bin128 { op, signed, dst: r(10), a: r(0), b: r(2) }]
        }).unwrap());
        let by = (amount % 128) as u32;
        prop_assert_eq!(shift(BinOp::Shl), a << by);
        prop_assert_eq!(shift(BinOp::Shr), if signed { (a as i128 >> by) as u128 } else { a >> by });
        for op in [OverflowOp::Shl, OverflowOp::Shr] {
            let ours = compute(&[a0, a1, amount], &[12], |r| {
                vec![Op::BinOverflow128 { op, signed, dst: r(10), flag: r(12), a: r(0), b: r(2) }]
            });
            prop_assert_eq!(ours.unwrap(), [u64::from(amount >= 128)]);
        }
    }

    #[test]
    fn overflow(a in numbers(), b in numbers(), signed in any::<bool>()) {
        let [a0, a1] = halves(a);
        let [b0, b1] = halves(b);
        let (sa, sb) = (a as i128, b as i128);
        let native = |op| match op {
            OverflowOp::Add if signed => sa.checked_add(sb).map(|value| value as u128),
            OverflowOp::Add => a.checked_add(b),
            OverflowOp::Sub if signed => sa.checked_sub(sb).map(|value| value as u128),
            OverflowOp::Sub => a.checked_sub(b),
            _ if signed => sa.checked_mul(sb).map(|value| value as u128),
            _ => a.checked_mul(b),
        };
        for op in [OverflowOp::Add, OverflowOp::Sub, OverflowOp::Mul] {
            let ours = compute(&[a0, a1, b0, b1], &[10, 11, 12], |r| {
                vec![Op::BinOverflow128 { op, signed, dst: r(10), flag: r(12), a: r(0), b: r(2) }]
            }).unwrap();
            prop_assert_eq!((ours[2] == 0).then_some(whole(&ours)), native(op));
            let ours = compute(&[a0, a1, b0, b1], &[10, 11], |r| {
                vec![Op::BinUnchecked128 { op, signed, dst: r(10), a: r(0), b: r(2) }]
            });
            prop_assert_eq!(ours.ok().map(|ours| whole(&ours)), native(op));
        }
    }

    #[test]
    fn unary(a in numbers(), b in numbers(), cond in 0..2u64) {
        let [a0, a1] = halves(a);
        let [b0, b1] = halves(b);
        let pair = |op| whole(&compute(&[a0, a1], &[10, 11], |r| vec![Op::Un128 { op, dst: r(10), src: r(0) }]).unwrap());
        let single = |op| one(&[a0, a1], |r| vec![Op::Un128 { op, dst: r(10), src: r(0) }]);
        prop_assert_eq!(pair(UnOp::Neg), a.wrapping_neg());
        prop_assert_eq!(pair(UnOp::Not), !a);
        prop_assert_eq!(pair(UnOp::SwapBytes), a.swap_bytes());
        prop_assert_eq!(pair(UnOp::ReverseBits), a.reverse_bits());
        prop_assert_eq!(single(UnOp::CountOnes), u64::from(a.count_ones()));
        prop_assert_eq!(single(UnOp::LeadingZeros), u64::from(a.leading_zeros()));
        prop_assert_eq!(single(UnOp::TrailingZeros), u64::from(a.trailing_zeros()));
        let select = compute(&[a0, a1, b0, b1, cond], &[10, 11], |r| {
            vec![Op::Select128 { dst: r(10), cond: r(4), a: r(0), b: r(2) }]
        });
        prop_assert_eq!(whole(&select.unwrap()), if cond != 0 { a } else { b });
    }

    #[test]
    fn widening(a in any::<u32>()) {
        for signed in [false, true] {
            let from = IntTy { width: Width::W32, signed };
            let ours = compute(&[a.into()], &[10, 11], |r| vec![Op::Widen128 { from, dst: r(10), src: r(0) }]).unwrap();
            prop_assert_eq!(whole(&ours), if signed { i128::from(a as i32) as u128 } else { u128::from(a) });
        }
    }
}
