//! Steps inside the standard library, named for what the program called: messages of channels, notifications of
//! condition variables, parking. The words that the library keeps for these are known by their fields.

use crate::explore::Replayed;
use crate::graph::{EventId, Graph, Loc};
use crate::subject::Subject;
use crate::vm::{ThreadId, Wait};

use super::record::vm_thread;
use super::{Deed, Step};

/// In the word that counts messages: the channel is closed.
const CLOSED: u64 = 1 << 31;

/// Names the steps that are calls of the standard library.
pub fn name_calls(steps: &mut [Step], replayed: &Replayed<Subject>) {
    for at in 0..steps.len() {
        if let Some(deed) = call(&steps[at], &steps[..at], replayed) {
            (steps[at].deed, steps[at].ordering) = (deed, None);
        }
    }
}

/// The call that a step is, after those that came before it.
fn call(step: &Step, before: &[Step], replayed: &Replayed<Subject>) -> Option<Deed> {
    let messages = |value: u64| value & !CLOSED;
    match (&step.deed, field(step)) {
        (Deed::Try, Some("sent")) => match (step.written, step.read?.value) {
            (Some(sent), _) => Some(Deed::Send { message: messages(sent) }),
            (None, CLOSED..) => Some(Deed::Disconnected { sends: true }),
            (None, _) => None,
        },
        (Deed::Rmw { method }, Some("sent" | "taken")) if method == "fetch_or" => Some(Deed::Disconnect),
        (Deed::Rmw { .. }, Some("taken")) => step.written.map(|taken| Deed::TakeTurn { message: messages(taken) }),
        (Deed::Await { wait: Wait::Message }, Some("sent")) => {
            let message = before.iter().rev().find_map(|other| match other.deed {
                Deed::TakeTurn { message } if other.thread == step.thread => Some(message),
                _ => None,
            })?;
            Some(match messages(step.read?.value) >= message {
                true => Deed::Receive { message },
                false => Deed::Disconnected { sends: false },
            })
        }
        (Deed::Rmw { method }, Some("waiting")) if method == "fetch_or" => Some(Deed::WaitOn),
        (Deed::Rmw { method }, Some("waiting")) if method == "swap" => Some(notify(step, true)),
        (Deed::Notify { .. }, _) => Some(notify(step, false)),
        (Deed::Rmw { method }, _) if method == "swap" && is_unpark(step) => {
            Some(Deed::Unpark { thread: parked(&replayed.graph, step, before, replayed) })
        }
        _ => None,
    }
}

/// The field of the library's type that a step accesses.
fn field(step: &Step) -> Option<&str> {
    let part = step.variable.as_ref()?.part.as_ref()?;
    part.path[part.library?..].rsplit('.').next()
}

/// The threads whose bits a notification clears.
fn notify(step: &Step, all: bool) -> Deed {
    let cleared = step.read.map_or(0, |read| read.value) & !step.written.unwrap_or(0);
    let woken = (0..32).filter(|bit| cleared >> bit & 1 == 1).map(ThreadId).collect();
    Deed::Notify { all, woken }
}

fn is_unpark(step: &Step) -> bool {
    let via = step.place.as_ref().and_then(|place| place.via.as_deref());
    via.is_some_and(|via| via.ends_with("thread::Thread::unpark"))
}

/// The thread that parks, or is parked at the end, where a step leaves its token.
fn parked(graph: &Graph, step: &Step, before: &[Step], replayed: &Replayed<Subject>) -> Option<ThreadId> {
    let loc = |step: &Step| graph.event(EventId::new(step.number as usize)).loc;
    let token: Loc = loc(step);
    let parks = |other: &&Step| other.deed == Deed::Await { wait: Wait::Token } && loc(other) == token;
    let later = graph.events().find_map(|(_, event)| {
        let is_read = event.is_read && event.loc == token && vm_thread(event.thread) != step.thread;
        is_read.then(|| vm_thread(event.thread))
    });
    let waits = graph.threads().find_map(|(id, thread)| {
        let wait = replayed.state.vm().pending(vm_thread(id)).and_then(|action| action.waits());
        (wait == Some(Wait::Token) && thread.pending.loc() == Some(token)).then(|| vm_thread(id))
    });
    before.iter().find(parks).map(|step| step.thread).or(waits).or(later)
}
