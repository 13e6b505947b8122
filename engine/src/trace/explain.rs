//! Failures that are about several threads: told with the help of the trace.

use crate::graph::Graph;
use crate::model::Race;
use crate::verdict::ErrorKind;
use crate::vm::{self, Failure, Note};

use super::{Deed, End, Place, Step, Trace, Wait};

/// Two accesses race: where both are, and who makes them.
pub fn race(race: &Race, graph: &Graph, trace: &Trace) -> Failure {
    let step = |(thread, index): (crate::graph::ThreadId, u32)| {
        let event = graph.events().find(|(_, event)| (event.thread, event.index) == (thread, index));
        event.and_then(|(id, _)| trace.step(id.index() as u32))
    };
    let (first, second) = (step(race.first), step(race.second));
    let location = |step: Option<&Step>| step.and_then(|step| step.place.as_ref()).map(|place| place.location.clone());
    let thread = |thread: crate::graph::ThreadId| vm::ThreadId(thread.index() as u16);
    let (this, that) = (second.map_or("access", access), first.map_or("access", access));
    let (message, note) = vm::race_texts(this, that, thread(race.first.0));
    Failure {
        kind: ErrorKind::DataRace.into(),
        message,
        location: location(second),
        stack: Vec::new(),
        thread: thread(race.second.0),
        notes: vec![Note { message: note, location: location(first), thread: Some(thread(race.first.0)) }],
    }
}

/// What an access is, among others that may not be atomic.
fn access(step: &Step) -> &'static str {
    match step.deed {
        Deed::PlainRead => "read",
        Deed::PlainWrite => "write",
        _ if step.written.is_some() => "atomic write",
        _ => "atomic read",
    }
}

/// A deadlock is told thread by thread: where each waits, and for what.
pub fn with_waits(failure: &Failure, trace: &Trace) -> Failure {
    let mut failure = failure.clone();
    if failure.kind == ErrorKind::Deadlock.into() {
        failure.notes = trace.threads.iter().flat_map(|thread| waiting(thread, trace)).collect();
    }
    failure
}

/// Where a thread waits, and where another got what it waits for.
fn waiting(thread: &super::Thread, trace: &Trace) -> Vec<Note> {
    let End::Waits(wait) = &thread.end else { return Vec::new() };
    let id = vm::ThreadId(thread.number);
    let name = id.phrase();
    let note = |message: String, place: Option<&Place>, thread: vm::ThreadId| Note {
        message,
        location: place.map(|place| place.location.clone()),
        thread: Some(thread),
    };
    let message = match wait {
        Wait::Lock { holder, .. } if *holder == thread.number => {
            format!("{name} waits here for a mutex that it has locked itself")
        }
        Wait::Lock { holder, .. } => {
            format!("{name} waits here for a mutex that {} has locked", vm::ThreadId(*holder).phrase())
        }
        Wait::Join { thread } => format!("{name} waits here for the end of {}", vm::ThreadId(*thread).phrase()),
        Wait::Wake => format!("{name} waits here to be woken"),
        Wait::Assumption => format!("{name} ended here at an assumption"),
    };
    let mut notes = vec![note(message, thread.place.as_ref(), id)];
    if let Wait::Lock { holder, since: Some(since) } = wait {
        let holder = vm::ThreadId(*holder);
        let place = trace.step(*since).and_then(|step| step.place.as_ref());
        notes.push(note(format!("{} locked it here", holder.phrase()), place, holder));
    }
    notes
}
