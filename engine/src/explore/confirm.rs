//! Loops that confirm what they have read (§3.3 of the AWAMOCHE paper): `loop { r = x.load(); if x.cas(r, f(r)) { break } }`.
//!
//! An iteration whose compare-and-swap fails has no effect, and the thread loads again. So executions in which a
//! confirmation fails need not be explored: whatever comes of them also comes of the one in which the load has read what
//! the compare-and-swap would have. The paper has revisits among the loads for that; here the compare-and-swap of another
//! thread revisits the load anyway, as any write does, and nothing more is needed than to leave the failures out, and to
//! begin no iteration that cannot succeed.
//!
//! The same goes for `let mut r = x.load(); while let Err(now) = x.cas(r, f(r)) { r = now }`, where the failure itself is
//! what the thread goes on with, and for `fetch_update`.
//!
//! That a confirmation fails is tried each time, on a copy of the program's state, and whether that takes the thread back
//! to before the load, or to where it would be had it loaded something else, with the same in the memory that
//! it has allocated. The confirmation might succeed later though it fails now, if the value comes back: where a location
//! that is confirmed has the same value twice, the exploration begins again, and its failures are not left out.

use super::AwaitLevel;
use super::decide::Writes;
use super::program::{Answer, Program};
use super::visit::Visitor;
use crate::graph::{Action, EventId, Graph, Loc, ThreadId, Value};
use crate::model::Model;

impl<P: Program, M: Model> Visitor<'_, P, M> {
    /// Whether the pending action of a thread confirms what it has read before.
    pub(super) fn confirms(&self, thread: ThreadId) -> bool {
        let graph = self.graph();
        let Action::Cas { loc, expected, .. } = graph.thread(thread).pending else { return false };
        self.leaves_failures_out(loc) && self.may_spin(thread) && speculation(graph, thread, loc, expected).is_some()
    }

    fn leaves_failures_out(&self, loc: Loc) -> bool {
        self.waiting.level >= AwaitLevel::Full && !self.waiting.repeated.contains(loc)
    }

    /// Whether the pending confirmation of a thread fails if it reads from this write, so that it loads again.
    pub(super) fn fails_to_confirm(&mut self, thread: ThreadId, source: EventId) -> bool {
        let graph = self.graph();
        let action = graph.thread(thread).pending;
        let Action::Cas { loc, expected, .. } = action else { return false };
        let Some(distance) = speculation(graph, thread, loc, expected) else { return false };
        let load = nth_back(graph, thread, distance);
        graph.written(source, loc) != expected
            && (self.try_out(thread, action, Some(source)).is_some_and(|events| events > distance)
                || self.goes_on_with(thread, load, source)
                || self.loads_again(thread, load, source))
    }

    /// Whether a failed confirmation takes the thread to where it would be had it loaded what the confirmation has read:
    /// `Err(actual) => current = actual`.
    fn goes_on_with(&mut self, thread: ThreadId, load: EventId, source: EventId) -> bool {
        let graph = self.graph();
        let event = graph.event(load);
        let Action::Cas { loc, failure, .. } = graph.thread(thread).pending else { return false };
        // What has been synchronised with by the load might not be by the failure.
        if event.is_write || !event.snapshot.is_some() || (event.order.is_acquire() && !failure.is_acquire()) {
            return false;
        }
        let (slot, answer) = (event.snapshot.slot as usize, graph.written(source, loc));
        let failed = self.resume_on_trial(thread, None, answer);
        std::mem::swap(&mut self.trial, &mut self.other_trial);
        let loaded = self.resume_on_trial(thread, Some(slot), answer);
        failed == loaded
            && matches!(loaded, Action::Cas { loc: at, expected, .. } if at == loc && expected == answer)
            && self.program.is_alike(&self.trial, &self.other_trial, thread)
    }

    /// Whether a failed confirmation takes the thread to where it loads again, and whatever it then loads, it is where it
    /// would be had it loaded that in the first place: also if it has prepared something in between, such as a node.
    fn loads_again(&mut self, thread: ThreadId, load: EventId, source: EventId) -> bool {
        let graph = self.graph();
        let event = graph.event(load);
        let (first, snapshot, loc) = (event.action, event.snapshot, event.loc);
        if event.is_write || !snapshot.is_some() {
            return false;
        }
        let failed = graph.written(source, loc);
        if self.resume_on_trial(thread, None, failed) != first {
            return false;
        }
        self.not_before(loc, source).into_iter().all(|write| {
            let value = self.graph().written(write, loc);
            self.resume_on_trial(thread, None, failed);
            let again = self.resume_trial(thread, value);
            std::mem::swap(&mut self.trial, &mut self.other_trial);
            let at_once = self.resume_on_trial(thread, Some(snapshot.slot as usize), value);
            again == at_once
                && matches!(again, Action::Cas { loc: at, expected, .. } if at == loc && expected == value)
                && self.program.is_alike(&self.trial, &self.other_trial, thread)
        })
    }

    /// What a thread does next on a copy of the state, the current or a saved one, if its action reads this and no more.
    fn resume_on_trial(&mut self, thread: ThreadId, saved: Option<usize>, value: Value) -> Action {
        match saved {
            Some(slot) => self.trial.clone_from(self.snapshots.get(slot)),
            None => {
                self.program.share(&mut self.state);
                self.trial.clone_from(&self.state);
            }
        }
        self.resume_trial(thread, value)
    }

    /// What it does next on that copy, if its action reads this and no more.
    fn resume_trial(&mut self, thread: ThreadId, value: Value) -> Action {
        let graph = &self.graphs[self.level];
        let clock = graph.hb(graph.thread(thread).tip());
        self.program.resume(&mut self.trial, thread, Answer { value, wrote: false, initial: false, clock })
    }

    /// Whether the pending action of a thread may be a load that it will confirm.
    pub(super) fn speculates(&self, thread: ThreadId) -> bool {
        match self.graph().thread(thread).pending {
            Action::Load { loc, .. } => self.leaves_failures_out(loc) && self.may_spin(thread),
            _ => false,
        }
    }

    /// Whether a load from a write that another read-modify-write has read from already can be confirmed: by revisiting
    /// that one. Where it is not to be confirmed, it can.
    pub(super) fn can_confirm(&mut self, thread: ThreadId, loc: Loc, source: EventId) -> bool {
        let Some(new) = self.confirmation(thread, loc, source) else { return true };
        let choices = self.choices.len();
        self.decide_revisits_of(thread, loc, new, Writes::RightAfter(source, 0));
        let can = self.choices.len() > choices;
        self.choices.truncate(choices);
        can
    }

    /// What a thread that loads from this write will write to confirm it, if it does so next.
    fn confirmation(&mut self, thread: ThreadId, at: Loc, source: EventId) -> Option<Value> {
        let value = self.graph().written(source, at);
        match self.resume_on_trial(thread, None, value) {
            Action::Cas { loc, expected, new, .. } if loc == at && expected == value => Some(new),
            _ => None,
        }
    }

    /// The location of a new event, if it is confirmed and has the same value more than once.
    pub(super) fn repeated(&self, id: EventId) -> Option<Loc> {
        if self.waiting.level < AwaitLevel::Full {
            return None;
        }
        let graph = self.graph();
        let event = graph.event(id);
        if !event.is_write {
            return None;
        }
        let location = graph.location(event.loc);
        let is_confirmed = event.confirms || location.reads.iter().any(|&read| graph.event(read).confirms);
        if !is_confirmed {
            return None;
        }
        let values = || location.co.iter().map(|&write| graph.written(write, event.loc));
        let repeats = values().enumerate().any(|(i, value)| values().skip(i + 1).any(|other| other == value));
        repeats.then_some(event.loc)
    }
}

/// The event that is so many before the pending action of a thread.
fn nth_back(graph: &Graph, thread: ThreadId, distance: u32) -> EventId {
    let last = graph.thread(thread).last;
    (1..distance).fold(last, |id, _| graph.event(id).po_prev)
}

/// How far back the thread has read what it now expects of a location, with no effect since.
fn speculation(graph: &Graph, thread: ThreadId, loc: Loc, expected: Value) -> Option<u32> {
    let mut id = graph.thread(thread).last;
    let mut distance = 1;
    while id.is_some() {
        let event = graph.event(id);
        if event.is_write || !(event.is_read || event.is_fence()) {
            return None;
        }
        if event.is_read && event.loc == loc {
            return (event.answer == expected).then_some(distance);
        }
        id = event.po_prev;
        distance += 1;
    }
    None
}
