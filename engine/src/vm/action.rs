//! The visible actions of a thread: where it stops, and how it is answered.
//!
//! A thread runs alone until its next visible action and leaves it pending. Whoever schedules the threads decides what
//! the action gives (a value from memory, or from an execution graph) and answers; then the thread goes on.

use std::fmt;

use serde::{Deserialize, Serialize};

use crate::graph::{Boundary, Test, Then};
use crate::program::{AtomicWidth, Ordering, PlaceId, RmwOp};

use super::thread::ThreadId;

/// Why a thread stopped.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Stop {
    /// At a visible action, which is pending now.
    Action(Action),
    /// The whole program ends, with an exit code.
    Exit(i32),
}

/// What a thread is about to do. Values of less than 128 bits are zero-extended.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Action {
    Load {
        address: u64,
        width: AtomicWidth,
        ordering: Ordering,
    },
    Store {
        address: u64,
        width: AtomicWidth,
        ordering: Ordering,
        value: u128,
    },
    Rmw {
        op: RmwOp,
        address: u64,
        width: AtomicWidth,
        ordering: Ordering,
        operand: u128,
    },
    Cas {
        address: u64,
        width: AtomicWidth,
        success: Ordering,
        failure: Ordering,
        weak: bool,
        expected: u128,
        new: u128,
    },
    /// Waits until the 32-bit word passes the test, and updates it in the same step, with acquire ordering. Answered
    /// with the value that passed.
    Await {
        address: u64,
        wait: Wait,
        test: Test,
        then: Then,
    },
    /// Updates the 32-bit word if it passes the test; else it is a load with ordering `failure`. Answered with the
    /// value that was tested.
    Try {
        address: u64,
        ordering: Ordering,
        failure: Ordering,
        test: Test,
        then: Then,
    },
    /// Waits until the 32-bit word has passed the test, which it then does until this thread changes it; or until the
    /// counter at the address `keepers` (if that is not 0) is 0. Answered with the first value that passed.
    Reach {
        address: u64,
        wait: Wait,
        acquire: bool,
        test: Test,
        keepers: u64,
    },
    /// Clears one of the bits that are set in the 32-bit word. Answered with that bit; 0 where none is set.
    Pick {
        address: u64,
    },
    /// One of those whom the counter at the address counts is gone; the thread counts it down afterwards.
    Leave {
        keepers: u64,
    },
    Fence {
        ordering: Ordering,
    },
    /// Answered with the number of the new thread, which exists from then on.
    Spawn,
    Join {
        thread: ThreadId,
    },
    /// Enters the queue of those who wait at a futex, which then nobody else does until it is left. Answered with who
    /// waits, a bit each.
    QueueEnter {
        word: u64,
    },
    /// Leaves the queue of a futex: these wait now.
    QueueLeave {
        word: u64,
        waiting: u32,
    },
    /// Waits until a bit in the queue of a futex is cleared. With a timeout it may end before that; it is no event
    /// then.
    QueueWait {
        word: u64,
        bit: u32,
        timeout: Option<Timeout>,
    },
    /// A plain read of an atomic, while the program is explored: answered with its value.
    PlainLoad {
        address: u64,
        len: u32,
    },
    /// A plain write to an atomic, while the program is explored.
    PlainStore {
        address: u64,
        len: u32,
        value: u64,
        /// Where it was made: the thread may have gone on since.
        place: PlaceId,
    },
    /// Waits until all other threads have ended: answered with the number of one that was not joined, or 0.
    Gather,
    /// A model begins or ends.
    Model(Boundary),
    /// Lets other threads run.
    Yield,
    /// Nothing, for ever: the thread is in a loop that changes nothing, while the program is explored.
    Spin,
    /// One of `0..n`.
    Choose {
        n: u64,
    },
    /// The execution is of no interest where `holds` is false.
    Assume {
        holds: bool,
    },
    /// The thread has nothing more to do.
    End,
}

/// What a thread waits for.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Wait {
    Mutex,
    ReadLock,
    WriteLock,
    /// Of a condition variable.
    Notification,
    /// By another thread, of what is initialized once.
    Initialization,
    /// To go on after it has parked.
    Token,
    /// The other threads at a barrier.
    Barrier,
    /// In a channel.
    Message,
    /// In a channel.
    Room,
    /// More than will ever pass.
    Time,
    /// All threads of a scope to be done.
    Scope,
    /// Something to happen to a file, at an epoll.
    Epoll,
    /// To read from an eventfd.
    Eventfd,
    /// To be woken at a futex.
    Wake,
    /// Of a thread.
    End(ThreadId),
    /// All other threads to end, at an end of a model.
    Others,
}

impl Wait {
    /// In the order of their numbers.
    const WORDS: [Wait; 13] = [
        Wait::Mutex,
        Wait::ReadLock,
        Wait::WriteLock,
        Wait::Notification,
        Wait::Initialization,
        Wait::Token,
        Wait::Barrier,
        Wait::Message,
        Wait::Room,
        Wait::Time,
        Wait::Scope,
        Wait::Epoll,
        Wait::Eventfd,
    ];

    /// What the standard library calls by this number.
    pub fn from_number(number: u64) -> Option<Wait> {
        Wait::WORDS.get(usize::try_from(number).ok()?).copied()
    }
}

impl fmt::Display for Wait {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Wait::Mutex => "waiting for the mutex",
            Wait::ReadLock => "waiting to read-lock it",
            Wait::WriteLock => "waiting to write-lock it",
            Wait::Notification => "waiting to be notified",
            Wait::Initialization => "waiting for another thread to finish the initialization",
            Wait::Token => "waiting to be unparked",
            Wait::Barrier => "waiting for other threads to reach the barrier",
            Wait::Message => "waiting for a message",
            Wait::Room => "waiting for room in the channel",
            Wait::Time => "sleeping for more than a hundred years",
            Wait::Scope => "waiting for the threads of the scope to finish",
            Wait::Epoll => "waiting for an event at the epoll",
            Wait::Eventfd => "waiting for a write to the eventfd",
            Wait::Wake => "waiting for a futex to be woken",
            Wait::Others => "waiting for all other threads of the model to finish",
            Wait::End(thread) => return write!(f, "waiting for {} to finish", thread.phrase()),
        })
    }
}

/// When a wait ends by itself, in nanoseconds.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Timeout {
    /// From now.
    After(u64),
    /// At a time of the clock.
    At(u64),
}

impl Timeout {
    /// When it is over, seen from this time.
    pub fn end(self, now: u64) -> u64 {
        match self {
            Timeout::After(nanoseconds) => now.saturating_add(nanoseconds),
            Timeout::At(time) => time,
        }
    }
}

/// What a pending action gives.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Answer {
    /// It happened: stores, fences, spawns, joins, yields, assumptions that hold, ends.
    Done,
    /// The value read, the old value of a read-modify-write, the choice, the number of threads woken.
    Value(u128),
    /// The old value of a compare-and-swap, and whether it took place.
    Cas { old: u128, success: bool },
}

impl Action {
    /// Where an atomic access is, and its size.
    pub fn accessed(&self) -> Option<(u64, AtomicWidth)> {
        match *self {
            Action::Load { address, width, .. }
            | Action::Store { address, width, .. }
            | Action::Rmw { address, width, .. }
            | Action::Cas { address, width, .. } => Some((address, width)),
            Action::Await { address, .. }
            | Action::Try { address, .. }
            | Action::Reach { address, .. }
            | Action::Pick { address } => Some((address, AtomicWidth::W32)),
            _ => None,
        }
    }

    /// What the thread waits for, if it does.
    pub fn waits(&self) -> Option<Wait> {
        match *self {
            Action::Await { wait, .. } | Action::Reach { wait, .. } => Some(wait),
            Action::Join { thread } => Some(Wait::End(thread)),
            Action::QueueWait { .. } => Some(Wait::Wake),
            Action::Gather | Action::Model(_) => Some(Wait::Others),
            _ => None,
        }
    }
}
