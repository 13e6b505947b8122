//! Pointers about which the function itself says that something may be wrong with them, or is.
//!
//! Where a raw pointer to a local is made, its bytes may become anything: if the local is a reference, it is checked
//! where it is used. Elsewhere, references are checked where they are made. A pointer that is an integer, and was never
//! anything else, has no provenance: nothing may be accessed through it.

use rustc_index::bit_set::DenseBitSet;
use rustc_middle::mir::{self, CastKind, Local, Operand, Rvalue, StatementKind, TerminatorKind};
use rustc_middle::ty::{self, Ty};

use super::Lowering;
use super::place::typing_env;

/// The locals of a function that are looked at more closely.
#[derive(Debug)]
pub(super) struct Suspects {
    /// References, boxes, function pointers and pointers with a vtable whose bytes may have been written.
    pub overwritten: DenseBitSet<Local>,
    /// Raw pointers that are only integers.
    pub unfounded: DenseBitSet<Local>,
}

impl Suspects {
    pub fn none() -> Self {
        Suspects { overwritten: DenseBitSet::new_empty(0), unfounded: DenseBitSet::new_empty(0) }
    }
}

/// What a local is assigned.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Source {
    Never,
    /// An integer, as a pointer.
    Integer,
    /// What another local is.
    Local(Local),
    Other,
}

impl<'tcx> Lowering<'_, 'tcx> {
    pub(super) fn suspects(&self) -> Suspects {
        if !self.is_known {
            return Suspects::none();
        }
        Suspects { overwritten: self.overwritten(), unfounded: self.unfounded() }
    }

    fn overwritten(&self) -> DenseBitSet<Local> {
        let mut overwritten = DenseBitSet::new_empty(self.body.local_decls.len());
        // References to locals, and which of them become raw pointers.
        let (mut borrows, mut raw) = (Vec::new(), DenseBitSet::new_empty(self.body.local_decls.len()));
        for (place, rvalue) in self.assignments() {
            match rvalue {
                Rvalue::RawPtr(mir::RawPtrKind::Mut, of) => match (of.as_local(), of.projection.as_slice()) {
                    (Some(local), _) => _ = overwritten.insert(local),
                    (None, [mir::ProjectionElem::Deref]) => _ = raw.insert(of.local),
                    _ => {}
                },
                Rvalue::Ref(_, mir::BorrowKind::Mut { .. }, of) => {
                    borrows.extend(place.as_local().zip(of.as_local()));
                }
                _ => {}
            }
        }
        for (borrow, local) in borrows {
            if raw.contains(borrow) {
                overwritten.insert(local);
            }
        }
        for local in self.body.local_decls.indices() {
            if !self.can_be_wrong(self.mono(self.body.local_decls[local].ty)) {
                overwritten.remove(local);
            }
        }
        overwritten
    }

    /// Whether a pointer must point to something.
    fn can_be_wrong(&self, ty: Ty<'tcx>) -> bool {
        let tail = |pointee| self.tcx.struct_tail_for_codegen(pointee, typing_env());
        match *ty.kind() {
            ty::RawPtr(pointee, _) => tail(pointee).is_trait(),
            _ => ty.is_ref() || ty.is_box() || ty.is_fn_ptr(),
        }
    }

    fn unfounded(&self) -> DenseBitSet<Local> {
        let mut sources = rustc_index::IndexVec::from_elem(Source::Never, &self.body.local_decls);
        let mut assign = |place: mir::Place<'tcx>, source: Source| {
            // A part that is assigned is an assignment, and what a pointer points to is none.
            if !place.is_indirect() {
                let is_first = sources[place.local] == Source::Never && place.projection.is_empty();
                sources[place.local] = if is_first { source } else { Source::Other };
            }
        };
        for argument in self.body.args_iter() {
            assign(argument.into(), Source::Other);
        }
        for (place, rvalue) in self.assignments() {
            assign(place, self.source(rvalue));
            if let Rvalue::Ref(_, _, of) | Rvalue::RawPtr(_, of) | Rvalue::Reborrow(_, _, of) = rvalue {
                assign(*of, Source::Other);
            }
        }
        for block in self.body.basic_blocks.iter() {
            match &block.terminator().kind {
                TerminatorKind::Call { func, destination, .. } => {
                    assign(
                        *destination,
                        if self.is_without_provenance(func) { Source::Integer } else { Source::Other },
                    );
                }
                TerminatorKind::Yield { resume_arg, .. } => assign(*resume_arg, Source::Other),
                TerminatorKind::InlineAsm { operands, .. } => {
                    for operand in operands {
                        if let mir::InlineAsmOperand::Out { place: Some(place), .. }
                        | mir::InlineAsmOperand::InOut { out_place: Some(place), .. } = operand
                        {
                            assign(*place, Source::Other);
                        }
                    }
                }
                _ => {}
            }
        }
        let mut unfounded = DenseBitSet::new_empty(self.body.local_decls.len());
        let mut is_changed = true;
        while is_changed {
            is_changed = false;
            for (local, source) in sources.iter_enumerated() {
                let is_integer = match *source {
                    Source::Integer => true,
                    Source::Local(other) => unfounded.contains(other),
                    Source::Never | Source::Other => false,
                };
                if is_integer && self.mono(self.body.local_decls[local].ty).is_raw_ptr() {
                    is_changed |= unfounded.insert(local);
                }
            }
        }
        unfounded
    }

    fn source(&self, rvalue: &Rvalue<'tcx>) -> Source {
        let local = |operand: &Operand<'tcx>| match operand.place().and_then(|place| place.as_local()) {
            Some(local) => Source::Local(local),
            None => Source::Other,
        };
        match rvalue {
            Rvalue::Use(operand, _) | Rvalue::Cast(CastKind::PtrToPtr, operand, _) => local(operand),
            Rvalue::Cast(CastKind::Transmute, operand, _) => {
                match self.mono(operand.ty(self.body, self.tcx)).is_integral() {
                    true => Source::Integer,
                    false => Source::Other,
                }
            }
            _ => Source::Other,
        }
    }

    fn is_without_provenance(&self, func: &Operand<'tcx>) -> bool {
        let ty::FnDef(def_id, _) = *self.mono(func.ty(self.body, self.tcx)).kind() else { return false };
        let names = ["ptr_without_provenance", "ptr_without_provenance_mut"];
        names.into_iter().any(|name| self.tcx.is_diagnostic_item(rustc_span::Symbol::intern(name), def_id))
    }

    fn assignments(&self) -> impl Iterator<Item = (mir::Place<'tcx>, &Rvalue<'tcx>)> {
        let statements = self.body.basic_blocks.iter().flat_map(|block| &block.statements);
        statements.filter_map(|statement| match &statement.kind {
            StatementKind::Assign(assign) => Some((assign.0, &assign.1)),
            _ => None,
        })
    }
}
