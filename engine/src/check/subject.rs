//! A lowered test as a program to explore.

use std::sync::Arc;

use crate::explore::{Answer, Ending, Program};
use crate::graph::{self, Graph, Loc, MemOrder, ThreadId, Value, View};
use crate::program::{AtomicWidth, FuncId, Ordering};
use crate::verdict::ErrorKind;
use crate::vm::{self, Action, Failure, FailureKind, Image, Note, Output, RunOptions, Site, Stop, Tracked, Vm, Woken};

use super::locations::{Atomic, Locations};

/// A thread has at most so many events: each needs some kilobytes.
const MAX_EVENTS: u32 = 100_000;

/// A test to be explored.
pub struct Subject {
    image: Arc<Image>,
    entry: FuncId,
    options: Arc<RunOptions>,
    locations: Locations,
    /// The memory whose accesses are tracked.
    tracked: Arc<Tracked>,
}

/// What ends an exploration.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Issue {
    Failure(Arc<Wrong>),
    /// Memory turned out to be shared that was not tracked.
    Shared(Site),
    /// The deadline has passed.
    OutOfTime,
}

/// What is wrong with an execution. The same mistakes are equal.
#[derive(Clone, Debug)]
pub struct Wrong {
    pub failure: Box<Failure>,
    /// What the execution printed.
    pub output: Output,
}

impl PartialEq for Wrong {
    fn eq(&self, other: &Wrong) -> bool {
        self.failure.is_same_mistake(&other.failure)
    }
}

impl Eq for Wrong {}

/// The state of a test that runs.
#[derive(Clone)]
pub struct State {
    vm: Vm,
    /// What went wrong.
    issue: Option<Issue>,
}

impl State {
    /// Something went wrong, or was learned.
    fn fail(&mut self, failure: Box<Failure>) -> graph::Action {
        self.issue = Some(match self.vm.learned() {
            Some(site) => Issue::Shared(site),
            None if failure.kind == FailureKind::Limit && self.vm.is_out_of_time() => Issue::OutOfTime,
            None => self.wrong(failure),
        });
        graph::Action::Fail
    }

    fn wrong(&self, failure: Box<Failure>) -> Issue {
        Issue::Failure(Arc::new(Wrong { failure, output: self.vm.output().clone() }))
    }

    /// The machine.
    pub fn vm(&self) -> &Vm {
        &self.vm
    }
}

impl Subject {
    pub fn new(image: &Arc<Image>, entry: FuncId, options: &RunOptions, tracked: Tracked) -> Subject {
        Subject {
            image: Arc::clone(image),
            entry,
            options: Arc::new(options.clone()),
            locations: Locations::default(),
            tracked: Arc::new(tracked),
        }
    }

    /// Runs a thread to its next visible action.
    fn run(&self, state: &mut State, thread: ThreadId) -> graph::Action {
        let id = vm_thread(thread);
        match self.next_action(&mut state.vm, id) {
            Ok(action) => action,
            Err(failure) => state.fail(failure),
        }
    }

    fn next_action(&self, vm: &mut Vm, id: vm::ThreadId) -> Result<graph::Action, Box<Failure>> {
        loop {
            let action = match vm.pending(id) {
                Some(postponed) => postponed,
                None => match vm.run_thread(id)? {
                    Stop::Action(action) => action,
                    Stop::Exit(0) => return Ok(graph::Action::Exit),
                    Stop::Exit(code) => return Err(vm.exit_failure(id, code)),
                },
            };
            vm.check_access(id)?;
            match action {
                Action::Yield | Action::Assume { holds: true } => vm.answer(id, vm::Answer::Done)?,
                // Nobody else sees what a thread does while it is alone.
                action if vm.is_single_threaded() && is_local(vm, action) => vm.perform_and_answer(id)?,
                // Who waits sees for itself that the word has changed.
                Action::FutexWake { .. } => vm.answer(id, vm::Answer::Value(0))?,
                action => return self.translate(vm, id, action),
            }
        }
    }

    /// The action as the explorer knows it.
    fn translate(&self, vm: &Vm, id: vm::ThreadId, action: Action) -> Result<graph::Action, Box<Failure>> {
        Ok(match action {
            Action::Load { address, width, ordering } => {
                graph::Action::Load { loc: self.loc(vm, id, address, width)?, order: order(ordering) }
            }
            Action::Store { address, width, ordering, value } => graph::Action::Store {
                loc: self.loc(vm, id, address, width)?,
                order: order(ordering),
                value: value as Value,
            },
            Action::Rmw { op, address, width, ordering, operand } => graph::Action::Rmw {
                loc: self.loc(vm, id, address, width)?,
                order: order(ordering),
                op,
                width: graph_width(width),
                operand: operand as Value,
            },
            Action::Cas { address, width, success, failure, expected, new, .. } => graph::Action::Cas {
                loc: self.loc(vm, id, address, width)?,
                order: order(success),
                failure: order(failure),
                expected: expected as Value,
                new: new as Value,
            },
            Action::Lock { address } => graph::Action::Lock { loc: self.loc(vm, id, address, AtomicWidth::W32)? },
            Action::Fence { ordering } => graph::Action::Fence { order: order(ordering) },
            Action::Spawn => graph::Action::Spawn,
            Action::Join { thread } => graph::Action::Join(ThreadId::new(thread.index())),
            Action::Choose { n } => match u32::try_from(n) {
                Ok(n) if n > 0 => graph::Action::Choose(n),
                _ => return Err(vm.unsupported(id, "a choice among none, or among more than 2^32")),
            },
            Action::Assume { .. } => graph::Action::Block,
            Action::End => graph::Action::End,
            // Looks whether the word has changed; where it has not, the thread sleeps in this execution for ever, and
            // wakes up in others, in which the word it sees has changed.
            Action::FutexWait { address, .. } => {
                graph::Action::Load { loc: self.loc(vm, id, address, AtomicWidth::W32)?, order: MemOrder::Relaxed }
            }
            Action::FutexWake { .. } => graph::Action::Block,
            Action::PlainLoad { address, len } => {
                graph::Action::Load { loc: self.plain_loc(vm, id, address, len)?, order: MemOrder::NotAtomic }
            }
            Action::PlainStore { address, len, value, .. } => {
                graph::Action::Store { loc: self.plain_loc(vm, id, address, len)?, order: MemOrder::NotAtomic, value }
            }
            Action::Yield => graph::Action::Block,
        })
    }

    fn plain_loc(&self, vm: &Vm, id: vm::ThreadId, address: u64, len: u32) -> Result<Loc, Box<Failure>> {
        match AtomicWidth::from_bytes(u64::from(len)) {
            Some(width) => self.loc(vm, id, address, width),
            None => Err(vm.unsupported(id, "an atomic of this size")),
        }
    }

    fn loc(&self, vm: &Vm, id: vm::ThreadId, address: u64, width: AtomicWidth) -> Result<Loc, Box<Failure>> {
        if width == AtomicWidth::W128 {
            return Err(vm.unsupported(id, "a 128-bit atomic"));
        }
        let atomic = Atomic { address, width };
        let loc = self.locations.number(atomic);
        if self.locations.atomic(loc) != atomic {
            return Err(vm.unsupported(id, "atomic accesses of different sizes to the same place"));
        }
        Ok(loc)
    }

    /// Whether a thread has ended, or waits with nothing more to come: not where an assumption failed, nor where it sleeps
    /// though the word it waits for has changed.
    fn waits_for_good(&self, state: &State, graph: &Graph, id: ThreadId, thread: &graph::Thread) -> bool {
        if thread.pending != graph::Action::Block {
            return true;
        }
        let Some(Action::FutexWait { .. }) = state.vm.pending(vm_thread(id)) else { return false };
        let event = graph.event(thread.last);
        graph.location(event.loc).co.last() == Some(&event.rf)
    }

    /// All threads that are left wait for ever.
    fn deadlock(&self, state: &State, graph: &Graph) -> Box<Failure> {
        let waiting: Vec<vm::ThreadId> =
            graph.threads().filter(|(_, thread)| !thread.is_finished()).map(|(id, _)| vm_thread(id)).collect();
        let first = waiting.first().copied().unwrap_or_default();
        let message = match waiting.len() {
            1 => format!("{} waits for ever", first.phrase()),
            count => format!("{count} threads wait for ever"),
        };
        let note = |id: vm::ThreadId| Note {
            message: format!("{} waits here", id.phrase()),
            location: vm::innermost(&state.vm.stack_trace(id)),
            thread: Some(id),
        };
        let notes = waiting.iter().map(|id| note(*id)).collect();
        Box::new(Failure { notes, ..*state.vm.failure(first, ErrorKind::Deadlock, message) })
    }
}

impl Program for Subject {
    type State = State;
    type Error = Issue;

    fn threads(&self) -> usize {
        1
    }

    fn initial(&self) -> State {
        match Vm::new(&self.image, self.entry, &self.options) {
            Ok(mut vm) => {
                vm.track(&self.tracked);
                State { vm, issue: None }
            }
            Err(failure) => {
                let mut state = State { vm: Vm::empty(&self.image, &self.options), issue: None };
                state.fail(failure);
                state
            }
        }
    }

    fn start(&self, state: &mut State, thread: ThreadId, clock: &View) -> graph::Action {
        if state.issue.is_some() {
            return graph::Action::Fail;
        }
        state.vm.set_clock(clock, 0);
        self.run(state, thread)
    }

    fn resume(&self, state: &mut State, thread: ThreadId, answer: Answer<'_>) -> graph::Action {
        let id = vm_thread(thread);
        let value = u128::from(answer.value);
        let answered = match state.vm.pending(id) {
            Some(Action::Cas { expected, .. }) => vm::Answer::Cas { old: value, success: value == expected },
            Some(Action::FutexWait { expected, timeout, .. }) => match (value == u128::from(expected), timeout) {
                (false, _) => vm::Answer::Woken(Woken::Changed),
                (true, Some(_)) => vm::Answer::Woken(Woken::Timeout),
                (true, None) => return graph::Action::Block,
            },
            Some(_) => vm::Answer::Value(value),
            None => vm::Answer::Done,
        };
        let events = answer.clock.get(thread.index()).copied().unwrap_or(0);
        if events > MAX_EVENTS {
            return state.fail(too_many_events(&state.vm, id));
        }
        // The access itself is the latest event; what follows comes after it.
        state.vm.set_clock(answer.clock, events.saturating_sub(1));
        let result = state.vm.record(id, answered).and_then(|()| {
            state.vm.set_clock(answer.clock, events);
            state.vm.answer(id, answered)
        });
        match result {
            Ok(()) => self.run(state, thread),
            Err(failure) => state.fail(failure),
        }
    }

    fn initial_value(&self, state: &State, loc: Loc) -> Value {
        let Atomic { address, width } = self.locations.atomic(loc);
        state.vm.peek(address, width.bytes() as usize)
    }

    fn error(&self, state: &State, thread: ThreadId) -> Issue {
        match &state.issue {
            Some(issue) => issue.clone(),
            None => state.wrong(state.vm.unsupported(vm_thread(thread), "a failure without a reason")),
        }
    }

    fn is_final(&self, issue: &Issue) -> bool {
        !matches!(issue, Issue::Failure(_))
    }

    fn share(&self, state: &mut State) {
        state.vm.share();
    }

    fn finish(&self, state: &State, graph: &Graph, ending: Ending) -> Result<(), Issue> {
        let failure = match ending {
            Ending::Complete if self.options.check_leaks && !exits(graph) => state.vm.leaks(),
            Ending::Complete => None,
            Ending::Blocked => {
                let of_interest = graph.threads().all(|(id, thread)| self.waits_for_good(state, graph, id, thread));
                of_interest.then(|| self.deadlock(state, graph))
            }
        };
        match failure {
            Some(failure) => Err(state.wrong(failure)),
            None => Ok(()),
        }
    }
}

/// A thread that will not come to its end.
fn too_many_events(vm: &Vm, id: vm::ThreadId) -> Box<Failure> {
    let mut failure = vm.failure(id, FailureKind::Limit, format!("a thread has taken {MAX_EVENTS} visible steps"));
    let message = "a loop that waits for another thread may be explored without end".to_owned();
    failure.notes.push(Note { message, location: None, thread: None });
    failure
}

/// Whether a thread has ended the program, with all that is left in memory.
fn exits(graph: &Graph) -> bool {
    graph.threads().any(|(_, thread)| thread.pending == graph::Action::Exit)
}

/// Whether an action of a thread that is alone concerns nobody else, and need not wait.
fn is_local(vm: &Vm, action: Action) -> bool {
    match action {
        Action::Load { .. } | Action::Store { .. } | Action::Rmw { .. } | Action::Cas { .. } => true,
        Action::Fence { .. } => true,
        Action::Lock { address } => vm.peek(address, 4) == graph::UNLOCKED,
        _ => false,
    }
}

fn vm_thread(thread: ThreadId) -> vm::ThreadId {
    vm::ThreadId(thread.index() as u16)
}

fn order(ordering: Ordering) -> MemOrder {
    match ordering {
        Ordering::Relaxed => MemOrder::Relaxed,
        Ordering::Release => MemOrder::Release,
        Ordering::Acquire => MemOrder::Acquire,
        Ordering::AcqRel => MemOrder::AcqRel,
        Ordering::SeqCst => MemOrder::SeqCst,
    }
}

fn graph_width(width: AtomicWidth) -> graph::Width {
    match width {
        AtomicWidth::W8 => graph::Width::W8,
        AtomicWidth::W16 => graph::Width::W16,
        AtomicWidth::W32 => graph::Width::W32,
        AtomicWidth::W64 | AtomicWidth::W128 => graph::Width::W64,
    }
}
