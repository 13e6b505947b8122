//! Assignments: what the right-hand side computes, and where it goes.

use dpor_engine::program::{IntTy, Op, OverflowOp, Reg};
use rustc_abi::{FIRST_VARIANT, FieldIdx, FieldsShape};
use rustc_index::IndexVec;
use rustc_middle::mir::{self, AggregateKind, Rvalue};
use rustc_middle::ty;
use rustc_middle::ty::layout::TyAndLayout;

use super::Lowering;
use super::analyze::Part;
use super::operand::{Atom, Value};
use super::place::{MemPlace, Spot};
use crate::repr::{Prim, Repr};

impl<'tcx> Lowering<'_, 'tcx> {
    pub(super) fn assign(&mut self, place: mir::Place<'tcx>, rvalue: &Rvalue<'tcx>) {
        match rvalue {
            Rvalue::Aggregate(kind, fields) if !matches!(**kind, AggregateKind::RawPtr(..)) => {
                self.aggregate(place, kind, fields);
            }
            Rvalue::Repeat(operand, count) => {
                let count = self.mono(*count).try_to_target_usize(self.tcx).unwrap_or(0);
                self.repeat(place, operand, count);
            }
            Rvalue::Cast(mir::CastKind::PointerCoercion(ty::adjustment::PointerCoercion::Unsize, _), operand, _) => {
                let (value, layout) = self.operand(operand);
                let spot = self.spot(place);
                self.unsize(value, layout, spot);
            }
            _ => {
                let spot = self.spot(place);
                let value = self.rvalue(rvalue, target_register(&spot), spot.layout());
                self.access_promises(place, spot.layout());
                self.assignment_promises(value, &spot);
                self.store(value, spot);
                match rvalue {
                    Rvalue::Use(mir::Operand::Copy(from) | mir::Operand::Move(from), _)
                    | Rvalue::CopyForDeref(from) => self.copy_promises(*from, place),
                    _ => {}
                }
            }
        }
    }

    /// The value of a right-hand side; it may be computed in `target`.
    fn rvalue(&mut self, rvalue: &Rvalue<'tcx>, target: Option<Reg>, layout: TyAndLayout<'tcx>) -> Value<'tcx> {
        match rvalue {
            Rvalue::Use(operand, _) | Rvalue::WrapUnsafeBinder(operand, _) => self.operand(operand).0,
            Rvalue::CopyForDeref(place) | Rvalue::Reborrow(_, _, place) => {
                let spot = self.spot(*place);
                self.load(spot)
            }
            Rvalue::Ref(_, _, place) => {
                let spot = self.spot(*place);
                let value = self.address_of(spot, layout);
                self.reference_promises(*place, value, layout);
                value
            }
            Rvalue::RawPtr(_, place) => {
                let spot = self.spot(*place);
                self.field_promises(*place, &spot);
                self.address_of(spot, layout)
            }
            Rvalue::ThreadLocalRef(def_id) => self.thread_local(*def_id, target, layout),
            Rvalue::Cast(kind, operand, _) => self.cast(*kind, operand, target, layout),
            Rvalue::BinaryOp(op, operands) => self.binary(*op, &operands.0, &operands.1, target, layout),
            Rvalue::UnaryOp(op, operand) => self.unary(*op, operand, target, layout),
            Rvalue::Discriminant(place) => {
                let spot = self.spot(*place);
                self.discriminant(spot, layout.ty)
            }
            Rvalue::Aggregate(_, fields) => self.raw_pointer(fields, layout),
            Rvalue::Repeat(..) => Value::Zst,
        }
    }

    /// A pointer to a place.
    pub(super) fn address_of(&mut self, spot: Spot<'tcx>, pointer: TyAndLayout<'tcx>) -> Value<'tcx> {
        let place = match spot {
            Spot::Memory(place) => place,
            // The address of a value without bytes: any that is aligned.
            Spot::Nothing(layout) | Spot::Registers(_, _, layout) => self.temporary(layout),
        };
        let addr = self.addr_register(place.addr);
        match (self.repr(pointer), place.meta) {
            (Repr::Two(a, b, offset), Some(meta)) => {
                Value::Two(a, b, offset, Atom::Register(addr), Atom::Register(meta))
            }
            (Repr::One(prim), _) => Value::One(prim, Atom::Register(addr)),
            _ => self.undefined(pointer),
        }
    }

    fn thread_local(
        &mut self,
        def_id: rustc_hir::def_id::DefId,
        target: Option<Reg>,
        layout: TyAndLayout<'tcx>,
    ) -> Value<'tcx> {
        let dst = target.unwrap_or_else(|| self.emit.register());
        let index = self.builder.thread_local(def_id);
        self.emit.op(Op::ThreadLocal { dst, index });
        match self.repr(layout) {
            Repr::One(prim) => Value::One(prim, Atom::Register(dst)),
            _ => Value::One(Prim::USIZE, Atom::Register(dst)),
        }
    }

    /// A pointer from an address and metadata.
    fn raw_pointer(
        &mut self,
        fields: &IndexVec<FieldIdx, mir::Operand<'tcx>>,
        layout: TyAndLayout<'tcx>,
    ) -> Value<'tcx> {
        let mut fields = fields.iter();
        let data = fields.next().map(|operand| self.scalar_operand(operand).1).unwrap_or(Atom::Imm(0));
        let meta = fields.next().map(|operand| self.operand(operand));
        match (self.repr(layout), meta) {
            (Repr::Two(a, b, offset), Some((Value::One(_, meta), _))) => Value::Two(a, b, offset, data, meta),
            (Repr::Two(a, b, offset), Some((value, meta_layout))) => {
                let (_, meta) = self.scalar(value, meta_layout);
                Value::Two(a, b, offset, data, meta)
            }
            (Repr::One(prim), _) => Value::One(prim, data),
            _ => self.undefined(layout),
        }
    }

    /// Builds a struct, an enum, a tuple, an array or a closure.
    fn aggregate(
        &mut self,
        place: mir::Place<'tcx>,
        kind: &AggregateKind<'tcx>,
        fields: &IndexVec<FieldIdx, mir::Operand<'tcx>>,
    ) {
        let (variant, active) = match *kind {
            AggregateKind::Adt(_, variant, _, _, active) => (variant, active),
            _ => (FIRST_VARIANT, None),
        };
        let is_array = matches!(kind, AggregateKind::Array(_));
        // All operands before anything is written: they may be parts of the place itself.
        let values: Vec<_> = fields.iter().map(|operand| self.operand(operand)).collect();
        let spot = self.spot(place);
        let values: Vec<_> = values.into_iter().map(|(value, layout)| (self.keep(value, &spot), layout)).collect();
        let variant_spot = match *kind {
            AggregateKind::Adt(..) => self.downcast_spot(spot, variant),
            _ => spot,
        };
        for (index, (value, _)) in values.into_iter().enumerate() {
            let field = match (is_array, variant_spot) {
                (true, Spot::Memory(array)) => Spot::Memory(self.constant_element(array, index as u64)),
                _ => self.field_spot(variant_spot, active.map_or(index, FieldIdx::as_usize)),
            };
            self.store(value, field);
        }
        self.clear_unused(spot, variant);
        self.set_discriminant(spot, variant);
    }

    /// Moves a value out of the registers of `spot`, which are about to be written.
    fn keep(&mut self, value: Value<'tcx>, spot: &Spot<'tcx>) -> Value<'tcx> {
        let Spot::Registers(part, first, _) = *spot else { return value };
        let count = match part {
            Part::Nothing => 0,
            Part::Scalar(prim, _) => prim.registers(),
            Part::Both(a, b, _) => a.registers() + b.registers(),
        };
        let range = first.0..first.0 + count;
        let mut moved = |prim: Prim, atom: Atom| match atom {
            Atom::Register(reg) if range.contains(&reg.0) => {
                let saved = self.emit.registers(prim.registers());
                self.atom_into(prim, atom, saved);
                Atom::Register(saved)
            }
            other => other,
        };
        match value {
            Value::One(prim, atom) => Value::One(prim, moved(prim, atom)),
            Value::Two(a, b, offset, first, second) => {
                let first = moved(a, first);
                Value::Two(a, b, offset, first, moved(b, second))
            }
            other => other,
        }
    }

    /// The part of a register pair that a variant does not use must hold something.
    fn clear_unused(&mut self, spot: Spot<'tcx>, variant: rustc_abi::VariantIdx) {
        if let Spot::Registers(Part::Both(a, b, _), reg, layout) = spot
            && b.padding
            && layout.for_variant(&self.builder.layouts, variant).fields.count() == 0
        {
            self.atom_into(b, Atom::Imm(0), Reg(reg.0 + a.registers()));
        }
    }

    /// `[operand; count]`
    fn repeat(&mut self, place: mir::Place<'tcx>, operand: &mir::Operand<'tcx>, count: u64) {
        let (value, element) = self.operand(operand);
        let Spot::Memory(array) = self.spot(place) else { return };
        if count == 0 || element.is_zst() {
            return;
        }
        let first = MemPlace { layout: element, align: array.align.min(element.align.abi), ..array };
        self.store_memory(value, first);
        if count > 1 {
            let dst = self.addr_register(array.addr);
            match (u32::try_from(element.size.bytes()), u32::try_from(count)) {
                (Ok(size), Ok(count)) => self.emit.op(Op::Repeat { dst, size, count }),
                _ => self.unsupported("an array of more than 4 GiB"),
            }
        }
    }

    /// Copies `count` elements.
    pub(super) fn copy_elements(&mut self, ty: ty::Ty<'tcx>, dst: Reg, src: Reg, count: Reg, overlapping: bool) {
        let layout = self.layout(ty);
        let len = self.times(count, layout.size.bytes());
        let align = layout.align.abi.bytes().trailing_zeros() as u8;
        self.emit.op(if overlapping {
            Op::CopyOverlapping { align, dst, src, len }
        } else {
            Op::CopyNonOverlapping { align, dst, src, len }
        });
    }

    /// `count * size`, which must not be more than there are bytes.
    pub(super) fn times(&mut self, count: Reg, size: u64) -> Reg {
        if size == 1 {
            return count;
        }
        let (dst, size) = (self.emit.register(), self.atom_register(Atom::Imm(size.into())));
        self.emit.op(Op::BinUnchecked { op: OverflowOp::Mul, ty: IntTy::U64, dst, a: count, b: size });
        dst
    }
}

/// The register that a one-scalar result may be computed in directly.
pub(super) fn target_register(spot: &Spot<'_>) -> Option<Reg> {
    match *spot {
        Spot::Registers(Part::Scalar(..) | Part::Both(..), reg, _) => Some(reg),
        _ => None,
    }
}

/// The number of elements of an array layout.
pub(super) fn array_len(layout: TyAndLayout<'_>) -> u64 {
    match layout.fields {
        FieldsShape::Array { count, .. } => count,
        _ => 0,
    }
}
