//! A program as the explorer runs it.
//!
//! It says where a loop waits, as tests in Rust do: where an iteration ends in the state in which it began, having
//! written nothing, or having taken back all that it has written, and has not read the variable that is not atomic for
//! the first time, if others contend for that. The variable is in the state; races for it, and whether others contend
//! for it, are found with the happens-before clocks that come with answers.

use std::hash::{DefaultHasher, Hash, Hasher};

use dpor_engine::check::trail::{LoopPoint, Trails, Visited, effect};
use dpor_engine::explore::{self, Answer, Ending};
use dpor_engine::graph::{Action, Event, EventId, Graph, Loc, RmwOp, ThreadId, Value, View, Width};
use dpor_engine::vm::{self, Effect, Mark};

use super::code::Code;
use super::found::{Error, Outcome};
use super::program::{ATOMICS, Program, Update};
use super::thread::{Access, Stop, Thread};

/// A program to be explored.
pub struct Subject {
    codes: Vec<Code>,
    /// How many iterations a loop may begin.
    bound: u32,
    known: Known,
    /// Whether the variable that is not atomic is accessed at all.
    plain: bool,
}

/// What is known of a program before it is explored.
#[derive(Clone, Copy, Debug)]
pub struct Known {
    /// Whether an iteration that takes back what it has written counts as one that waits.
    pub undoes: bool,
    /// Whether others contend for the variable that is not atomic with iterations that were left out.
    pub contended: bool,
}

/// The state of a program.
#[derive(Clone, Debug)]
pub struct State {
    threads: Vec<Running>,
    trails: Trails,
    cell: Cell,
    /// What the thread that ran last has written to the variable that is not atomic.
    written: Vec<u64>,
    /// Whether it has read that variable, and had not since it last had an effect.
    touched: bool,
    left_out: Vec<LeftOut>,
    error: Option<Error>,
}

/// The variable that is not atomic could have been read, by a thread after so many events, in an iteration that was left out.
#[derive(Clone, Debug)]
struct LeftOut {
    thread: usize,
    events: u32,
    /// What would have happened before.
    clock: Vec<u32>,
}

impl LeftOut {
    /// Whether it races with a write of another thread, after so many events and with this clock.
    fn races_with(&self, thread: usize, events: u32, clock: &View) -> bool {
        let knows = |clock: &View, thread: usize, events: u32| clock.get(thread).is_some_and(|known| *known > events);
        self.thread != thread && !knows(clock, self.thread, self.events) && !knows(&self.clock, thread, events)
    }
}

/// A thread, and how many iterations each loop has begun.
#[derive(Clone, Debug, Default)]
struct Running {
    thread: Thread,
    rounds: Vec<u32>,
}

/// The variable that is not atomic: its value, and who has accessed it, after how many events.
#[derive(Clone, Debug, Default)]
struct Cell {
    value: u64,
    write: Option<(usize, u32)>,
    reads: Vec<(usize, u32)>,
}

impl Cell {
    /// Whether an access of a thread with this clock is ordered with all that it could race with.
    fn admits(&self, thread: usize, clock: &View, writes: bool) -> bool {
        let is_before =
            |&(other, events): &(usize, u32)| other == thread || clock.get(other).is_some_and(|entry| *entry > events);
        self.write.iter().all(is_before) && (!writes || self.reads.iter().all(is_before))
    }
}

impl Subject {
    pub fn new(program: &Program, bound: u32, known: Known) -> Subject {
        let codes = program.threads.iter().map(Code::of).collect();
        Subject { codes, bound, known, plain: program.is_plain() }
    }

    /// How many threads there are.
    pub(crate) fn len(&self) -> usize {
        self.codes.len()
    }

    /// What comes of a complete execution.
    pub fn outcome(&self, state: &State, graph: &Graph) -> Outcome {
        let results = state.threads.iter().zip(&self.codes).map(|(running, code)| running.thread.results(code));
        let values = (0..ATOMICS.len()).map(|loc| graph.last_value(Loc::new(loc)).unwrap_or(0));
        Outcome { results: results.collect(), values: values.collect() }
    }

    /// Runs a thread to its next action.
    fn run(&self, state: &mut State, id: usize, clock: &View) -> Action {
        let code = &self.codes[id];
        state.written.clear();
        state.touched = false;
        loop {
            let stop = state.threads[id].thread.advance(code);
            let read = match stop {
                Stop::Access(access) => return action(access),
                Stop::Ended => return Action::End,
                Stop::Failed => {
                    state.error = Some(Error::Assertion);
                    return Action::Fail;
                }
                Stop::Head(number) => match self.begin_iteration(state, id, number) {
                    Some(action) => return action,
                    None => 0,
                },
                Stop::Read | Stop::Write(_) => match state.access(id, stop, clock, self.known) {
                    Ok(value) => value,
                    Err(error) => {
                        state.error = Some(error);
                        return Action::Fail;
                    }
                },
            };
            state.threads[id].thread.go_on(code, read, false);
        }
    }

    /// A loop begins an iteration, unless the last one has made it wait, or there were enough.
    fn begin_iteration(&self, state: &mut State, id: usize, number: usize) -> Option<Action> {
        let State { threads, trails, .. } = state;
        let Running { thread, rounds } = &mut threads[id];
        let point = LoopPoint { mark: mark(thread, number), place: number as u64, retries: false };
        match trails.visit(name(id), point, 0) {
            Visited::Alike { undone: true, .. } if !self.known.undoes => trails.begin_again(name(id), point, 0),
            Visited::Alike { events, .. } => return Some(Action::Spin { events }),
            _ => {}
        }
        rounds[number] += 1;
        (rounds[number] > self.bound).then_some(Action::Block)
    }

    /// That threads are blocked forever, if those that have not ended are.
    fn blocked_forever(&self, state: &State, graph: &Graph) -> Option<Error> {
        let mut threads = Vec::new();
        for (id, thread) in graph.threads() {
            let ended = thread.is_finished();
            match thread.pending {
                Action::Spin { events } if !ended && graph.has_read_latest(thread, events) => threads.push(None),
                _ if ended => threads.push(Some(state.threads[id.index()].thread.results(&self.codes[id.index()]))),
                _ => return None,
            }
        }
        Some(Error::BlockedForever(threads))
    }
}

impl State {
    /// Accesses the variable that is not atomic, unless that is a race.
    fn access(&mut self, id: usize, stop: Stop, clock: &View, known: Known) -> Result<u64, Error> {
        let events = clock.get(id).copied().unwrap_or(0);
        if !self.cell.admits(id, clock, matches!(stop, Stop::Write(_))) {
            return Err(Error::Race);
        }
        if let Stop::Write(value) = stop {
            if self.left_out.iter().any(|other| other.races_with(id, events, clock)) {
                return Err(Error::Contended);
            }
            self.cell = Cell { value, write: Some((id, events)), reads: Vec::new() };
            self.written.push(value);
            self.trails.clear(name(id));
        } else {
            self.cell.reads.push((id, events));
            self.touched |= known.contended && self.trails.touch(name(id), CELL);
        }
        Ok(self.cell.value)
    }

    /// A thread has read this, and written something or not.
    fn note(&mut self, id: usize, access: Access, value: u64, wrote: bool) {
        match effect(&action(access), value, wrote) {
            Effect::Nothing => {}
            Effect::Fence => self.trails.fence(name(id)),
            Effect::Write(write) => self.trails.write(name(id), write),
            Effect::Lasting => self.trails.clear(name(id)),
        }
        self.trails.go_on(name(id), false, false);
    }
}

/// Stands for the variable that is not atomic.
const CELL: u64 = 1;

/// The name of a thread in trails.
fn name(id: usize) -> vm::ThreadId {
    vm::ThreadId(id as u16)
}

/// Where a thread is, and its state, at the head of a loop.
fn mark(thread: &Thread, number: usize) -> Mark {
    let state = [1, 2].map(|seed| {
        let mut hasher = DefaultHasher::new();
        (seed, thread).hash(&mut hasher);
        hasher.finish()
    });
    Mark { site: number as u64, state }
}

fn action(access: Access) -> Action {
    let at = |loc: u8| Loc::new(usize::from(loc));
    match access {
        Access::Load { loc, order } => Action::Load { loc: at(loc), order },
        Access::Store { loc, value, order } => Action::Store { loc: at(loc), order, value },
        Access::Update { loc, update, operand, order } => {
            let op = match update {
                Update::Add => RmwOp::Add,
                Update::Sub => RmwOp::Sub,
                Update::Swap => RmwOp::Xchg,
            };
            Action::Rmw { loc: at(loc), order, op, width: Width::W64, operand }
        }
        Access::Cas { loc, expected, new, order, failure } => {
            Action::Cas { loc: at(loc), order, failure, expected, new, spurious: false }
        }
        Access::Fence { order } => Action::Fence { order },
    }
}

impl explore::Program for Subject {
    type State = State;
    type Error = Error;

    fn threads(&self) -> usize {
        self.codes.len()
    }

    fn initial(&self) -> State {
        let running = |code: &Code| Running { thread: Thread::default(), rounds: vec![0; code.loops.len()] };
        let threads = self.codes.iter().map(running).collect();
        let (trails, cell) = (Trails::default(), Cell::default());
        State { threads, trails, cell, written: Vec::new(), touched: false, left_out: Vec::new(), error: None }
    }

    fn start(&self, state: &mut State, thread: ThreadId, spawn: EventId, graph: &Graph) -> Action {
        self.run(state, thread.index(), graph.hb(spawn))
    }

    fn resume(&self, state: &mut State, thread: ThreadId, answer: Answer<'_>) -> Action {
        let id = thread.index();
        if let Stop::Access(access) = state.threads[id].thread.advance(&self.codes[id]) {
            state.note(id, access, answer.value, answer.wrote);
        }
        state.threads[id].thread.go_on(&self.codes[id], answer.value, answer.wrote);
        self.run(state, id, answer.clock)
    }

    fn may_spin(&self, state: &State, thread: ThreadId) -> bool {
        state.trails.points(name(thread.index())).next().is_some() || self.may_undo(state, thread)
    }

    fn may_undo(&self, state: &State, thread: ThreadId) -> bool {
        let writes = |point: LoopPoint| self.codes[thread.index()].loops[point.place as usize];
        self.known.undoes && state.trails.all_points(name(thread.index())).any(writes)
    }

    fn is_alike(&self, a: &State, b: &State, thread: ThreadId) -> bool {
        a.threads[thread.index()].thread == b.threads[thread.index()].thread
            && (&a.written, a.touched) == (&b.written, b.touched)
    }

    fn is_at_same_place(&self, a: &State, b: &State, thread: ThreadId) -> bool {
        a.threads[thread.index()].thread.pc == b.threads[thread.index()].thread.pc
    }

    fn has_effect(&self, state: &State) -> bool {
        !state.written.is_empty() || state.touched
    }

    fn touches_memory(&self) -> bool {
        self.plain && !self.known.contended
    }

    fn forget_accesses(&self, state: &mut State) {
        state.cell = Cell { value: state.cell.value, ..Cell::default() };
    }

    fn has_accessed(&self, state: &State) -> bool {
        !state.cell.reads.is_empty()
    }

    fn note_left_out(
        &self,
        state: &mut State,
        _: &State,
        thread: ThreadId,
        events: u32,
        clock: &View,
    ) -> Option<Error> {
        let left_out = LeftOut { thread: thread.index(), events, clock: clock.to_vec() };
        let races = state.cell.write.is_some_and(|(thread, events)| left_out.races_with(thread, events, &[]));
        state.left_out.push(left_out);
        races.then_some(Error::Contended)
    }

    fn is_lesson(&self, error: &Error) -> bool {
        *error == Error::Contended
    }

    fn initial_value(&self, _: &State, _: Loc) -> Value {
        0
    }

    fn watched(&self, _: &State, graph: &Graph, ending: Ending) -> Vec<Loc> {
        match ending {
            Ending::Complete => (0..ATOMICS.len()).map(Loc::new).collect(),
            Ending::Blocked => looked_at(graph),
        }
    }

    fn finish(&self, state: &State, graph: &Graph, ending: Ending) -> Result<(), Error> {
        let error = if ending == Ending::Blocked { self.blocked_forever(state, graph) } else { None };
        error.map_or(Ok(()), Err)
    }

    fn error(&self, state: &State, _: &Graph, _: ThreadId) -> Error {
        state.error.clone().unwrap_or(Error::Assertion)
    }
}

/// The locations that threads look at which wait in loops.
fn looked_at(graph: &Graph) -> Vec<Loc> {
    let mut locs = Vec::new();
    for (_, thread) in graph.threads() {
        let Action::Spin { events } = thread.pending else { continue };
        let mut next = thread.last;
        for _ in 0..events {
            let event: &Event = graph.event(next);
            if event.is_read {
                locs.push(event.loc);
            }
            next = event.po_prev;
        }
    }
    locs.sort_unstable();
    locs.dedup();
    locs
}
