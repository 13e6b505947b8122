//! Which locals must live in memory: those whose address is taken, and those that are used in parts that are not
//! scalars of theirs.

use rustc_index::bit_set::DenseBitSet;
use rustc_middle::mir::visit::{MutatingUseContext, NonMutatingUseContext, PlaceContext, Visitor};
use rustc_middle::mir::{self, Local, Location, PlaceElem, StatementKind, TerminatorKind};
use rustc_middle::ty::layout::TyAndLayout;
use rustc_middle::ty::{self, Instance};

use super::Lowering;
use crate::repr::{Prim, Repr};

/// A part of a value in registers.
#[derive(Clone, Copy, Debug)]
pub enum Part {
    Nothing,
    /// One scalar, so many registers after the first.
    Scalar(Prim, u16),
    /// All of a pair.
    Both(Prim, Prim, u64),
}

/// The part of a value in registers of layout `whole` that lies at `offset` with layout `part`, if it is a scalar of it.
pub fn part_of(whole: Repr, part: Repr, offset: u64) -> Option<Part> {
    match (whole, part) {
        (_, Repr::Zst) => Some(Part::Nothing),
        (Repr::One(a), Repr::One(p)) if offset == 0 && a.size == p.size => Some(Part::Scalar(p, 0)),
        (Repr::Two(a, _, _), Repr::One(p)) if offset == 0 && a.size == p.size => Some(Part::Scalar(p, 0)),
        (Repr::Two(a, b, b_offset), Repr::One(p)) if offset == b_offset && b.size == p.size => {
            Some(Part::Scalar(p, a.registers()))
        }
        (Repr::Two(a, b, b_offset), Repr::Two(p, q, q_offset))
            if offset == 0 && a.size == p.size && b.size == q.size && b_offset == q_offset =>
        {
            Some(Part::Both(p, q, q_offset))
        }
        _ => None,
    }
}

impl<'tcx> Lowering<'_, 'tcx> {
    /// The locals that must live in memory.
    pub(super) fn locals_in_memory(&self) -> DenseBitSet<Local> {
        let mut visitor = InMemory { lowering: self, found: DenseBitSet::new_empty(self.body.local_decls.len()) };
        visitor.visit_body(self.body);
        visitor.found
    }

    /// The locals without storage statements.
    pub(super) fn always_live(&self) -> DenseBitSet<Local> {
        let mut live = DenseBitSet::new_filled(self.body.local_decls.len());
        for block in self.body.basic_blocks.iter() {
            for statement in &block.statements {
                if let StatementKind::StorageLive(local) = statement.kind {
                    live.remove(local);
                }
            }
        }
        live
    }

    /// The part of a local that the projections up to the first dereference select, if registers can hold it.
    pub(super) fn register_part(&self, place: mir::PlaceRef<'tcx>) -> Option<(Part, TyAndLayout<'tcx>)> {
        let mut layout = self.local_layout(place.local);
        let whole = self.repr(layout);
        let mut offset = 0;
        for elem in place.projection {
            match *elem {
                PlaceElem::Field(field, _) => {
                    offset += layout.fields.offset(field.as_usize()).bytes();
                    layout = layout.field(&self.builder.layouts, field.as_usize());
                }
                PlaceElem::Downcast(_, variant) => layout = layout.for_variant(&self.builder.layouts, variant),
                PlaceElem::OpaqueCast(ty) | PlaceElem::UnwrapUnsafeBinder(ty) => layout = self.layout(ty),
                PlaceElem::Deref => break,
                _ => return None,
            }
        }
        Some((part_of(whole, self.repr(layout), offset)?, layout))
    }

    fn needs_drop_call(&self, place: mir::Place<'tcx>) -> bool {
        let ty = place.ty(self.body, self.tcx).ty;
        let glue = Instance::resolve_drop_glue(self.tcx, self.mono(ty));
        !matches!(glue.def, ty::InstanceKind::Shim(ty::ShimKind::DropGlue(_, None)))
    }
}

struct InMemory<'a, 'b, 'tcx> {
    lowering: &'a Lowering<'b, 'tcx>,
    found: DenseBitSet<Local>,
}

impl<'tcx> Visitor<'tcx> for InMemory<'_, '_, 'tcx> {
    fn visit_place(&mut self, place: &mir::Place<'tcx>, context: PlaceContext, location: Location) {
        let derefs = place.projection.iter().any(|elem| elem == PlaceElem::Deref);
        let takes_address = !derefs
            && matches!(
                context,
                PlaceContext::NonMutatingUse(
                    NonMutatingUseContext::SharedBorrow
                        | NonMutatingUseContext::FakeBorrow
                        | NonMutatingUseContext::RawBorrow
                ) | PlaceContext::MutatingUse(MutatingUseContext::Borrow | MutatingUseContext::RawBorrow)
            );
        let layout = self.lowering.local_layout(place.local);
        let fits = layout.is_sized()
            && self.lowering.repr(layout) != Repr::Memory
            && (place.projection.is_empty() || self.lowering.register_part(place.as_ref()).is_some());
        if takes_address || !fits {
            self.found.insert(place.local);
        }
        self.super_place(place, context, location);
    }

    fn visit_terminator(&mut self, terminator: &mir::Terminator<'tcx>, location: Location) {
        if let TerminatorKind::Drop { place, .. } = terminator.kind
            && !place.is_indirect()
            && self.lowering.needs_drop_call(place)
        {
            self.found.insert(place.local);
        }
        self.super_terminator(terminator, location);
    }
}
