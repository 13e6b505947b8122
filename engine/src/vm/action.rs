//! The visible actions of a thread: where it stops, and how it is answered.
//!
//! A thread runs alone until its next visible action and leaves it pending. Whoever schedules the threads decides what
//! the action gives (a value from memory, or from an execution graph) and answers; then the thread goes on.

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
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
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
    /// Waits until the 32-bit word is 0 and makes it 1, with acquire ordering.
    Lock {
        address: u64,
    },
    Fence {
        ordering: Ordering,
    },
    /// Answered with the number of the new thread, which exists from then on.
    Spawn,
    Join {
        thread: ThreadId,
    },
    /// Waits while the 32-bit word at `address` is `expected`.
    FutexWait {
        address: u64,
        expected: u32,
        bitset: u32,
        timeout: Option<Timeout>,
    },
    /// Wakes up to `count` waiting threads.
    FutexWake {
        address: u64,
        count: u32,
        bitset: u32,
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
    /// Lets other threads run.
    Yield,
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

/// When a wait ends by itself, in nanoseconds.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Timeout {
    /// From now.
    After(u64),
    /// At a time of the clock.
    At(u64),
}

/// What a pending action gives.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Answer {
    /// It happened: stores, fences, spawns, joins, yields, assumptions that hold, ends.
    Done,
    /// The value read, the old value of a read-modify-write, the choice, the number of threads woken.
    Value(u128),
    /// The old value of a compare-and-swap, and whether it took place.
    Cas { old: u128, success: bool },
    /// A futex wait ended, for this reason.
    Woken(Woken),
}

/// Why a futex wait ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Woken {
    /// By a wake.
    Wake,
    /// The word had another value: it did not wait.
    Changed,
    /// The time was over.
    Timeout,
}

impl Action {
    /// Where an atomic access is, and its size.
    pub fn accessed(&self) -> Option<(u64, AtomicWidth)> {
        match *self {
            Action::Load { address, width, .. }
            | Action::Store { address, width, .. }
            | Action::Rmw { address, width, .. }
            | Action::Cas { address, width, .. } => Some((address, width)),
            Action::Lock { address } => Some((address, AtomicWidth::W32)),
            _ => None,
        }
    }
}
