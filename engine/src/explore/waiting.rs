//! Threads that wait: stale reads and in-place revisits (§3.1 and §3.2 of the AWAMOCHE paper).
//!
//! A loop that waits ends an iteration where it began, having only read: the program then asks for [`Action::Spin`]. That
//! iteration is as good as none; the thread waits until it would read something else.
//!
//! *Scheduling.* TruSt is right for every order in which threads are preferred, as long as that is a function of the graph.
//! So a thread comes last if it would wait, should everything that it reads be the latest: this is tried on a copy of the
//! program's state. It becomes an event only if it does not wait, or if no thread can do anything else; then it either
//! waits for ever or reads something old.
//!
//! *Stale reads.* What has read something old is never revisited. If the last read of an iteration that waits has, nothing
//! will come of it, and the execution is given up.
//!
//! *In-place revisits.* A write may revisit a read so that its thread now waits. The paper leaves the read in the graph,
//! and lets each later write to the location change what it reads; here it is taken out of the graph, and comes back when
//! the thread no longer waits, reading from something that depends on the write. That is the same where writes to the
//! location are causally ordered: a later write depends on the earlier. Where they turn out not to be, the exploration
//! begins again, and reads of that location stay in the graph.

use super::AwaitLevel;
use super::program::{Answer, Program};
use super::visit::Visitor;
use crate::graph::{Action, Asleep, EventId, Graph, Loc, ThreadId};
use crate::model::Model;

/// How many actions a thread may try before it is taken not to wait.
const TRIAL: usize = 256;

/// A set of locations.
#[derive(Clone, Debug, Default)]
pub(super) struct Locs(Vec<bool>);

impl Locs {
    pub fn insert(&mut self, loc: Loc) {
        if self.0.len() <= loc.index() {
            self.0.resize(loc.index() + 1, false);
        }
        self.0[loc.index()] = true;
    }

    pub fn contains(&self, loc: Loc) -> bool {
        self.0.get(loc.index()).copied().unwrap_or(false)
    }
}

/// What is done about threads that wait.
#[derive(Clone, Copy, Debug)]
pub(super) struct Waiting<'a> {
    pub level: AwaitLevel,
    /// Locations whose writes are not causally ordered.
    pub unordered: &'a Locs,
    /// Locations that threads confirm, and that have the same value more than once.
    pub repeated: &'a Locs,
}

impl<P: Program, M: Model> Visitor<'_, P, M> {
    /// Whether a thread that can go on would wait, should it read the latest of everything.
    pub(super) fn would_wait(&mut self, thread: ThreadId) -> bool {
        if self.waiting.level < AwaitLevel::InPlace || !self.may_spin(thread) {
            return false;
        }
        let asleep = self.graph().thread(thread).asleep;
        if !asleep.seen().is_empty() && asleep.seen().iter().all(|&(loc, value)| self.latest_value(loc) == Some(value))
        {
            return true;
        }
        let first = self.graph().thread(thread).pending;
        self.try_out(thread, first, None).is_some()
    }

    /// Whether a thread that reads from this write would wait, should it read the latest of everything else; if so, its
    /// read need not be in the graph.
    pub(super) fn would_wait_for(&mut self, thread: ThreadId, action: Action, write: EventId) -> bool {
        let graph = self.graph();
        let event = graph.event(write);
        if action.is_lock() {
            return action.is_blocked_by(event.written);
        }
        let in_place = self.waiting.level >= AwaitLevel::InPlace && !self.waiting.unordered.contains(event.loc);
        let (loc, blocked) = (event.loc, action.is_blocked_by(event.written));
        in_place
            && self.can_be_latest(loc, write)
            && (blocked || self.may_spin(thread) && self.try_out(thread, action, Some(write)).is_some())
    }

    /// Whether a thread whose pending read-modify-write writes back what it reads from this write would then wait. Nobody
    /// need see such a write; it is left only where the thread waits for ever.
    pub(super) fn waits_in_vain(&mut self, thread: ThreadId, source: EventId) -> bool {
        let action = self.graph().thread(thread).pending;
        self.waiting.level >= AwaitLevel::InPlace
            && self.may_spin(thread)
            && self.try_out(thread, action, Some(source)).is_some()
    }

    pub(super) fn may_spin(&self, thread: ThreadId) -> bool {
        let pending = &self.graph().thread(thread).pending;
        (pending.is_rmw() || matches!(pending, Action::Load { .. } | Action::Fence { .. }))
            && !pending.is_lock()
            && self.program.may_spin(&self.state, thread)
    }

    /// Lets a thread run on a copy of the state until it waits or has an effect; `source` is what it reads from first, if
    /// not the latest. If it waits, says how many events its iteration has.
    pub(super) fn try_out(&mut self, thread: ThreadId, first: Action, source: Option<EventId>) -> Option<u32> {
        self.program.share(&mut self.state);
        self.trial.clone_from(&self.state);
        let (mut action, mut asleep, mut remembered) = (first, Asleep::default(), true);
        let mut source = source;
        for _ in 0..TRIAL {
            let value = match (action, action.loc()) {
                (Action::Spin { events }, _) => {
                    let asleep = if remembered { asleep } else { Asleep::default() };
                    self.graphs[self.level].set_asleep(thread, asleep);
                    return Some(events);
                }
                (Action::Fence { .. }, _) => 0,
                (Action::Load { .. } | Action::Rmw { .. } | Action::Cas { .. } | Action::Try { .. }, Some(loc)) => {
                    let latest = self.latest_value(loc);
                    let other = source.take().map(|write| self.graph().written(write, loc));
                    let value = other.or(latest).unwrap_or_else(|| self.program.initial_value(&self.trial, loc));
                    remembered &= latest.is_some() && asleep.add(loc, value);
                    value
                }
                _ => return None,
            };
            let update = action.update(value, 0);
            if update.is_some_and(|new| new != value) {
                return None;
            }
            let graph = &self.graphs[self.level];
            let clock = graph.hb(graph.thread(thread).tip());
            let answer = Answer { value, wrote: update.is_some(), initial: false, clock };
            action = self.program.resume(&mut self.trial, thread, answer);
        }
        None
    }

    /// Whether a thread waits though the last thing it has read is not the latest: it will never be revisited.
    pub(super) fn is_stale(&mut self, thread: ThreadId) -> bool {
        let graph = self.graph();
        let Action::Spin { events } = graph.thread(thread).pending else { return false };
        if self.waiting.level < AwaitLevel::Stale {
            return false;
        }
        last_read(graph, thread, events).is_some_and(|read| self.has_read_old(read))
    }

    /// The location of a new write, if a thread waits there, or has, for something that this write does not depend on.
    pub(super) fn unordered(&self, write: EventId) -> Option<Loc> {
        let graph = self.graph();
        let event = graph.event(write);
        if !event.is_write || !graph.has_after() {
            return None;
        }
        let depends = |after: EventId| !after.is_some() || graph.is_porf_before(after, write);
        let waiting = graph.threads().any(|(_, t)| t.pending.loc() == Some(event.loc) && !depends(t.after));
        let waited = || graph.location(event.loc).reads.iter().any(|&read| !depends(graph.event(read).after));
        (waiting || waited()).then_some(event.loc)
    }
}

/// The last read among the latest events of a thread.
fn last_read(graph: &Graph, thread: ThreadId, events: u32) -> Option<EventId> {
    let mut id = graph.thread(thread).last;
    for _ in 0..events {
        if !id.is_some() {
            return None;
        }
        let event = graph.event(id);
        if event.is_read {
            return Some(id);
        }
        id = event.po_prev;
    }
    None
}
