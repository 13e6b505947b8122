//! Running an execution again, to see what its threads do where.

use std::collections::HashSet;
use std::sync::Arc;

use thiserror::Error;

use crate::explore::{Diverged, Failure as Found, Replayed, Schedule, replay};
use crate::graph::{self, Boundary, Event, EventId, Graph, Loc, MemOrder, Value};
use crate::program::{RmwOp, ValueKind};
use crate::subject::{Issue, Subject};
use crate::verdict::ErrorKind;
use crate::vm::{Action, Explored, Failure, Output, StackFrame, ThreadId, Variable, Wait};

use super::explain::Side;
use super::panics::Panics;
use super::{
    Deed, End, Holder, Names, Place, Pointer, Read, Step, Thread, Trace, Waits, explain, interleaving, library,
    relations, remarks,
};

/// The machine.
pub(super) type Machine = Explored<graph::Action>;

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
    let (mut steps, mut pointers, mut panics) = (Vec::new(), Vec::new(), Panics::default());
    let replayed = replay(subject, schedule, |graph, state, id| {
        panics.look(graph, state.vm(), &steps);
        if let Some(step) = step(graph, state.vm(), id) {
            follow(&step, state.vm(), &mut pointers);
            steps.push(step);
        }
    })?;
    panics.look(&replayed.graph, replayed.state.vm(), &steps);
    name_locks(&mut steps, &replayed);
    library::name_calls(&mut steps, &replayed);
    let threads = replayed.graph.threads().map(|(id, _)| thread(subject, &replayed, id)).collect();
    let co = relations::coherence(&replayed.graph);
    let sw = between_steps(relations::synchronizes_with(&replayed.graph), &steps, &replayed.graph);
    let mut trace = Trace { threads, steps, co, sw, pointers, ..Trace::default() };
    let failure = match &replayed.failure {
        Some(Found::Program(Issue::Failure(wrong))) => explain::with_holders(&wrong.failure, &trace),
        Some(Found::Race(race)) => explain::race(race, &replayed.graph, &trace),
        _ => return Err(ReplayError::NoFailure),
    };
    let at = match &replayed.failure {
        Some(Found::Race(race)) => Some((vm_thread(race.second.0), race.second.1)),
        _ => None,
    };
    let failure = explain::with_stack(failure, subject, schedule, at);
    let failure = explain::with_time_of_free(failure, subject, schedule);
    let failure = panics.headline(failure, &mut trace);
    explain::tell_late(&failure, &replayed.graph, &mut trace);
    place_failure(&mut trace, &failure);
    let failure = panics.tell(failure, &mut trace);
    match explain::other_side(&failure, &replayed.graph, &trace) {
        Some(Side::Step(step)) => trace.rival = Some(step),
        Some(Side::Other(racing)) => trace.racing = Some(racing),
        None => {}
    }
    trace.about = explain::variable(&failure, &replayed, &trace, (subject, schedule));
    let failure = match &trace.about {
        Some(variable) => failure.with_variable(&Names::of(&trace).variable(variable), is_whole(variable)),
        None => failure,
    };
    trace.remarks = remarks::remarks(&failure, &replayed.graph, &trace);
    // What is said of a race has the numbers of steps.
    if failure.kind != ErrorKind::DataRace.into()
        && let Some(order) = interleaving::order(&replayed.graph)
    {
        trace.renumber(&order);
    }
    remarks::name_lost_updates(&mut trace);
    Ok(Recorded { failure: Arc::new(failure), trace, output: replayed.state.vm().output() })
}

/// Whether a variable is an object, not a part of one.
fn is_whole(variable: &Variable) -> bool {
    match &variable.part {
        Some(part) => part.path.is_empty() && part.rest == 0,
        None => variable.offset == 0,
    }
}

/// Relates steps only: an event that is none stands for what its thread did before.
fn between_steps(relation: Vec<(u32, u32)>, steps: &[Step], graph: &Graph) -> Vec<(u32, u32)> {
    let shown: HashSet<u32> = steps.iter().map(|step| step.number).collect();
    let step = |number: u32| {
        let mut id = EventId::new(number as usize);
        while !shown.contains(&(id.index() as u32)) {
            id = Some(graph.event(id).po_prev).filter(|before| before.is_some())?;
        }
        Some(id.index() as u32)
    };
    relation.into_iter().filter_map(|(from, to)| Some((step(from)?, to))).collect()
}

/// The step that an event is; its thread waits for the answer.
fn step(graph: &Graph, vm: &Machine, id: EventId) -> Option<Step> {
    let event = graph.event(id);
    let thread = vm_thread(event.thread);
    let action = vm.pending(thread)?;
    let deed = deed(action, event)?;
    if deed == Deed::Leave && is_library_alone(&vm.stack_trace(thread)) {
        return None;
    }
    let from = (event.rf != EventId::INIT).then(|| event.rf.index() as u32);
    let value = if event.is_read { graph.written(event.rf, event.loc) } else { 0 };
    Some(Step {
        number: id.index() as u32,
        thread,
        place: match action {
            Action::PlainStore { place, .. } => vm.location_of(place).map(Place::at),
            _ => place(&vm.stack_trace(thread)),
        },
        variable: address(&action).map(|address| vm.variable(address)),
        ordering: ordering(&deed, event),
        read: event.is_read.then_some(Read { value, from }),
        written: event.is_write.then_some(event.written),
        unwinding: vm.is_unwinding(thread),
        deed,
    })
}

/// Looks where the pointers lead that a step has read or written.
fn follow(step: &Step, vm: &Machine, pointers: &mut Vec<Pointer>) {
    let is_pointer = |kind: ValueKind| kind == ValueKind::Pointer;
    if !step.variable.as_ref().and_then(|variable| variable.part.as_ref()).is_some_and(|part| is_pointer(part.kind)) {
        return;
    }
    let values = step.read.map(|read| read.value).into_iter().chain(step.written);
    for value in values.filter(|value| *value != 0) {
        if pointers.iter().all(|known| known.value != value) {
            pointers.push(Pointer { value, to: vm.variable(value) });
        }
    }
}

/// What is done; nothing for actions that are no events.
fn deed(action: Action, event: &Event) -> Option<Deed> {
    Some(match action {
        Action::Load { .. } => Deed::Load,
        Action::Store { .. } => Deed::Store,
        Action::Rmw { op, .. } => Deed::Rmw { method: method(op).to_owned() },
        Action::Cas { expected, new, weak, .. } => Deed::Cas { expected: expected as Value, new: new as Value, weak },
        Action::Await { wait, .. } | Action::Reach { wait, .. } => Deed::Await { wait },
        Action::Try { .. } => Deed::Try,
        Action::Pick { .. } => Deed::Notify { all: false, woken: Vec::new() },
        Action::Leave { .. } => Deed::Leave,
        Action::Fence { .. } => Deed::Fence,
        Action::Spawn => Deed::Spawn { thread: ThreadId(event.answer as u16) },
        Action::Join { thread } => Deed::Join { thread },
        Action::QueueEnter { .. } => Deed::EnterQueue,
        Action::QueueLeave { .. } => Deed::LeaveQueue,
        Action::QueueWait { .. } => Deed::Await { wait: Wait::Wake },
        Action::PlainLoad { .. } => Deed::PlainRead,
        Action::PlainStore { .. } => Deed::PlainWrite,
        Action::Choose { n } => Deed::Choose { n, value: event.answer },
        Action::Model(Boundary::Begin(_)) => Deed::BeginModel,
        Action::Model(Boundary::End) => Deed::EndModel,
        Action::Gather | Action::Yield | Action::Spin | Action::Assume { .. } | Action::End => return None,
    })
}

/// Whether only functions of the standard library are active: a thread of a scope is done.
fn is_library_alone(stack: &[StackFrame]) -> bool {
    stack.iter().all(|frame| !frame.origin.is_shown())
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
        Action::PlainLoad { address, .. } | Action::PlainStore { address, .. } => Some(address),
        Action::QueueEnter { word } | Action::QueueLeave { word, .. } | Action::QueueWait { word, .. } => Some(word),
        // What it looks at is of no interest: that never changes.
        Action::Reach { wait: Wait::Scope, .. } => None,
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
    let at = stack.iter().position(|frame| frame.origin.is_shown()).unwrap_or(0);
    let frame = stack.get(at)?;
    let via = at.checked_sub(1).map(|callee| stack[callee].function.clone());
    Some(Place { location: frame.location.clone(), function: Some(frame.function.clone()), via })
}

/// Other accesses to a word that threads lock are attempts to lock it, and unlocks.
fn name_locks(steps: &mut [Step], replayed: &Replayed<Subject>) {
    let graph = &replayed.graph;
    let is_lock = |wait: Wait| matches!(wait, Wait::Mutex | Wait::ReadLock | Wait::WriteLock);
    let loc = |step: &Step| graph.event(EventId::new(step.number as usize)).loc;
    let taken = steps.iter().filter(|step| matches!(step.deed, Deed::Await { wait } if is_lock(wait))).map(loc);
    let wanted = graph.threads().filter_map(|(id, thread)| {
        let action = replayed.state.vm().pending(vm_thread(id))?;
        thread.pending.loc().filter(|_| action.waits().is_some_and(is_lock))
    });
    let locks: HashSet<Loc> = taken.chain(wanted).collect();
    for step in steps.iter_mut().filter(|step| step.variable.is_some()) {
        if !locks.contains(&loc(step)) {
            continue;
        }
        step.deed = match &step.deed {
            Deed::Store => Deed::Unlock,
            Deed::Rmw { method } if method == "fetch_sub" || method == "swap" => Deed::Unlock,
            Deed::Cas { .. } | Deed::Try => Deed::TryLock,
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
        () if replayed.can_go_on(subject, id) || graph.boundary().is_some_and(|(at, _)| at == id) => End::Stopped,
        () => end(replayed, id),
    };
    let spawn = graph.thread(id).spawn;
    Thread {
        number: vm_thread(id),
        spawned_by: (spawn != EventId::INIT).then(|| spawn.index() as u32),
        place: if end == End::Ended { None } else { place(&vm.stack_trace(vm_thread(id))) },
        end,
    }
}

/// How far a thread came that cannot go on.
fn end(replayed: &Replayed<Subject>, id: graph::ThreadId) -> End {
    match replayed.graph.thread(id).pending {
        graph::Action::End => End::Ended,
        graph::Action::Exit => End::Exited,
        graph::Action::Fail => End::Failed,
        graph::Action::Spin { .. } => End::Waits(Waits::InLoop),
        pending => match replayed.state.vm().pending(vm_thread(id)).and_then(|action| action.waits()) {
            Some(wait) => End::Waits(Waits::For { wait, holders: holders(replayed, vm_thread(id), pending.loc()) }),
            None => End::Waits(Waits::Assumption),
        },
    }
}

/// Who has what a thread waits for, as the failure says, and since when.
fn holders(replayed: &Replayed<Subject>, id: ThreadId, loc: Option<Loc>) -> Vec<Holder> {
    let Some(Found::Program(Issue::Failure(wrong))) = &replayed.failure else { return Vec::new() };
    let waiting = wrong.failure.waiting.iter().find(|waiting| waiting.thread == id);
    let latest_write = |thread: ThreadId| {
        let writes = |event: &Event| event.is_write && Some(event.loc) == loc && vm_thread(event.thread) == thread;
        replayed.graph.events().rev().find(|(_, event)| writes(event)).map(|(id, _)| id.index() as u32)
    };
    let holders = waiting.into_iter().flat_map(|waiting| &waiting.holders);
    holders.map(|thread| Holder { thread: *thread, since: latest_write(*thread) }).collect()
}

/// A thread that panics has left the place of its failure.
fn place_failure(trace: &mut Trace, failure: &Failure) {
    let is_it = |thread: &&mut Thread| thread.number == failure.thread && thread.end == End::Failed;
    let place = trace.threads.iter_mut().find(is_it).and_then(|thread| thread.place.as_mut());
    if let (Some(place), Some(location)) = (place, &failure.location)
        && place.location != *location
    {
        *place = Place::at(location.clone());
    }
}

pub(super) fn vm_thread(thread: graph::ThreadId) -> ThreadId {
    ThreadId(thread.index() as u16)
}
