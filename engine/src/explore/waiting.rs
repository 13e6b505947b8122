//! Threads that wait: stale reads and in-place revisits (§3.1 and §3.2 of the AWAMOCHE paper).
//!
//! A loop that waits ends an iteration where it began, having only read: the program then asks for [`Action::Spin`].
//! That iteration is as good as none; the thread waits until it would read something else.
//!
//! *Scheduling.* TruSt is right for every order in which threads are preferred, as long as that is a function of the graph.
//! So a thread comes last if it would wait, should everything that it reads be the latest: this is tried on a copy of
//! the program's state. It becomes an event only if it does not wait, or if no thread can do anything else; then it
//! either waits for ever or reads something old.
//!
//! *Stale reads.* What has read something old is never revisited. If the last read of an iteration that waits has, nothing
//! will come of it, and the execution is given up.
//!
//! *In-place revisits.* A write may revisit a read so that its thread now waits. The paper leaves the read in the graph,
//! and lets each later write to the location change what it reads; here it is taken out of the graph, and comes back
//! when the thread no longer waits, reading from something that depends on the write. That is the same where writes to
//! the location are causally ordered: a later write depends on the earlier. Where they turn out not to be, the
//! exploration begins again, and reads of that location stay in the graph.

use super::AwaitLevel;
use super::program::{Answer, Program};
use super::transient::Overlay;
use super::trial::Origin;
use super::visit::Visitor;
use crate::graph::{Action, Asleep, EventId, Graph, Loc, ThreadId, join};
use crate::model::Model;

/// How many actions a thread may try before it is taken not to wait.
const TRIAL: u32 = 256;

/// How the first action of a trial happens.
#[derive(Clone, Copy, Debug)]
pub(super) struct First {
    /// What it reads from, if not the latest.
    pub source: Option<EventId>,
    /// In which of the ways that it allows.
    pub way: u32,
    /// The state to begin with.
    pub from: Origin,
}

impl Default for First {
    fn default() -> First {
        First { source: None, way: 0, from: Origin::Now }
    }
}

impl First {
    pub fn reads(source: EventId) -> First {
        First { source: Some(source), ..First::default() }
    }
}

/// What comes of a trial in which the thread waits.
#[derive(Clone, Copy, Debug)]
pub(super) struct Spin {
    /// How many events the iteration has.
    events: u32,
    /// How many of them were tried.
    steps: u32,
    /// Whether nothing else was read or written after the first action: whatever others write, the thread comes back.
    pub alone: bool,
    /// What it has read, as far as that is known.
    asleep: Asleep,
}

impl Spin {
    /// Whether so many events before those that were tried are part of the iteration.
    pub fn begins_before(&self, events: u32) -> bool {
        self.events >= self.steps + events
    }
}

impl<P: Program, M: Model> Visitor<'_, P, M> {
    /// Whether a thread that can go on would wait, should it read the latest of everything.
    pub(super) fn would_wait(&mut self, thread: ThreadId) -> bool {
        if self.lessons.level < AwaitLevel::InPlace || !self.may_spin(thread) {
            return false;
        }
        if self.awaits_confirmation(thread) {
            return true;
        }
        let asleep = self.graph().thread(thread).asleep;
        if !asleep.seen().is_empty() && asleep.seen().iter().all(|&(loc, value)| self.latest_value(loc) == Some(value))
        {
            return true;
        }
        let first = self.graph().thread(thread).pending;
        let Some(spin) = self.try_out(thread, first, First::default()) else { return false };
        self.levels.current_mut().set_asleep(thread, spin.asleep);
        true
    }

    /// Whether a thread that reads from this write would wait, should it read the latest of everything else; if so, its
    /// read need not be in the graph.
    pub(super) fn would_wait_for(&mut self, thread: ThreadId, action: Action, write: EventId) -> bool {
        let graph = self.graph();
        let event = graph.event(write);
        if action.is_lock() {
            return action.is_blocked_by(event.written);
        }
        let in_place = self.lessons.level >= AwaitLevel::InPlace && !self.lessons.unordered.contains(event.loc);
        let (loc, blocked) = (event.loc, action.is_blocked_by(event.written));
        in_place
            && self.can_be_latest(loc, write)
            && (blocked || self.may_spin(thread) && self.try_out(thread, action, First::reads(write)).is_some())
    }

    /// Whether a thread whose pending read-modify-write writes back what it reads from this write would then wait.
    /// Nobody need see such a write; it is left only where the thread waits for ever.
    pub(super) fn waits_in_vain(&mut self, thread: ThreadId, source: EventId) -> bool {
        let action = self.graph().thread(thread).pending;
        self.lessons.level >= AwaitLevel::InPlace
            && self.may_spin(thread)
            && self.try_out(thread, action, First::reads(source)).is_some_and(|spin| spin.alone)
    }

    #[inline]
    pub(super) fn may_spin(&self, thread: ThreadId) -> bool {
        self.reads_in_loop(thread, || self.program.may_spin(&self.state, thread))
    }

    /// Whether it may be part of an iteration of any loop.
    pub(super) fn is_in_loop(&self, thread: ThreadId) -> bool {
        self.reads_in_loop(thread, || self.program.is_in_loop(&self.state, thread))
    }

    fn reads_in_loop(&self, thread: ThreadId, is_in_loop: impl FnOnce() -> bool) -> bool {
        let pending = &self.graph().thread(thread).pending;
        match pending.is_lock() {
            true => self.program.may_undo(&self.state, thread),
            false => {
                (pending.is_rmw() || matches!(pending, Action::Load { .. } | Action::Fence { .. })) && is_in_loop()
            }
        }
    }

    /// Lets a thread run on a copy of the state until it waits or has an effect; `first` says how its pending action happens.
    pub(super) fn try_out(&mut self, thread: ThreadId, pending: Action, first: First) -> Option<Spin> {
        self.begin_trial(first.from);
        let mut overlay = std::mem::take(&mut self.trials.overlay);
        overlay.begin(self.program.may_undo(&self.trials.state, thread));
        let spin = self.run_trial(thread, pending, first, &mut overlay);
        if let (Some(spin), false, Origin::Now) = (&spin, overlay.is_empty(), first.from) {
            // What the iteration did before is in the graph.
            self.note_undone(thread, spin.events.saturating_sub(spin.steps), &overlay);
        }
        self.trials.overlay = overlay;
        spin
    }

    fn run_trial(&mut self, thread: ThreadId, pending: Action, first: First, overlay: &mut Overlay) -> Option<Spin> {
        let (mut action, mut asleep, mut remembered, mut alone) = (pending, Asleep::default(), true, true);
        let First { mut source, mut way, .. } = first;
        self.begin_clock(thread);
        for steps in 0..TRIAL {
            let (read, update) = match (action, action.loc()) {
                // What it has written before is not taken back.
                (Action::Spin { events }, _) if overlay.has_written_before(steps, events) => return None,
                (Action::Spin { events }, _) => {
                    remembered &= overlay.is_empty();
                    alone &= overlay.is_empty();
                    let asleep = if remembered { asleep } else { Asleep::default() };
                    return Some(Spin { events, steps, alone, asleep });
                }
                (Action::Fence { .. }, _) => (0, None),
                (Action::Store { value, order, .. }, _) if order.is_atomic() => {
                    overlay.write(steps, &action, None, value)?;
                    (0, Some(value))
                }
                (_, Some(loc)) if is_tried(&action) => {
                    let last = self.latest_value(loc);
                    alone &= steps == 0;
                    let write = source.take();
                    let other = write.map(|write| self.graph().written(write, loc)).or_else(|| overlay.value(loc));
                    let read = other.or(last).unwrap_or_else(|| self.program.initial_value(&self.trials.state, loc));
                    remembered &= last.is_some() && asleep.add(loc, read);
                    if action.is_blocked_by(read) {
                        return None;
                    }
                    let update = action.update(read, std::mem::take(&mut way));
                    if action.order(update.is_some()).is_acquire() && last.is_some() && !overlay.has(loc) {
                        let graph = self.levels.current();
                        join(&mut self.trials.clock, graph.rel(write.unwrap_or(graph.location(loc).co_max())));
                    }
                    if let Some(new) = update.filter(|new| *new != read) {
                        overlay.write(steps, &action, Some(read), new)?;
                    }
                    (read, update)
                }
                _ => return None,
            };
            let Visitor { program, levels, trials, .. } = self;
            let graph = levels.current();
            trials.clock[thread.index()] += 1;
            let (clock, causes) = (&trials.clock, graph.porf(graph.thread(thread).tip()));
            let answer = Answer { value: read, wrote: update.is_some(), initial: false, clock, causes, graph };
            action = program.resume(&mut trials.state, thread, answer);
            if action == Action::Fail {
                self.learn_from_trial(thread);
                return None;
            }
        }
        None
    }

    /// Whether a thread waits though the last thing it has read is not the latest: it will never be revisited.
    pub(super) fn is_stale(&mut self, thread: ThreadId) -> bool {
        let graph = self.graph();
        let Action::Spin { events } = graph.thread(thread).pending else { return false };
        if self.lessons.level < AwaitLevel::Stale {
            return false;
        }
        let last = reads(graph, graph.thread(thread).last, events).next();
        last.is_some_and(|read| self.has_read_old(read))
    }

    /// Whether some thread waits though it has not read the latest of everything, in an execution that goes no further:
    /// it would go on, and that is explored elsewhere.
    pub(super) fn waits_for_nothing(&self) -> bool {
        let graph = self.graph();
        self.lessons.level >= AwaitLevel::Full
            && graph.threads().any(|(_, thread)| match thread.pending {
                Action::Spin { events } => !graph.has_read_latest(thread, events),
                _ => false,
            })
    }

    /// The location of a new write, if a thread waits there, or has, for something that this write does not depend on;
    /// or for a value to come back, and there are other writes that it does not depend on.
    pub(super) fn unordered(&self, write: EventId) -> Option<Loc> {
        let graph = self.graph();
        let event = graph.event(write);
        if !event.is_write {
            return None;
        }
        if self.is_out_of_order(write) {
            return Some(event.loc);
        }
        // Where readers share a lock, nobody relies on that.
        if !graph.has_after() || self.is_shared(event.loc) {
            return None;
        }
        let depends = |after: EventId| !after.is_some() || graph.is_porf_before(after, write);
        let waiting = graph.threads().any(|(_, t)| t.pending.loc() == Some(event.loc) && !depends(t.after));
        let waited = || graph.location(event.loc).reads.iter().any(|&read| !depends(graph.event(read).after));
        (waiting || waited()).then_some(event.loc)
    }
}

/// Whether an action is tried out.
pub(super) fn is_tried(action: &Action) -> bool {
    matches!(action, Action::Load { .. } | Action::Rmw { .. } | Action::Cas { .. } | Action::Try { .. })
        || action.is_lock()
}

/// The reads among so many events of a thread, from this one back.
fn reads(graph: &Graph, last: EventId, events: u32) -> impl Iterator<Item = EventId> {
    let before = |id: &EventId| Some(graph.event(*id).po_prev);
    let latest = std::iter::successors(Some(last), before).take_while(|id| id.is_some()).take(events as usize);
    latest.filter(|id| graph.event(*id).is_read)
}
