//! What went wrong in a run, and where.
//!
//! Deep inside the machine an error is a [`Fault`]: what, and notes that refer to places of the program. It is one kind
//! of [`Trap`](super::trap::Trap). The thread that ran into it turns it into a [`Failure`]: the fault with the names of
//! threads, files and lines, and a stack trace. A failure stands alone: it can be shown without the program.

use std::fmt;

use crate::program::{Origin, PlaceId, Program};
use crate::verdict::{ErrorKind, Location, Outcome};

use super::action::Wait;
use super::memory::Dangling;
use super::note::{Note, NoteKind, RacingPair, Role};
use super::thread::ThreadId;

/// Why a run did not pass.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum FailureKind {
    /// The program has an error.
    Error(ErrorKind),
    /// The program needs something that the machine does not have.
    Unsupported,
    /// A limit of the run was reached.
    Limit,
    /// The run has come to a label that was to be shown.
    Covered,
}

impl FailureKind {
    /// The outcome of a run that ends so.
    pub fn outcome(self) -> Outcome {
        match self {
            FailureKind::Error(_) => Outcome::Failed,
            FailureKind::Unsupported => Outcome::Unsupported,
            FailureKind::Limit | FailureKind::Covered => Outcome::Incomplete,
        }
    }
}

impl From<ErrorKind> for FailureKind {
    fn from(kind: ErrorKind) -> FailureKind {
        FailureKind::Error(kind)
    }
}

/// A failure of a run.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Failure {
    pub kind: FailureKind,
    pub message: String,
    /// Where: the innermost place outside of the standard library; where there is none, the innermost place.
    pub location: Option<Location>,
    /// The functions that were active, the innermost first.
    pub stack: Vec<StackFrame>,
    /// In which thread.
    pub thread: ThreadId,
    /// What led to it.
    pub notes: Vec<Note>,
    /// The accesses of a race.
    pub race: Option<RacingPair>,
    /// The access to a heap block that was freed.
    pub dangling: Option<Dangling>,
    /// In a deadlock, the threads that are blocked forever.
    pub waiting: Vec<Waiting>,
    /// The address that it is about, where that matters.
    pub address: Option<u64>,
    /// How many events the thread had then, if it may have more by now.
    pub events: Option<u32>,
}

/// A thread that is blocked forever.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Waiting {
    pub thread: ThreadId,
    /// For what, if it is known.
    pub wait: Option<Wait>,
    /// Who has what it waits for, as far as that is known.
    pub holders: Vec<ThreadId>,
    /// Where it waits.
    pub stack: Vec<StackFrame>,
}

impl Waiting {
    fn note(&self) -> Note {
        self.with(NoteKind::Blocked { wait: self.wait, holders: self.holders.clone() })
    }

    /// A note about where it waits.
    fn with(&self, kind: NoteKind) -> Note {
        Note { kind, location: innermost(&self.stack), thread: Some(self.thread), events: None }
    }
}

/// An active function.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct StackFrame {
    pub function: String,
    pub origin: Origin,
    pub location: Location,
}

/// An access that another thread has made to memory that goes, neither of which happens before the other. If what the thread
/// does that lets the memory go does not depend on the access, that may as well come later.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Late {
    /// Who made the access.
    pub thread: ThreadId,
    /// How many events the thread had.
    pub events: u32,
    /// What is wrong if the access comes later.
    pub failure: Box<Failure>,
}

/// An error inside the machine, before it is known who ran into it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Fault {
    pub kind: FailureKind,
    pub message: String,
    /// The accesses of a race.
    pub race: Option<RacingPair>,
    /// The access to a heap block that was freed.
    pub dangling: Option<Dangling>,
    pub notes: Vec<FaultNote>,
    /// The address that it is about, where that matters.
    pub address: Option<u64>,
}

/// A note of a fault.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FaultNote {
    pub kind: NoteKind,
    pub place: Option<PlaceId>,
    pub thread: Option<ThreadId>,
    /// How many events the thread had then, where that matters.
    pub events: Option<u32>,
}

impl Fault {
    /// A fault without notes.
    #[cold]
    pub fn new(kind: impl Into<FailureKind>, message: impl Into<String>) -> Fault {
        let (kind, message) = (kind.into(), message.into());
        Fault { kind, message, race: None, dangling: None, notes: Vec::new(), address: None }
    }

    /// Undefined behaviour that has no kind of its own.
    #[cold]
    pub fn undefined(message: impl Into<String>) -> Fault {
        Fault::new(ErrorKind::UndefinedBehavior, message)
    }

    /// Two accesses race; the other one is at this place, where its thread had so many events.
    #[cold]
    pub fn race(pair: RacingPair, place: PlaceId, events: u32) -> Fault {
        let kind = if pair.mixed_sizes { ErrorKind::MixedSizeRace } else { ErrorKind::DataRace };
        let mut fault = Fault::new(kind, pair.message(None)).note(NoteKind::Races(pair), Some(place), Some(pair.other));
        fault.race = Some(pair);
        fault.notes.iter_mut().for_each(|note| note.events = Some(events));
        fault
    }

    /// An access to a heap block that was freed.
    #[cold]
    pub fn dangling(dangling: Dangling) -> Fault {
        let fault = Fault::new(ErrorKind::UseAfterFree, dangling.message(None));
        Fault { dangling: Some(dangling), ..fault }
    }

    /// Something the machine does not have.
    #[cold]
    pub fn unsupported(operation: impl fmt::Display) -> Fault {
        Fault::new(FailureKind::Unsupported, format!("unsupported operation: {operation}"))
    }

    /// A limit of the machine or of the run.
    #[cold]
    pub fn limit(message: impl Into<String>) -> Fault {
        Fault::new(FailureKind::Limit, message)
    }

    /// The same, which is about this address.
    #[must_use]
    pub fn about(mut self, address: u64) -> Fault {
        self.address = Some(address);
        self
    }

    /// The same with one more note.
    #[must_use]
    pub fn note(mut self, kind: NoteKind, place: Option<PlaceId>, thread: Option<ThreadId>) -> Fault {
        self.notes.push(FaultNote { kind, place, thread, events: None });
        self
    }
}

impl Failure {
    /// The failure that `fault` is for a thread with this stack.
    pub(super) fn new(fault: Fault, program: &Program, thread: ThreadId, stack: Vec<StackFrame>) -> Box<Failure> {
        let Fault { kind, message, race, dangling, address, notes } = fault;
        let notes = notes.into_iter().map(|note| note.resolve(program)).collect();
        Box::new(Failure { notes, race, dangling, address, ..Failure::bare(kind, message, thread, stack) })
    }

    /// The failure that `fault` is for a thread that was at this place, and had so many events.
    pub(super) fn at(fault: Fault, program: &Program, thread: ThreadId, place: PlaceId, events: u32) -> Box<Failure> {
        let location = program.places.get(place.0 as usize).map(|_| program.location(place));
        Box::new(Failure { location, events: Some(events), ..*Failure::new(fault, program, thread, Vec::new()) })
    }

    /// A failure of which nothing else is known than what is wrong, and who did what.
    pub fn bare(kind: FailureKind, message: String, thread: ThreadId, stack: Vec<StackFrame>) -> Failure {
        let (location, notes, waiting) = (innermost(&stack), Vec::new(), Vec::new());
        Failure {
            kind,
            message,
            location,
            stack,
            thread,
            notes,
            race: None,
            dangling: None,
            waiting,
            address: None,
            events: None,
        }
    }

    /// Threads spin, and nobody is left to change what they read; others are blocked.
    pub fn non_termination(spinning: Vec<Waiting>, blocked: Vec<Waiting>) -> Failure {
        let message = match &spinning[..] {
            [one] => format!("{} spins forever: no other thread can change what this loop reads", one.thread.phrase()),
            all => format!("{} threads spin forever: no other thread can change what their loops read", all.len()),
        };
        let spins = spinning.iter().map(|waiting| waiting.with(NoteKind::Spins));
        let notes = spins.chain(blocked.iter().map(Waiting::note)).collect();
        let stack = spinning.first().map(|first| first.stack.clone()).unwrap_or_default();
        let thread = spinning.first().map_or(ThreadId::MAIN, |first| first.thread);
        let waiting = spinning.into_iter().chain(blocked).collect();
        let kind = ErrorKind::NonTermination.into();
        Failure { notes, waiting, ..Failure::bare(kind, message, thread, stack) }
    }

    /// All threads that are left are blocked forever.
    pub fn deadlock(waiting: Vec<Waiting>) -> Failure {
        let message = match &waiting[..] {
            [one] => format!("deadlock: {} is blocked forever", one.thread.phrase()),
            all => format!("deadlock: {} threads are blocked forever", all.len()),
        };
        let stack = waiting.first().map(|first| first.stack.clone()).unwrap_or_default();
        let thread = waiting.first().map_or(ThreadId::MAIN, |first| first.thread);
        let notes = waiting.iter().map(Waiting::note).collect();
        Failure { notes, waiting, ..Failure::bare(ErrorKind::Deadlock.into(), message, thread, stack) }
    }
}

impl Failure {
    /// Whether both are the same mistake of the program: at the same place, for the same reason. What values it has, or
    /// which way led there, makes no difference.
    pub fn is_same_mistake(&self, other: &Failure) -> bool {
        let places = |failure: &Failure| {
            let notes = failure.notes.iter().filter(|note| note.kind.role() != Role::Panicked);
            notes.map(|note| note.location.clone()).collect::<Vec<_>>()
        };
        self.kind == other.kind
            && self.location == other.location
            && places(self) == places(other)
            && (self.location.is_some() || self.message == other.message)
    }
}

impl Failure {
    /// The same, a race or an access that is about a variable of this name: a part of something, or a whole.
    #[must_use]
    pub fn with_variable(self, name: &str, is_whole: bool) -> Failure {
        let race = self.race.map(|race| race.message(Some(name)));
        match race.or(self.dangling.map(|dangling| dangling.message(Some((name, is_whole))))) {
            Some(message) => Failure { message, ..self },
            None => self,
        }
    }
}

/// The innermost place outside of the standard library; where there is none, the innermost place.
pub fn innermost(stack: &[StackFrame]) -> Option<Location> {
    let frame = stack.iter().find(|frame| frame.origin.is_shown()).or(stack.first())?;
    Some(frame.location.clone())
}

impl FaultNote {
    fn resolve(self, program: &Program) -> Note {
        let location =
            self.place.and_then(|place| program.places.get(place.0 as usize).map(|_| program.location(place)));
        Note { kind: self.kind, location, thread: self.thread, events: self.events }
    }
}
