//! Integer operations: the meaning of [`BinOp`], [`OverflowOp`] and [`UnOp`] for every width.
//!
//! Operands and results are zero-extended, as registers hold them.

use crate::program::{BinOp, IntTy, OverflowOp, UnOp, Width};

/// Sign-extends a value of this width to 64 bits.
#[inline(always)]
pub fn sign_extend(value: u64, width: Width) -> i64 {
    let shift = 64 - width.bits();
    (value << shift) as i64 >> shift
}

/// A binary operation. `None`: it is not defined for these operands.
#[inline]
pub fn bin(op: BinOp, ty: IntTy, a: u64, b: u64) -> Option<u64> {
    let mask = ty.width.mask();
    Some(match op {
        BinOp::Add => a.wrapping_add(b) & mask,
        BinOp::Sub => a.wrapping_sub(b) & mask,
        BinOp::Mul => a.wrapping_mul(b) & mask,
        BinOp::Div | BinOp::Rem => return divide(op == BinOp::Rem, ty, a, b),
        BinOp::And => a & b,
        BinOp::Or => a | b,
        BinOp::Xor => a ^ b,
        BinOp::Shl => (a << (b & u64::from(ty.width.bits() - 1))) & mask,
        BinOp::Shr => shift_right(ty, a, b),
        BinOp::Eq => u64::from(a == b),
        BinOp::Ne => u64::from(a != b),
        BinOp::Lt | BinOp::Le | BinOp::Gt | BinOp::Ge => u64::from(holds(op, compare(ty, a, b))),
        BinOp::Cmp => u64::from(compare(ty, a, b) as i8 as u8),
    })
}

#[inline]
fn compare(ty: IntTy, a: u64, b: u64) -> std::cmp::Ordering {
    if ty.signed { sign_extend(a, ty.width).cmp(&sign_extend(b, ty.width)) } else { a.cmp(&b) }
}

#[inline]
fn holds(op: BinOp, ordering: std::cmp::Ordering) -> bool {
    match op {
        BinOp::Lt => ordering.is_lt(),
        BinOp::Le => ordering.is_le(),
        BinOp::Gt => ordering.is_gt(),
        _ => ordering.is_ge(),
    }
}

#[inline]
fn shift_right(ty: IntTy, a: u64, b: u64) -> u64 {
    let amount = b & u64::from(ty.width.bits() - 1);
    if ty.signed { (sign_extend(a, ty.width) >> amount) as u64 & ty.width.mask() } else { a >> amount }
}

fn divide(remainder: bool, ty: IntTy, a: u64, b: u64) -> Option<u64> {
    if !ty.signed {
        return if remainder { a.checked_rem(b) } else { a.checked_div(b) };
    }
    let (a, b) = (sign_extend(a, ty.width), sign_extend(b, ty.width));
    let quotient = a.checked_div(b)?;
    if sign_extend(quotient as u64, ty.width) != quotient {
        return None;
    }
    Some(if remainder { a.wrapping_rem(b) } else { quotient } as u64 & ty.width.mask())
}

/// The wrapped result, and whether it overflowed.
#[inline]
pub fn overflowing(op: OverflowOp, ty: IntTy, a: u64, b: u64) -> (u64, bool) {
    let mask = ty.width.mask();
    match op {
        OverflowOp::Shl | OverflowOp::Shr => {
            let bin_op = if op == OverflowOp::Shl { BinOp::Shl } else { BinOp::Shr };
            (bin(bin_op, ty, a, b).unwrap_or(0), b >= u64::from(ty.width.bits()))
        }
        _ if ty.signed => {
            let (a, b) = (sign_extend(a, ty.width), sign_extend(b, ty.width));
            let (result, overflow) = match op {
                OverflowOp::Add => a.overflowing_add(b),
                OverflowOp::Sub => a.overflowing_sub(b),
                _ => a.overflowing_mul(b),
            };
            (result as u64 & mask, overflow || sign_extend(result as u64, ty.width) != result)
        }
        _ => {
            let (result, overflow) = match op {
                OverflowOp::Add => a.overflowing_add(b),
                OverflowOp::Sub => a.overflowing_sub(b),
                _ => a.overflowing_mul(b),
            };
            (result & mask, overflow || result > mask)
        }
    }
}

/// A unary operation.
#[inline]
pub fn un(op: UnOp, ty: IntTy, a: u64) -> u64 {
    let bits = ty.width.bits();
    let mask = ty.width.mask();
    match op {
        UnOp::Neg => a.wrapping_neg() & mask,
        UnOp::Not => !a & mask,
        UnOp::CountOnes => u64::from(a.count_ones()),
        UnOp::LeadingZeros => u64::from(a.leading_zeros().saturating_sub(64 - bits)),
        UnOp::TrailingZeros => u64::from(a.trailing_zeros().min(bits)),
        UnOp::SwapBytes => a.swap_bytes() >> (64 - bits),
        UnOp::ReverseBits => a.reverse_bits() >> (64 - bits),
    }
}

/// Extends from a type, then cuts to a width.
#[inline(always)]
pub fn cast(from: IntTy, to: Width, a: u64) -> u64 {
    let extended = if from.signed { sign_extend(a, from.width) as u64 } else { a };
    extended & to.mask()
}

/// For people.
pub fn name(op: OverflowOp) -> &'static str {
    match op {
        OverflowOp::Add => "addition",
        OverflowOp::Sub => "subtraction",
        OverflowOp::Mul => "multiplication",
        OverflowOp::Shl => "shift to the left",
        OverflowOp::Shr => "shift to the right",
    }
}
