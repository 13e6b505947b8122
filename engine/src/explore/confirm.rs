//! Loops that confirm what they have read (§3.3 of the AWAMOCHE paper): `loop { r = x.load(); if x.cas(r, f(r)) { break
//! } }`.
//!
//! An iteration whose compare-and-swap fails has no effect, and the thread loads again. So executions in which a
//! confirmation fails need not be explored: whatever comes of them also comes of the one in which the load has read
//! what the compare-and-swap would have. The paper has revisits among the loads for that; here the compare-and-swap of
//! another thread revisits the load anyway, as any write does, and nothing more is needed than to leave the failures
//! out, and to begin no iteration that cannot succeed.
//!
//! The same goes for `let mut r = x.load(); while let Err(now) = x.cas(r, f(r)) { r = now }`, where the failure itself
//! is what the thread goes on with, and for `fetch_update`.
//!
//! That a confirmation which fails takes the thread back is tried each time, on a copy of the program's state. Where it
//! takes it back to the very same state, that is a proof. Where something else is left of it, such as a node that was
//! prepared, the values that are there are tried, and [`audit`](super::audit) tries those that come later. The
//! confirmation might succeed later though it fails now, if the value comes back: where a location that is confirmed
//! has the same value twice, the exploration begins again, and such a confirmation waits for its value.

use super::AwaitLevel;
use super::decide::Writes;
use super::lessons::Lesson;
use super::maximal::{Revisiter, is_added_freely};
use super::program::Program;
use super::trial::{Course, Origin, Place, Reply};
use super::visit::Visitor;
use super::waiting::First;
use crate::graph::{Action, EventId, Graph, Loc, MemOrder, ThreadId, Ties, Value};
use crate::model::Model;

/// A load, or what stands for one, at the beginning of an iteration.
#[derive(Clone, Copy, Debug)]
pub(super) struct Head {
    pub thread: ThreadId,
    pub action: Action,
    /// The state in which it is pending.
    pub from: Origin,
}

/// What comes of an attempt that has failed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Failed {
    /// The thread is where it would be had it loaded what the attempt has read.
    GoesOn,
    /// The thread loads again, in the state in which it has loaded before.
    LoadsAgain,
    /// The thread loads again, but something is left of the attempt.
    LoadsAgainOtherwise,
    /// Something else.
    HasEffect,
}

impl<P: Program, M: Model> Visitor<'_, P, M> {
    /// Whether the pending action of a thread confirms what it has read before.
    pub(super) fn confirms(&self, thread: ThreadId) -> bool {
        let Action::Cas { loc, .. } = self.graph().thread(thread).pending else { return false };
        self.leaves_failures_out(loc) && self.may_spin(thread) && self.next_attempt(thread).is_some()
    }

    pub(super) fn leaves_failures_out(&self, loc: Loc) -> bool {
        self.lessons.level >= AwaitLevel::Full
            && !self.lessons.explicit.contains(loc)
            && !(self.needs_order(loc) && self.lessons.unordered.contains(loc))
    }

    /// Whether a location that is confirmed may have the same value again.
    pub(super) fn may_come_back(&self, loc: Loc) -> bool {
        self.lessons.repeated.contains(loc)
    }

    /// Whether failures can be left out only if the writes to a location are causally ordered: if its value may come
    /// back, or if coherence is not part of a graph.
    fn needs_order(&self, loc: Loc) -> bool {
        self.may_come_back(loc) || self.ties != Ties::Fixed
    }

    /// Whether a write is to a location that is confirmed, which is done only if the writes are ordered, and this one
    /// is not.
    pub(super) fn is_out_of_order(&self, write: EventId) -> bool {
        let graph = self.graph();
        let event = graph.event(write);
        let location = graph.location(event.loc);
        let is_confirmed = || {
            self.may_come_back(event.loc)
                || event.confirms
                || location.reads.iter().any(|&read| graph.event(read).confirms)
        };
        self.leaves_failures_out(event.loc)
            && self.needs_order(event.loc)
            && is_confirmed()
            && location
                .co
                .iter()
                .any(|&other| other != EventId::INIT && other != write && !graph.is_porf_before(other, write))
    }

    /// The pending compare-and-swap of a thread, if it expects what the thread has read before.
    fn next_attempt(&self, thread: ThreadId) -> Option<Attempt> {
        let slot = self.graph().thread(thread);
        Attempt::new(self.graph(), thread, slot.pending, slot.last, Origin::Now)
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

    /// Whether an event is a confirmation that could not have read from any later write that was there before or that
    /// the revisiting one depends on: not without failing, that is. Then it was added maximally, though it has read
    /// something old. Where the value may come back, such a write has made the thread wait already, if it came after
    /// the confirmation.
    pub(super) fn is_only_confirmation(&mut self, id: EventId, write: &Revisiter<'_>) -> bool {
        let graph = self.graph();
        let event = *graph.event(id);
        if !event.confirms || !event.is_write || !is_added_freely(graph, id, write) || !event.snapshot.is_some() {
            return false;
        }
        let from = Origin::Saved(event.snapshot.slot as usize);
        let attempt = Attempt::new(graph, event.thread, event.action, event.po_prev, from);
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
        self.graph().written(source, attempt.loc) != attempt.expected && self.is_in_vain(attempt, First::reads(source))
    }

    /// Whether the pending compare-and-swap of a thread, which reads from this write what it expects, fails without a
    /// reason and leaves the thread in a state in which it was before: that is as good as not having tried.
    pub(super) fn fails_in_vain(&mut self, thread: ThreadId, source: EventId) -> bool {
        let action = self.graph().thread(thread).pending;
        matches!(action, Action::Cas { .. })
            && self.may_spin(thread)
            && self.try_out(thread, action, First { way: 1, ..First::reads(source) }).is_some_and(|spin| spin.alone)
    }

    /// Whether it makes no difference if an attempt fails in this way. It may make one if it fails because of what is written
    /// later: audits find that, if the attempt comes right after the load; otherwise it waits for that.
    fn is_in_vain(&mut self, attempt: Attempt, first: First) -> bool {
        let Attempt { loc, distance, .. } = attempt;
        if distance > 1 && !self.may_come_back(loc) {
            if self.loads_again(attempt, first) {
                self.learn(Lesson::Repeated(loc));
            }
            return false;
        }
        if self.loads_again(attempt, first) {
            if !self.may_come_back(loc) {
                self.rely_on_audits(loc);
            }
            return true;
        }
        self.leads_on_alike(attempt, first)
    }

    /// Whether a thread whose attempt fails in this way is back before the load, in the same state.
    fn loads_again(&mut self, attempt: Attempt, first: First) -> bool {
        let Attempt { thread, action, from, distance, .. } = attempt;
        let waits = self.try_out(thread, action, First { from, ..first });
        waits.is_some_and(|spin| spin.alone && spin.begins_before(distance))
    }

    /// Whether a thread whose attempt fails in this way loads again in another state, or is where it would be had it loaded what
    /// the attempt has found, and that makes no difference.
    fn leads_on_alike(&mut self, attempt: Attempt, first: First) -> bool {
        let Attempt { thread, distance, load, .. } = attempt;
        let event = self.graph().event(load);
        if distance > 1 || event.is_write || !event.snapshot.is_some() {
            return false;
        }
        let Some(source) = first.source else { return false };
        let head = Head { thread, action: event.action, from: Origin::Saved(event.snapshot.slot as usize) };
        let found = self.graph().written(source, attempt.loc);
        let (alike, proved) = match self.failed(head, &[Reply::reads(attempt.expected)], found) {
            Failed::GoesOn | Failed::LoadsAgain => (true, true),
            Failed::LoadsAgainOtherwise => {
                let alike = self.not_before(attempt.loc, source).into_iter().all(|write| {
                    let next = Reply::reads(self.graph().written(write, attempt.loc));
                    self.is_simulated(head, &[attempt.expected, found].map(Reply::reads), next)
                });
                (alike, false)
            }
            Failed::HasEffect => (false, false),
        };
        if alike && !(proved && self.may_come_back(attempt.loc)) {
            self.rely_on_audits(attempt.loc);
        }
        alike
    }

    /// What comes of it if a thread is answered with this, from a head on, and then its attempt to confirm the last of
    /// these answers fails because it finds something else.
    pub(super) fn failed(&mut self, head: Head, replies: &[Reply], found: Value) -> Failed {
        let attempt = self.leads_to(head.thread, Course { from: head.from, replies });
        self.failed_at(head, attempt, replies, found)
    }

    /// The same where it is known to which attempt these answers lead.
    pub(super) fn failed_at(&mut self, head: Head, attempt: Place, replies: &[Reply], found: Value) -> Failed {
        let Head { thread, action, from } = head;
        let Place { next: attempt, has_effect } = attempt;
        let Action::Cas { failure, .. } = attempt else { return Failed::HasEffect };
        let replies = [replies, &[Reply::reads(found)]].concat();
        let failed = self.leads_to(thread, Course { from, replies: &replies });
        match failed.next {
            _ if has_effect => return Failed::HasEffect,
            // Back before the load, not only before the attempt.
            Action::Spin { events } if !failed.has_effect && events > 1 => return Failed::LoadsAgain,
            _ if self.is_back(&head, &self.trials.state, failed) => return Failed::LoadsAgainOtherwise,
            _ => {}
        }
        let at_once = [Reply::reads(found)];
        let (one, other) = (Course { from, replies: &replies }, Course { from, replies: &at_once });
        let goes_on = is_at_least(failure, action.order(false)) && self.leads_to_the_same(thread, one, other).is_some();
        if goes_on { Failed::GoesOn } else { Failed::HasEffect }
    }

    /// Whether a thread that loads from this write, which another read-modify-write has read from already, would try to
    /// confirm that in vain: it could only succeed by a revisit, which is not possible, now or later; and all that is
    /// there makes it fail, which makes no difference.
    pub(super) fn cannot_confirm(&mut self, thread: ThreadId, loc: Loc, source: EventId) -> bool {
        let action = self.graph().thread(thread).pending;
        if !matches!(action, Action::Load { .. })
            || !self.leaves_failures_out(loc)
            || self.may_come_back(loc)
            || !self.may_spin(thread)
        {
            return false;
        }
        let value = self.graph().written(source, loc);
        let replies = [Reply::reads(value)];
        let next = self.leads_to(thread, Course { from: Origin::Now, replies: &replies }).next;
        let new = match next {
            Action::Cas { loc: at, expected, new, .. } if at == loc && expected == value => new,
            _ => return false,
        };
        let head = Head { thread, action, from: Origin::Now };
        let later = self.not_before(loc, source);
        let fails = later.into_iter().filter(|write| *write != source).all(|write| {
            let found = self.graph().written(write, loc);
            found != value && self.failed(head, &replies, found) != Failed::HasEffect
        });
        let cannot = fails && !self.could_revisit(thread, loc, source, new);
        if cannot {
            self.rely_on_audits(loc);
        }
        cannot
    }

    /// Whether a thread that wrote this right after a write could revisit something.
    fn could_revisit(&mut self, thread: ThreadId, loc: Loc, source: EventId, new: Value) -> bool {
        let choices = self.tree.choices.len();
        self.decide_revisits_of(thread, loc, new, Writes::RightAfter(source, 0));
        let can = self.tree.choices.len() > choices;
        self.tree.choices.truncate(choices);
        can
    }

    /// The location of a new event, if it is confirmed and has the same value more than once.
    pub(super) fn repeated(&self, id: EventId) -> Option<Loc> {
        let graph = self.graph();
        let event = graph.event(id);
        if !event.is_write || !self.leaves_failures_out(event.loc) || self.may_come_back(event.loc) {
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

/// Whether a read with an ordering synchronises, and is ordered, as one with another is.
fn is_at_least(order: MemOrder, other: MemOrder) -> bool {
    (order.is_acquire() || !other.is_acquire()) && (order.is_sc() || !other.is_sc())
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
    /// The state in which it is pending.
    from: Origin,
}

impl Attempt {
    /// The action of a thread that comes after an event of it.
    fn new(graph: &Graph, thread: ThreadId, action: Action, last: EventId, from: Origin) -> Option<Attempt> {
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
                let attempt = Attempt { thread, action, loc, expected, load, distance, from };
                return (event.answer == expected).then_some(attempt);
            }
            load = event.po_prev;
        }
        None
    }
}
