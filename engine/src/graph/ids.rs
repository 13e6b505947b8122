//! The names of things in an execution graph: events, threads, locations and the values they hold.

use std::fmt;

/// A value of shared memory, or the answer to an action, as the program encodes it.
pub type Value = u64;

/// An event of an execution graph.
///
/// Events are numbered in the order in which they were added: `a < b` for ids is the paper's `a <_G b`. The numbering
/// is also a linearisation of porf: whatever an event causally depends on has a smaller id.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct EventId(u32);

impl EventId {
    /// The initialising write of every location; it is before everything else.
    pub const INIT: EventId = EventId(0);
    /// No event at all.
    pub const NONE: EventId = EventId(u32::MAX);

    #[inline]
    pub(crate) fn new(index: usize) -> EventId {
        EventId(index as u32)
    }

    /// The position of the event in the insertion order.
    #[inline]
    pub fn index(self) -> usize {
        self.0 as usize
    }

    /// Whether this names an event.
    #[inline]
    pub fn is_some(self) -> bool {
        self != EventId::NONE
    }
}

/// A thread of an execution: the same spawn of the same parent has the same id wherever it occurs in an exploration.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct ThreadId(u32);

impl ThreadId {
    /// The thread with this number.
    #[inline]
    pub fn new(index: usize) -> ThreadId {
        ThreadId(index as u32)
    }

    /// The number of the thread, for use as an index.
    #[inline]
    pub fn index(self) -> usize {
        self.0 as usize
    }
}

impl fmt::Display for ThreadId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "thread {}", self.0)
    }
}

/// A location of shared memory. Programs number theirs densely from 0.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Loc(u32);

impl Loc {
    /// The location with this number.
    #[inline]
    pub fn new(index: usize) -> Loc {
        Loc(index as u32)
    }

    /// The number of the location, for use as an index.
    #[inline]
    pub fn index(self) -> usize {
        self.0 as usize
    }
}
