//! Sequential consistency: `acyclic (po ∪ rf ∪ co ∪ fr)`.

use super::ghb::{Counts, Kind, Ppo};
use super::witness::{Description, describe_global};
use super::{Model, Scratch, Site};
use crate::graph::{Action, EventId, Graph, Ties};

/// Sequential consistency.
#[derive(Clone, Copy, Debug)]
pub struct Sc;

impl Ppo for Sc {
    const INTERNAL_RF: bool = true;

    fn before(&self, _: &Graph, _: Kind, last: EventId, _: &mut Counts, mut found: impl FnMut(EventId)) {
        found(last);
    }

    fn kind(&self, _: &Action) -> Kind {
        Kind::Full
    }
}

impl Model for Sc {
    fn floor(&self, graph: &Graph, site: &Site, scratch: &mut Scratch) -> usize {
        if graph.location(site.loc).co.len() == 1 {
            return 0;
        }
        let spawn = graph.thread(site.thread).spawn;
        scratch.reach.floor(self, graph, Kind::Full, site.po_prev, spawn, site.loc)
    }

    fn ties(&self) -> Ties {
        Ties::Causality
    }

    fn describe(&self, description: &mut Description<'_>) {
        describe_global(self, description);
    }
}
