//! Threads that are alike: of the executions that differ only in which of them is which, one is explored
//! (Kokologiannakis, Marmanis, Vafeiadis: Spore: Combining Symmetry and Partial Order Reduction, PLDI 2024).
//!
//! Each thread has at most one [like](crate::graph), the nearest before it. As long as both have done the same, its
//! next event comes after the *twin*, the same event of its like, and must not happen in a way that comes before how
//! the twin happened: a read must not read from a coherence-earlier write, a write must not be coherence-earlier. So
//! the threads are sorted by the first event in which they differ. Only what depends on the twin may be read though it
//! is coherence-earlier: there, causality already says who comes first.
//!
//! `docs/symmetry.md` argues why that is enough, and where no graph is explored twice.

use super::lessons::{Lesson, Lessons};
use super::maximal::Revisiter;
use super::program::Program;
use super::visit::Visitor;
use crate::graph::{Action, EventId, Graph, ThreadId, Ties, Value};
use crate::model::Model;

impl Lessons {
    /// Whether threads are compared at all. Under reads-from equivalence writes have no order by which that could be
    /// done.
    pub fn compares_threads(&self, ties: Ties) -> bool {
        self.symmetry && ties == Ties::Fixed
    }
}

/// Finds out which of the threads that a program begins with are alike.
pub(super) fn find_likes<P: Program>(program: &P, state: &P::State, graph: &mut Graph) {
    for thread in (0..program.threads()).map(ThreadId::new) {
        let like = program.like(state, graph, thread);
        graph.set_like(thread, like);
    }
}

/// The position in coherence order that a write which revisits a read must come after, so that its thread does not come
/// before the one that it is alike.
pub(super) fn floor_of_revisit(graph: &Graph, read: EventId, write: &Revisiter<'_>) -> usize {
    let twin = graph.event(read).twin;
    match twin.is_some() && !write.depends_on(graph, twin) {
        true => graph.position(graph.event(twin).rf),
        false => 0,
    }
}

impl<P: Program, M: Model> Visitor<'_, P, M> {
    /// Finds out which thread a new thread is alike. Whatever else happened between the two spawns, one of the two
    /// might have seen and not the other.
    pub(super) fn find_like(&mut self, thread: ThreadId) {
        if !self.lessons.compares_threads(self.ties) {
            return;
        }
        let Visitor { program, state, levels, .. } = self;
        let graph = levels.current_mut();
        let like = program.like(state, graph, thread).filter(|&like| are_spawned_together(graph, like, thread));
        graph.set_like(thread, like);
    }

    /// Whether the thread of an event has joined a thread, but not another that is alike, and has done something else
    /// since.
    pub(super) fn tells_apart(&self, id: EventId) -> bool {
        self.lessons.symmetry && self.is_told_apart(id)
    }

    #[inline(never)]
    fn is_told_apart(&self, id: EventId) -> bool {
        let event = self.graph().event(id);
        !matches!(event.action, Action::Join(_)) && self.graph().has_joined_some(event.thread)
    }

    /// Where an execution goes no further: threads that are alike were told apart if one of them was joined and another was not.
    /// Whoever has joined the one may have looked at what it returned, if only by itself.
    pub(super) fn told_apart_at_end(&self) -> Option<Lesson<P::Error>> {
        let graph = self.graph();
        let is_apart = || graph.threads().any(|(thread, _)| graph.has_joined_some(thread));
        (self.lessons.symmetry && graph.has_likes() && is_apart()).then_some(Lesson::ToldApart)
    }

    /// The twin of the pending action of a thread, if it has one.
    fn twin(&self, thread: ThreadId) -> EventId {
        let graph = self.graph();
        graph.next_twin(thread, &graph.thread(thread).pending)
    }

    /// Whether the pending read of a thread would make it come before the one that it is alike, if it reads from this
    /// write.
    pub(super) fn comes_before_twin(&self, thread: ThreadId, source: EventId) -> bool {
        let (graph, twin) = (self.graph(), self.twin(thread));
        twin.is_some()
            && graph.position(source) < graph.position(graph.event(twin).rf)
            && !graph.is_porf_before(twin, source)
    }

    /// In how many of the ways that the pending read of a thread has, if it reads this value from a write, it does not
    /// come before the twin. The first counts as the latest.
    pub(super) fn end_of_ways(&self, thread: ThreadId, source: EventId, old: Value) -> u32 {
        let (graph, twin) = (self.graph(), self.twin(thread));
        let ways = graph.thread(thread).pending.ways(old);
        match twin.is_some() && graph.event(twin).rf == source {
            true => ways.min(graph.event(twin).way + 1),
            false => ways,
        }
    }

    /// How many of the values that the pending choice of a thread has do not make it come before the twin. The first
    /// counts as the latest.
    pub(super) fn end_of_values(&self, thread: ThreadId, values: u32) -> Value {
        let (values, twin) = (Value::from(values.max(1)), self.twin(thread));
        if twin.is_some() { values.min(self.graph().event(twin).answer + 1) } else { values }
    }

    /// The position in coherence order that the pending store of a thread must come after.
    pub(super) fn floor_of_store(&self, thread: ThreadId) -> usize {
        let twin = self.twin(thread);
        if twin.is_some() { self.graph().event(twin).co_pos as usize } else { 0 }
    }
}

/// Whether nothing but spawns happened between the spawns of two threads.
fn are_spawned_together(graph: &Graph, first: ThreadId, second: ThreadId) -> bool {
    let first = graph.thread(first).spawn;
    let mut event = graph.thread(second).spawn;
    while event.is_some() && event != first {
        if event == EventId::INIT || graph.event(event).action != Action::Spawn {
            return false;
        }
        event = graph.event(event).po_prev;
    }
    event == first
}
