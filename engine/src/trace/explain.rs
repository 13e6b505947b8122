//! Failures that are about several threads: told with the help of the trace.

use crate::check::Subject;
use crate::explore::{self, Replayed};
use crate::graph::{self, Graph};
use crate::model::Race;
use crate::verdict::ErrorKind;
use crate::vm::{self, Failure, Note, ThreadId, Waiting};

use super::{Deed, End, Holder, Racing, Step, Trace, Waits};

/// Two accesses race: where both are, and who makes them.
pub fn race(race: &Race, graph: &Graph, trace: &Trace) -> Failure {
    let step = |(thread, index): (graph::ThreadId, u32)| {
        let event = graph.events().find(|(_, event)| (event.thread, event.index) == (thread, index));
        event.and_then(|(id, _)| trace.step(id.index() as u32))
    };
    let (first, second) = (step(race.first), step(race.second));
    let location = |step: Option<&Step>| step.and_then(|step| step.place.as_ref()).map(|place| place.location.clone());
    let thread = |thread: graph::ThreadId| ThreadId(thread.index() as u16);
    let (this, that) = (second.map_or("access", access), first.map_or("access", access));
    let (message, note) = vm::race_texts(this, that, thread(race.first.0));
    Failure {
        kind: ErrorKind::DataRace.into(),
        message,
        location: location(second),
        stack: Vec::new(),
        thread: thread(race.second.0),
        notes: vec![Note {
            message: note,
            location: location(first),
            thread: Some(thread(race.first.0)),
            events: Some(race.first.1),
        }],
        waiting: Vec::new(),
    }
}

/// The access that came first in a race which the machine has found.
pub fn racing(failure: &Failure, replayed: &Replayed<Subject>) -> Option<Racing> {
    if matches!(replayed.failure, Some(explore::Failure::Race(_))) {
        return None;
    }
    let (note, thread, events) = failure.notes.iter().find_map(|note| Some((note, note.thread?, note.events?)))?;
    let latest = |event: &graph::Event| event.thread.index() == thread.index() && event.index < events;
    let after = replayed.graph.events().rev().find(|(_, event)| latest(event)).map(|(id, _)| id.index() as u32);
    Some(Racing { thread, after, location: note.location.clone()? })
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

/// Where threads wait for ever, it is told where others got what they wait for.
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
    let message = format!("{} got it here", holder.thread.phrase());
    Some(Note { message, location: Some(place.location.clone()), thread: Some(holder.thread), events: None })
}
