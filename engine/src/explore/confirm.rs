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
use super::maximal::{Revisiter, is_added_freely};
use super::program::{Answer, Program};
use super::visit::Visitor;
use super::waiting::First;
use crate::graph::{Action, EventId, Graph, Loc, ThreadId, Ties, Value};
use crate::model::Model;

impl<P: Program, M: Model> Visitor<'_, P, M> {
    /// Whether the pending action of a thread confirms what it has read before.
    pub(super) fn confirms(&self, thread: ThreadId) -> bool {
        let Action::Cas { loc, .. } = self.graph().thread(thread).pending else { return false };
        self.leaves_failures_out(loc) && self.may_spin(thread) && self.next_attempt(thread).is_some()
    }

    fn leaves_failures_out(&self, loc: Loc) -> bool {
        self.waiting.level >= AwaitLevel::Full && !(self.needs_order(loc) && self.waiting.unordered.contains(loc))
    }

    /// Whether a location that is confirmed may have the same value again.
    pub(super) fn may_come_back(&self, loc: Loc) -> bool {
        self.waiting.repeated.contains(loc)
    }

    /// Whether failures can be left out only if the writes to a location are causally ordered: if its value may come back, or
    /// if coherence is not part of a graph.
    fn needs_order(&self, loc: Loc) -> bool {
        self.may_come_back(loc) || self.ties != Ties::Fixed
    }

    /// Whether a write is to a location that is confirmed, which is done only if the writes are ordered, and this one is not.
    pub(super) fn is_out_of_order(&self, write: EventId) -> bool {
        let graph = self.graph();
        let event = graph.event(write);
        let location = graph.location(event.loc);
        let is_confirmed = || {
            self.may_come_back(event.loc)
                || event.confirms
                || location.reads.iter().any(|&read| graph.event(read).confirms)
        };
        self.waiting.level >= AwaitLevel::Full
            && self.needs_order(event.loc)
            && !self.waiting.unordered.contains(event.loc)
            && is_confirmed()
            && location
                .co
                .iter()
                .any(|&other| other != EventId::INIT && other != write && !graph.is_porf_before(other, write))
    }

    /// The pending compare-and-swap of a thread, if it expects what the thread has read before.
    fn next_attempt(&self, thread: ThreadId) -> Option<Attempt> {
        let slot = self.graph().thread(thread);
        Attempt::new(self.graph(), thread, slot.pending, slot.last, None)
    }

    /// Whether the pending confirmation of a thread would fail now, but may succeed once the value comes back.
    pub(super) fn awaits_confirmation(&mut self, thread: ThreadId) -> bool {
        let Action::Cas { loc, .. } = self.graph().thread(thread).pending else { return false };
        if !self.may_come_back(loc) || !self.confirms(thread) {
            return false;
        }
        let latest = self.graph().location(loc).co_max();
        self.fails_to_confirm(thread, latest)
    }

    /// Whether the pending confirmation of a thread fails if it reads from this write, so that it loads again.
    pub(super) fn fails_to_confirm(&mut self, thread: ThreadId, source: EventId) -> bool {
        self.next_attempt(thread).is_some_and(|attempt| self.fails(attempt, source))
    }

    /// Whether an event is a confirmation that could not have read from any later write that was there before or that the
    /// revisiting one depends on: not without failing, that is. Then it was added maximally, though it has read something old.
    /// Where the value may come back, such a write has made the thread wait already, if it came after the confirmation.
    pub(super) fn is_only_confirmation(&mut self, id: EventId, write: &Revisiter<'_>) -> bool {
        let graph = self.graph();
        let event = *graph.event(id);
        if !event.confirms || !event.is_write || !is_added_freely(graph, id, write) || !event.snapshot.is_some() {
            return false;
        }
        let saved = Some(event.snapshot.slot as usize);
        let attempt = Attempt::new(graph, event.thread, event.action, event.po_prev, saved);
        let later = event.co_pos as usize + 1..graph.location(event.loc).co.len();
        attempt.is_some_and(|attempt| {
            later.into_iter().all(|position| {
                let other = self.graph().location(event.loc).co[position];
                let made_it_wait = other > id && self.may_come_back(event.loc);
                !write.was_there(self.graph(), id, other) || !made_it_wait && self.fails(attempt, other)
            })
        })
    }

    /// Whether an attempt fails if it reads from this write, so that the thread loads again.
    fn fails(&mut self, attempt: Attempt, source: EventId) -> bool {
        let Attempt { thread, action, saved, .. } = attempt;
        let first = First { saved, ..First::reads(source) };
        self.graph().written(source, attempt.loc) != attempt.expected
            && (self.try_out(thread, action, first).is_some_and(|spin| spin.alone && spin.events > attempt.distance)
                || self.goes_on_with(attempt, source)
                || self.loads_again(attempt, source))
    }

    /// Whether the pending compare-and-swap of a thread, which reads from this write what it expects, fails without a reason
    /// and then tries again: that is as good as not having tried.
    pub(super) fn fails_in_vain(&mut self, thread: ThreadId, source: EventId) -> bool {
        let action = self.graph().thread(thread).pending;
        if !matches!(action, Action::Cas { .. }) || !self.may_spin(thread) {
            return false;
        }
        let attempt = self.next_attempt(thread);
        self.try_out(thread, action, First { way: 1, ..First::reads(source) }).is_some_and(|spin| spin.alone)
            || attempt.is_some_and(|attempt| self.goes_on_with(attempt, source) || self.loads_again(attempt, source))
    }

    /// Whether an attempt that fails takes the thread to where it would be had it loaded what the attempt has read:
    /// `Err(actual) => current = actual`.
    fn goes_on_with(&mut self, attempt: Attempt, source: EventId) -> bool {
        let graph = self.graph();
        let event = graph.event(attempt.load);
        let Action::Cas { failure, .. } = attempt.action else { return false };
        // What has been synchronised with by the load might not be by the failure.
        if event.is_write || !event.snapshot.is_some() || (event.order.is_acquire() && !failure.is_acquire()) {
            return false;
        }
        let (slot, answer) = (event.snapshot.slot as usize, graph.written(source, attempt.loc));
        let failed = self.resume_on_trial(attempt.thread, attempt.saved, answer);
        std::mem::swap(&mut self.trial, &mut self.other_trial);
        let loaded = self.resume_on_trial(attempt.thread, Some(slot), answer);
        failed == loaded && self.program.is_alike(&self.trial, &self.other_trial, attempt.thread)
    }

    /// Whether an attempt that fails takes the thread to where it loads again, and whatever it then loads, it is where it
    /// would be had it loaded that in the first place: also if it has prepared something in between, such as a node.
    fn loads_again(&mut self, attempt: Attempt, source: EventId) -> bool {
        let Attempt { thread, loc, saved, .. } = attempt;
        let graph = self.graph();
        let event = graph.event(attempt.load);
        let (first, snapshot) = (event.action, event.snapshot);
        if event.is_write || !snapshot.is_some() {
            return false;
        }
        let failed = graph.written(source, loc);
        if self.resume_on_trial(thread, saved, failed) != first || self.program.has_written(&self.trial) {
            return false;
        }
        self.not_before(loc, source).into_iter().all(|write| {
            let value = self.graph().written(write, loc);
            self.resume_on_trial(thread, saved, failed);
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
        self.begin_trial(saved);
        self.resume_trial(thread, value)
    }

    /// What it does next on that copy, if its action reads this and no more.
    fn resume_trial(&mut self, thread: ThreadId, value: Value) -> Action {
        let graph = &self.graphs[self.level];
        let clock = graph.hb(graph.thread(thread).tip());
        self.program.resume(&mut self.trial, thread, Answer { value, wrote: false, initial: false, clock, graph })
    }

    /// Whether the pending action of a thread may be a load that it will confirm.
    pub(super) fn speculates(&self, thread: ThreadId) -> bool {
        match self.graph().thread(thread).pending {
            Action::Load { loc, .. } => {
                self.leaves_failures_out(loc) && !self.may_come_back(loc) && self.may_spin(thread)
            }
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
        let graph = self.graph();
        let event = graph.event(id);
        if self.waiting.level < AwaitLevel::Full || !event.is_write || self.may_come_back(event.loc) {
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

/// A compare-and-swap that confirms what its thread has read before: one to come, or one that is in the graph.
#[derive(Clone, Copy, Debug)]
struct Attempt {
    thread: ThreadId,
    action: Action,
    loc: Loc,
    expected: Value,
    /// What it confirms, and how many events before it that is; nothing since had an effect.
    load: EventId,
    distance: u32,
    /// The saved state from before it, if that is not the current one.
    saved: Option<usize>,
}

impl Attempt {
    /// The action of a thread that comes after an event of it.
    fn new(graph: &Graph, thread: ThreadId, action: Action, last: EventId, saved: Option<usize>) -> Option<Attempt> {
        let Action::Cas { loc, expected, .. } = action else { return None };
        let mut load = last;
        for distance in 1.. {
            if !load.is_some() {
                return None;
            }
            let event = graph.event(load);
            if event.is_write || !(event.is_read || event.is_fence()) {
                return None;
            }
            if event.is_read && event.loc == loc {
                let attempt = Attempt { thread, action, loc, expected, load, distance, saved };
                return (event.answer == expected).then_some(attempt);
            }
            load = event.po_prev;
        }
        None
    }
}
