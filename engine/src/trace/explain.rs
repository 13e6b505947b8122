//! Failures that involve several threads: completed with the help of the trace.

use crate::explore::{self, Replayed, Schedule};
use crate::graph::{self, EventId, Graph};
use crate::model::Race;
use crate::program::Part;
use crate::subject::Subject;
use crate::verdict::ErrorKind;
use crate::vm::{
    AccessKind, Failure, FailureKind, Note, NoteKind, Object, RacingPair, StackFrame, ThreadId, Variable, Waiting,
    innermost,
};

use super::{Deed, End, Holder, Other, Place, Racing, Step, Trace, Waits};

/// Two accesses race: where both are, and who makes them.
pub fn race(race: &Race, graph: &Graph, trace: &Trace) -> Failure {
    let step = |(thread, index): (graph::ThreadId, u32)| {
        let event = graph.events().find(|(_, event)| (event.thread, event.index) == (thread, index));
        event.and_then(|(id, _)| trace.step(id.index() as u32))
    };
    let (first, second) = (step(race.first), step(race.second));
    let location = |step: Option<&Step>| step.and_then(|step| step.place.as_ref()).map(|place| place.location.clone());
    let thread = |thread: graph::ThreadId| ThreadId(thread.index() as u16);
    let (this, that) = (second.map_or(AccessKind::Write, access), first.map_or(AccessKind::Write, access));
    let pair = RacingPair { this, that, other: thread(race.first.0), mixed_sizes: false };
    let other = Note {
        kind: NoteKind::Races(pair),
        location: location(first),
        thread: Some(thread(race.first.0)),
        events: Some(race.first.1),
    };
    let bare = Failure::bare(ErrorKind::DataRace.into(), pair.message(None), thread(race.second.0), Vec::new());
    Failure { location: location(second), notes: vec![other], race: Some(pair), ..bare }
}

/// The other side of an error, by another thread.
pub enum Side {
    /// A step.
    Step(u32),
    Other(Racing),
}

/// What another thread did when it had so many events, if the error is about that.
pub fn other_side(failure: &Failure, graph: &Graph, trace: &Trace) -> Option<Side> {
    let is_other = |note: &&Note| note.thread != Some(failure.thread);
    let notes = failure.notes.iter().filter(is_other);
    let (note, thread, events) = notes.filter_map(|note| Some((note, note.thread?, note.events?))).next()?;
    let index = |step: &Step| graph.event(EventId::new(step.number as usize)).index;
    let is_it = |step: &&Step| {
        let is_there = step.place.as_ref().map(|place| &place.location) == note.location.as_ref();
        is_there && step.variable.is_some() && index(step) <= events && index(step) + 1 >= events
    };
    // Accesses that are atomic, or to atomics, are steps; what is done to other memory is not.
    let may_be_step = failure.address.is_none() || matches!(note.kind, NoteKind::Races(pair) if pair.that.is_atomic());
    if may_be_step && let Some(step) = trace.steps_of(thread).rfind(is_it) {
        return Some(Side::Step(step.number));
    }
    let after = trace.steps_of(thread).rfind(|step| index(step) < events).map(|step| step.number);
    let what = match note.kind {
        NoteKind::Races(pair) => Other::Races(pair.that),
        NoteKind::Freed => Other::Frees,
        _ => Other::LeavesScope,
    };
    Some(Side::Other(Racing { thread, what, after, location: note.location.clone()? }))
}

/// What a race, or an access to memory that was freed, is about.
pub fn variable(
    failure: &Failure,
    replayed: &Replayed<Subject>,
    trace: &Trace,
    (subject, schedule): (&Subject, &Schedule),
) -> Option<Variable> {
    let step = match &replayed.failure {
        Some(explore::Failure::Race(race)) => trace.steps.iter().rfind(|step| {
            let event = replayed.graph.event(EventId::new(step.number as usize));
            (event.thread, event.index) == race.second
        }),
        _ => None,
    };
    let known = step.and_then(|step| step.variable.clone());
    let mut variable = known.or_else(|| accessed(failure, replayed, subject, schedule))?;
    variable.part = match failure.dangling {
        Some(dangling) if dangling.len == dangling.block => None,
        _ => variable.part.map(Part::known),
    };
    let is_named = match &variable.object {
        Object::Static { .. } | Object::Heap { .. } => true,
        Object::Local { name, .. } => !name.is_empty(),
        Object::Other { .. } => false,
    };
    is_named.then_some(variable)
}

/// What is at the address of a failure, or was there before it was freed.
fn accessed(
    failure: &Failure,
    replayed: &Replayed<Subject>,
    subject: &Subject,
    schedule: &Schedule,
) -> Option<Variable> {
    let races = [ErrorKind::DataRace, ErrorKind::MixedSizeRace].map(FailureKind::from).contains(&failure.kind);
    let address = failure.address?;
    if races {
        return Some(replayed.state.vm().variable(address));
    }
    failure.dangling?;
    let mut before = None;
    explore::replay(subject, schedule, |_, state, _| {
        let variable = state.vm().variable(address);
        if matches!(&variable.object, Object::Heap { name, .. } if !name.is_empty()) {
            before = Some(variable);
        }
    })
    .ok()?;
    before
}

/// Looks when another thread freed the memory that an error is about.
pub fn with_time_of_free(mut failure: Failure, subject: &Subject, schedule: &Schedule) -> Failure {
    let of_interest = [ErrorKind::UseAfterFree, ErrorKind::DoubleFree].map(FailureKind::from).contains(&failure.kind);
    let freed = failure.notes.last_mut().filter(|note| of_interest && note.events.is_none());
    if let (Some(note), Some(address)) = (freed, failure.address)
        && let Some(thread) = note.thread.filter(|thread| *thread != failure.thread)
    {
        note.events = events_before_free(thread, address, subject, schedule);
    }
    failure
}

/// How many events a thread has when it frees memory.
fn events_before_free(thread: ThreadId, address: u64, subject: &Subject, schedule: &Schedule) -> Option<u32> {
    let (mut lived, mut freed, mut events) = (false, false, 0);
    explore::replay(subject, schedule, |graph, state, id| {
        let lives = matches!(state.vm().variable(address).object, Object::Heap { .. });
        freed |= lived && !lives;
        lived |= lives;
        // The event is there, but the program has not gone on.
        if !freed && graph.event(id).thread.index() == thread.index() {
            events = graph.event(id).index + 1;
        }
    })
    .ok()?;
    Some(events)
}

/// An access that may as well come later than the end of the memory is told as if it did: the thread fails there, and
/// what it did since is left out, unless another thread depends on it.
pub fn tell_late(failure: &Failure, graph: &Graph, trace: &mut Trace) {
    let Some(events) = failure.events else { return };
    for thread in &mut trace.threads {
        if thread.number == failure.thread {
            (thread.end, thread.place) = (End::Failed, failure.location.clone().map(Place::at));
        } else if thread.end == End::Failed {
            (thread.end, thread.place) = (End::Stopped, None);
        }
    }
    let is_later =
        |step: &Step| step.thread == failure.thread && graph.event(EventId::new(step.number as usize)).index >= events;
    let later: Vec<u32> = trace.steps.iter().filter(|step| is_later(step)).map(|step| step.number).collect();
    let needs = |from: Option<u32>| from.is_some_and(|from| later.contains(&from));
    let others = trace.steps.iter().filter(|step| !later.contains(&step.number));
    let needed = others.clone().any(|step| needs(step.read.and_then(|read| read.from)))
        || trace.threads.iter().any(|thread| needs(thread.spawned_by))
        || trace.sw.iter().any(|(from, to)| later.contains(from) && !later.contains(to));
    if needed {
        return;
    }
    trace.steps.retain(|step| !later.contains(&step.number));
    trace.sw.retain(|(_, to)| !later.contains(to));
    trace.co.iter_mut().for_each(|writes| writes.retain(|write| !later.contains(write)));
    trace.co.retain(|writes| writes.len() > 1);
}

/// What an access is, among others that may not be atomic.
fn access(step: &Step) -> AccessKind {
    match step.deed {
        Deed::PlainRead => AccessKind::Read,
        Deed::PlainWrite => AccessKind::Write,
        _ if step.written.is_some() => AccessKind::AtomicWrite,
        _ => AccessKind::AtomicRead,
    }
}

/// Looks which functions were active when the error happened, where that is not known: at a visible action.
pub fn with_stack(
    mut failure: Failure,
    subject: &Subject,
    schedule: &Schedule,
    at: Option<(ThreadId, u32)>,
) -> Failure {
    if !failure.stack.is_empty() {
        return failure;
    }
    let Some((thread, index)) = at.or(failure.events.map(|events| (failure.thread, events))) else { return failure };
    let mut found = Vec::new();
    // An access that is an event comes after so many others; what comes before it is not known to be the same.
    let seen = explore::replay(subject, schedule, |graph, state, id| {
        let event = graph.event(id);
        if event.thread.index() == thread.index() && (event.index == index || event.index + 1 == index) {
            found.push(state.vm().stack_trace(thread));
        }
    });
    let is_there = |stack: &&Vec<StackFrame>| innermost(stack) == failure.location;
    if seen.is_ok()
        && let Some(stack) = found.iter().rfind(is_there)
    {
        failure.stack.clone_from(stack);
    }
    failure
}

/// Where threads are blocked forever, it is told where others got what they wait for.
pub fn with_holders(failure: &Failure, trace: &Trace) -> Failure {
    let mut failure = failure.clone();
    let notes = std::mem::take(&mut failure.notes);
    for note in notes {
        let thread = note.thread;
        let waits = |waiting: &&Waiting| Some(waiting.thread) == thread;
        let holders = failure.waiting.iter().find(waits).map(|waiting| holders(waiting, trace)).unwrap_or_default();
        failure.notes.push(note);
        failure.notes.extend(holders.iter().filter_map(|holder| got_it(holder, trace)));
    }
    failure
}

/// Who has what a thread waits for.
fn holders(waiting: &Waiting, trace: &Trace) -> Vec<Holder> {
    match trace.threads.iter().find(|thread| thread.number == waiting.thread).map(|thread| &thread.end) {
        Some(End::Waits(Waits::For { holders, .. })) => holders.clone(),
        _ => Vec::new(),
    }
}

fn got_it(holder: &Holder, trace: &Trace) -> Option<Note> {
    let place = trace.step(holder.since?)?.place.as_ref()?;
    let location = Some(place.location.clone());
    Some(Note { kind: NoteKind::Acquired, location, thread: Some(holder.thread), events: None })
}
