//! RC11 (Lahav, Vafeiadis, Kang, Hur, Dreyer: Repairing Sequential Consistency in C/C++11, PLDI 2017), with C++20's
//! release sequences.
//!
//! `hb = (po ∪ sw)⁺` is what the graph's hb views hold: they are built as events are added. Coherence is
//! `irreflexive (hb ; eco?)`, atomicity is seen to by the explorer, and `acyclic psc` is in [`super::psc`].

use super::{Model, Scratch, Site, coherence, psc};
use crate::graph::{Action, EventId, Graph, ThreadId};

/// The RC11 memory model.
#[derive(Clone, Copy, Debug)]
pub struct Rc11;

impl Model for Rc11 {
    fn floor(&self, graph: &Graph, site: &Site, _: &mut Scratch) -> usize {
        coherence::floor(graph, site.loc, graph.hb(site.tip))
    }

    fn must_ask(&self, graph: &Graph, thread: ThreadId) -> bool {
        graph.sc_fences() > 0 || (graph.sc_events() > 0 && may_be_sc(&graph.thread(thread).pending))
    }

    fn admits(&self, graph: &Graph, event: EventId, scratch: &mut Scratch) -> bool {
        psc::acyclic_with(graph, event, &mut scratch.psc)
    }

    fn admits_revisit(&self, graph: &Graph, scratch: &mut Scratch) -> bool {
        graph.sc_events() < 2 || psc::acyclic(graph, &mut scratch.psc)
    }
}

fn may_be_sc(action: &Action) -> bool {
    action.order(true).is_sc() || action.order(false).is_sc()
}
