//! A counterexample as data.
//!
//! A [`Trace`] is an execution in terms of the source: what each thread did, where, with which value, and which write a
//! read reads from. It is made by running the execution once more ([`record`]), so that exploring pays
//! nothing for it. Steps are numbered from 1, in one possible interleaving.

mod clocks;
mod explain;
mod interleaving;
mod library;
pub mod names;
mod panics;
mod record;
mod relations;
mod relevant;
mod remarks;
mod renumber;
#[cfg(test)]
mod tests;

pub use names::Names;
pub use record::ReplayError;
pub(crate) use record::{Recorded, record};
pub use remarks::{Mark, Remark, RemarkKind};

use std::fmt;

use serde::{Deserialize, Serialize};

use crate::graph::{MemOrder, Value};
use crate::verdict::Location;
use crate::vm::{AccessKind, ThreadId, Variable, Wait};

/// An execution, up to an error or to its end.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Trace {
    /// The threads, by number.
    pub threads: Vec<Thread>,
    /// The visible actions of all threads, in order.
    pub steps: Vec<Step>,
    /// The writes of each location that has several, in coherence order.
    pub co: Vec<Vec<u32>>,
    /// Which steps synchronize with which: with the order in each thread, that is happens-before.
    pub sw: Vec<(u32, u32)>,
    /// What the pointers among the values point to.
    pub pointers: Vec<Pointer>,
    /// The other side of the error, by another thread, if it is not a step: a racing access, or the end of the memory.
    pub racing: Option<Racing>,
    /// The other side of a race, if that is a step.
    pub rival: Option<u32>,
    /// Panics of other threads than the one that fails.
    pub panics: Vec<Racing>,
    /// The variable that a race is about.
    pub about: Option<Variable>,
    /// Why the execution is possible.
    pub remarks: Vec<Remark>,
}

/// Something that a thread did, other than a step.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Racing {
    pub thread: ThreadId,
    pub what: Other,
    /// The latest step of the thread before it.
    pub after: Option<u32>,
    pub location: Location,
}

/// What a thread did that is the other side of an error.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Other {
    /// It made the access that races.
    Races(AccessKind),
    /// It freed the memory.
    Frees,
    /// It left the scope of the variable.
    LeavesScope,
    Panics,
}

impl fmt::Display for Other {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Other::Races(access) => write!(f, "the racing {access}"),
            Other::Frees => f.write_str("frees it"),
            Other::LeavesScope => f.write_str("the variable goes out of scope"),
            Other::Panics => f.write_str("panics"),
        }
    }
}

/// An address among the values of an execution.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Pointer {
    pub value: Value,
    pub to: Variable,
}

/// A thread of an execution.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Thread {
    /// Its number; that of the main thread is 0.
    pub number: ThreadId,
    /// The step that spawned it.
    pub spawned_by: Option<u32>,
    /// How far it came.
    pub end: End,
    /// Where it was then; none for a thread that has ended.
    pub place: Option<Place>,
}

/// How far a thread came.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum End {
    /// To its end.
    Ended,
    /// It ended the program.
    Exited,
    /// To the error.
    Failed,
    /// It cannot go on.
    Waits(Waits),
    /// It could have gone on.
    Stopped,
}

/// Why a thread waits.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Waits {
    /// For this, which these threads have.
    For { wait: Wait, holders: Vec<Holder> },
    /// In a loop, for a value that it does not see.
    InLoop,
    /// For nothing: an assumption did not hold.
    Assumption,
}

/// A thread that has what another one waits for.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Holder {
    pub thread: ThreadId,
    /// The step in which it got it, unless that was before there were other threads.
    pub since: Option<u32>,
}

/// A visible action that took place.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Step {
    /// From 1.
    pub number: u32,
    /// The number of the thread.
    pub thread: ThreadId,
    pub deed: Deed,
    pub place: Option<Place>,
    /// What is accessed.
    pub variable: Option<Variable>,
    pub ordering: Option<MemOrder>,
    pub read: Option<Read>,
    /// The value written.
    pub written: Option<Value>,
    /// Whether it is done while a panic unwinds the thread, or after the panic that is the error.
    pub unwinding: bool,
}

/// What is done in a step.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Deed {
    Load,
    Store,
    Rmw {
        /// The method that does it: `fetch_add` and so on.
        method: String,
    },
    Cas {
        expected: Value,
        new: Value,
        weak: bool,
    },
    /// A read that is not atomic, of an atomic.
    PlainRead,
    /// A write that is not atomic, to an atomic.
    PlainWrite,
    Fence,
    Spawn {
        thread: ThreadId,
    },
    Join {
        thread: ThreadId,
    },
    /// The wait is over.
    Await {
        wait: Wait,
    },
    /// The queue of a futex is locked: no other thread looks at it until it is unlocked.
    EnterQueue,
    LeaveQueue,
    /// An attempt to lock.
    TryLock,
    Unlock,
    /// An update that depends on what is there.
    Try,
    /// Threads that wait on a condition variable are notified: one, or all.
    Notify {
        all: bool,
        woken: Vec<ThreadId>,
    },
    /// A thread begins to wait on a condition variable.
    WaitOn,
    /// A message is sent: the first is number 1.
    Send {
        message: Value,
    },
    /// A receiver takes its turn: this message will be its.
    TakeTurn {
        message: Value,
    },
    Receive {
        message: Value,
    },
    /// The last sender, or the receiver, of a channel is dropped.
    Disconnect,
    /// A message can be neither sent nor received: the other end of the channel is gone.
    Disconnected {
        sends: bool,
    },
    /// A thread is unparked.
    Unpark {
        thread: Option<ThreadId>,
    },
    /// A sender is dropped, and may be the last one: it will not end a wait for a message any more.
    Leave,
    BeginModel,
    EndModel,
    /// One of `0..n`.
    Choose {
        n: Value,
        value: Value,
    },
}

/// What a step read.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Read {
    pub value: Value,
    /// The step that wrote the value; none for the initial one.
    pub from: Option<u32>,
}

/// Where something is done.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Place {
    /// The innermost place outside of the standard library; where there is none, the innermost place.
    pub location: Location,
    /// The function there, where it is known.
    pub function: Option<String>,
    /// The function of a library that it was done through.
    pub via: Option<String>,
}

impl Place {
    fn at(location: Location) -> Place {
        Place { location, function: None, via: None }
    }
}

impl Trace {
    /// The step of that number.
    pub fn step(&self, number: u32) -> Option<&Step> {
        let index = self.steps.binary_search_by_key(&number, |step| step.number).ok()?;
        self.steps.get(index)
    }

    /// The steps of a thread.
    pub fn steps_of(&self, thread: ThreadId) -> impl DoubleEndedIterator<Item = &Step> {
        self.steps.iter().filter(move |step| step.thread == thread)
    }
}
