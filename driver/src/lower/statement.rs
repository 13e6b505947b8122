//! Statements.

use dpor_engine::program::Op;
use dpor_engine::verdict::ErrorKind;
use rustc_middle::mir::{self, NonDivergingIntrinsic, StatementKind};

use super::{LocalPlace, Lowering};

impl<'tcx> Lowering<'_, 'tcx> {
    pub(super) fn statement(&mut self, statement: &mir::Statement<'tcx>) {
        match &statement.kind {
            StatementKind::Assign(assign) => {
                let (place, rvalue) = &**assign;
                self.assign(*place, rvalue);
            }
            StatementKind::SetDiscriminant { place, variant_index } => {
                let spot = self.spot(**place);
                self.set_discriminant(spot, *variant_index);
            }
            StatementKind::StorageLive(local) => self.storage_live(*local),
            StatementKind::StorageDead(local) => self.storage_dead(*local),
            StatementKind::Intrinsic(intrinsic) => match &**intrinsic {
                NonDivergingIntrinsic::Assume(cond) => self.assume(cond),
                NonDivergingIntrinsic::CopyNonOverlapping(copy) => {
                    let pointer = copy.dst.ty(self.body, self.tcx);
                    let pointee = self.mono(pointer).builtin_deref(true);
                    let dst = self.operand_register(&copy.dst);
                    let src = self.operand_register(&copy.src);
                    let count = self.operand_register(&copy.count);
                    if let Some(pointee) = pointee {
                        self.copy_elements(pointee, dst, src, count, false);
                    }
                }
            },
            StatementKind::PlaceMention(place) => self.mention_promises(**place),
            // Of interest to the borrow checker, coverage or the compiler's interpreter only.
            StatementKind::FakeRead(..)
            | StatementKind::AscribeUserType(..)
            | StatementKind::Coverage(..)
            | StatementKind::ConstEvalCounter
            | StatementKind::Nop
            | StatementKind::BackwardIncompatibleDropHint { .. } => {}
        }
    }

    fn storage_live(&mut self, local: mir::Local) {
        match self.locals[local] {
            LocalPlace::Slot(offset) => self.emit.op(Op::StorageLive { offset, size: self.slot_sizes[local] }),
            LocalPlace::Pointer(reg) => {
                if let Some((size, align)) = self.big_locals[local] {
                    self.emit.op(Op::BigSlot { dst: reg, size, align: align.trailing_zeros() as u8 });
                }
            }
            LocalPlace::Zst | LocalPlace::Registers(_) | LocalPlace::Unsized(..) => {}
        }
    }

    fn storage_dead(&mut self, local: mir::Local) {
        match self.locals[local] {
            LocalPlace::Slot(offset) => self.emit.op(Op::StorageDead { offset, size: self.slot_sizes[local] }),
            LocalPlace::Pointer(slot) if self.big_locals[local].is_some() => self.emit.op(Op::BigSlotDead { slot }),
            _ => {}
        }
    }

    /// `cond` must hold.
    pub(super) fn assume(&mut self, cond: &mir::Operand<'tcx>) {
        let cond = self.operand_register(cond);
        let fine = self.emit.label();
        self.emit.jump_if(cond, fine);
        if self.is_slice_index() {
            self.error(ErrorKind::OutOfBounds, "the index of `get_unchecked` or a similar function is out of bounds");
        } else {
            self.unreachable("the condition of `assert_unchecked` or a similar function is false");
        }
        self.emit.bind(fine);
    }

    /// Whether this function is one of those behind `get_unchecked`: what they assume is that the index is in bounds.
    fn is_slice_index(&self) -> bool {
        let def_id = self.instance.def_id();
        let path = self.tcx.def_path(def_id);
        let modules: Vec<_> = path.data.iter().take(2).filter_map(|part| part.data.get_opt_name()).collect();
        self.tcx.crate_name(def_id.krate).as_str() == "core"
            && modules.iter().map(|name| name.as_str()).eq(["slice", "index"])
    }
}
