//! The choices at a node of the exploration tree, and the stack of nodes that still have some left.

use crate::graph::{EventId, ThreadId, Value};

/// One child of a node: how the next event is added, or which read it revisits.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Choice {
    /// The action has only one way to happen.
    Only,
    /// The read, or read-modify-write, reads from this write, and happens in this way.
    Read { source: EventId, way: u32 },
    /// The write goes to this place in coherence order.
    Place(u32),
    /// The update is blind: it commutes with those that are there.
    Blind,
    /// The same, but some of those must come after it.
    Among,
    /// The read, or read-modify-write, sees the layer that begins at this position only in part.
    Part { start: u32, mask: u64, way: u32 },
    /// The pending update of the thread, or the latest event, which is one, revisits the read, which then sees these
    /// writes, by their positions. `own` are those that the update itself sees, if it is not blind. `stays` is false
    /// where what was revisited has to revisit something, in turn.
    RevisitAmong { thread: ThreadId, read: EventId, cut: u64, own: u64, read_way: u32, in_graph: bool, stays: bool },
    /// The thread locks before the event that has the lock, or had it; if that is a reader, and the thread a writer, these
    /// of the readers that shared the lock with it come before the writer, by their places among them.
    Overtake { thread: ThreadId, read: EventId, before: u64 },
    /// The choice is this one.
    Value(Value),
    /// The pending write of the thread goes to this place and revisits the read. A read-modify-write reads from
    /// `source`. Both the write and the read have a way to happen.
    Revisit { thread: ThreadId, read: EventId, place: u32, source: EventId, way: u32, read_way: u32 },
    /// The latest event, a read-modify-write that was itself just revisited, revisits the read.
    RevisitOn { read: EventId, read_way: u32 },
    /// A read-modify-write that was revisited stays as it is, and revisits nothing itself.
    Stay,
    /// Nothing more happens: no thread can go on.
    Full,
}

/// A node with more than one child, on the way to where the exploration is.
#[derive(Clone, Debug)]
pub(super) struct Frame {
    /// Which graph of the stack of graphs it belongs to.
    pub level: usize,
    /// How many events the graph has there.
    pub len: usize,
    /// The thread whose action is decided.
    pub thread: ThreadId,
    /// Where the program's state is saved.
    pub slot: usize,
    /// Its children, in the stack of choices.
    pub start: usize,
    pub end: usize,
    /// The child being explored.
    pub current: usize,
}

/// Where in the exploration tree something is: the numbers of the children on the way there. Paths are ordered as a
/// depth-first exploration visits them.
pub type Path = Vec<u32>;
