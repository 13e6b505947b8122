//! Arithmetic and comparisons.

use dpor_engine::program::{BinOp, FloatBinOp, FloatUnOp, IntTy, Op, OverflowOp, Reg, UnOp, Width};
use rustc_middle::mir;
use rustc_middle::ty::layout::TyAndLayout;

use super::Lowering;
use super::operand::{Atom, Value};
use crate::float::{FloatOperation, OTHER_FLOAT};
use crate::repr::{Prim, Repr};

impl<'tcx> Lowering<'_, 'tcx> {
    pub(super) fn binary(
        &mut self,
        op: mir::BinOp,
        a: &mir::Operand<'tcx>,
        b: &mir::Operand<'tcx>,
        target: Option<Reg>,
        layout: TyAndLayout<'tcx>,
    ) -> Value<'tcx> {
        let a_ty = self.mono(a.ty(self.body, self.tcx));
        let (left, left_layout) = self.operand(a);
        let (right, right_layout) = self.operand(b);
        if op == mir::BinOp::Offset {
            return self.pointer_offset(a_ty, left, right, layout);
        }
        match (left, right) {
            (Value::Two(a_prim, _, _, a0, a1), Value::Two(_, _, _, b0, b1)) => {
                self.wide_pointer_binary(op, a_prim, [a0, a1], [b0, b1], layout)
            }
            (Value::Zst, Value::Zst) => self.unit_comparison(op, layout),
            (left, right) => {
                let (prim, left) = self.scalar(left, left_layout);
                let (right_prim, right) = self.scalar(right, right_layout);
                self.scalar_binary(op, prim, left, right_prim, right, target, layout)
            }
        }
    }

    fn unit_comparison(&mut self, op: mir::BinOp, layout: TyAndLayout<'tcx>) -> Value<'tcx> {
        let result = matches!(op, mir::BinOp::Eq | mir::BinOp::Le | mir::BinOp::Ge);
        match self.repr(layout) {
            Repr::One(prim) => Value::One(prim, Atom::Imm(u128::from(result))),
            _ => Value::Zst,
        }
    }

    fn pointer_offset(
        &mut self,
        pointer: rustc_middle::ty::Ty<'tcx>,
        base: Value<'tcx>,
        count: Value<'tcx>,
        layout: TyAndLayout<'tcx>,
    ) -> Value<'tcx> {
        let size = pointer.builtin_deref(true).map_or(1, |pointee| self.layout(pointee).size.bytes());
        let (Value::One(prim, base), Value::One(count_prim, count)) = (base, count) else {
            return self.undefined(layout);
        };
        let base = self.prim_register(prim, base);
        let dst = self.emit.register();
        match count {
            Atom::Imm(count) => {
                let unused = 128 - 8 * u32::from(count_prim.size);
                let count = (count as i128) << unused >> unused;
                self.emit.add_imm(dst, base, (count as i64).wrapping_mul(size as i64));
            }
            Atom::Register(_) | Atom::Address(_) => {
                let count = self.prim_register(count_prim, count);
                self.index(dst, base, count, size);
            }
        }
        Value::One(prim, Atom::Register(dst))
    }

    #[expect(clippy::too_many_arguments, reason = "two typed operands, an operation and where the result goes")]
    pub(super) fn scalar_binary(
        &mut self,
        op: mir::BinOp,
        prim: Prim,
        a: Atom,
        b_prim: Prim,
        b: Atom,
        target: Option<Reg>,
        layout: TyAndLayout<'tcx>,
    ) -> Value<'tcx> {
        let repr = self.repr(layout);
        if prim.is_float() {
            return self.float_binary(op, prim, a, b, target, layout);
        }
        if let Some((op, checked)) = overflow_op(op) {
            let b = self.shift_amount(op, b_prim, b);
            return match (repr, checked) {
                (Repr::Two(first, second, offset), true) => {
                    let (dst, flag) = self.overflow_binary(op, prim, a, b, target);
                    let (dst, flag) = (Atom::Register(dst), Atom::Register(flag));
                    Value::Two(first, second, offset, dst, flag)
                }
                (Repr::Memory, true) => {
                    // A pair that the layout does not keep in registers.
                    let (dst, flag) = self.overflow_binary(op, prim, a, b, None);
                    let place = self.temporary(layout);
                    let value = self.field(place, 0);
                    let overflow = self.field(place, 1);
                    self.store_memory(Value::One(prim, Atom::Register(dst)), value);
                    self.store_memory(Value::One(Prim { size: 1, ..Prim::USIZE }, Atom::Register(flag)), overflow);
                    Value::Memory(place)
                }
                (Repr::One(result), _) => {
                    Value::One(result, Atom::Register(self.unchecked_binary(op, prim, a, b, target)))
                }
                _ => self.undefined(layout),
            };
        }
        let Some(bin) = bin_op(op) else { return self.undefined(layout) };
        let b = match bin {
            BinOp::Shl | BinOp::Shr => self.shift_amount(OverflowOp::Shl, b_prim, b),
            _ => b,
        };
        let Repr::One(result) = repr else { return self.undefined(layout) };
        // A target may be an operand, too: operations read before they write.
        let dst = target.unwrap_or_else(|| self.emit.registers(result.registers()));
        self.bin_into(bin, prim, a, b, dst);
        Value::One(result, Atom::Register(dst))
    }

    /// `dst = a op b`; for shifts `b` is one register.
    pub(super) fn bin_into(&mut self, op: BinOp, prim: Prim, a: Atom, b: Atom, dst: Reg) {
        let is_shift = matches!(op, BinOp::Shl | BinOp::Shr);
        let Some(ty) = prim.int_ty() else {
            let a = self.prim_register(prim, a);
            let b = self.prim_register(if is_shift { Prim::USIZE } else { prim }, b);
            self.emit.op(Op::Bin128 { op, signed: prim.signed(), dst, a, b });
            return;
        };
        let a = self.prim_register(prim, a);
        if let Some(imm) = small_immediate(ty, b) {
            self.emit.op(Op::BinImm { op, ty, dst, a, imm });
            return;
        }
        let b = self.prim_register(prim, b);
        self.emit.op(Op::Bin { op, ty, dst, a, b });
    }

    /// The result and the flag, in `target` and after it if there is one.
    fn overflow_binary(&mut self, op: OverflowOp, prim: Prim, a: Atom, b: Atom, target: Option<Reg>) -> (Reg, Reg) {
        let a = self.prim_register(prim, a);
        let b = self.prim_register(if op == OverflowOp::Shl { Prim::USIZE } else { prim }, b);
        let dst = target.unwrap_or_else(|| self.emit.registers(prim.registers() + 1));
        let flag = Reg(dst.0 + prim.registers());
        match prim.int_ty() {
            Some(ty) => self.emit.op(Op::BinOverflow { op, ty, dst, flag, a, b }),
            None => self.emit.op(Op::BinOverflow128 { op, signed: prim.signed(), dst, flag, a, b }),
        }
        (dst, flag)
    }

    fn unchecked_binary(&mut self, op: OverflowOp, prim: Prim, a: Atom, b: Atom, target: Option<Reg>) -> Reg {
        let is_shift = matches!(op, OverflowOp::Shl | OverflowOp::Shr);
        let a = self.prim_register(prim, a);
        let b = self.prim_register(if is_shift { Prim::USIZE } else { prim }, b);
        let dst = target.unwrap_or_else(|| self.emit.registers(prim.registers()));
        match prim.int_ty() {
            Some(ty) => self.emit.op(Op::BinUnchecked { op, ty, dst, a, b }),
            None => self.emit.op(Op::BinUnchecked128 { op, signed: prim.signed(), dst, a, b }),
        }
        dst
    }

    /// The amount of a shift in one register: amounts may have any integer type. A negative amount, or one of more
    /// than 64 bits, becomes a number that is too large for every type.
    fn shift_amount(&mut self, op: OverflowOp, prim: Prim, amount: Atom) -> Atom {
        if !matches!(op, OverflowOp::Shl | OverflowOp::Shr) {
            return amount;
        }
        match amount {
            Atom::Imm(value) => {
                let unused = 128 - 8 * u32::from(prim.size);
                let value = if prim.signed() { ((value << unused) as i128 >> unused) as u128 } else { value };
                Atom::Imm(u128::from(value as u64))
            }
            Atom::Register(reg) if prim.signed() && prim.size < 8 => {
                let dst = self.emit.register();
                let Some(from) = prim.int_ty() else { return amount };
                self.emit.op(Op::Cast { from, to: Width::W64, dst, src: reg });
                Atom::Register(dst)
            }
            // The low half of a 128-bit amount decides modulo the width.
            other => other,
        }
    }

    fn float_binary(
        &mut self,
        op: mir::BinOp,
        prim: Prim,
        a: Atom,
        b: Atom,
        target: Option<Reg>,
        layout: TyAndLayout<'tcx>,
    ) -> Value<'tcx> {
        let (Repr::One(result), Some(op)) = (self.repr(layout), float_op(op)) else {
            return self.undefined(layout);
        };
        let a = self.prim_register(prim, a);
        let b = self.prim_register(prim, b);
        let dst = target.unwrap_or_else(|| self.emit.registers(result.registers()));
        self.float_instruction(FloatOperation::Bin(op), prim, &[a, b], dst);
        Value::One(result, Atom::Register(dst))
    }

    /// An operation on floats that every format has.
    fn float_instruction(&mut self, operation: FloatOperation, prim: Prim, args: &[Reg], dst: Reg) {
        let op = prim.format().and_then(|format| operation.instruction(format, args, dst));
        match op {
            Some(op) => self.emit.op(op),
            None => self.unsupported(OTHER_FLOAT),
        }
    }

    /// Compares pointers with metadata.
    fn wide_pointer_binary(
        &mut self,
        op: mir::BinOp,
        prim: Prim,
        a: [Atom; 2],
        b: [Atom; 2],
        layout: TyAndLayout<'tcx>,
    ) -> Value<'tcx> {
        let Repr::One(result) = self.repr(layout) else { return self.undefined(layout) };
        let ty = IntTy::U64;
        let [a0, a1] = a.map(|atom| self.prim_register(prim, atom));
        let [b0, b1] = b.map(|atom| self.prim_register(prim, atom));
        let (dst, other) = (self.emit.register(), self.emit.register());
        match op {
            mir::BinOp::Eq | mir::BinOp::Ne => {
                let (cmp, join) = if op == mir::BinOp::Eq { (BinOp::Eq, BinOp::And) } else { (BinOp::Ne, BinOp::Or) };
                self.emit.op(Op::Bin { op: cmp, ty, dst, a: a0, b: b0 });
                self.emit.op(Op::Bin { op: cmp, ty, dst: other, a: a1, b: b1 });
                self.emit.op(Op::Bin { op: join, ty, dst, a: dst, b: other });
            }
            _ => {
                // First by address, then by metadata.
                let Some(cmp) = bin_op(op) else { return self.undefined(layout) };
                let same = self.emit.register();
                self.emit.op(Op::Bin { op: BinOp::Eq, ty, dst: same, a: a0, b: b0 });
                self.emit.op(Op::Bin { op: cmp, ty, dst, a: a0, b: b0 });
                self.emit.op(Op::Bin { op: cmp, ty, dst: other, a: a1, b: b1 });
                self.emit.op(Op::Select { dst, cond: same, a: other, b: dst });
            }
        }
        Value::One(result, Atom::Register(dst))
    }

    pub(super) fn unary(
        &mut self,
        op: mir::UnOp,
        operand: &mir::Operand<'tcx>,
        target: Option<Reg>,
        layout: TyAndLayout<'tcx>,
    ) -> Value<'tcx> {
        let (value, operand_layout) = self.operand(operand);
        if op == mir::UnOp::PtrMetadata {
            return match (value, self.repr(layout)) {
                (Value::Two(_, _, _, _, meta), Repr::One(prim)) => Value::One(prim, meta),
                _ => Value::Zst,
            };
        }
        let (prim, atom) = self.scalar(value, operand_layout);
        let src = self.prim_register(prim, atom);
        let dst = target.unwrap_or_else(|| self.emit.registers(prim.registers()));
        match (op, prim.int_ty()) {
            (mir::UnOp::Not, Some(_)) if operand_layout.ty.is_bool() => {
                self.emit.op(Op::BinImm { op: BinOp::Xor, ty: IntTy::U8, dst, a: src, imm: 1 });
            }
            _ if prim.is_float() => {
                self.float_instruction(FloatOperation::Un(FloatUnOp::Neg), prim, &[src], dst);
            }
            (_, Some(ty)) => {
                let op = if op == mir::UnOp::Not { UnOp::Not } else { UnOp::Neg };
                self.emit.op(Op::Un { op, ty, dst, src });
            }
            (_, None) => {
                let op = if op == mir::UnOp::Not { UnOp::Not } else { UnOp::Neg };
                self.emit.op(Op::Un128 { op, dst, src });
            }
        }
        Value::One(prim, Atom::Register(dst))
    }

    /// An integer of one type as one of another.
    pub(super) fn convert_int(&mut self, from: Prim, src: Reg, to: Prim) -> Reg {
        match (from.int_ty(), to.width()) {
            (Some(from_ty), Some(to_width)) => {
                if to.size == from.size || (to.size > from.size && !from.signed()) {
                    return src;
                }
                let dst = self.emit.register();
                self.emit.op(Op::Cast { from: from_ty, to: to_width, dst, src });
                dst
            }
            (Some(from_ty), None) => {
                let dst = self.emit.registers(2);
                self.emit.op(Op::Widen128 { from: from_ty, dst, src });
                dst
            }
            (None, Some(to_width)) => {
                let dst = self.emit.register();
                self.emit.op(Op::Cast { from: IntTy::U64, to: to_width, dst, src });
                dst
            }
            (None, None) => src,
        }
    }
}

/// The immediate form of a second operand.
fn small_immediate(ty: IntTy, atom: Atom) -> Option<i32> {
    let Atom::Imm(value) = atom else { return None };
    let value = value as u64;
    // What the machine makes of an immediate: sign-extended, then cut to the width.
    let imm = value as i32;
    (imm as i64 as u64 & ty.width.mask() == value & ty.width.mask()).then_some(imm)
}

fn overflow_op(op: mir::BinOp) -> Option<(OverflowOp, bool)> {
    Some(match op {
        mir::BinOp::AddWithOverflow => (OverflowOp::Add, true),
        mir::BinOp::SubWithOverflow => (OverflowOp::Sub, true),
        mir::BinOp::MulWithOverflow => (OverflowOp::Mul, true),
        mir::BinOp::AddUnchecked => (OverflowOp::Add, false),
        mir::BinOp::SubUnchecked => (OverflowOp::Sub, false),
        mir::BinOp::MulUnchecked => (OverflowOp::Mul, false),
        mir::BinOp::ShlUnchecked => (OverflowOp::Shl, false),
        mir::BinOp::ShrUnchecked => (OverflowOp::Shr, false),
        _ => return None,
    })
}

pub(super) fn bin_op(op: mir::BinOp) -> Option<BinOp> {
    Some(match op {
        mir::BinOp::Add => BinOp::Add,
        mir::BinOp::Sub => BinOp::Sub,
        mir::BinOp::Mul => BinOp::Mul,
        mir::BinOp::Div => BinOp::Div,
        mir::BinOp::Rem => BinOp::Rem,
        mir::BinOp::BitXor => BinOp::Xor,
        mir::BinOp::BitAnd => BinOp::And,
        mir::BinOp::BitOr => BinOp::Or,
        mir::BinOp::Shl => BinOp::Shl,
        mir::BinOp::Shr => BinOp::Shr,
        mir::BinOp::Eq => BinOp::Eq,
        mir::BinOp::Lt => BinOp::Lt,
        mir::BinOp::Le => BinOp::Le,
        mir::BinOp::Ne => BinOp::Ne,
        mir::BinOp::Ge => BinOp::Ge,
        mir::BinOp::Gt => BinOp::Gt,
        mir::BinOp::Cmp => BinOp::Cmp,
        _ => return None,
    })
}

pub(super) fn float_op(op: mir::BinOp) -> Option<FloatBinOp> {
    Some(match op {
        mir::BinOp::Add => FloatBinOp::Add,
        mir::BinOp::Sub => FloatBinOp::Sub,
        mir::BinOp::Mul => FloatBinOp::Mul,
        mir::BinOp::Div => FloatBinOp::Div,
        mir::BinOp::Rem => FloatBinOp::Rem,
        mir::BinOp::Eq => FloatBinOp::Eq,
        mir::BinOp::Ne => FloatBinOp::Ne,
        mir::BinOp::Lt => FloatBinOp::Lt,
        mir::BinOp::Le => FloatBinOp::Le,
        mir::BinOp::Gt => FloatBinOp::Gt,
        mir::BinOp::Ge => FloatBinOp::Ge,
        _ => return None,
    })
}
