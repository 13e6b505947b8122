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

use super::confirm::{Failed, Head};
use super::lessons::Lesson;
use super::program::Program;
use super::trial::{Course, Origin, Place, Reply};
use super::visit::Visitor;
use super::waiting::First;
use crate::graph::{Action, Event, EventId, Loc, Value};
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
        let audited = EventId::new(self.audited[self.level]);
        self.audited[self.level] = self.graph().len();
        if let Some(loc) = self.noticed(audited) {
            return self.learned.take().or(Some(Lesson::Noticed(loc)));
        }
        if let Some(lesson) = self.unnoted(audited) {
            return Some(lesson);
        }
        // Where it is not settled what the order of writes is, nothing was left out that this is about.
        if self.lessons.audited.is_empty() || !self.graph().is_settled() {
            return None;
        }
        let heads: Vec<EventId> = (1..self.graph().len()).map(EventId::new).filter(|&id| self.is_head(id)).collect();
        let refuted = heads.into_iter().find(|&id| !self.is_as_without(id, audited))?;
        self.learned.take().or(Some(Lesson::Explicit(self.graph().event(refuted).loc)))
    }

    /// What threads access in iterations that wait was noted for the writes that were there when they read. Where they
    /// might have read from one that came later, this says what memory others have to be taken to contend for.
    fn unnoted(&mut self, audited: EventId) -> Option<Lesson<P::Error>> {
        if !self.program.touches_memory() {
            return None;
        }
        for id in (1..self.graph().len()).map(EventId::new) {
            let Event { thread, index, action, in_loop, is_read, snapshot, .. } = *self.graph().event(id);
            if !in_loop || !is_read || !snapshot.is_some() {
                continue;
            }
            let from = Origin::Saved(snapshot.slot as usize);
            for source in self.readable_before(id).into_iter().filter(|source| *source > id && *source >= audited) {
                if self.run_iteration(thread, action, First { from, ..First::reads(source) }).is_none() {
                    continue;
                }
                let Visitor { program, state, trials, .. } = self;
                let events = self.graphs[self.level].thread(thread).len;
                if let Some(error) = program.accessed(state, &trials.state, thread, events, index) {
                    return Some(Lesson::Program(error));
                }
            }
        }
        None
    }

    /// Something is left out that reads a location, and is right only if every execution is looked at.
    pub(super) fn rely_on_audits(&mut self, loc: Loc) {
        if !self.lessons.audited.contains(loc) {
            self.learn(Lesson::Unproven(loc));
        }
    }

    /// Whether an event is a load that an iteration could have come before which was left out.
    fn is_head(&self, id: EventId) -> bool {
        let event = self.graph().event(id);
        event.in_loop
            && event.snapshot.is_some()
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
        let mut states: Vec<Vec<Reply>> = vec![Vec::new()];
        let mut next = 0;
        while next < states.len() {
            let state = states[next].clone();
            next += 1;
            let Some(iterations) = self.iterations(head, &state, &values) else { return false };
            for iteration in iterations {
                if self.is_known(head, &states, &iteration) {
                    continue;
                }
                let others = values.iter().map(|&value| Reply { value, wrote: action.update(value, 0).is_some() });
                let mut replies = others.chain([last]);
                if states.len() == MAX_STATES || !replies.all(|reply| self.is_simulated(head, &iteration, reply)) {
                    return false;
                }
                states.push(iteration);
            }
        }
        true
    }

    /// Whether a thread that is at a head once more does the same if it gets this answer as if it had got it the first
    /// time: it comes to the same place, or to the head again.
    pub(super) fn is_simulated(&mut self, head: Head, iteration: &[Reply], reply: Reply) -> bool {
        let Head { thread, action, from } = head;
        let (later, at_once) = ([iteration, &[reply]].concat(), [reply]);
        let (mut later, at_once) = (Course { from, replies: &later }, Course { from, replies: &at_once });
        let (mut first, second) = (self.leads_to(thread, later), self.leads_to(thread, at_once));
        let is_back =
            |place: Place| !place.has_effect && (place.next == action || matches!(place.next, Action::Spin { .. }));
        if is_back(second) {
            return is_back(first);
        }
        // It is where it has been before, so many actions ago.
        if let Action::Spin { events } = first.next
            && let Some(before) = later.replies.len().checked_sub(events as usize).filter(|before| *before > 0)
        {
            later.replies = &later.replies[..before];
            first = self.leads_to(thread, later);
        }
        first.has_effect == second.has_effect && self.leads_to_the_same(thread, later, at_once).is_some()
    }

    /// The writes that a thread might have read from before a load, had it loaded more often, in coherence order.
    fn readable_before(&mut self, id: EventId) -> Vec<EventId> {
        let Visitor { model, graphs, level, scratch, .. } = self;
        let graph = &graphs[*level];
        let Event { loc, rf, .. } = *graph.event(id);
        if !graph.is_settled() {
            return graph.location(loc).co.clone();
        }
        let floor = model.floor(graph, &Site::of(graph, id, false), scratch);
        let end = graph.position(rf);
        graph.location(loc).co[floor.min(end)..=end].to_vec()
    }

    /// The answers with which a thread comes back to the head of a loop, from a state in which it is there, so that
    /// something is left of the iteration. Nothing if an attempt that fails has an effect, though it may have been left
    /// out.
    fn iterations(&mut self, head: Head, state: &[Reply], values: &[Value]) -> Option<Vec<Vec<Reply>>> {
        let Head { thread, action, from } = head;
        let mut found = Vec::new();
        for (index, &value) in values.iter().enumerate() {
            if action.update(value, 0).is_some() {
                continue;
            }
            let replies = [state, &[Reply::reads(value)]].concat();
            let place = self.leads_to(thread, Course { from, replies: &replies });
            if place.next == action && !place.has_effect {
                found.push(replies);
                continue;
            }
            let loc = action.loc();
            if !matches!(place.next, Action::Cas { loc: at, expected, .. } if Some(at) == loc && expected == value) {
                continue;
            }
            for &other in values[index + 1..].iter().filter(|other| **other != value) {
                match self.failed(head, &replies, other) {
                    Failed::GoesOn | Failed::LoadsAgain => {}
                    Failed::LoadsAgainOtherwise => found.push([&replies[..], &[Reply::reads(other)]].concat()),
                    Failed::HasEffect => return None,
                }
            }
        }
        Some(found)
    }

    /// Whether one of these ways to the head of a loop leads to the same state as another one.
    fn is_known(&mut self, head: Head, states: &[Vec<Reply>], way: &[Reply]) -> bool {
        let Head { thread, from, .. } = head;
        let course = |replies| Course { from, replies };
        states
            .iter()
            .any(|known| !known.is_empty() && self.leads_to_the_same(thread, course(known), course(way)).is_some())
    }
}
