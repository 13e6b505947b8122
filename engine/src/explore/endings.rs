//! How an execution ends under reads-from equivalence: what the last values of locations are is not part of the graph, so
//! what is to be said about them has to be said of every way in which they can be.

use super::Observer;
use super::buffers::Buffers;
use super::program::{Ending, Program};
use super::reads_from::adopt_witness;
use super::visit::{Step, Visitor};
use crate::graph::{Action, EventId, Graph, Loc};
use crate::model::{Last, Model};
use std::ops::ControlFlow;

impl<P: Program, M: Model> Visitor<'_, P, M> {
    /// Judges a full graph in every way that its locations can end. It is of no interest where a thread has waited for a
    /// value and has not seen the latest.
    #[inline(never)]
    pub(super) fn judge_all(&mut self, ending: Ending) -> Step<P::Error> {
        self.lasts = awaited(self.graph()).collect();
        if !self.is_last_now() && (self.graph().is_settled() || !self.renew()) {
            return Step::Cut;
        }
        let watched = self.watched(ending);
        if watched.is_empty() {
            return self.judge(ending);
        }
        let mut judged = Step::Full(ending);
        let _ = self.for_each_ending(&watched, &mut |visitor| {
            judged = visitor.judge(ending);
            if matches!(judged, Step::Full(_)) { ControlFlow::Continue(()) } else { ControlFlow::Break(()) }
        });
        judged
    }

    /// Shows an observer all the ways in which a full graph can end, but for the one that it has seen.
    #[inline(never)]
    pub(super) fn show_endings(&mut self, ending: Ending, observer: &mut impl Observer<P>) {
        let watched = self.watched(ending);
        if watched.is_empty() {
            return;
        }
        self.lasts = awaited(self.graph()).collect();
        let _ = self.for_each_ending(&watched, &mut |visitor| {
            observer.also(visitor.levels.current(), &visitor.state, ending);
            ControlFlow::Continue(())
        });
    }

    /// The locations that the program looks at and of which it is open which write is the last.
    fn watched(&self, ending: Ending) -> Vec<Loc> {
        let graph = self.graph();
        if graph.is_settled() {
            return Vec::new();
        }
        let is_open =
            |loc: &Loc| graph.locations().nth(loc.index()).is_some_and(|(_, location)| !location.is_settled());
        let mut watched = self.program.watched(&self.state, graph, ending);
        watched.retain(is_open);
        watched
    }

    /// Gives the graph every combination of last writes of these locations that it can have.
    fn for_each_ending(
        &mut self,
        watched: &[Loc],
        found: &mut dyn FnMut(&mut Self) -> ControlFlow<()>,
    ) -> ControlFlow<()> {
        let Some((&loc, others)) = watched.split_first() else { return found(self) };
        let mut writes = self.graph().location(loc).co[1..].to_vec();
        writes.sort_unstable();
        for write in writes {
            let graph = self.graph();
            if graph.location(loc).co.iter().any(|&other| other != write && graph.is_tied(write, other)) {
                continue;
            }
            self.lasts.push((loc, write));
            if self.renew() {
                self.for_each_ending(others, found)?;
            }
            self.lasts.pop();
        }
        ControlFlow::Continue(())
    }

    /// Gives the graph a witness with the last writes that were chosen, if there is one; it does not depend on how the
    /// graph was reached.
    fn renew(&mut self) -> bool {
        let Visitor { model, levels, buffers: Buffers { scratch, .. }, lasts, .. } = self;
        let graph = levels.current_mut();
        let before: Vec<Vec<EventId>> = graph.locations().map(|(_, location)| location.co.clone()).collect();
        sort_witness(graph);
        if adopt_witness(model, graph, lasts, scratch) {
            return true;
        }
        for (index, order) in before.into_iter().enumerate() {
            graph.set_order(Loc::new(index), order.into_iter().skip(1));
        }
        false
    }

    /// Gives the current graph a witness that does not depend on how it was reached.
    #[inline(never)]
    pub(super) fn settle(&mut self) {
        if self.graph().has_witness() && !self.graph().is_settled() {
            let found = self.renew();
            debug_assert!(found, "an inconsistent graph is explored");
        }
    }

    fn is_last_now(&self) -> bool {
        self.lasts.iter().all(|&(loc, write)| self.graph().location(loc).co_max() == write)
    }
}

/// What threads have read that wait for a value for ever: it is the last.
fn awaited(graph: &Graph) -> impl Iterator<Item = Last> {
    let waiting = graph.threads().filter(|(_, thread)| thread.pending == Action::Block && thread.last.is_some());
    let last = waiting.map(|(_, thread)| graph.event(thread.last));
    last.filter(|event| event.action.is_blocked_by(event.answer)).map(|event| (event.loc, event.rf))
}

/// Puts the writes of each location in insertion order.
fn sort_witness(graph: &mut Graph) {
    let locations = graph.locations().len();
    for index in 0..locations {
        let loc = Loc::new(index);
        let mut order = graph.location(loc).co[1..].to_vec();
        order.sort_unstable();
        graph.set_order(loc, order.into_iter());
    }
}
