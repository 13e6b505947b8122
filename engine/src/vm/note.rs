//! What is said of a failure, as data: which accesses race, and the notes that explain it. All sentences are made here.

use std::fmt;

use serde::{Deserialize, Serialize};

use crate::verdict::Location;

use super::action::Wait;
use super::thread::ThreadId;

/// How memory is accessed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum AccessKind {
    Read,
    Write,
    AtomicRead,
    AtomicWrite,
    Allocation,
    Deallocation,
    /// The end of a local variable.
    EndOfScope,
}

impl AccessKind {
    /// Whether other threads make such accesses as visible actions.
    pub fn is_atomic(self) -> bool {
        matches!(self, AccessKind::AtomicRead | AccessKind::AtomicWrite)
    }
}

impl fmt::Display for AccessKind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            AccessKind::Read => "read",
            AccessKind::Write => "write",
            AccessKind::AtomicRead => "atomic read",
            AccessKind::AtomicWrite => "atomic write",
            AccessKind::Allocation => "allocation",
            AccessKind::Deallocation => "deallocation",
            AccessKind::EndOfScope => "end of a local variable",
        })
    }
}

/// Two accesses that race.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
pub struct RacingPair {
    pub this: AccessKind,
    /// The earlier one, by another thread.
    pub that: AccessKind,
    pub other: ThreadId,
    /// Whether both are atomic, and of different sizes.
    pub mixed_sizes: bool,
}

impl RacingPair {
    /// The headline; `variable` is the name of what is accessed, where it has one.
    pub fn message(&self, variable: Option<&str>) -> String {
        let RacingPair { this, that, other, .. } = self;
        let of = variable.map(|name| format!(" of `{name}`")).unwrap_or_default();
        let article = if that.to_string().starts_with(['a', 'e']) { "an" } else { "a" };
        format!("this {this}{of} races with {article} {that}{} by {}", self.size(), other.phrase())
    }

    fn size(&self) -> &'static str {
        if self.mixed_sizes { " of another size" } else { "" }
    }
}

/// Something that explains a failure.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Note {
    pub kind: NoteKind,
    pub location: Option<Location>,
    pub thread: Option<ThreadId>,
    /// How many events the thread had then, where that matters.
    pub events: Option<u32>,
}

/// What a note says.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum NoteKind {
    /// The memory was allocated there.
    Allocated,
    /// So many bytes were allocated there, and are leaked.
    Leaked { size: u64 },
    /// The memory was freed there.
    Freed,
    /// The variable went out of scope there.
    OutOfScope,
    /// A thread leaves the scope of the variable there.
    LeavesScope,
    /// The other access of a race.
    Races(RacingPair),
    /// An access does not happen before this end of the memory.
    Unordered { access: AccessKind, end: AccessKind },
    /// The thread is blocked there; these threads hold what it waits for.
    Blocked { wait: Option<Wait>, holders: Vec<ThreadId> },
    /// The thread spins there.
    Spins,
    /// The thread got there what another one waits for.
    Acquired,
    /// The thread panics there because a thread that it joins has panicked.
    Propagates { message: String },
    /// The thread resumes a panic that it has not raised: that of a thread that it joins.
    Resumes,
    /// Another thread has panicked there.
    Panicked { message: String },
    /// What is accessed is in a local variable of a function.
    InVariable { name: String, function: String },
    /// What the thread that aborts has panicked with.
    LastPanic { message: String },
}

/// What part of a failure a note is about: the name of its kind, for scripts.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Role {
    Allocated,
    Freed,
    OutOfScope,
    Races,
    Blocked,
    Spins,
    Acquired,
    Propagates,
    Panicked,
    Explains,
}

impl NoteKind {
    pub fn role(&self) -> Role {
        match self {
            NoteKind::Allocated | NoteKind::Leaked { .. } => Role::Allocated,
            NoteKind::Freed => Role::Freed,
            NoteKind::OutOfScope | NoteKind::LeavesScope => Role::OutOfScope,
            NoteKind::Races(_) => Role::Races,
            NoteKind::Blocked { .. } => Role::Blocked,
            NoteKind::Spins => Role::Spins,
            NoteKind::Acquired => Role::Acquired,
            NoteKind::Propagates { .. } | NoteKind::Resumes => Role::Propagates,
            NoteKind::Panicked { .. } => Role::Panicked,
            NoteKind::Unordered { .. } | NoteKind::InVariable { .. } | NoteKind::LastPanic { .. } => Role::Explains,
        }
    }
}

impl Note {
    /// The note as a sentence; where there are several threads, it says which one did it.
    pub fn message(&self, several_threads: bool) -> String {
        let by = match self.thread.filter(|_| several_threads) {
            Some(thread) => format!(" by {}", thread.phrase()),
            None => String::new(),
        };
        let thread = self.thread.unwrap_or(ThreadId::MAIN);
        match &self.kind {
            NoteKind::Allocated => format!("allocated here{by}"),
            NoteKind::Leaked { size } => format!("{size} bytes, allocated here{by}"),
            NoteKind::Freed => format!("freed here{by}"),
            NoteKind::OutOfScope => format!("goes out of scope here{by}"),
            NoteKind::LeavesScope => format!("{} leaves its scope here", thread.phrase()),
            NoteKind::Races(pair) => {
                let RacingPair { that, other, .. } = pair;
                let size = pair.size();
                format!("the {that}{size} by {}: no happens-before between the two accesses", other.phrase())
            }
            NoteKind::Unordered { access, end: AccessKind::EndOfScope } => {
                format!("the {access} does not happen before the end of the variable")
            }
            NoteKind::Unordered { access, end } => format!("the {access} does not happen before the {end}"),
            NoteKind::Blocked { wait, holders } => {
                format!("{} is blocked here{}", thread.name(), why(*wait, thread, holders))
            }
            NoteKind::Spins => format!("{} spins in this loop", thread.name()),
            NoteKind::Acquired => format!("{} acquires it here", thread.name()),
            NoteKind::Propagates { message } => format!("{} panics here in turn: {message}", thread.phrase()),
            NoteKind::Resumes => format!("{} resumes this panic", thread.phrase()),
            NoteKind::Panicked { message } => {
                format!("{} panicked here: {}", thread.phrase(), message.lines().next().unwrap_or_default())
            }
            NoteKind::InVariable { name, function } => format!("it is in {} of `{function}`", local(name)),
            NoteKind::LastPanic { message } => format!("the last panic of the thread: {message}"),
        }
    }
}

/// Why a thread is blocked, after the words that it is.
fn why(wait: Option<Wait>, thread: ThreadId, holders: &[ThreadId]) -> String {
    let Some(wait) = wait else { return " forever".to_owned() };
    match held(wait, thread, holders) {
        Some(held) => format!(": {held}"),
        None => format!(": {wait}"),
    }
}

/// Who holds what a thread waits for, as a sentence.
pub fn held(wait: Wait, thread: ThreadId, holders: &[ThreadId]) -> Option<String> {
    let what = match wait {
        Wait::Mutex => "the mutex",
        Wait::ReadLock | Wait::WriteLock => "the lock",
        _ => "it",
    };
    match holders {
        [] => None,
        [one] if *one == thread => Some(format!("it already holds {what}")),
        [one] => Some(format!("{} holds {what}", one.name())),
        all => {
            let names: Vec<String> = all.iter().map(|holder| holder.name()).collect();
            Some(format!("{} hold {what}", names.join(" and ")))
        }
    }
}

/// A local variable, by its name.
pub fn local(name: &str) -> String {
    if name.is_empty() { "a temporary".to_owned() } else { format!("the local variable `{name}`") }
}
