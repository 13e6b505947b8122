//! Loops that wait and count while they do: `while !x.load() { if step < 10 { step += 1 } back_off(step) }`.
//!
//! The counter makes each iteration another state, so that such a loop is not back where it began. But if nothing is
//! left of the counter when the loop ends, an iteration that has read something old is as good as none: whatever the
//! thread reads next, it is where it would be had it read that in the first place, or in the loop again. That is tried
//! for all that it can read now, of which something has to end the loop; [`audit`](super::audit) tries what comes
//! later.

use super::confirm::Head;
use super::program::Program;
use super::trial::{Course, Origin, Reply};
use super::visit::Visitor;
use crate::graph::{Action, Event, EventId};
use crate::model::Model;

impl<P: Program, M: Model> Visitor<'_, P, M> {
    /// Whether an event that was just added is an iteration that has read something old, and that makes no difference.
    pub(super) fn has_only_counted(&mut self, id: EventId) -> bool {
        let Event { thread, action, loc, rf, is_write, way, snapshot, answer, .. } = *self.graph().event(id);
        if !is_head(&action)
            || is_write
            || way > 0
            || !snapshot.is_some()
            || self.graph().thread(thread).pending != action
            || !self.leaves_failures_out(loc)
            || !self.may_spin(thread)
            || self.program.has_effect(&self.state)
            || !self.has_read_old(id)
        {
            return false;
        }
        let head = Head { thread, action, from: Origin::Saved(snapshot.slot as usize) };
        if !self.is_at_head(&head, &self.state) {
            return false;
        }
        let mut ends = false;
        for write in self.not_before(loc, rf) {
            let value = self.graph().written(write, loc);
            let next = Reply { value, wrote: action.update(value, 0).is_some() };
            if !self.is_simulated(head, &[Reply::reads(answer)], next) {
                return false;
            }
            let place = self.leads_to(thread, Course { from: head.from, replies: &[next] });
            ends |= !(place.next == action && self.is_at_head(&head, &self.trials.state));
        }
        if ends {
            self.rely_on_audits(loc);
        }
        ends
    }
}

/// Whether an action can be at the head of a loop that counts.
fn is_head(action: &Action) -> bool {
    matches!(action, Action::Load { .. } | Action::Cas { .. })
}
