//! Enums: which variant a value is, and how to say so.

use dpor_engine::program::{BinOp, IntTy, Op, Reg};
use rustc_abi::{TagEncoding, VariantIdx, Variants};
use rustc_middle::ty::layout::TyAndLayout;
use rustc_middle::ty::{self, Ty};

use super::Lowering;
use super::analyze::{Part, part_of};
use super::operand::{Atom, Value};
use super::place::Spot;
use crate::repr::{Prim, Repr};

impl<'tcx> Lowering<'_, 'tcx> {
    /// A field of a value that is somewhere.
    pub(super) fn field_spot(&mut self, spot: Spot<'tcx>, field: usize) -> Spot<'tcx> {
        match spot {
            Spot::Nothing(layout) => Spot::Nothing(layout.field(&self.builder.layouts, field)),
            Spot::Memory(place) => Spot::Memory(self.field(place, field)),
            Spot::Registers(part, reg, layout) => {
                let whole = match part {
                    Part::Nothing => Repr::Zst,
                    Part::Scalar(prim, _) => Repr::One(prim),
                    Part::Both(a, b, offset) => Repr::Two(a, b, offset),
                };
                let offset = layout.fields.offset(field).bytes();
                let layout = layout.field(&self.builder.layouts, field);
                match part_of(whole, self.repr(layout), offset) {
                    Some(Part::Scalar(prim, skip)) => Spot::Registers(Part::Scalar(prim, 0), Reg(reg.0 + skip), layout),
                    Some(part @ Part::Both(..)) => Spot::Registers(part, reg, layout),
                    Some(Part::Nothing) | None => Spot::Nothing(layout),
                }
            }
        }
    }

    /// The same value as the given variant.
    pub(super) fn downcast_spot(&self, spot: Spot<'tcx>, variant: VariantIdx) -> Spot<'tcx> {
        match spot {
            Spot::Nothing(layout) => Spot::Nothing(layout.for_variant(&self.builder.layouts, variant)),
            Spot::Registers(part, reg, layout) => {
                Spot::Registers(part, reg, layout.for_variant(&self.builder.layouts, variant))
            }
            Spot::Memory(place) => Spot::Memory(self.downcast(place, variant)),
        }
    }

    /// Writes the tag of a variant.
    pub(super) fn set_discriminant(&mut self, spot: Spot<'tcx>, variant: VariantIdx) {
        let layout = spot.layout();
        if layout.is_variant_uninhabited(variant) {
            return self.unreachable(format!("an uninhabited variant of `{}` is created", layout.ty));
        }
        let Some((tag_field, tag)) = self.tag_of(layout, variant) else { return };
        let field = self.field_spot(spot, tag_field);
        let bits = tag & layout.field(&self.builder.layouts, tag_field).size.unsigned_int_max();
        let field_layout = field.layout();
        let value = match self.repr(field_layout) {
            Repr::One(prim) => Value::One(prim, Atom::Imm(bits)),
            _ => return self.unsupported("an enum whose tag is not a scalar"),
        };
        self.store(value, field);
    }

    /// The field that says which variant it is, and what it says; nothing where other fields imply it.
    fn tag_of(&self, layout: TyAndLayout<'tcx>, variant: VariantIdx) -> Option<(usize, u128)> {
        let Variants::Multiple { tag_field, tag_encoding, .. } = &layout.variants else { return None };
        let tag = match tag_encoding {
            TagEncoding::Direct => layout.ty.discriminant_for_variant(self.tcx, variant)?.val,
            TagEncoding::Niche { untagged_variant, .. } if *untagged_variant == variant => return None,
            TagEncoding::Niche { niche_variants, niche_start, .. } => {
                u128::from(variant.as_u32() - niche_variants.start.as_u32()).wrapping_add(*niche_start)
            }
        };
        Some((tag_field.as_usize(), tag))
    }

    /// Reads the discriminant as a value of `ty`.
    pub(super) fn discriminant(&mut self, spot: Spot<'tcx>, ty: Ty<'tcx>) -> Value<'tcx> {
        let layout = spot.layout();
        let discr_layout = self.layout(ty);
        let Repr::One(discr) = self.repr(discr_layout) else { return Value::Zst };
        if layout.is_uninhabited() {
            self.unreachable(format!("the variant of a value of the uninhabited type `{}` is read", layout.ty));
            return Value::One(discr, Atom::Imm(0));
        }
        match &layout.variants {
            Variants::Empty => Value::One(discr, Atom::Imm(0)),
            Variants::Single { index } => {
                Value::One(discr, Atom::Imm(self.discriminant_value(layout.ty, *index, discr)))
            }
            Variants::Multiple { tag_field, tag_encoding, .. } => {
                let tag_field = tag_field.as_usize();
                let field = self.field_spot(spot, tag_field);
                let field_layout = field.layout();
                let tag = self.load(field);
                let (tag_prim, tag) = self.scalar(tag, field_layout);
                self.require_inhabited(layout, tag_prim, tag);
                match tag_encoding {
                    TagEncoding::Direct => self.direct_discriminant(tag_prim, tag, discr),
                    TagEncoding::Niche { untagged_variant, niche_variants, niche_start } => {
                        let first = niche_variants.start.as_u32();
                        let last = niche_variants.last.as_u32();
                        let niche = Niche { untagged: untagged_variant.as_u32(), first, last, start: *niche_start };
                        self.niche_discriminant(tag_prim, tag, discr, niche)
                    }
                }
            }
        }
    }

    /// A value is of no variant that has no values.
    fn require_inhabited(&mut self, layout: TyAndLayout<'tcx>, prim: Prim, tag: Atom) {
        let Variants::Multiple { variants, .. } = &layout.variants else { return };
        let uninhabited = variants.indices().filter(|variant| layout.is_variant_uninhabited(*variant));
        let mut tags: Vec<u128> = uninhabited.filter_map(|variant| Some(self.tag_of(layout, variant)?.1)).collect();
        // The variant without a tag may be among the others: the tag that it would have is none.
        if let Variants::Multiple {
            tag_encoding: TagEncoding::Niche { untagged_variant, niche_variants, niche_start },
            ..
        } = &layout.variants
            && (niche_variants.start..=niche_variants.last).contains(untagged_variant)
        {
            let index = untagged_variant.as_u32() - niche_variants.start.as_u32();
            tags.push(u128::from(index).wrapping_add(*niche_start));
        }
        if !self.is_known || prim.size > 8 {
            return;
        }
        for wrong in tags {
            let reg = self.prim_register(prim, tag);
            let unused = 128 - 8 * u32::from(prim.size);
            let wrong = self.atom_register(Atom::Imm(wrong << unused >> unused));
            let fine = self.emit.register();
            self.emit.op(Op::Bin { op: BinOp::Ne, ty: IntTy::U64, dst: fine, a: reg, b: wrong });
            self.require(fine, &format!("a value of `{}` is of a variant that has no values", layout.ty));
        }
    }

    pub(super) fn discriminant_value(&self, ty: Ty<'tcx>, variant: VariantIdx, discr: Prim) -> u128 {
        let value = ty.discriminant_for_variant(self.tcx, variant).map_or(0, |discriminant| discriminant.val);
        let unused = 128 - 8 * u32::from(discr.size);
        value << unused >> unused
    }

    fn direct_discriminant(&mut self, tag: Prim, value: Atom, discr: Prim) -> Value<'tcx> {
        let reg = self.prim_register(tag, value);
        // The bits are an integer, also where the tag is declared as a pointer.
        let converted = self.convert_int(tag, reg, discr);
        Value::One(discr, Atom::Register(converted))
    }

    fn niche_discriminant(&mut self, tag: Prim, value: Atom, discr: Prim, niche: Niche) -> Value<'tcx> {
        let tag_reg = self.prim_register(tag, value);
        let Some(width) = tag.width() else {
            return self.wide_niche_discriminant(tag_reg, discr, niche);
        };
        let ty = IntTy { width, signed: false };
        let dst = self.emit.registers(discr.registers());
        if niche.first == niche.last {
            // One niche value: a comparison decides.
            let start = self.emit.register();
            let is_niche = self.emit.register();
            self.emit.imm(start, niche.start as u64);
            self.emit.op(Op::Bin { op: BinOp::Eq, ty, dst: is_niche, a: tag_reg, b: start });
            return self.select_variant(is_niche, dst, discr, niche.first, niche.untagged);
        }
        let relative = self.emit.register();
        let start = self.emit.register();
        self.emit.imm(start, niche.start as u64);
        self.emit.op(Op::Bin { op: BinOp::Sub, ty, dst: relative, a: tag_reg, b: start });
        let count = self.emit.register();
        self.emit.imm(count, u64::from(niche.last - niche.first));
        let is_niche = self.emit.register();
        self.emit.op(Op::Bin { op: BinOp::Le, ty, dst: is_niche, a: relative, b: count });
        self.finish_niche(relative, is_niche, dst, discr, niche)
    }

    fn wide_niche_discriminant(&mut self, tag: Reg, discr: Prim, niche: Niche) -> Value<'tcx> {
        let dst = self.emit.registers(discr.registers());
        let wide = Prim { size: 16, ..Prim::USIZE };
        let start = self.prim_register(wide, Atom::Imm(niche.start));
        let relative = self.emit.registers(2);
        self.emit.op(Op::Bin128 { op: BinOp::Sub, signed: false, dst: relative, a: tag, b: start });
        let count = self.prim_register(wide, Atom::Imm(u128::from(niche.last - niche.first)));
        let is_niche = self.emit.register();
        self.emit.op(Op::Bin128 { op: BinOp::Le, signed: false, dst: is_niche, a: relative, b: count });
        self.finish_niche(relative, is_niche, dst, discr, niche)
    }

    fn finish_niche(&mut self, relative: Reg, is_niche: Reg, dst: Reg, discr: Prim, niche: Niche) -> Value<'tcx> {
        let variant = self.emit.register();
        self.emit.add_imm(variant, relative, i64::from(niche.first));
        let untagged = self.emit.register();
        self.emit.imm(untagged, u64::from(niche.untagged));
        self.emit.op(Op::Select { dst, cond: is_niche, a: variant, b: untagged });
        self.clear_high(dst, discr);
        Value::One(discr, Atom::Register(dst))
    }

    fn select_variant(&mut self, cond: Reg, dst: Reg, discr: Prim, yes: u32, no: u32) -> Value<'tcx> {
        if (yes, no) == (1, 0) {
            self.emit.mov(dst, cond);
        } else if (yes, no) == (0, 1) {
            self.emit.op(Op::BinImm { op: BinOp::Xor, ty: IntTy::U64, dst, a: cond, imm: 1 });
        } else {
            let a = self.atom_register(Atom::Imm(yes.into()));
            let b = self.atom_register(Atom::Imm(no.into()));
            self.emit.op(Op::Select { dst, cond, a, b });
        }
        self.clear_high(dst, discr);
        Value::One(discr, Atom::Register(dst))
    }

    fn clear_high(&mut self, dst: Reg, discr: Prim) {
        if discr.size == 16 {
            self.emit.imm(Reg(dst.0 + 1), 0);
        }
    }

    /// The type of the discriminant of a type.
    pub(super) fn discriminant_ty(&self, layout: TyAndLayout<'tcx>) -> Ty<'tcx> {
        match layout.ty.kind() {
            ty::Adt(..) | ty::Coroutine(..) => layout.ty.discriminant_ty(self.tcx),
            _ => self.tcx.types.u8,
        }
    }
}

/// How variants are encoded in the unused values of a field.
#[derive(Clone, Copy)]
struct Niche {
    untagged: u32,
    first: u32,
    last: u32,
    start: u128,
}
