//! Looking back at what was left out.
//!
//! Iterations that count, and attempts that fail, are left out if the thread then loads again, though something is left
//! of them: a counter, a node that was prepared. Whether that makes a difference depends on what the thread loads next,
//! and what it might have loaded before; and that may be written only later in the exploration. So every full execution
//! is looked at once more. For each load at the head of a loop, all iterations that could have come before it are
//! tried, with all writes that are there by now, one after the other: the thread must then come to where it is without
//! them. Where it does not, the exploration begins again, and such iterations of that location are explored.
//!
//! This is enough: an execution with an iteration that was left out is one without it, of which the same holds, and
//! that one is explored and looked at; so by induction on the number of such iterations the two end alike.
//!
//! Executions that are explored one after the other mostly agree. What was looked at in the one before, and is still
//! there, is not looked at again.

use super::Failure;
use super::buffers::Buffers;
use super::confirm::{Failed, Head};
use super::lessons::Lesson;
use super::program::Program;
use super::trial::{Course, Origin, Place, Reply};
use super::visit::Visitor;
use crate::graph::{Action, Event, EventId, Loc, ThreadId, Value};
use crate::model::{Model, Site};

/// So many states of a thread at the head of a loop are told apart; where there are more, they are explored.
const MAX_STATES: usize = 64;

impl<P: Program, M: Model> Visitor<'_, P, M> {
    /// Why the exploration has to begin again, if the current execution, being full, shows that it has left too much
    /// out.
    pub(super) fn audit(&mut self) -> Option<Lesson<P::Error>> {
        if self.lessons.transients.is_empty() && self.lessons.audited.is_empty() && !self.program.touches_memory() {
            return None;
        }
        let audited = EventId::new(self.levels.audited().events);
        if let Some(loc) = self.noticed(audited) {
            return self.learned.take().or(Some(Lesson::Noticed(loc)));
        }
        if let Some(lesson) = self.contended() {
            return Some(lesson);
        }
        self.levels.audited_mut().events = self.graph().len();
        // Where it is not settled what the order of writes is, nothing was left out that this is about.
        if self.lessons.audited.is_empty() || !self.graph().is_settled() {
            return None;
        }
        let heads: Vec<EventId> = (1..self.graph().len()).map(EventId::new).filter(|&id| self.is_head(id)).collect();
        let refuted = heads.into_iter().find(|&id| !self.is_as_without(id, audited))?;
        self.learned.take().or(Some(Lesson::Explicit(self.graph().event(refuted).loc)))
    }

    /// The same for an execution that goes no further because the program has failed: an error is one also if too much was
    /// left out, but others may be missed.
    pub(super) fn audit_failed(&mut self, failure: &Failure<P::Error>) -> Option<Lesson<P::Error>> {
        let is_program = matches!(failure, Failure::Program(_));
        self.told_apart_at_end().or_else(|| is_program.then(|| self.audit())?)
    }

    /// Something is left out that reads a location, and is right only if every execution is looked at.
    pub(super) fn rely_on_audits(&mut self, loc: Loc) {
        if !self.lessons.audited.contains(loc) {
            self.learn(Lesson::Unproven(loc));
        }
    }

    /// Whether an event is a load that an iteration could have come before which was left out, or an attempt after it: the load
    /// itself need not be in the loop.
    fn is_head(&self, id: EventId) -> bool {
        let event = self.graph().event(id);
        event.snapshot.is_some()
            && matches!(event.action, Action::Load { .. } | Action::Cas { .. })
            && self.lessons.audited.contains(event.loc)
            && self.leaves_failures_out(event.loc)
    }

    /// Whether a thread is where it is also if it has made more iterations before a load, with at least one event that
    /// was not audited before.
    fn is_as_without(&mut self, id: EventId, audited: EventId) -> bool {
        let Event { thread, action, loc, answer, is_write, snapshot, .. } = *self.graph().event(id);
        let writes = self.readable_before(id);
        let is_new = |write: &EventId| id >= audited || *write >= audited;
        if !writes.iter().any(is_new) {
            return true;
        }
        let values: Vec<Value> = writes.iter().map(|&write| self.graph().written(write, loc)).collect();
        let head = Head { thread, action, from: Origin::Saved(snapshot.slot as usize) };
        let last = Reply { value: answer, wrote: is_write };
        self.trials.clear_heads();
        let mut states = vec![AtHead { replies: Vec::new(), open: vec![true; values.len()] }];
        let mut next = 0;
        while next < states.len() {
            let state = std::mem::take(&mut states[next]);
            next += 1;
            let Some(iterations) = self.iterations(head, &state, &values) else { return false };
            for replies in iterations {
                // The first is not among those that are tried from.
                let number = states.len() - 1;
                let Some(open) = self.open_values(head, number, &replies, &values, last) else { return false };
                states.push(AtHead { replies, open });
            }
        }
        true
    }

    /// Whether a thread that is at a head once more does the same whatever it is answered: then says which of these
    /// values take it to the head again. From where the others take it, it goes on as from the head the first time,
    /// which needs no second look.
    fn open_values(
        &mut self,
        head: Head,
        number: usize,
        iteration: &[Reply],
        values: &[Value],
        last: Reply,
    ) -> Option<Vec<bool>> {
        let mut simulated = |reply: Reply| {
            let first = self.leads_to(head.thread, Course { from: Origin::Head(number), replies: &[reply] });
            self.simulation(head, first, iteration, reply)
        };
        let mut open = Vec::with_capacity(values.len());
        for &value in values {
            let reply = Reply { value, wrote: head.action.update(value, 0).is_some() };
            open.push(simulated(reply)? == Simulation::Back);
        }
        simulated(last)?;
        Some(open)
    }

    /// Whether a thread that is at a head once more does the same if it gets this answer as if it had got it the first
    /// time: it comes to the same place, or to the head again.
    pub(super) fn is_simulated(&mut self, head: Head, iteration: &[Reply], reply: Reply) -> bool {
        let later = [iteration, &[reply]].concat();
        let first = self.leads_to(head.thread, Course { from: head.from, replies: &later });
        self.simulation(head, first, iteration, reply).is_some()
    }

    /// The same, where it is known to which place the thread has come after the iteration, in the latest trial.
    fn simulation(&mut self, head: Head, first: Place, iteration: &[Reply], reply: Reply) -> Option<Simulation> {
        let Head { thread, from, .. } = head;
        self.trials.swap();
        let second = self.leads_to(thread, Course { from, replies: &[reply] });
        let is_back = |place: Place, state: &P::State| {
            self.is_back(&head, state, place) || !place.has_effect && matches!(place.next, Action::Spin { .. })
        };
        if is_back(second, &self.trials.state) {
            return is_back(first, &self.trials.other).then_some(Simulation::Back);
        }
        let first = match first.next {
            // It is where it has been before, so many actions ago.
            Action::Spin { events } if (events as usize) < iteration.len() + 1 => {
                let later = [iteration, &[reply]].concat();
                self.trials.swap();
                self.leads_to(thread, Course { from, replies: &later[..later.len() - events as usize] })
            }
            _ => first,
        };
        let same = first.has_effect == second.has_effect && self.is_same(thread, first, second);
        same.then_some(Simulation::Same)
    }

    /// The writes that a thread might have read from before a load, had it loaded more often, in coherence order.
    pub(super) fn readable_before(&mut self, id: EventId) -> Vec<EventId> {
        let Visitor { model, levels, buffers: Buffers { scratch, .. }, .. } = self;
        let graph = levels.current();
        let Event { loc, rf, .. } = *graph.event(id);
        if !graph.is_settled() {
            return graph.location(loc).co.clone();
        }
        let floor = model.floor(graph, &Site::of(graph, id, false), scratch);
        let end = graph.position(rf);
        graph.location(loc).co[floor.min(end)..=end].to_vec()
    }

    /// The answers with which a thread comes back to the head of a loop, from a state in which it is there, so that
    /// something is left of the iteration: one way for each state that it is then in. Nothing if an attempt that fails
    /// has an effect, though it may have been left out, or if there are too many states.
    fn iterations(&mut self, head: Head, state: &AtHead, values: &[Value]) -> Option<Vec<Vec<Reply>>> {
        let Head { thread, action, from } = head;
        let mut found = Vec::new();
        for (index, &value) in values.iter().enumerate().filter(|(index, _)| state.open[*index]) {
            if action.update(value, 0).is_some() {
                continue;
            }
            let replies = [&state.replies[..], &[Reply::reads(value)]].concat();
            let place = self.leads_to(thread, Course { from, replies: &replies });
            if self.is_back(&head, &self.trials.state, place) {
                if self.is_new_head(thread)? {
                    found.push(replies);
                }
                continue;
            }
            let loc = action.loc();
            let confirms =
                matches!(place.next, Action::Cas { loc: at, expected, .. } if Some(at) == loc && expected == value);
            // Attempts that are not in a loop are explored.
            if !confirms || !self.program.may_spin(&self.trials.state, thread) {
                continue;
            }
            for &other in values[index + 1..].iter().filter(|other| **other != value) {
                match self.failed_at(head, place, &replies, other) {
                    Failed::GoesOn | Failed::LoadsAgain => {}
                    Failed::LoadsAgainOtherwise => {
                        if self.is_new_head(thread)? {
                            found.push([&replies[..], &[Reply::reads(other)]].concat());
                        }
                    }
                    Failed::HasEffect => return None,
                }
            }
        }
        Some(found)
    }

    /// Whether a thread, which is at the head of a loop after the latest trial, was not there in that state before:
    /// remembers it then. Nothing where there are too many.
    fn is_new_head(&mut self, thread: ThreadId) -> Option<bool> {
        let Visitor { program, trials, .. } = self;
        if trials.heads().iter().any(|known| program.is_alike(known, &trials.state, thread)) {
            return Some(false);
        }
        if trials.heads().len() + 1 == MAX_STATES {
            return None;
        }
        trials.add_head();
        Some(true)
    }
}

/// What of a graph was looked at in an execution before.
#[derive(Clone, Debug, Default)]
pub(super) struct Audited {
    /// How many events.
    pub events: usize,
    /// By event: whether it is known that a thread that goes [round](super::rounds) before it accesses no memory.
    pub quiet: Vec<bool>,
}

impl Audited {
    /// The first events of a graph.
    pub fn first(events: usize) -> Audited {
        Audited { events, quiet: Vec::new() }
    }

    /// What of the first events of a graph was looked at.
    pub fn beginning(&self, events: usize) -> Audited {
        Audited { events: self.events.min(events), quiet: self.quiet.iter().copied().take(events).collect() }
    }

    /// The graph has no more than so many events.
    pub fn shorten(&mut self, events: usize) {
        self.events = self.events.min(events);
        self.quiet.truncate(events);
    }
}

/// A way to the head of a loop.
#[derive(Debug, Default)]
struct AtHead {
    /// The answers that take a thread there.
    replies: Vec<Reply>,
    /// By value: whether a thread that reads it there has to be looked at.
    open: Vec<bool>,
}

/// How a thread that is at the head of a loop once more does the same as the first time.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Simulation {
    /// It comes to the same place.
    Same,
    /// It comes to the head again, in either case.
    Back,
}
