//! Maximal extensions (§3.4 and IsMaximallyAdded in algorithm 1 of the TruSt paper).
//!
//! A write `w` may revisit a read `r` only from a graph in which everything the revisit deletes, and `r` itself, was
//! added maximally: of all graphs that differ in the deleted part only, exactly one is like that, so that the revisit
//! happens exactly once.

use crate::graph::{Action, EventId, Graph, Loc, MemOrder, RmwOp, ThreadId, View, Width, contains};

/// A write that looks for reads to revisit.
#[derive(Clone, Copy, Debug)]
pub(super) struct Revisiter<'a> {
    /// Its thread.
    pub thread: ThreadId,
    /// What it causally depends on, itself included.
    pub porf: &'a View,
    /// Itself, if it is in the graph already.
    pub id: EventId,
    /// What it reads, if it is a read-modify-write.
    pub reads: Option<ReadPart>,
}

/// The read of a read-modify-write that looks for reads to revisit. It is causally before the write.
#[derive(Clone, Copy, Debug)]
pub(super) struct ReadPart {
    pub source: EventId,
    /// An exchange with the ordering of the read-modify-write.
    pub action: Action,
    /// Whether the coherence order that the graph has allows it.
    pub fits: bool,
}

impl ReadPart {
    pub fn new(loc: Loc, source: EventId, order: MemOrder, fits: bool) -> ReadPart {
        let action = Action::Rmw { loc, order, op: RmwOp::Xchg, width: Width::W64, operand: 0 };
        ReadPart { source, action, fits }
    }
}

impl Revisiter<'_> {
    /// Whether the event is causally before the write.
    #[inline]
    pub fn depends_on(&self, graph: &Graph, id: EventId) -> bool {
        id == EventId::INIT || contains(self.porf, graph.event(id))
    }

    /// Whether another event was there before `id` was added, or is causally before the write.
    pub fn was_there(&self, graph: &Graph, id: EventId, other: EventId) -> bool {
        other != self.id && (other < id || self.depends_on(graph, other))
    }

    /// Whether a revisit of `read` keeps this event (other than the read and the write).
    #[inline]
    pub fn keeps(&self, graph: &Graph, read: EventId, id: EventId) -> bool {
        id < read || (id != read && id != self.id && self.depends_on(graph, id))
    }
}

/// Whether `id` was added maximally before the write, `id` not being causally before the write.
///
/// `Previous` is what was added before `id` or is causally before the write. Nothing in it may read from `id`; the write
/// that `id` is or reads from must be in it, and must be coherence-maximal in it. A choice is maximal if it is
/// the first; and so is one of several ways. What is reached could not have been otherwise.
pub(super) fn is_maximally_added(graph: &Graph, id: EventId, write: &Revisiter<'_>) -> bool {
    let event = graph.event(id);
    if !is_added_freely(graph, id, write) {
        return false;
    }
    if matches!(event.action, Action::Reach { .. }) {
        return true;
    }
    if !event.is_access() {
        return !matches!(event.action, Action::Choose(_)) || event.answer == 0;
    }
    let position = graph.co_position(id) as usize;
    let later = &graph.location(event.loc).co[position + 1..];
    !later.iter().any(|&other| write.was_there(graph, id, other))
}

/// Whether an event is not there because of a revisit that must stay, nor in a way that is not the first.
#[inline]
pub(super) fn is_added_freely(graph: &Graph, id: EventId, write: &Revisiter<'_>) -> bool {
    let event = graph.event(id);
    if event.fixed || event.way > 0 || !event.revisited {
        return !event.fixed && event.way == 0;
    }
    let was_there = |source: EventId| source.index() < event.snapshot.events as usize;
    graph.chain(event.rf_or_init()).all(|source| was_there(source) || write.depends_on(graph, source))
}
