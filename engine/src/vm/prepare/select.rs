//! Which instruction an operation becomes.

use crate::program::{BinOp, FloatBinOp, FloatTy, IntTy, OverflowOp, Width};
use crate::vm::code::{Inst, R};

/// A binary operation on registers.
pub fn bin(op: BinOp, ty: IntTy, dst: R, a: R, b: R) -> Inst {
    use Width::{W32, W64};
    let (width, signed) = (ty.width, ty.signed);
    match (op, width, signed) {
        (BinOp::Add, W64, _) => Inst::Add64 { dst, a, b },
        (BinOp::Sub, W64, _) => Inst::Sub64 { dst, a, b },
        (BinOp::Mul, W64, _) => Inst::Mul64 { dst, a, b },
        (BinOp::Shl, W64, _) => Inst::Shl64 { dst, a, b },
        (BinOp::Shr, W64, false) => Inst::ShrU64 { dst, a, b },
        (BinOp::Shr, W64, true) => Inst::ShrS64 { dst, a, b },
        (BinOp::Add, W32, _) => Inst::Add32 { dst, a, b },
        (BinOp::Sub, W32, _) => Inst::Sub32 { dst, a, b },
        (BinOp::Mul, W32, _) => Inst::Mul32 { dst, a, b },
        (BinOp::Shl, W32, _) => Inst::Shl32 { dst, a, b },
        (BinOp::Shr, W32, false) => Inst::ShrU32 { dst, a, b },
        (BinOp::Shr, W32, true) => Inst::ShrS32 { dst, a, b },
        (BinOp::And, ..) => Inst::And { dst, a, b },
        (BinOp::Or, ..) => Inst::Or { dst, a, b },
        (BinOp::Xor, ..) => Inst::Xor { dst, a, b },
        (BinOp::Eq, ..) => Inst::Eq { dst, a, b },
        (BinOp::Ne, ..) => Inst::Ne { dst, a, b },
        (BinOp::Lt, _, false) => Inst::LtU { dst, a, b },
        (BinOp::Le, _, false) => Inst::LeU { dst, a, b },
        (BinOp::Gt, _, false) => Inst::LtU { dst, a: b, b: a },
        (BinOp::Ge, _, false) => Inst::LeU { dst, a: b, b: a },
        (BinOp::Lt, W64, true) => Inst::LtS64 { dst, a, b },
        (BinOp::Le, W64, true) => Inst::LeS64 { dst, a, b },
        (BinOp::Gt, W64, true) => Inst::LtS64 { dst, a: b, b: a },
        (BinOp::Ge, W64, true) => Inst::LeS64 { dst, a: b, b: a },
        (BinOp::Lt, W32, true) => Inst::LtS32 { dst, a, b },
        (BinOp::Le, W32, true) => Inst::LeS32 { dst, a, b },
        (BinOp::Gt, W32, true) => Inst::LtS32 { dst, a: b, b: a },
        (BinOp::Ge, W32, true) => Inst::LeS32 { dst, a: b, b: a },
        _ => Inst::Bin { op, ty, dst, a, b },
    }
}

/// A binary operation with a number, which is cut to the width of the type.
pub fn bin_imm(op: BinOp, ty: IntTy, dst: R, a: R, value: u64) -> Option<Inst> {
    use Width::{W32, W64};
    let amount = (value & u64::from(ty.width.bits() - 1)) as u8;
    match (op, ty.width, ty.signed) {
        (BinOp::Shl, W64, _) => return Some(Inst::ShlI64 { dst, a, imm: amount }),
        (BinOp::Shl, W32, _) => return Some(Inst::ShlI32 { dst, a, imm: amount }),
        (BinOp::Shr, W64, false) => return Some(Inst::ShrUI64 { dst, a, imm: amount }),
        (BinOp::Shr, W64, true) => return Some(Inst::ShrSI64 { dst, a, imm: amount }),
        (BinOp::Shr, W32, false) => return Some(Inst::ShrUI32 { dst, a, imm: amount }),
        // The immediate of an addition may as well be negative: the result is cut to the width.
        (BinOp::Add, W32, _) => return Some(Inst::AddI32 { dst, a, imm: value as u32 as i32 }),
        (BinOp::Sub, W32, _) => return Some(Inst::AddI32 { dst, a, imm: (value as u32).wrapping_neg() as i32 }),
        _ => {}
    }
    let imm = i32::try_from(value as i64).ok()?;
    Some(match (op, ty.width, ty.signed) {
        (BinOp::Add, W64, _) => Inst::AddI64 { dst, a, imm },
        (BinOp::Sub, W64, _) => Inst::AddI64 { dst, a, imm: imm.checked_neg()? },
        (BinOp::Mul, W64, _) => Inst::MulI64 { dst, a, imm },
        (BinOp::And, ..) => Inst::AndI { dst, a, imm },
        (BinOp::Or, ..) => Inst::OrI { dst, a, imm },
        (BinOp::Xor, ..) => Inst::XorI { dst, a, imm },
        (BinOp::Eq, ..) => Inst::EqI { dst, a, imm },
        (BinOp::Ne, ..) => Inst::NeI { dst, a, imm },
        (BinOp::Lt, _, false) => Inst::LtUI { dst, a, imm },
        (BinOp::Gt, _, false) => Inst::GtUI { dst, a, imm },
        _ => return None,
    })
}

/// An operation that reports overflow.
pub fn overflow(op: OverflowOp, ty: IntTy, dst: R, flag: R, a: R, b: R) -> Inst {
    match (op, ty.width, ty.signed) {
        (OverflowOp::Add, Width::W64, false) => Inst::OverflowAddU64 { dst, flag, a, b },
        (OverflowOp::Sub, Width::W64, false) => Inst::OverflowSubU64 { dst, flag, a, b },
        (OverflowOp::Mul, Width::W64, false) => Inst::OverflowMulU64 { dst, flag, a, b },
        (OverflowOp::Add, Width::W32, true) => Inst::OverflowAddS32 { dst, flag, a, b },
        (OverflowOp::Sub, Width::W32, true) => Inst::OverflowSubS32 { dst, flag, a, b },
        (OverflowOp::Mul, Width::W32, true) => Inst::OverflowMulS32 { dst, flag, a, b },
        (OverflowOp::Add, Width::W32, false) => Inst::OverflowAddU32 { dst, flag, a, b },
        _ => Inst::Overflow { op, ty, dst, flag, a, b },
    }
}

/// An operation that jumps where it overflows, if there is one instruction for it.
pub fn overflow_jump(op: OverflowOp, ty: IntTy, dst: R, a: R, b: R, to: u32) -> Option<Inst> {
    use Width::{W32, W64};
    Some(match (op, ty.width, ty.signed) {
        (OverflowOp::Add, W64, false) => Inst::JumpAddU64 { dst, a, b, to },
        (OverflowOp::Sub, W64, false) => Inst::JumpSubU64 { dst, a, b, to },
        (OverflowOp::Mul, W64, false) => Inst::JumpMulU64 { dst, a, b, to },
        (OverflowOp::Add, W64, true) => Inst::JumpAddS64 { dst, a, b, to },
        (OverflowOp::Sub, W64, true) => Inst::JumpSubS64 { dst, a, b, to },
        (OverflowOp::Add, W32, false) => Inst::JumpAddU32 { dst, a, b, to },
        (OverflowOp::Sub, W32, false) => Inst::JumpSubU32 { dst, a, b, to },
        (OverflowOp::Mul, W32, false) => Inst::JumpMulU32 { dst, a, b, to },
        (OverflowOp::Add, W32, true) => Inst::JumpAddS32 { dst, a, b, to },
        (OverflowOp::Sub, W32, true) => Inst::JumpSubS32 { dst, a, b, to },
        (OverflowOp::Mul, W32, true) => Inst::JumpMulS32 { dst, a, b, to },
        _ => return None,
    })
}

/// A cast between integers.
pub fn cast(from: IntTy, to: Width, dst: R, src: R) -> Inst {
    match (from.width, from.signed, to) {
        (_, false, to) if to >= from.width => Inst::Mov { dst, src },
        (Width::W32, true, Width::W64) => Inst::SignExtend32 { dst, src },
        (Width::W64, _, Width::W32) => Inst::Truncate32 { dst, src },
        (from, _, to) if to == from => Inst::Mov { dst, src },
        (from, _, Width::W8) if from > Width::W8 => Inst::AndI { dst, a: src, imm: 0xff },
        (from, _, Width::W16) if from > Width::W16 => Inst::AndI { dst, a: src, imm: 0xffff },
        _ => Inst::Cast { from, to, dst, src },
    }
}

/// A binary operation on floats.
pub fn float_bin(op: FloatBinOp, ty: FloatTy, dst: R, a: R, b: R) -> Inst {
    match (op, ty) {
        (FloatBinOp::Add, FloatTy::F64) => Inst::AddF64 { dst, a, b },
        (FloatBinOp::Sub, FloatTy::F64) => Inst::SubF64 { dst, a, b },
        (FloatBinOp::Mul, FloatTy::F64) => Inst::MulF64 { dst, a, b },
        (FloatBinOp::Div, FloatTy::F64) => Inst::DivF64 { dst, a, b },
        _ => Inst::FloatBin { op, ty, dst, a, b },
    }
}

/// A load.
pub fn load(width: Width, dst: R, base: R, low: u8, offset: i32) -> Inst {
    match width {
        Width::W8 => Inst::Load8 { dst, base, low, offset },
        Width::W16 => Inst::Load16 { dst, base, low, offset },
        Width::W32 => Inst::Load32 { dst, base, low, offset },
        Width::W64 => Inst::Load64 { dst, base, low, offset },
    }
}

/// A store.
pub fn store(width: Width, src: R, base: R, low: u8, offset: i32) -> Inst {
    match width {
        Width::W8 => Inst::Store8 { src, base, low, offset },
        Width::W16 => Inst::Store16 { src, base, low, offset },
        Width::W32 => Inst::Store32 { src, base, low, offset },
        Width::W64 => Inst::Store64 { src, base, low, offset },
    }
}

/// A load from the frame.
pub fn load_slot(width: Width, dst: R, offset: u16) -> Inst {
    match width {
        Width::W8 => Inst::LoadSlot8 { dst, offset },
        Width::W16 => Inst::LoadSlot16 { dst, offset },
        Width::W32 => Inst::LoadSlot32 { dst, offset },
        Width::W64 => Inst::LoadSlot64 { dst, offset },
    }
}

/// A store to the frame.
pub fn store_slot(width: Width, src: R, offset: u16) -> Inst {
    match width {
        Width::W8 => Inst::StoreSlot8 { src, offset },
        Width::W16 => Inst::StoreSlot16 { src, offset },
        Width::W32 => Inst::StoreSlot32 { src, offset },
        Width::W64 => Inst::StoreSlot64 { src, offset },
    }
}

/// A comparison and a jump, if there is one instruction for it.
pub fn jump(op: BinOp, ty: IntTy, a: R, b: R, to: u32) -> Option<Inst> {
    use Width::{W32, W64};
    Some(match (op, ty.width, ty.signed) {
        (BinOp::Eq, ..) => Inst::JumpEq { a, b, to },
        (BinOp::Ne, ..) => Inst::JumpNe { a, b, to },
        (BinOp::Lt, _, false) => Inst::JumpLtU { a, b, to },
        (BinOp::Le, _, false) => Inst::JumpLeU { a, b, to },
        (BinOp::Gt, _, false) => Inst::JumpLtU { a: b, b: a, to },
        (BinOp::Ge, _, false) => Inst::JumpLeU { a: b, b: a, to },
        (BinOp::Lt, W64, true) => Inst::JumpLtS64 { a, b, to },
        (BinOp::Le, W64, true) => Inst::JumpLeS64 { a, b, to },
        (BinOp::Gt, W64, true) => Inst::JumpLtS64 { a: b, b: a, to },
        (BinOp::Ge, W64, true) => Inst::JumpLeS64 { a: b, b: a, to },
        (BinOp::Lt, W32, true) => Inst::JumpLtS32 { a, b, to },
        (BinOp::Le, W32, true) => Inst::JumpLeS32 { a, b, to },
        (BinOp::Gt, W32, true) => Inst::JumpLtS32 { a: b, b: a, to },
        (BinOp::Ge, W32, true) => Inst::JumpLeS32 { a: b, b: a, to },
        _ => return None,
    })
}

/// A comparison with a number and a jump, if there is one instruction for it.
pub fn jump_imm(op: BinOp, ty: IntTy, a: R, value: u64, to: u32) -> Option<Inst> {
    use Width::{W32, W64};
    let number = if ty.signed { crate::vm::arith::sign_extend(value, ty.width) } else { value as i64 };
    // For equality and unsigned order the registers are compared as they are.
    let raw = i16::try_from(value as i64).ok();
    let signed = i16::try_from(number).ok();
    Some(match (op, ty.width, ty.signed) {
        (BinOp::Eq, ..) => Inst::JumpEqI { a, imm: raw?, to },
        (BinOp::Ne, ..) => Inst::JumpNeI { a, imm: raw?, to },
        (BinOp::Lt, _, false) => Inst::JumpLtUI { a, imm: raw?, to },
        (BinOp::Gt, _, false) => Inst::JumpGtUI { a, imm: raw?, to },
        (BinOp::Le, _, false) if raw? >= 0 => Inst::JumpLtUI { a, imm: raw?.checked_add(1)?, to },
        (BinOp::Ge, _, false) if raw? > 0 => Inst::JumpGtUI { a, imm: raw? - 1, to },
        (BinOp::Lt, W32, true) => Inst::JumpLtSI32 { a, imm: signed?, to },
        (BinOp::Gt, W32, true) => Inst::JumpGtSI32 { a, imm: signed?, to },
        (BinOp::Le, W32, true) => Inst::JumpLtSI32 { a, imm: signed?.checked_add(1)?, to },
        (BinOp::Ge, W32, true) => Inst::JumpGtSI32 { a, imm: signed?.checked_sub(1)?, to },
        (BinOp::Lt, W64, true) => Inst::JumpLtSI64 { a, imm: signed?, to },
        (BinOp::Gt, W64, true) => Inst::JumpGtSI64 { a, imm: signed?, to },
        (BinOp::Le, W64, true) => Inst::JumpLtSI64 { a, imm: signed?.checked_add(1)?, to },
        (BinOp::Ge, W64, true) => Inst::JumpGtSI64 { a, imm: signed?.checked_sub(1)?, to },
        _ => return None,
    })
}

/// Where an instruction jumps.
pub fn target_mut(inst: &mut Inst) -> Option<&mut u32> {
    match inst {
        Inst::Jump { to }
        | Inst::JumpIf { to, .. }
        | Inst::JumpIfNot { to, .. }
        | Inst::JumpEq { to, .. }
        | Inst::JumpNe { to, .. }
        | Inst::JumpLtU { to, .. }
        | Inst::JumpLeU { to, .. }
        | Inst::JumpLtS64 { to, .. }
        | Inst::JumpLeS64 { to, .. }
        | Inst::JumpLtS32 { to, .. }
        | Inst::JumpLeS32 { to, .. }
        | Inst::JumpEqI { to, .. }
        | Inst::JumpNeI { to, .. }
        | Inst::JumpLtUI { to, .. }
        | Inst::JumpGtUI { to, .. }
        | Inst::JumpLtSI32 { to, .. }
        | Inst::JumpGtSI32 { to, .. }
        | Inst::JumpLtSI64 { to, .. }
        | Inst::JumpGtSI64 { to, .. }
        | Inst::JumpAddU64 { to, .. }
        | Inst::JumpSubU64 { to, .. }
        | Inst::JumpMulU64 { to, .. }
        | Inst::JumpAddS64 { to, .. }
        | Inst::JumpSubS64 { to, .. }
        | Inst::JumpAddU32 { to, .. }
        | Inst::JumpSubU32 { to, .. }
        | Inst::JumpMulU32 { to, .. }
        | Inst::JumpAddS32 { to, .. }
        | Inst::JumpSubS32 { to, .. }
        | Inst::JumpMulS32 { to, .. } => Some(to),
        _ => None,
    }
}
