//! Casts.

use dpor_engine::program::{Op, Reg};
use rustc_middle::mir::{self, CastKind};
use rustc_middle::ty::adjustment::PointerCoercion;
use rustc_middle::ty::layout::TyAndLayout;
use rustc_middle::ty::print::with_no_trimmed_paths;
use rustc_middle::ty::{self, Instance};

use super::Lowering;
use super::operand::{Atom, Value};
use super::place::{MemPlace, typing_env};
use crate::float::OTHER_FLOAT;
use crate::repr::{Kind, Prim, Repr};

impl<'tcx> Lowering<'_, 'tcx> {
    pub(super) fn cast(
        &mut self,
        kind: CastKind,
        operand: &mir::Operand<'tcx>,
        target: Option<Reg>,
        layout: TyAndLayout<'tcx>,
    ) -> Value<'tcx> {
        match kind {
            CastKind::PointerCoercion(PointerCoercion::ReifyFnPointer(_), _) => self.reify(operand, layout),
            CastKind::PointerCoercion(PointerCoercion::ClosureFnPointer(_), _) => self.closure_pointer(operand, layout),
            CastKind::PointerCoercion(_, _) => self.operand(operand).0,
            CastKind::Transmute | CastKind::BoxDerefTransmute | CastKind::Subtype => {
                let (value, from) = self.operand(operand);
                let value = self.transmute(value, from, layout);
                if kind == CastKind::Transmute {
                    self.transmute_promises(value, from, layout);
                }
                value
            }
            CastKind::IntToInt
            | CastKind::FloatToInt
            | CastKind::FloatToFloat
            | CastKind::IntToFloat
            | CastKind::PtrToPtr
            | CastKind::FnPtrToPtr
            | CastKind::PointerExposeProvenance
            | CastKind::PointerWithExposedProvenance => self.scalar_cast(operand, target, layout),
        }
    }

    fn reify(&mut self, operand: &mir::Operand<'tcx>, layout: TyAndLayout<'tcx>) -> Value<'tcx> {
        let ty = self.mono(operand.ty(self.body, self.tcx));
        let ty::FnDef(def_id, args) = *ty.kind() else { return self.undefined(layout) };
        let Some(args) = args.no_bound_vars() else { return self.undefined(layout) };
        match Instance::resolve_for_fn_ptr(self.tcx, typing_env(), def_id, args) {
            Some(instance) => self.code_pointer(instance, layout),
            None => self.undefined(layout),
        }
    }

    fn closure_pointer(&mut self, operand: &mir::Operand<'tcx>, layout: TyAndLayout<'tcx>) -> Value<'tcx> {
        let ty = self.mono(operand.ty(self.body, self.tcx));
        let ty::Closure(def_id, args) = *ty.kind() else { return self.undefined(layout) };
        let instance = Instance::resolve_closure(self.tcx, def_id, args, ty::ClosureKind::FnOnce);
        self.code_pointer(instance, layout)
    }

    fn code_pointer(&mut self, instance: Instance<'tcx>, layout: TyAndLayout<'tcx>) -> Value<'tcx> {
        let address = self.builder.function_address(instance);
        match self.repr(layout) {
            Repr::One(prim) => Value::One(prim, Atom::address(address, 0)),
            _ => self.undefined(layout),
        }
    }

    /// The same bytes as a value of another type.
    pub(super) fn transmute(
        &mut self,
        value: Value<'tcx>,
        from: TyAndLayout<'tcx>,
        to: TyAndLayout<'tcx>,
    ) -> Value<'tcx> {
        if from.size != to.size {
            self.unreachable(format!("`{}` is transmuted to `{}`, which has a different size", from.ty, to.ty));
            return self.undefined(to);
        }
        if to.is_uninhabited() {
            self.unreachable(format!("a value of the uninhabited type `{}` is created", to.ty));
            return self.undefined(to);
        }
        match (value, self.repr(to)) {
            (_, Repr::Zst) => Value::Zst,
            (Value::One(a, atom), Repr::One(b)) if a.size == b.size => {
                self.check_made(a, b, atom, from, to);
                Value::One(b, self.valid_atom(a, b, atom, to))
            }
            (Value::Two(a, b, offset, x, y), Repr::Two(c, d, to_offset))
                if (a.size, b.size, offset) == (c.size, d.size, to_offset) =>
            {
                let (x, y) = (self.valid_atom(a, c, x, to), self.valid_atom(b, d, y, to));
                Value::Two(c, d, offset, x, y)
            }
            (value, repr) => {
                let place = self.in_memory(value, from);
                let place = MemPlace { layout: to, align: place.align.min(to.align.abi), ..place };
                match repr {
                    Repr::Memory => Value::Memory(place),
                    _ => self.load(super::place::Spot::Memory(place)),
                }
            }
        }
    }

    /// Checks what the range of a scalar's layout does not say: that a reference is not null, nor a `char` a surrogate.
    fn check_made(
        &mut self,
        from: Prim,
        to: Prim,
        atom: Atom,
        from_layout: TyAndLayout<'tcx>,
        layout: TyAndLayout<'tcx>,
    ) {
        let (start, end) = match layout.ty.kind() {
            ty::Ref(..) | ty::FnPtr(..) if from_layout.ty.is_raw_ptr() || from.kind != Kind::Pointer => (1, u64::MAX),
            ty::Char => (0xe000, 0xd7ff),
            _ => return,
        };
        let reg = self.prim_register(to, atom);
        self.emit.check_range(reg, start, end, &with_no_trimmed_paths!(layout.ty.to_string()));
    }

    /// A scalar of type `from` as one of type `to`, which may have fewer valid values.
    fn valid_atom(&mut self, from: Prim, to: Prim, atom: Atom, layout: TyAndLayout<'tcx>) -> Atom {
        if to.range.is_some() && from.range != to.range {
            let reg = self.prim_register(to, atom);
            self.check_valid(to, reg, layout);
        }
        atom
    }

    fn scalar_cast(
        &mut self,
        operand: &mir::Operand<'tcx>,
        target: Option<Reg>,
        layout: TyAndLayout<'tcx>,
    ) -> Value<'tcx> {
        let (value, from_layout) = self.operand(operand);
        let to = match (value, self.repr(layout)) {
            // Between wide pointers nothing changes.
            (Value::Two(_, _, _, x, y), Repr::Two(a, b, offset)) => return Value::Two(a, b, offset, x, y),
            (Value::Two(_, _, _, x, _), Repr::One(prim)) => return Value::One(prim, x),
            (_, Repr::One(prim)) => prim,
            _ => return self.undefined(layout),
        };
        let (from, atom) = self.scalar(value, from_layout);
        let integral = |prim: Prim| !prim.is_float();
        if integral(from) && integral(to) {
            return Value::One(to, self.cast_int_atom(from, atom, to));
        }
        let src = self.prim_register(from, atom);
        let dst = target.unwrap_or_else(|| self.emit.registers(to.registers()));
        self.float_cast(from, src, to, dst);
        Value::One(to, Atom::Register(dst))
    }

    fn cast_int_atom(&mut self, from: Prim, atom: Atom, to: Prim) -> Atom {
        match atom {
            Atom::Imm(value) => {
                let unused = 128 - 8 * u32::from(from.size);
                let extended = if from.signed() { ((value << unused) as i128 >> unused) as u128 } else { value };
                let cut = 128 - 8 * u32::from(to.size);
                Atom::Imm(extended << cut >> cut)
            }
            Atom::Address(_) if from.size == to.size => atom,
            Atom::Register(_) | Atom::Address(_) => {
                let reg = self.prim_register(from, atom);
                Atom::Register(self.convert_int(from, reg, to))
            }
        }
    }

    pub(super) fn float_cast(&mut self, from: Prim, src: Reg, to: Prim, dst: Reg) {
        let op = match (from.kind, to.kind) {
            (Kind::OtherFloat, _) | (_, Kind::OtherFloat) => return self.unsupported(OTHER_FLOAT),
            (Kind::F128, Kind::F128) => Op::Mov2 { dst, src },
            (Kind::F128, _) => match (to.float_ty(), to.int_ty()) {
                (Some(to), _) => Op::F128ToFloat { to, dst, src },
                (None, Some(to)) => Op::F128ToInt { to, dst, src },
                (None, None) => Op::F128ToInt128 { signed: to.signed(), dst, src },
            },
            (_, Kind::F128) => match (from.float_ty(), from.int_ty()) {
                (Some(from), _) => Op::FloatToF128 { from, dst, src },
                (None, Some(from)) => Op::IntToF128 { from, dst, src },
                (None, None) => Op::Int128ToF128 { signed: from.signed(), dst, src },
            },
            _ => match (from.float_ty(), to.float_ty(), from.int_ty(), to.int_ty()) {
                (Some(from), Some(to), _, _) => Op::FloatCast { from, to, dst, src },
                (Some(from), None, _, Some(to)) => Op::FloatToInt { from, to, dst, src },
                (Some(from), None, _, None) => Op::FloatToInt128 { from, signed: to.signed(), dst, src },
                (None, Some(to), Some(from), _) => Op::IntToFloat { from, to, dst, src },
                (None, Some(to), None, _) => Op::IntToFloat128 { signed: from.signed(), to, dst, src },
                (None, None, _, _) => Op::Mov { dst, src },
            },
        };
        self.emit.op(op);
    }
}
