//! Loops that wait and count while they do: `while !x.load() { if step < 10 { step += 1 } back_off(step) }`.
//!
//! The counter makes each iteration another state, so that such a loop is not back where it began. But if all that is left of
//! the counter when the loop ends is nothing, an iteration that has read something old is as good as none: whatever
//! the thread reads next, it is where it would be had it read that in the first place, or in the loop again. That is tried, for
//! all that it can read; and one of them has to end the loop.

use super::AwaitLevel;
use super::program::{Answer, Program};
use super::visit::Visitor;
use crate::graph::{Action, EventId, ThreadId, Value};
use crate::model::Model;

impl<P: Program, M: Model> Visitor<'_, P, M> {
    /// Whether an event that was just added is an iteration that has read something old, and that makes no difference.
    pub(super) fn has_only_counted(&mut self, id: EventId) -> bool {
        let graph = self.graph();
        let event = *graph.event(id);
        let is_head = matches!(event.action, Action::Load { .. } | Action::Cas { .. });
        if self.waiting.level < AwaitLevel::Full
            || !is_head
            || event.is_write
            || event.way > 0
            || !event.snapshot.is_some()
            || graph.thread(event.thread).pending != event.action
            || !self.may_spin(event.thread)
            || !self.has_read_old(id)
        {
            return false;
        }
        if self.program.has_written(&self.state) {
            return false;
        }
        let before = event.snapshot.slot as usize;
        let mut ends = false;
        for write in self.not_before(event.loc, event.rf) {
            let value = self.graph().written(write, event.loc);
            let later = self.head_answered(event.thread, event.action, None, value);
            std::mem::swap(&mut self.trial, &mut self.other_trial);
            let at_once = self.head_answered(event.thread, event.action, Some(before), value);
            if later != at_once {
                return false;
            }
            if later == event.action {
                continue;
            }
            ends = true;
            if !self.program.is_alike(&self.trial, &self.other_trial, event.thread) {
                return false;
            }
        }
        ends
    }

    /// What a thread does next on a copy of the state, the current or a saved one, if its action reads this.
    fn head_answered(&mut self, thread: ThreadId, action: Action, saved: Option<usize>, value: Value) -> Action {
        self.begin_trial(saved);
        let graph = &self.graphs[self.level];
        let clock = graph.hb(graph.thread(thread).tip());
        let wrote = action.update(value, 0).is_some();
        self.program.resume(&mut self.trial, thread, Answer { value, wrote, initial: false, clock, graph })
    }
}
