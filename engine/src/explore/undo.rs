//! Loops that write and take it back: `while x.fetch_add(1) >= max { x.fetch_sub(1); }`, or lock, look, unlock.
//!
//! An iteration that leaves everything as it was is as good as none, like one that has only read, as long as nobody minds what
//! was there in between. So it is left out; but every access of the same location is tried with what such an iteration would
//! have written, too. If that makes a difference, other than that the thread waits, the program has to be explored again, with
//! these iterations as they are.

use super::Failure;
use super::program::{Answer, Program};
use super::visit::{Step, Visitor};
use super::waiting::First;
use crate::graph::{Action, EventId, Loc, ThreadId, Value};
use crate::model::Model;

/// An iteration that takes back what it has written does not write more often.
const MAX_WRITES: usize = 8;
/// Where more than this is written and taken back, it is explored as it is.
const MAX_TRANSIENTS: usize = 64;

/// What a loop writes and takes back.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Transient {
    /// It adds a number.
    Added(Value),
    /// It writes a value.
    Written(Value),
}

impl Transient {
    /// What is there in between, instead of this value.
    fn instead_of(self, value: Value) -> Value {
        match self {
            Transient::Added(number) => value.wrapping_add(number),
            Transient::Written(written) => written,
        }
    }
}

/// A write of an iteration that takes it back.
#[derive(Clone, Copy, Debug)]
struct Write {
    loc: Loc,
    read: Option<Value>,
    written: Value,
    adds: bool,
}

/// What is there in between, if a thread makes these writes one after the other, the last of them taking all back.
fn transients(writes: &[Write]) -> impl Iterator<Item = (Loc, Transient)> {
    writes.iter().enumerate().filter_map(|(index, write)| {
        let here = |other: &&Write| other.loc == write.loc;
        if writes.iter().filter(here).all(|write| write.adds) {
            let added = |write: &Write| write.written.wrapping_sub(write.read.unwrap_or_default());
            let sum = writes[..=index].iter().filter(here).map(added).fold(0, Value::wrapping_add);
            return (sum != 0).then_some((write.loc, Transient::Added(sum)));
        }
        let is_last = !writes[index + 1..].iter().any(|other| other.loc == write.loc);
        (!is_last).then_some((write.loc, Transient::Written(write.written)))
    })
}

/// What a thread has written while something is tried out.
#[derive(Debug, Default)]
pub(super) struct Overlay {
    allowed: bool,
    writes: Vec<Write>,
}

impl Overlay {
    /// Begins anew; says whether anything may be written at all.
    pub fn begin(&mut self, allowed: bool) {
        self.allowed = allowed;
        self.writes.clear();
    }

    pub fn is_empty(&self) -> bool {
        self.writes.is_empty()
    }

    pub fn has(&self, loc: Loc) -> bool {
        self.value(loc).is_some()
    }

    /// What was last written to a location.
    pub fn value(&self, loc: Loc) -> Option<Value> {
        self.writes.iter().rfind(|write| write.loc == loc).map(|write| write.written)
    }

    /// Writes; nothing where that has to be explored.
    pub fn write(&mut self, loc: Loc, read: Option<Value>, written: Value, adds: bool) -> Option<()> {
        if !self.allowed || self.writes.len() == MAX_WRITES {
            return None;
        }
        self.writes.push(Write { loc, read, written, adds });
        Some(())
    }
}

impl<P: Program, M: Model> Visitor<'_, P, M> {
    /// A thread waits: notes what it has written, and taken back, in its latest events and while something was tried out.
    pub(super) fn note_undone(&mut self, last: EventId, events: u32, tried: &Overlay) {
        let mut writes = Vec::new();
        let mut id = last;
        for _ in 0..events {
            if !id.is_some() {
                break;
            }
            let event = self.graph().event(id);
            if event.is_write && !(event.is_read && event.written == event.answer) {
                let read = event.is_read.then_some(event.answer);
                writes.push(Write { loc: event.loc, read, written: event.written, adds: event.action.adds() });
            }
            id = event.po_prev;
        }
        writes.reverse();
        writes.extend_from_slice(&tried.writes);
        for (loc, transient) in transients(&writes) {
            self.note_transient(loc, transient);
        }
    }

    fn note_transient(&mut self, loc: Loc, transient: Transient) {
        let waiting = self.waiting;
        if self.learned.is_some() || waiting.transients.contains(&(loc, transient)) {
            return;
        }
        let full = waiting.transients.len() == MAX_TRANSIENTS;
        self.learned = Some(if full { Failure::Noticed(loc) } else { Failure::Transient(loc, transient) });
    }

    /// Where something was learned that the exploration should have known from the start, begins again.
    pub(super) fn take_learned(&mut self) -> Option<Step<P::Error>> {
        self.learned.take().map(Step::Failed)
    }

    /// The location of an event that has not been answered yet, if its thread would notice what others write there and take
    /// back.
    pub(super) fn noticed(&mut self, id: EventId) -> Option<Loc> {
        if self.waiting.transients.is_empty() {
            return None;
        }
        let event = *self.graph().event(id);
        if !event.is_read {
            return None;
        }
        let transients = self.waiting.transients;
        let mut here = transients.iter().filter(|(loc, _)| *loc == event.loc);
        here.any(|(_, transient)| self.notices(id, transient.instead_of(event.answer))).then_some(event.loc)
    }

    /// Whether it makes a difference if an event reads this instead, other than that its thread waits.
    fn notices(&mut self, id: EventId, instead: Value) -> bool {
        let event = *self.graph().event(id);
        let (thread, action) = (event.thread, event.action);
        if instead == event.answer || action.is_blocked_by(instead) {
            return false;
        }
        let written = action.update(instead, event.way);
        let moved = |value: Value| value.wrapping_sub(event.answer);
        let same = match written {
            Some(new) => {
                event.is_write
                    && (moved(new) == moved(event.written).wrapping_add(moved(instead)) || new == event.written)
            }
            None => !event.is_write,
        };
        if same {
            let as_it_is = self.answered(id, event.answer, event.is_write);
            std::mem::swap(&mut self.trial, &mut self.other_trial);
            let otherwise = self.answered(id, instead, written.is_some());
            if as_it_is == otherwise && self.program.is_alike(&self.trial, &self.other_trial, thread) {
                return false;
            }
        }
        let may_wait = self.program.may_spin(&self.state, thread) || self.program.may_undo(&self.state, thread);
        let first = First { value: Some(instead), ..First::default() };
        !(may_wait && (self.try_out(thread, action, first).is_some() || self.has_met_something_new(thread)))
    }

    /// Whether a trial ended with something that the program should have known from the start: then it begins again.
    fn has_met_something_new(&mut self, thread: ThreadId) -> bool {
        if !self.trial_failed {
            return false;
        }
        let error = self.program.error(&self.trial, &self.graphs[self.level], thread);
        let is_new = self.program.is_final(&error);
        if is_new {
            self.learned = Some(Failure::Program(error));
        }
        is_new
    }

    /// What a thread does next on a copy of the state, if its latest event is answered with this.
    fn answered(&mut self, id: EventId, value: Value, wrote: bool) -> Action {
        self.begin_trial(None);
        let graph = &self.graphs[self.level];
        let answer = Answer { value, wrote, initial: false, clock: graph.hb(id), graph };
        self.program.resume(&mut self.trial, graph.event(id).thread, answer)
    }
}
