//! A lowered test as a program to explore.

use std::sync::Arc;

use crate::explore::{Answer, Ending, Failure as Found, Program};
use crate::graph::{self, Graph, Loc, MemOrder, ThreadId, Value, View};
use crate::program::{AtomicWidth, FuncId, Ordering, RmwOp};
use crate::verdict::ErrorKind;
use crate::vm::{self, Action, Failure, FailureKind, Image, Note, RunOptions, Stop, Vm};

use super::locations::{Atomic, Locations};

/// A test to be explored.
pub struct Subject {
    image: Arc<Image>,
    entry: FuncId,
    options: Arc<RunOptions>,
    locations: Locations,
}

/// The state of a test that runs.
#[derive(Clone)]
pub struct State {
    vm: Vm,
    /// What went wrong.
    failure: Option<Arc<Failure>>,
}

impl Subject {
    pub fn new(image: &Arc<Image>, entry: FuncId, options: &RunOptions) -> Subject {
        Subject { image: Arc::clone(image), entry, options: Arc::new(options.clone()), locations: Locations::default() }
    }

    /// Runs a thread to its next visible action.
    fn run(&self, state: &mut State, thread: ThreadId) -> graph::Action {
        let id = vm_thread(thread);
        let action = match self.next_action(&mut state.vm, id) {
            Ok(action) => action,
            Err(failure) => {
                state.failure = Some(Arc::from(failure));
                graph::Action::Fail
            }
        };
        state.vm.share();
        action
    }

    fn next_action(&self, vm: &mut Vm, id: vm::ThreadId) -> Result<graph::Action, Box<Failure>> {
        loop {
            let action = match vm.run_thread(id)? {
                Stop::Action(action) => action,
                Stop::Exit(_) => return Err(vm.unsupported(id, "ending the process while it is explored")),
            };
            vm.check_access(id)?;
            match action {
                Action::Yield | Action::Assume { holds: true } => vm.answer(id, vm::Answer::Done)?,
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
                op: rmw_op(op),
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
            Action::Fence { ordering } => graph::Action::Fence { order: order(ordering) },
            Action::Spawn => graph::Action::Spawn,
            Action::Join { thread } => graph::Action::Join(ThreadId::new(thread.index())),
            Action::Choose { n } => match u32::try_from(n) {
                Ok(n) if n > 0 => graph::Action::Choose(n),
                _ => return Err(vm.unsupported(id, "a choice among none, or among more than 2^32")),
            },
            Action::Assume { .. } => graph::Action::Block,
            Action::End => graph::Action::End,
            Action::FutexWait { .. } | Action::FutexWake { .. } => {
                return Err(vm.unsupported(id, "waiting on a futex while it is explored"));
            }
            Action::Yield => graph::Action::Block,
        })
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

    /// The failure that the explorer found.
    pub fn failure(&self, found: Found<Arc<Failure>>, _graph: &Graph) -> Arc<Failure> {
        let (kind, message) = match found {
            Found::Program(failure) => return failure,
            Found::Race(race) => (ErrorKind::DataRace.into(), format!("{race:?}")),
            Found::Nondeterminism(thread) => (
                FailureKind::Unsupported,
                format!("{thread} behaved differently when it was run again: this is a bug of cargo-dpor"),
            ),
        };
        let thread = vm::ThreadId::MAIN;
        Arc::new(Failure { kind, message, location: None, stack: Vec::new(), thread, notes: Vec::new() })
    }

    /// All threads that are left wait for ever.
    fn deadlock(&self, state: &State, graph: &Graph) -> Arc<Failure> {
        let waiting: Vec<ThreadId> =
            graph.threads().filter(|(_, thread)| !thread.is_finished()).map(|(id, _)| id).collect();
        let mut failure = Failure {
            kind: ErrorKind::Deadlock.into(),
            message: "all threads wait for each other".to_owned(),
            location: None,
            stack: Vec::new(),
            thread: vm::ThreadId::MAIN,
            notes: Vec::new(),
        };
        for id in waiting {
            let id = vm_thread(id);
            let stack = state.vm.stack_trace(id);
            let location = vm::innermost(&stack);
            let doing = state.vm.pending(id).map_or("waiting", |action| action.describe());
            if failure.location.is_none() {
                failure.location = location.clone();
                failure.thread = id;
                failure.stack = stack;
            }
            failure.notes.push(Note { message: format!("{id} is {doing}"), location, thread: Some(id) });
        }
        Arc::new(failure)
    }
}

impl Program for Subject {
    type State = State;
    type Error = Arc<Failure>;

    fn threads(&self) -> usize {
        1
    }

    fn initial(&self) -> State {
        match Vm::new(&self.image, self.entry, &self.options) {
            Ok(vm) => State { vm, failure: None },
            Err(failure) => State { vm: Vm::empty(&self.image, &self.options), failure: Some(Arc::from(failure)) },
        }
    }

    fn start(&self, state: &mut State, thread: ThreadId, _clock: &View) -> graph::Action {
        if state.failure.is_some() {
            return graph::Action::Fail;
        }
        self.run(state, thread)
    }

    fn resume(&self, state: &mut State, thread: ThreadId, answer: Answer<'_>) -> graph::Action {
        let id = vm_thread(thread);
        let value = u128::from(answer.value);
        let answered = match state.vm.pending(id) {
            Some(Action::Cas { expected, .. }) => vm::Answer::Cas { old: value, success: value == expected },
            Some(_) => vm::Answer::Value(value),
            None => vm::Answer::Done,
        };
        let result = state.vm.record(id, answered).and_then(|()| state.vm.answer(id, answered));
        match result {
            Ok(()) => self.run(state, thread),
            Err(failure) => {
                state.failure = Some(Arc::from(failure));
                graph::Action::Fail
            }
        }
    }

    fn initial_value(&self, state: &State, loc: Loc) -> Value {
        let Atomic { address, width } = self.locations.atomic(loc);
        state.vm.peek(address, width.bytes() as usize)
    }

    fn error(&self, state: &State, thread: ThreadId) -> Arc<Failure> {
        match &state.failure {
            Some(failure) => Arc::clone(failure),
            None => self.failure(Found::Nondeterminism(thread), &Graph::new(1)),
        }
    }

    fn finish(&self, state: &State, graph: &Graph, ending: Ending) -> Result<(), Arc<Failure>> {
        match ending {
            Ending::Complete if self.options.check_leaks => match state.vm.leaks() {
                Some(failure) => Err(Arc::from(failure)),
                None => Ok(()),
            },
            Ending::Complete => Ok(()),
            Ending::Blocked => {
                let assumption = graph.threads().any(|(_, thread)| thread.pending == graph::Action::Block);
                if assumption { Ok(()) } else { Err(self.deadlock(state, graph)) }
            }
        }
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

fn rmw_op(op: RmwOp) -> graph::RmwOp {
    match op {
        RmwOp::Xchg => graph::RmwOp::Xchg,
        RmwOp::Add => graph::RmwOp::Add,
        RmwOp::Sub => graph::RmwOp::Sub,
        RmwOp::And => graph::RmwOp::And,
        RmwOp::Nand => graph::RmwOp::Nand,
        RmwOp::Or => graph::RmwOp::Or,
        RmwOp::Xor => graph::RmwOp::Xor,
        RmwOp::Max => graph::RmwOp::Max,
        RmwOp::Min => graph::RmwOp::Min,
        RmwOp::UMax => graph::RmwOp::UMax,
        RmwOp::UMin => graph::RmwOp::UMin,
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
