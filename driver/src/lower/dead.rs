//! Locals in memory that are dead where an iteration of a loop begins.
//!
//! The compiler does not say so where a local lives as long as its function, as the value that it returns does. What an
//! iteration has left there would make the next one look different, though nobody reads it.

use std::collections::HashMap;

use dpor_engine::program::Op;
use rustc_index::bit_set::DenseBitSet;
use rustc_middle::mir::{self, BasicBlock, Local};
use rustc_mir_dataflow::Analysis;
use rustc_mir_dataflow::impls::{MaybeLiveLocals, borrowed_locals};

use super::{LocalPlace, Lowering};

/// For each block where a loop begins, the locals that were in use before and are dead there.
pub type DeadAtLoops = HashMap<BasicBlock, Vec<Local>>;

/// A result of at most so many bytes is made in the frame, and then moved, where it would otherwise be left from an earlier
/// iteration.
const MAX_MOVED: u64 = 256;

impl<'tcx> Lowering<'_, 'tcx> {
    /// Which of the locals that are in memory and live as long as the function are dead where.
    pub(super) fn dead_at_loops(&self, in_memory: &DenseBitSet<Local>) -> DeadAtLoops {
        let heads = self.loop_heads();
        if heads.is_empty() {
            return DeadAtLoops::new();
        }
        let mut candidates = self.always_live();
        candidates.subtract(&borrowed_locals(self.body));
        let is_argument = |local: Local| (1..=self.body.arg_count).contains(&local.as_usize());
        let in_memory = |local: Local| {
            in_memory.contains(local) || self.repr(self.local_layout(local)) == crate::repr::Repr::Memory
        };
        let candidates: Vec<Local> = candidates
            .iter()
            .filter(|local| !is_argument(*local) && self.local_layout(*local).is_sized() && in_memory(*local))
            .collect();
        if candidates.is_empty() {
            return DeadAtLoops::new();
        }
        let mut live = MaybeLiveLocals.iterate_to_fixpoint(self.tcx, self.body, None).into_results_cursor(self.body);
        let dead_at = |head: BasicBlock| {
            live.seek_to_block_start(head);
            let dead = candidates.iter().copied().filter(|local| !live.get().contains(*local));
            (head, dead.collect())
        };
        heads.into_iter().map(dead_at).collect()
    }

    /// The blocks that a later one leads back to.
    fn loop_heads(&self) -> Vec<BasicBlock> {
        let position: HashMap<BasicBlock, usize> =
            mir::traversal::reverse_postorder(self.body).map(|(block, _)| block).zip(0..).collect();
        let leads_back = |block: BasicBlock| {
            self.body.basic_blocks.predecessors()[block].iter().any(|from| position.get(from) >= position.get(&block))
        };
        position.keys().copied().filter(|block| leads_back(*block)).collect()
    }

    /// Whether the result, which goes to memory of the caller, is made in this function's frame first.
    pub(super) fn is_result_moved(&self, dead: &DeadAtLoops) -> bool {
        self.local_layout(mir::RETURN_PLACE).size.bytes() <= MAX_MOVED
            && dead.values().any(|locals| locals.contains(&mir::RETURN_PLACE))
    }

    /// A block begins: if that is where a loop does, what is dead there is forgotten.
    pub(super) fn forget_dead(&mut self, block: BasicBlock) {
        let Some(dead) = self.dead.get(&block) else { return };
        for local in dead {
            if let LocalPlace::Slot(offset) = self.locals[*local] {
                self.emit.op(Op::StorageLive { offset, size: self.slot_sizes[*local] });
            }
        }
    }
}
