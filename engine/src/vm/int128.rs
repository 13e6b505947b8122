//! Operations on 128-bit integers.

use crate::program::{BinOp, OverflowOp, UnOp};

/// A binary operation, shifts and comparisons included. `None`: it is not defined for these operands. `b` is the amount
/// of a shift.
pub fn bin(op: BinOp, signed: bool, a: u128, b: u128) -> Option<u128> {
    let (sa, sb) = (a as i128, b as i128);
    let ordering = if signed { sa.cmp(&sb) } else { a.cmp(&b) };
    Some(match op {
        BinOp::Add => a.wrapping_add(b),
        BinOp::Sub => a.wrapping_sub(b),
        BinOp::Mul => a.wrapping_mul(b),
        BinOp::Div if signed => sa.checked_div(sb)? as u128,
        BinOp::Div => a.checked_div(b)?,
        BinOp::Rem if signed => sa.checked_rem(sb)? as u128,
        BinOp::Rem => a.checked_rem(b)?,
        BinOp::And => a & b,
        BinOp::Or => a | b,
        BinOp::Xor => a ^ b,
        BinOp::Shl => a << (b & 127),
        BinOp::Shr if signed => (sa >> (b & 127)) as u128,
        BinOp::Shr => a >> (b & 127),
        BinOp::Eq => u128::from(a == b),
        BinOp::Ne => u128::from(a != b),
        BinOp::Lt => u128::from(ordering.is_lt()),
        BinOp::Le => u128::from(ordering.is_le()),
        BinOp::Gt => u128::from(ordering.is_gt()),
        BinOp::Ge => u128::from(ordering.is_ge()),
        BinOp::Cmp => u128::from(ordering as i8 as u8),
    })
}

/// Whether the result of an operation is one register.
pub fn gives_one_register(op: BinOp) -> bool {
    matches!(op, BinOp::Eq | BinOp::Ne | BinOp::Lt | BinOp::Le | BinOp::Gt | BinOp::Ge | BinOp::Cmp)
}

/// Whether the second operand of an operation is one register.
pub fn takes_amount(op: BinOp) -> bool {
    matches!(op, BinOp::Shl | BinOp::Shr)
}

/// The wrapped result, and whether it overflowed.
pub fn overflowing(op: OverflowOp, signed: bool, a: u128, b: u128) -> (u128, bool) {
    let (sa, sb) = (a as i128, b as i128);
    let signed_result = |(result, overflow): (i128, bool)| (result as u128, overflow);
    match op {
        OverflowOp::Add if signed => signed_result(sa.overflowing_add(sb)),
        OverflowOp::Add => a.overflowing_add(b),
        OverflowOp::Sub if signed => signed_result(sa.overflowing_sub(sb)),
        OverflowOp::Sub => a.overflowing_sub(b),
        OverflowOp::Mul if signed => signed_result(sa.overflowing_mul(sb)),
        OverflowOp::Mul => a.overflowing_mul(b),
        OverflowOp::Shl => (a << (b & 127), b >= 128),
        OverflowOp::Shr if signed => ((sa >> (b & 127)) as u128, b >= 128),
        OverflowOp::Shr => (a >> (b & 127), b >= 128),
    }
}

/// A unary operation.
pub fn un(op: UnOp, a: u128) -> u128 {
    match op {
        UnOp::Neg => a.wrapping_neg(),
        UnOp::Not => !a,
        UnOp::CountOnes => u128::from(a.count_ones()),
        UnOp::LeadingZeros => u128::from(a.leading_zeros()),
        UnOp::TrailingZeros => u128::from(a.trailing_zeros()),
        UnOp::SwapBytes => a.swap_bytes(),
        UnOp::ReverseBits => a.reverse_bits(),
    }
}

/// Whether a unary operation gives one register.
pub fn counts(op: UnOp) -> bool {
    matches!(op, UnOp::CountOnes | UnOp::LeadingZeros | UnOp::TrailingZeros)
}
