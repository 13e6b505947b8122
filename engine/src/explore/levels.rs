//! The stack of graphs: one level for each backward revisit on the way from the root of the subtree.
//!
//! Going forward extends the graph of a level in place. A backward revisit builds what it keeps in the *next* graph and
//! [goes on](Levels::go_on_in_next) there. Whoever only wants to know what a changed graph would be like builds it in the next one, too,
//! [enters](Levels::enter) it, and [leaves](Levels::leave) it again. Graphs keep their buffers.

use super::audit::Audited;
use crate::graph::Graph;

/// A stack of graphs, of which one is the current.
pub(super) struct Levels {
    graphs: Vec<Graph>,
    /// By level: what of the graph was [looked at](super::audit) in an execution before.
    audited: Vec<Audited>,
    current: usize,
}

impl Levels {
    /// One level, whose graph has this many threads and no events.
    pub fn new(threads: usize) -> Levels {
        Levels { graphs: vec![Graph::new(threads)], audited: vec![Audited::default()], current: 0 }
    }

    #[inline]
    pub fn current(&self) -> &Graph {
        &self.graphs[self.current]
    }

    #[inline]
    pub fn current_mut(&mut self) -> &mut Graph {
        &mut self.graphs[self.current]
    }

    /// The graph that was built last on top of the current one.
    pub fn next(&self) -> &Graph {
        &self.graphs[self.current + 1]
    }

    pub fn next_mut(&mut self) -> &mut Graph {
        &mut self.graphs[self.current + 1]
    }

    /// The current graph, and the next one to be built from it.
    pub fn current_and_next(&mut self) -> (&Graph, &mut Graph) {
        if self.graphs.len() == self.current + 1 {
            self.graphs.push(Graph::new(0));
        }
        let (before, after) = self.graphs.split_at_mut(self.current + 1);
        (&before[self.current], &mut after[0])
    }

    /// Looks at the next graph as if it was the current one, until that is [left](Levels::leave).
    pub fn enter(&mut self) {
        self.current += 1;
    }

    pub fn leave(&mut self) {
        self.current -= 1;
    }

    /// Explores the next graph, of which this was looked at before.
    pub fn go_on_in_next(&mut self, audited: Audited) {
        self.current += 1;
        self.audited.truncate(self.current);
        self.audited.push(audited);
    }

    /// Makes the graph of the lowest level, of which this was looked at before, the current one.
    pub fn begin(&mut self, audited: Audited) -> &mut Graph {
        self.current = 0;
        self.audited[0] = audited;
        &mut self.graphs[0]
    }

    /// Goes back to a level, whose graph then has so many events.
    pub fn back_to(&mut self, level: usize, events: usize) {
        self.current = level;
        self.graphs[level].truncate(events);
        self.audited[level].shorten(events);
    }

    /// The number of the current level.
    pub fn number(&self) -> usize {
        self.current
    }

    /// The graph of a level.
    pub fn get(&self, level: usize) -> &Graph {
        &self.graphs[level]
    }

    /// What of the current graph was looked at before.
    pub fn audited(&self) -> &Audited {
        &self.audited[self.current]
    }

    pub fn audited_mut(&mut self) -> &mut Audited {
        &mut self.audited[self.current]
    }

    /// The bytes that all graphs take.
    pub fn bytes(&self) -> usize {
        self.graphs.iter().map(Graph::bytes).sum()
    }
}
