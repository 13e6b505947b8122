//! Locals that begin a new life with each iteration of a loop, at another address.
//!
//! A slot of a frame is the same memory in every iteration: a pointer to the local of an earlier one would find the
//! next. References cannot be kept that long, but raw pointers can. So a local in a loop, of which the function makes a
//! raw pointer, has memory of its own, which is freed when the local dies.

use rustc_index::IndexVec;
use rustc_index::bit_set::DenseBitSet;
use rustc_middle::mir::visit::Visitor;
use rustc_middle::mir::{
    BasicBlock, Body, Local, Location, Operand, Place, ProjectionElem, Rvalue, StatementKind, Terminator,
    TerminatorKind,
};
use rustc_middle::ty::{self, Ty, TyCtxt};

use super::Lowering;

impl<'tcx> Lowering<'_, 'tcx> {
    /// The locals that have another address with each iteration of a loop. In the standard library there are none.
    pub(super) fn renewed_locals(&self) -> DenseBitSet<Local> {
        let mut renewed = DenseBitSet::new_empty(self.body.local_decls.len());
        if !self.is_known {
            return renewed;
        }
        let pointed_to = pointed_to(self.tcx, self.body);
        if pointed_to.is_empty() {
            return renewed;
        }
        for (block, data) in self.body.basic_blocks.iter_enumerated() {
            for statement in &data.statements {
                if let StatementKind::StorageLive(local) = statement.kind
                    && pointed_to.contains(local)
                    && !renewed.contains(local)
                    && is_in_loop(self.body, block)
                {
                    renewed.insert(local);
                }
            }
        }
        renewed
    }
}

/// Whether a block leads back to itself.
fn is_in_loop(body: &Body<'_>, block: BasicBlock) -> bool {
    let mut seen = DenseBitSet::new_empty(body.basic_blocks.len());
    let mut next: Vec<BasicBlock> = body.basic_blocks[block].terminator().successors().collect();
    while let Some(at) = next.pop() {
        if at == block {
            return true;
        }
        if seen.insert(at) {
            next.extend(body.basic_blocks[at].terminator().successors());
        }
    }
    false
}

/// The locals that raw pointers are made of, directly or from a reference.
fn pointed_to<'tcx>(tcx: TyCtxt<'tcx>, body: &Body<'tcx>) -> DenseBitSet<Local> {
    let empty = DenseBitSet::new_empty(body.local_decls.len());
    let referents = IndexVec::from_elem(empty.clone(), &body.local_decls);
    let mut pointers = Pointers { tcx, body, referents, found: empty, changed: true };
    while std::mem::take(&mut pointers.changed) {
        pointers.visit_body(body);
    }
    pointers.found
}

/// What references point to, as far as the function itself shows.
struct Pointers<'a, 'tcx> {
    tcx: TyCtxt<'tcx>,
    body: &'a Body<'tcx>,
    /// By reference: the locals that it may point to.
    referents: IndexVec<Local, DenseBitSet<Local>>,
    found: DenseBitSet<Local>,
    changed: bool,
}

impl<'tcx> Pointers<'_, 'tcx> {
    /// The locals that a pointer to this place points to.
    fn locals(&self, place: Place<'tcx>) -> DenseBitSet<Local> {
        if matches!(place.projection.first(), Some(ProjectionElem::Deref)) {
            return self.referents[place.local].clone();
        }
        let mut locals = DenseBitSet::new_empty(self.body.local_decls.len());
        if !place.is_indirect() {
            locals.insert(place.local);
        }
        locals
    }

    /// The locals that an operand points to.
    fn operand(&self, operand: &Operand<'tcx>) -> Option<&DenseBitSet<Local>> {
        Some(&self.referents[operand.place()?.as_local()?])
    }

    fn refer(&mut self, place: Place<'tcx>, locals: &DenseBitSet<Local>) {
        if let Some(reference) = place.as_local() {
            self.changed |= self.referents[reference].union(locals);
        }
    }

    /// Whether a value of this type is, or may be made of, a raw pointer.
    fn is_raw(&self, ty: Ty<'tcx>) -> bool {
        let is_non_null = |def: ty::AdtDef<'tcx>| {
            let of_core = self.tcx.crate_name(def.did().krate).as_str() == "core";
            of_core && self.tcx.item_name(def.did()).as_str() == "NonNull"
        };
        ty.is_raw_ptr() || ty.ty_adt_def().is_some_and(is_non_null)
    }
}

impl<'tcx> Visitor<'tcx> for Pointers<'_, 'tcx> {
    fn visit_assign(&mut self, place: &Place<'tcx>, rvalue: &Rvalue<'tcx>, _: Location) {
        match rvalue {
            Rvalue::Ref(_, _, referent) => {
                let locals = self.locals(*referent);
                self.refer(*place, &locals);
            }
            Rvalue::RawPtr(_, referent) => {
                let locals = self.locals(*referent);
                self.found.union(&locals);
            }
            Rvalue::Use(operand, ..) | Rvalue::Cast(_, operand, _) => {
                if let Some(locals) = self.operand(operand).cloned() {
                    self.refer(*place, &locals);
                }
            }
            _ => {}
        }
    }

    fn visit_terminator(&mut self, terminator: &Terminator<'tcx>, _: Location) {
        let TerminatorKind::Call { args, destination, .. } = &terminator.kind else { return };
        if !self.is_raw(destination.ty(self.body, self.tcx).ty) {
            return;
        }
        for arg in args {
            if let Some(locals) = self.operand(&arg.node).cloned() {
                self.found.union(&locals);
            }
        }
    }
}
