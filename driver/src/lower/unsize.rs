//! Unsizing coercions, and the sizes of values whose type is known at run time only.

use dpor_engine::program::{BinOp, IntTy, Op, Reg, UnOp, Width};
use rustc_abi::FIRST_VARIANT;
use rustc_middle::ty::layout::TyAndLayout;
use rustc_middle::ty::{self, Ty};

use super::Lowering;
use super::operand::{Atom, Value};
use super::place::{Spot, typing_env};
use crate::repr::Repr;

/// Offsets in a vtable.
pub(super) const VTABLE_SIZE: i32 = 8;
pub(super) const VTABLE_ALIGN: i32 = 16;

impl<'tcx> Lowering<'_, 'tcx> {
    /// Coerces a pointer, or a struct that holds one, to an unsized type.
    pub(super) fn unsize(&mut self, value: Value<'tcx>, from: TyAndLayout<'tcx>, to: Spot<'tcx>) {
        let to_layout = to.layout();
        if let (Repr::Two(a, b, offset), Some((data, info))) = (self.repr(to_layout), pointer_parts(value)) {
            let info = self.coerced_info(from.ty, to_layout.ty, info);
            self.store(Value::Two(a, b, offset, data, info), to);
            return;
        }
        // A struct with more than the pointer: field by field.
        let Spot::Memory(to) = to else {
            return self.unsupported(format!("coercing `{}` to `{}`", from.ty, to_layout.ty));
        };
        let source = self.in_memory(value, from);
        let (ty::Adt(def, _), ty::Adt(..)) = (from.ty.kind(), to_layout.ty.kind()) else {
            return self.unsupported(format!("coercing `{}` to `{}`", from.ty, to_layout.ty));
        };
        for index in def.variant(FIRST_VARIANT).fields.indices() {
            let from_field = self.field(source, index.as_usize());
            let to_field = self.field(to, index.as_usize());
            if to_field.layout.is_zst() {
                continue;
            }
            let value = self.load(Spot::Memory(from_field));
            if from_field.layout.ty == to_field.layout.ty {
                self.store_memory(value, to_field);
            } else {
                self.unsize(value, from_field.layout, Spot::Memory(to_field));
            }
        }
    }

    /// The metadata of a coerced pointer, or of the pointer in a struct around it.
    fn coerced_info(&mut self, from: Ty<'tcx>, to: Ty<'tcx>, old: Option<Atom>) -> Atom {
        match (from.kind(), to.kind()) {
            (&ty::Pat(a, _), &ty::Pat(b, _)) => self.coerced_info(a, b, old),
            (&ty::Ref(_, a, _), &ty::Ref(_, b, _) | &ty::RawPtr(b, _)) | (&ty::RawPtr(a, _), &ty::RawPtr(b, _)) => {
                self.unsized_info(a, b, old)
            }
            (&ty::Adt(..), &ty::Adt(..)) => {
                let (from_layout, to_layout) = (self.layout(from), self.layout(to));
                for i in 0..from_layout.fields.count() {
                    let from_field = from_layout.field(&self.builder.layouts, i);
                    if !from_field.is_1zst() {
                        let to_field = to_layout.field(&self.builder.layouts, i);
                        if from_field.ty == to_field.ty {
                            return old.unwrap_or(Atom::Imm(0));
                        }
                        return self.coerced_info(from_field.ty, to_field.ty, old);
                    }
                }
                old.unwrap_or(Atom::Imm(0))
            }
            _ => old.unwrap_or(Atom::Imm(0)),
        }
    }

    fn unsized_info(&mut self, from: Ty<'tcx>, to: Ty<'tcx>, old: Option<Atom>) -> Atom {
        let (from, to) = self.tcx.struct_lockstep_tails_for_codegen(from, to, typing_env());
        match (from.kind(), to.kind()) {
            (&ty::Array(_, len), &ty::Slice(_)) => Atom::Imm(len.try_to_target_usize(self.tcx).unwrap_or(0).into()),
            (&ty::Dynamic(a, _), &ty::Dynamic(b, _)) => {
                let old = old.unwrap_or(Atom::Imm(0));
                if a.principal_def_id() == b.principal_def_id() || b.principal_def_id().is_none() {
                    return old;
                }
                match self.tcx.supertrait_vtable_slot((from, to)) {
                    Some(slot) => {
                        let vtable = self.atom_register(old);
                        let dst = self.emit.register();
                        self.emit.load(Width::W64, 3, dst, vtable, slot as i32 * 8);
                        Atom::Register(dst)
                    }
                    None => old,
                }
            }
            (_, &ty::Dynamic(predicates, _)) => Atom::address(self.builder.vtable(from, predicates.principal()), 0),
            _ => old.unwrap_or(Atom::Imm(0)),
        }
    }

    /// The size and alignment of a value of type `ty`, given the metadata of a pointer to it.
    pub(super) fn size_and_align(&mut self, ty: Ty<'tcx>, meta: Option<Reg>) -> (Reg, Reg) {
        let layout = self.layout(ty);
        let (size, align) = (self.emit.register(), self.emit.register());
        let Some(meta) = meta.filter(|_| !layout.is_sized()) else {
            self.emit.imm(size, layout.size.bytes());
            self.emit.imm(align, layout.align.abi.bytes());
            return (size, align);
        };
        match ty.kind() {
            ty::Dynamic(..) => {
                self.emit.load(Width::W64, 3, size, meta, VTABLE_SIZE);
                self.emit.load(Width::W64, 3, align, meta, VTABLE_ALIGN);
                (size, align)
            }
            ty::Slice(_) | ty::Str => {
                let unit = layout.field(&self.builder.layouts, 0);
                let size = self.times(meta, unit.size.bytes());
                self.emit.imm(align, unit.align.abi.bytes());
                (size, align)
            }
            ty::Adt(..) | ty::Tuple(..) => self.tail_size_and_align(layout, meta),
            _ => {
                self.unsupported(format!("the size of a value of type `{ty}`"));
                self.emit.imm(size, 0);
                self.emit.imm(align, 1);
                (size, align)
            }
        }
    }

    /// A struct whose last field is unsized.
    fn tail_size_and_align(&mut self, layout: TyAndLayout<'tcx>, meta: Reg) -> (Reg, Reg) {
        let last = layout.fields.count() - 1;
        let offset = layout.fields.offset(last).bytes();
        let field = layout.field(&self.builder.layouts, last);
        let (field_size, field_align) = self.size_and_align(field.ty, Some(meta));
        let field_align = self.cap_to_packing(layout.ty, field_align);
        // The larger alignment: both are powers of two.
        let own = self.atom_register(Atom::Imm(layout.align.abi.bytes().into()));
        let larger = self.emit.register();
        let align = self.emit.register();
        self.emit.op(Op::Bin { op: BinOp::Gt, ty: IntTy::U64, dst: larger, a: own, b: field_align });
        self.emit.op(Op::Select { dst: align, cond: larger, a: own, b: field_align });
        // (offset + size + align - 1) & -align
        let size = self.emit.register();
        self.emit.add_imm(size, field_size, offset as i64 - 1);
        self.emit.op(Op::Bin { op: BinOp::Add, ty: IntTy::U64, dst: size, a: size, b: align });
        let mask = self.emit.register();
        self.emit.op(Op::Un { op: UnOp::Neg, ty: IntTy::U64, dst: mask, src: align });
        self.emit.op(Op::Bin { op: BinOp::And, ty: IntTy::U64, dst: size, a: size, b: mask });
        (size, align)
    }

    /// The alignment of a field in a struct that may be packed.
    pub(super) fn cap_to_packing(&mut self, ty: Ty<'tcx>, align: Reg) -> Reg {
        let ty::Adt(def, _) = ty.kind() else { return align };
        let Some(pack) = def.repr().pack else { return align };
        let pack = self.atom_register(Atom::Imm(pack.bytes().into()));
        let smaller = self.emit.register();
        let capped = self.emit.register();
        self.emit.op(Op::Bin { op: BinOp::Lt, ty: IntTy::U64, dst: smaller, a: align, b: pack });
        self.emit.op(Op::Select { dst: capped, cond: smaller, a: align, b: pack });
        capped
    }
}

fn pointer_parts(value: Value<'_>) -> Option<(Atom, Option<Atom>)> {
    match value {
        Value::One(_, data) => Some((data, None)),
        Value::Two(_, _, _, data, info) => Some((data, Some(info))),
        _ => None,
    }
}
