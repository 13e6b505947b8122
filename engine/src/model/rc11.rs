//! RC11 (Lahav, Vafeiadis, Kang, Hur, Dreyer: Repairing Sequential Consistency in C/C++11, PLDI 2017), with C++20's
//! release sequences.
//!
//! `hb = (po ∪ sw)⁺` is what the graph's hb views hold: they are built as events are added. Coherence is
//! `irreflexive (hb ; eco?)`, atomicity is seen to by the explorer, and `acyclic psc` is in [`super::psc`].

use super::witness::{Description, describe_partial_sc};
use super::{Model, Scratch, Site, coherence, psc};
use crate::graph::{Graph, Ties};

/// The RC11 memory model.
#[derive(Clone, Copy, Debug)]
pub struct Rc11;

impl Model for Rc11 {
    fn floor(&self, graph: &Graph, site: &Site, scratch: &mut Scratch) -> usize {
        let floor = coherence::floor(graph, site.loc, graph.hb(site.tip));
        let last = graph.location(site.loc).co.len() - 1;
        let is_sc = site.order.is_sc();
        let has_fences = graph.sc_fences() > 0;
        if floor == last || !(is_sc || has_fences) || graph.sc_events().is_empty() {
            return floor;
        }
        floor.max(match has_fences {
            true => psc::floor(graph, site, is_sc, &mut scratch.psc),
            false => scratch.psc_reach.floor(graph, site),
        })
    }

    fn is_local(&self, graph: &Graph, site: &Site) -> bool {
        !site.order.is_sc() && graph.sc_fences() == 0
    }

    fn orders_updates(&self) -> bool {
        false
    }

    /// Between fences, psc goes through the order of writes, whatever they are.
    fn admits_blind(&self, graph: &Graph) -> bool {
        graph.sc_fences() == 0
    }

    fn ties(&self) -> Ties {
        Ties::HappensBefore
    }

    fn describe(&self, description: &mut Description<'_>) {
        describe_partial_sc(description);
    }
}
