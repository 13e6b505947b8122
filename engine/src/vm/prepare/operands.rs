//! Which registers an operation reads and writes.
//!
//! The arguments of calls are in lists, and how many results a call has depends on the callee: those are for the caller
//! of these functions to see to.

use crate::program::{AtomicWidth, Builtin, Op, OverflowOp, Reg};
use crate::vm::int128;

/// What an operation does with registers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Role {
    Use,
    Def,
}

/// Calls `visit` with each register of an operation, how many registers from there on, and what it does with them. Uses
/// come before definitions. The arguments of calls are left out; of their results only the first is visited.
pub fn visit(op: &mut Op, visit: &mut dyn FnMut(&mut Reg, u16, Role)) {
    use Role::{Def, Use};
    let atomic = |width: AtomicWidth| if width == AtomicWidth::W128 { 2 } else { 1 };
    let amount = |op: OverflowOp| if matches!(op, OverflowOp::Shl | OverflowOp::Shr) { 1 } else { 2 };
    match op {
        Op::Imm { dst, .. }
        | Op::LoadSlot { dst, .. }
        | Op::LoadSlotPadding { dst, .. }
        | Op::SlotAddr { dst, .. }
        | Op::BigSlot { dst, .. }
        | Op::ThreadLocal { dst, .. } => visit(dst, 1, Def),
        Op::Mov { dst, src } | Op::Un { dst, src, .. } | Op::Cast { dst, src, .. } => {
            visit(src, 1, Use);
            visit(dst, 1, Def);
        }
        Op::Mov2 { dst, src } => {
            visit(src, 2, Use);
            visit(dst, 2, Def);
        }
        Op::Bin { dst, a, b, .. } | Op::BinUnchecked { dst, a, b, .. } | Op::FloatBin { dst, a, b, .. } => {
            visit(a, 1, Use);
            visit(b, 1, Use);
            visit(dst, 1, Def);
        }
        Op::BinImm { dst, a, .. } => {
            visit(a, 1, Use);
            visit(dst, 1, Def);
        }
        Op::BinOverflow { dst, flag, a, b, .. } => {
            visit(a, 1, Use);
            visit(b, 1, Use);
            visit(dst, 1, Def);
            visit(flag, 1, Def);
        }
        Op::Select { dst, cond, a, b } => {
            visit(cond, 1, Use);
            visit(a, 1, Use);
            visit(b, 1, Use);
            visit(dst, 1, Def);
        }
        Op::CheckRange { src, .. } | Op::StoreSlot { src, .. } | Op::Switch { src, .. } => visit(src, 1, Use),
        Op::Bin128 { op, dst, a, b, .. } => {
            visit(a, 2, Use);
            visit(b, if int128::takes_amount(*op) { 1 } else { 2 }, Use);
            visit(dst, if int128::gives_one_register(*op) { 1 } else { 2 }, Def);
        }
        Op::BinOverflow128 { op, dst, flag, a, b, .. } => {
            visit(a, 2, Use);
            visit(b, amount(*op), Use);
            visit(dst, 2, Def);
            visit(flag, 1, Def);
        }
        Op::BinUnchecked128 { op, dst, a, b, .. } => {
            visit(a, 2, Use);
            visit(b, amount(*op), Use);
            visit(dst, 2, Def);
        }
        Op::Un128 { op, dst, src } => {
            visit(src, 2, Use);
            visit(dst, if int128::counts(*op) { 1 } else { 2 }, Def);
        }
        Op::Widen128 { dst, src, .. } | Op::FloatToInt128 { dst, src, .. } => {
            visit(src, 1, Use);
            visit(dst, 2, Def);
        }
        Op::Select128 { dst, cond, a, b } => {
            visit(cond, 1, Use);
            visit(a, 2, Use);
            visit(b, 2, Use);
            visit(dst, 2, Def);
        }
        Op::FloatUn { dst, src, .. }
        | Op::FloatCast { dst, src, .. }
        | Op::IntToFloat { dst, src, .. }
        | Op::FloatToInt { dst, src, .. } => {
            visit(src, 1, Use);
            visit(dst, 1, Def);
        }
        Op::FloatMulAdd { dst, a, b, c, .. } => {
            visit(a, 1, Use);
            visit(b, 1, Use);
            visit(c, 1, Use);
            visit(dst, 1, Def);
        }
        Op::FloatPowi { dst, src, exp, .. } | Op::FloatScale { dst, src, exp, .. } => {
            visit(src, 1, Use);
            visit(exp, 1, Use);
            visit(dst, 1, Def);
        }
        Op::IntToFloat128 { dst, src, .. } => {
            visit(src, 2, Use);
            visit(dst, 1, Def);
        }
        Op::F128Bin { op, dst, a, b } => {
            visit(a, 2, Use);
            visit(b, 2, Use);
            visit(dst, if op.compares() { 1 } else { 2 }, Def);
        }
        Op::F128Un { dst, src, .. } | Op::Int128ToF128 { dst, src, .. } | Op::F128ToInt128 { dst, src, .. } => {
            visit(src, 2, Use);
            visit(dst, 2, Def);
        }
        Op::F128MulAdd { dst, a, b, c } => {
            visit(a, 2, Use);
            visit(b, 2, Use);
            visit(c, 2, Use);
            visit(dst, 2, Def);
        }
        Op::F128Powi { dst, src, exp } | Op::F128Scale { dst, src, exp } => {
            visit(src, 2, Use);
            visit(exp, 1, Use);
            visit(dst, 2, Def);
        }
        Op::FloatToF128 { dst, src, .. } | Op::IntToF128 { dst, src, .. } => {
            visit(src, 1, Use);
            visit(dst, 2, Def);
        }
        Op::F128ToFloat { dst, src, .. } | Op::F128ToInt { dst, src, .. } => {
            visit(src, 2, Use);
            visit(dst, 1, Def);
        }
        Op::Load { dst, base, .. } | Op::LoadPadding { dst, base, .. } => {
            visit(base, 1, Use);
            visit(dst, 1, Def);
        }
        Op::Store { base, src, .. } => {
            visit(base, 1, Use);
            visit(src, 1, Use);
        }
        Op::Index { dst, base, index, .. } => {
            visit(base, 1, Use);
            visit(index, 1, Use);
            visit(dst, 1, Def);
        }
        Op::Copy { dst, src, .. } => {
            visit(dst, 1, Use);
            visit(src, 1, Use);
        }
        Op::CopyToSlot { src, .. } => visit(src, 1, Use),
        Op::CopyFromSlot { dst, .. } | Op::Repeat { dst, .. } | Op::Deinit { dst, .. } => visit(dst, 1, Use),
        Op::CopyNonOverlapping { dst, src, len, .. } | Op::CopyOverlapping { dst, src, len, .. } => {
            visit(dst, 1, Use);
            visit(src, 1, Use);
            visit(len, 1, Use);
        }
        Op::Fill { dst, value, len, .. } => {
            visit(dst, 1, Use);
            visit(value, 1, Use);
            visit(len, 1, Use);
        }
        Op::Compare { dst, a, b, len } => {
            visit(a, 1, Use);
            visit(b, 1, Use);
            visit(len, 1, Use);
            visit(dst, 1, Def);
        }
        Op::AtomicLoad { width, dst, ptr, .. } => {
            visit(ptr, 1, Use);
            visit(dst, atomic(*width), Def);
        }
        Op::AtomicStore { width, ptr, src, .. } => {
            visit(ptr, 1, Use);
            visit(src, atomic(*width), Use);
        }
        Op::AtomicRmw { width, dst, ptr, src, .. } => {
            visit(ptr, 1, Use);
            visit(src, atomic(*width), Use);
            visit(dst, atomic(*width), Def);
        }
        Op::AtomicCas { width, dst, ptr, expected, new, .. } => {
            visit(ptr, 1, Use);
            visit(expected, atomic(*width), Use);
            visit(new, atomic(*width), Use);
            visit(dst, atomic(*width) + 1, Def);
        }
        Op::JumpIf { cond, .. } | Op::JumpIfNot { cond, .. } => visit(cond, 1, Use),
        Op::JumpCmp { a, b, .. } => {
            visit(a, 1, Use);
            visit(b, 1, Use);
        }
        Op::JumpCmpImm { a, .. } => visit(a, 1, Use),
        Op::CallPtr { ptr, dst, .. } => {
            visit(ptr, 1, Use);
            visit(dst, 1, Def);
        }
        Op::Builtin { builtin: Builtin::HashSeeds | Builtin::Args, dst, .. } => visit(dst, 2, Def),
        Op::Call { dst, .. } | Op::Builtin { dst, .. } => visit(dst, 1, Def),
        Op::CatchUnwind { dst, try_fn, data, catch_fn } => {
            visit(try_fn, 1, Use);
            visit(data, 1, Use);
            visit(catch_fn, 1, Use);
            visit(dst, 1, Def);
        }
        Op::BigSlotDead { slot } => visit(slot, 1, Use),
        Op::StorageLive { .. }
        | Op::StorageDead { .. }
        | Op::CopySlots { .. }
        | Op::Fence { .. }
        | Op::Jump { .. }
        | Op::Return
        | Op::Resume
        | Op::Unreachable { .. }
        | Op::Unsupported { .. } => {}
    }
}

/// Whether an operation does nothing but write its results: it can go where nobody reads them.
pub fn is_pure(op: &Op) -> bool {
    use crate::program::BinOp::{Div, Rem};
    match op {
        Op::Bin { op, .. } | Op::BinImm { op, .. } | Op::Bin128 { op, .. } => !matches!(op, Div | Rem),
        Op::Imm { .. }
        | Op::Mov { .. }
        | Op::Mov2 { .. }
        | Op::BinOverflow { .. }
        | Op::Un { .. }
        | Op::Cast { .. }
        | Op::Select { .. }
        | Op::BinOverflow128 { .. }
        | Op::Un128 { .. }
        | Op::Widen128 { .. }
        | Op::Select128 { .. }
        | Op::FloatBin { .. }
        | Op::FloatUn { .. }
        | Op::FloatMulAdd { .. }
        | Op::FloatPowi { .. }
        | Op::FloatScale { .. }
        | Op::FloatCast { .. }
        | Op::IntToFloat { .. }
        | Op::IntToFloat128 { .. }
        | Op::FloatToInt { .. }
        | Op::FloatToInt128 { .. }
        | Op::F128Bin { .. }
        | Op::F128Un { .. }
        | Op::F128MulAdd { .. }
        | Op::F128Powi { .. }
        | Op::F128Scale { .. }
        | Op::FloatToF128 { .. }
        | Op::F128ToFloat { .. }
        | Op::IntToF128 { .. }
        | Op::Int128ToF128 { .. }
        | Op::F128ToInt { .. }
        | Op::F128ToInt128 { .. }
        | Op::SlotAddr { .. }
        | Op::Index { .. } => true,
        _ => false,
    }
}
