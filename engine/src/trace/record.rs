//! Running an execution again, to see what its threads do where.

use std::collections::HashSet;
use std::sync::Arc;

use thiserror::Error;

use crate::check::{Issue, Subject};
use crate::explore::{Diverged, Failure as Found, Replayed, Schedule, replay};
use crate::graph::{self, Event, EventId, Graph, Loc, MemOrder, Value};
use crate::program::{Origin, RmwOp};
use crate::vm::{self, Action, Failure, Output, StackFrame, Vm};

use super::{Deed, End, Place, Read, Step, Thread, Trace, Wait, explain};

/// An execution with a failure, seen again.
#[derive(Clone, Debug)]
pub(crate) struct Recorded {
    pub failure: Arc<Failure>,
    pub trace: Trace,
    /// What it printed.
    pub output: Output,
}

/// An execution cannot be run again.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Error)]
pub enum ReplayError {
    #[error(transparent)]
    Diverged(#[from] Diverged),
    #[error("the execution that was recorded has no error")]
    NoFailure,
}

/// Runs an execution again, and tells what happens.
pub(crate) fn record(subject: &Subject, schedule: &Schedule) -> Result<Recorded, ReplayError> {
    let mut steps = Vec::new();
    let replayed = replay(subject, schedule, |graph, state, id| steps.extend(step(graph, state.vm(), id)))?;
    name_locks(&mut steps, &replayed.graph);
    let threads = replayed.graph.threads().map(|(id, _)| thread(subject, &replayed, id)).collect();
    let mut trace = Trace { threads, steps };
    let failure = match &replayed.failure {
        Some(Found::Program(Issue::Failure(wrong))) => explain::with_waits(&wrong.failure, &trace),
        Some(Found::Race(race)) => explain::race(race, &replayed.graph, &trace),
        _ => return Err(ReplayError::NoFailure),
    };
    place_failure(&mut trace, &failure);
    Ok(Recorded { failure: Arc::new(failure), trace, output: replayed.state.vm().output().clone() })
}

/// The step that an event is; its thread waits for the answer.
fn step(graph: &Graph, vm: &Vm, id: EventId) -> Option<Step> {
    let event = graph.event(id);
    let thread = vm_thread(event.thread);
    let action = vm.pending(thread)?;
    let deed = deed(action, event)?;
    let from = (event.rf != EventId::INIT).then(|| event.rf.index() as u32);
    Some(Step {
        number: id.index() as u32,
        thread: thread.0,
        place: match action {
            Action::PlainStore { place, .. } => vm.location_of(place).map(Place::at),
            _ => place(&vm.stack_trace(thread)),
        },
        variable: address(&action).map(|address| vm.variable(address)),
        ordering: ordering(&deed, event),
        read: event.is_read.then_some(Read { value: event.answer, from }),
        written: event.is_write.then_some(event.written),
        unwinding: vm.is_unwinding(thread),
        deed,
    })
}

/// What is done; nothing for actions that are no events.
fn deed(action: Action, event: &Event) -> Option<Deed> {
    Some(match action {
        Action::Load { .. } => Deed::Load,
        Action::Store { .. } => Deed::Store,
        Action::Rmw { op, .. } => Deed::Rmw { method: method(op).to_owned() },
        Action::Cas { expected, new, weak, .. } => Deed::Cas { expected: expected as Value, new: new as Value, weak },
        Action::Lock { .. } => Deed::Lock,
        Action::Fence { .. } => Deed::Fence,
        Action::Spawn => Deed::Spawn { thread: event.answer as u16 },
        Action::Join { thread } => Deed::Join { thread: thread.0 },
        Action::FutexWait { expected, .. } => Deed::Wait { expected: Value::from(expected) },
        Action::PlainLoad { .. } => Deed::PlainRead,
        Action::PlainStore { .. } => Deed::PlainWrite,
        Action::Choose { n } => Deed::Choose { n, value: event.answer },
        Action::FutexWake { .. } | Action::Yield | Action::Assume { .. } | Action::End => return None,
    })
}

/// The method of atomics that does an update.
fn method(op: RmwOp) -> &'static str {
    match op {
        RmwOp::Xchg => "swap",
        RmwOp::Add => "fetch_add",
        RmwOp::Sub => "fetch_sub",
        RmwOp::And => "fetch_and",
        RmwOp::Nand => "fetch_nand",
        RmwOp::Or => "fetch_or",
        RmwOp::Xor => "fetch_xor",
        RmwOp::Max | RmwOp::UMax => "fetch_max",
        RmwOp::Min | RmwOp::UMin => "fetch_min",
    }
}

fn address(action: &Action) -> Option<u64> {
    match *action {
        Action::FutexWait { address, .. } | Action::PlainLoad { address, .. } | Action::PlainStore { address, .. } => {
            Some(address)
        }
        _ => action.accessed().map(|(address, _)| address),
    }
}

/// The ordering of the accesses and fences that have one in the source.
fn ordering(deed: &Deed, event: &Event) -> Option<MemOrder> {
    match deed {
        Deed::Load | Deed::Store | Deed::Rmw { .. } | Deed::Cas { .. } | Deed::Fence => Some(event.order),
        _ => None,
    }
}

/// Where a thread with this stack is.
fn place(stack: &[StackFrame]) -> Option<Place> {
    let is = |origin: Origin| stack.iter().position(|frame| frame.origin == origin);
    let at = is(Origin::User).or_else(|| is(Origin::Dependency)).unwrap_or(0);
    let frame = stack.get(at)?;
    let via = at.checked_sub(1).map(|callee| stack[callee].function.clone());
    Some(Place { location: frame.location.clone(), function: Some(frame.function.clone()), via })
}

/// What stores to a word that threads lock is an unlock, and what updates it an attempt to lock.
fn name_locks(steps: &mut [Step], graph: &Graph) {
    let locked = |action: &graph::Action| match action {
        graph::Action::Lock { loc } => Some(*loc),
        _ => None,
    };
    let taken = graph.events().filter_map(|(_, event)| locked(&event.action));
    let wanted = graph.threads().filter_map(|(_, thread)| locked(&thread.pending));
    let locks: HashSet<Loc> = taken.chain(wanted).collect();
    for step in steps {
        let event = graph.event(EventId::new(step.number as usize));
        if !event.is_access() || !locks.contains(&event.loc) {
            continue;
        }
        step.deed = match step.deed {
            Deed::Store => Deed::Unlock,
            Deed::Cas { .. } => Deed::TryLock,
            _ => continue,
        };
        step.ordering = None;
    }
}

/// How far a thread came.
fn thread(subject: &Subject, replayed: &Replayed<Subject>, id: graph::ThreadId) -> Thread {
    let (graph, vm) = (&replayed.graph, replayed.state.vm());
    let racing = match &replayed.failure {
        Some(Found::Race(race)) => Some(race.second.0),
        _ => None,
    };
    let end = match () {
        () if racing == Some(id) => End::Failed,
        () if replayed.can_go_on(subject, id) => End::Stopped,
        () => end(graph, vm, id),
    };
    let spawn = graph.thread(id).spawn;
    Thread {
        number: vm_thread(id).0,
        spawned_by: (spawn != EventId::INIT).then(|| spawn.index() as u32),
        place: if end == End::Ended { None } else { place(&vm.stack_trace(vm_thread(id))) },
        end,
    }
}

/// How far a thread came that cannot go on.
fn end(graph: &Graph, vm: &Vm, id: graph::ThreadId) -> End {
    match graph.thread(id).pending {
        graph::Action::End => End::Ended,
        graph::Action::Exit => End::Exited,
        graph::Action::Fail => End::Failed,
        graph::Action::Lock { loc } => End::Waits(lock(graph, loc)),
        graph::Action::Join(thread) => End::Waits(Wait::Join { thread: vm_thread(thread).0 }),
        _ => End::Waits(match vm.pending(vm_thread(id)) {
            Some(Action::Assume { .. }) => Wait::Assumption,
            _ => Wait::Wake,
        }),
    }
}

/// A thread that panics has left the place of its failure.
fn place_failure(trace: &mut Trace, failure: &Failure) {
    let is_it = |thread: &&mut Thread| thread.number == failure.thread.0 && thread.end == End::Failed;
    let place = trace.threads.iter_mut().find(is_it).and_then(|thread| thread.place.as_mut());
    if let (Some(place), Some(location)) = (place, &failure.location)
        && place.location != *location
    {
        *place = Place::at(location.clone());
    }
}

/// Who has locked a mutex.
fn lock(graph: &Graph, loc: Loc) -> Wait {
    let last = graph.locations().nth(loc.index()).map_or(EventId::INIT, |(_, location)| location.co_max());
    match last {
        // It was locked when there was but one thread.
        EventId::INIT => Wait::Lock { holder: vm::ThreadId::MAIN.0, since: None },
        id => Wait::Lock { holder: vm_thread(graph.event(id).thread).0, since: Some(id.index() as u32) },
    }
}

fn vm_thread(thread: graph::ThreadId) -> vm::ThreadId {
    vm::ThreadId(thread.index() as u16)
}
