//! Panics of several threads: which one is the error, and what is said of the others.
//!
//! A thread that joins one that has panicked often panics for that reason: it unwraps the result, its scope ends, or it
//! resumes the panic. Then the first panic of that chain is the error.

use std::collections::BTreeMap;

use crate::graph::Graph;
use crate::verdict::{ErrorKind, Location};
use crate::vm::{Failure, FailureKind, Note, NoteKind, Role, StackFrame, ThreadId, Wait};

use super::record::{Machine, vm_thread};
use super::{Deed, End, Other, Place, Racing, Step, Trace};

/// The panics of an execution: the last one of each thread, and the step that it comes after.
#[derive(Default)]
pub struct Panics(BTreeMap<ThreadId, Panic>);

struct Panic {
    message: String,
    location: Location,
    stack: Vec<StackFrame>,
    after: Option<u32>,
}

impl Panics {
    /// Looks whether threads have panicked since these steps.
    pub fn look(&mut self, graph: &Graph, vm: &Machine, steps: &[Step]) {
        for (id, _) in graph.threads() {
            let thread = vm_thread(id);
            let Some((message, location, stack)) = vm.panic(thread) else { continue };
            let known =
                self.0.get(&thread).is_some_and(|known| (&known.message, &known.location) == (&message, &location));
            if !known {
                let after = steps.iter().rfind(|step| step.thread == thread).map(|step| step.number);
                self.0.insert(thread, Panic { message, location, stack, after });
            }
        }
    }

    /// Where a thread panics only because another one did that it has joined, that panic is the error.
    pub fn headline(&self, failure: Failure, trace: &mut Trace) -> Failure {
        let Some((thread, panic)) = self.cause(&failure, trace) else { return failure };
        for other in &mut trace.threads {
            if other.number == thread {
                (other.end, other.place) = (End::Failed, Some(Place::at(panic.location.clone())));
            } else if other.number == failure.thread {
                (other.end, other.place) = (End::Stopped, None);
            }
        }
        let note = in_turn(&failure);
        let bare = Failure::bare(failure.kind, panic.message.clone(), thread, panic.stack.clone());
        Failure { location: Some(panic.location.clone()), notes: vec![note], ..bare }
    }

    /// The thread whose panic a failure passes on, maybe through others.
    fn cause(&self, failure: &Failure, trace: &Trace) -> Option<(ThreadId, &Panic)> {
        if failure.kind != ErrorKind::Panic.into() {
            return None;
        }
        let (mut chain, mut last) = (vec![failure.thread], failure.thread);
        while let Some(next) = self.passed_on_by(last, failure, trace).filter(|next| !chain.contains(next)) {
            chain.push(next);
            last = next;
        }
        chain[1..].iter().rev().find_map(|thread| Some((*thread, self.0.get(thread)?)))
    }

    /// The thread whose panic this one passes on: it has joined that.
    fn passed_on_by(&self, thread: ThreadId, failure: &Failure, trace: &Trace) -> Option<ThreadId> {
        let own = self.0.get(&thread);
        let (stack, resumes) = match thread == failure.thread {
            true => (Some(&failure.stack), resumes(failure)),
            false => (own.map(|own| &own.stack), own.is_none()),
        };
        if !resumes && !stack.is_some_and(|stack| unwraps_join(stack)) {
            return None;
        }
        let own = own.filter(|own| thread != failure.thread || Some(&own.location) == failure.location.as_ref());
        let is_before = |step: &&Step| own.is_none_or(|own| Some(step.number) <= own.after);
        let joins = trace.steps_of(thread).filter(is_before).rev().filter_map(|step| match step.deed {
            Deed::Join { thread } => Some(Some(thread)),
            Deed::Await { wait: Wait::Scope } => Some(None),
            _ => None,
        });
        let joins: Vec<Option<ThreadId>> = joins.collect();
        let has_panicked = |joined: &&Option<ThreadId>| joined.is_none_or(|joined| self.0.contains_key(&joined));
        // A panic that is resumed need not be that of the thread that was joined last.
        let resumed = if resumes { joins.iter().find(has_panicked) } else { None };
        match resumed.or(joins.first())? {
            Some(joined) => Some(*joined),
            None => self.0.keys().find(|other| **other != thread).copied(),
        }
    }

    /// Tells of the panics of other threads, and marks what a thread does after the panic that is the error.
    pub fn tell(self, mut failure: Failure, trace: &mut Trace) -> Failure {
        let is_panic = failure.kind == ErrorKind::Panic.into();
        let propagates = |note: &Note, thread| note.thread == Some(thread) && note.kind.role() == Role::Propagates;
        for (thread, Panic { message, location, after, .. }) in self.0 {
            if is_panic && thread == failure.thread {
                let later = trace.steps.iter_mut().filter(|step| step.thread == thread && Some(step.number) > after);
                later.for_each(|step| step.unwinding = true);
            } else if !failure.notes.iter().any(|note| propagates(note, thread)) {
                failure.notes.extend(told(thread, message, &location, &failure));
                trace.panics.push(Racing { thread, what: Other::Panics, after, location });
            }
        }
        failure
    }
}

/// What is said of a failure that passes on the panic of another thread.
fn in_turn(failure: &Failure) -> Note {
    let (kind, location) = match resumes(failure) {
        true => (NoteKind::Resumes, None),
        false => (NoteKind::Propagates { message: failure.message.clone() }, failure.location.clone()),
    };
    Note { kind, location, thread: Some(failure.thread), events: None }
}

/// Whether a panic was resumed that the thread had not raised.
fn resumes(failure: &Failure) -> bool {
    failure.notes.iter().any(|note| note.kind == NoteKind::Resumes)
}

/// Whether the standard library panics because a thread that was joined has panicked: it unwraps the result of a join, or is
/// at the end of a scope.
fn unwraps_join(stack: &[StackFrame]) -> bool {
    stack.iter().take_while(|frame| !frame.origin.is_shown()).any(|frame| is_about_join(&frame.function))
}

fn is_about_join(function: &str) -> bool {
    let result = function.strip_prefix("std::result::Result::<");
    let of_join = |rest: &str| rest.contains("std::boxed::Box<dyn std::any::Any + std::marker::Send>>::");
    result.is_some_and(of_join) || function.starts_with("std::thread::scope::<")
}

/// What is said of the panic of another thread: it may be why things went wrong. At the place of the error itself, that is
/// shown already.
fn told(thread: ThreadId, message: String, location: &Location, failure: &Failure) -> Option<Note> {
    let is_error = matches!(failure.kind, FailureKind::Error(_));
    let is_elsewhere = failure.location.as_ref() != Some(location);
    let kind = NoteKind::Panicked { message };
    let note = Note { kind, location: Some(location.clone()), thread: Some(thread), events: None };
    (is_error && is_elsewhere).then_some(note)
}
