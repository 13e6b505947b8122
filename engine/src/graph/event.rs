//! Events: an action that took place, with what it read and wrote.

use super::action::{Action, MemOrder};
use super::ids::{EventId, Loc, ThreadId, Value};

/// An event of an execution graph (definition 3.1 of the paper). A read-modify-write is one event, both read and write.
#[derive(Clone, Copy, Debug)]
pub struct Event {
    /// The thread it belongs to.
    pub thread: ThreadId,
    /// Its place in program order, from 0.
    pub index: u32,
    /// The event before it in program order.
    pub po_prev: EventId,
    /// What the thread asked for.
    pub action: Action,
    /// The ordering it has: a failed compare-and-swap has its failure ordering.
    pub order: MemOrder,
    /// Whether it reads.
    pub is_read: bool,
    /// Whether it writes.
    pub is_write: bool,
    /// Its location, if it is an access (else location 0: look at `is_read` and `is_write`).
    pub loc: Loc,
    /// For a read, the write it reads from.
    pub rf: EventId,
    /// For a write, its position in its location's coherence order; the initialising write is at 0.
    pub co_pos: u32,
    /// The value read, or chosen, or the thread spawned: what the action was answered with.
    pub answer: Value,
    /// The value written.
    pub written: Value,
    /// The latest release fence that is program-order-before it.
    pub release_fence: EventId,
    /// The latest sequentially consistent event that is program-order-before it.
    pub sc_before: EventId,
    /// The latest event before it in program order that is not an access of the same location; the spawn of its thread
    /// if there is none.
    pub elsewhere_before: EventId,
    /// The first event after it in program order that is not an access of the same location, if there is one.
    pub elsewhere_after: EventId,
    /// The saved program state from before it was added: where a revisit starts. Reads that can never be revisited
    /// have none.
    pub snapshot: Snapshot,
    /// In which of the ways that its action allows it happened (see [`Action::ways`]).
    pub way: u32,
    /// For a read of a thread that had to wait (see [`super::Thread::after`]), what its source had to depend on.
    pub after: EventId,
    /// The event at the same place in the thread that its own is [alike](super::alike), as long as both have done the
    /// same.
    pub(crate) twin: EventId,
    /// Whether it does what its twin does.
    pub(crate) shared: bool,
    /// Whether it is a compare-and-swap that confirms what its thread has read before: one that fails is as good as
    /// none.
    pub confirms: bool,
    /// Whether it is part of a loop of which iterations may have been left out before it.
    pub in_loop: bool,
    /// Whether it is a write that comes after the one before it in every witness: see [`super::ties`].
    pub(crate) tied: bool,
    /// Whether it is a read that a write added later has revisited.
    pub revisited: bool,
    /// Whether it has revisited a read: it can then never be deleted (§4.3 of the paper).
    pub fixed: bool,
    /// Whether it is an update whose place among its neighbours is not part of the graph: see [`super::layers`].
    pub blind: bool,
}

/// A saved program state: its slot, and the number of events it contains.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Snapshot {
    pub(crate) slot: u32,
    pub(crate) events: u32,
}

impl Snapshot {
    /// No saved state.
    pub const NONE: Snapshot = Snapshot { slot: u32::MAX, events: 0 };

    /// Whether there is a saved state.
    #[inline]
    pub fn is_some(self) -> bool {
        self.slot != u32::MAX
    }
}

impl Event {
    pub(crate) fn init() -> Event {
        Event {
            thread: ThreadId::new(u32::MAX as usize),
            index: 0,
            po_prev: EventId::NONE,
            action: Action::End,
            order: MemOrder::Relaxed,
            is_read: false,
            is_write: true,
            loc: Loc::new(0),
            rf: EventId::NONE,
            co_pos: 0,
            answer: 0,
            written: 0,
            release_fence: EventId::NONE,
            sc_before: EventId::NONE,
            elsewhere_before: EventId::NONE,
            elsewhere_after: EventId::NONE,
            snapshot: Snapshot::NONE,
            way: 0,
            after: EventId::NONE,
            twin: EventId::NONE,
            shared: false,
            confirms: false,
            in_loop: false,
            tied: true,
            revisited: false,
            fixed: true,
            blind: false,
        }
    }

    /// What it reads from; the initialising event where it does not read.
    #[inline]
    pub(crate) fn rf_or_init(&self) -> EventId {
        if self.rf.is_some() { self.rf } else { EventId::INIT }
    }

    /// Whether it accesses memory.
    #[inline]
    pub fn is_access(&self) -> bool {
        self.is_read || self.is_write
    }

    /// Whether both are accesses of the same location.
    #[inline]
    pub fn is_at_same_location(&self, other: &Event) -> bool {
        self.loc == other.loc && self.is_access() && other.is_access()
    }

    /// Whether it both reads and writes.
    #[inline]
    pub fn is_update(&self) -> bool {
        self.is_read && self.is_write
    }

    /// Whether it is a fence of any kind.
    #[inline]
    pub fn is_fence(&self) -> bool {
        matches!(self.action, Action::Fence { .. })
    }

    /// Whether it is a sequentially consistent fence.
    #[inline]
    pub fn is_sc_fence(&self) -> bool {
        self.order.is_sc() && self.is_fence()
    }

    /// Whether it is a sequentially consistent access.
    pub fn is_sc_access(&self) -> bool {
        self.order.is_sc() && self.is_access()
    }
}
