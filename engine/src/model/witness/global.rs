//! SC, TSO and PSO: `ppo ∪ rfe ∪ co ∪ fr` is acyclic, and each location is coherent by itself.
//!
//! The nodes are all events. Every access enters its location where it writes or reads, and every write leaves it at
//! itself.

use super::Description;
use crate::graph::{Action, EventId, Graph, Thread};
use crate::model::ghb::{Counts, Kind, Ppo};

/// Says what a model of this kind says about a graph.
pub(in crate::model) fn describe<P: Ppo>(ppo: &P, description: &mut Description<'_>) {
    description.begin(description.graph.len());
    let graph = description.graph;
    let mut counts = Counts::new();
    for (id, event) in graph.events() {
        let spawn = graph.thread(event.thread).spawn;
        add_before(ppo, description, &mut counts, id, (ppo.kind_of(event), event.po_prev, spawn));
        if event.is_read && (P::INTERNAL_RF || graph.event(event.rf).thread != event.thread) {
            append(description, id, event.rf);
        }
        if let Action::Join(target) = event.action {
            let Thread { last, spawn, .. } = *graph.thread(target);
            add_before(ppo, description, &mut counts, id, (Kind::Full, last, spawn));
        }
        for left in graph.leaves(id) {
            append(description, id, left);
        }
        if event.is_access() && description.is_written(event.loc) {
            let (node, anchor) = (id.index() as u32, description.anchor(id));
            description.orders().enter(node, anchor);
            if event.is_write {
                description.orders().leave(node, anchor, false);
            }
        }
    }
    for loc in description.witness.locations.clone() {
        order_location(description, graph, loc);
    }
}

/// What is ordered before an event of this kind that comes right after `last` in a thread started by `spawn`.
fn add_before<P: Ppo>(
    ppo: &P,
    description: &mut Description<'_>,
    counts: &mut Counts,
    id: EventId,
    (kind, last, spawn): (Kind, EventId, EventId),
) {
    counts.clear();
    let graph = description.graph;
    ppo.before(graph, kind, last, counts, |before| append(description, id, before));
    append(description, id, spawn);
}

fn append(description: &mut Description<'_>, id: EventId, before: EventId) {
    if before.is_some() && before != EventId::INIT {
        description.orders().append_node(id.index() as u32, before.index() as u32);
    }
}

/// A thread's accesses of a location, in program order: what it writes comes after what it has written or read before.
fn order_location(description: &mut Description<'_>, graph: &Graph, loc: crate::graph::Loc) {
    let location = graph.location(loc);
    for &write in &location.co[1..] {
        let (first, from) = (graph.event(write), description.anchor(write));
        for &other in location.co[1..].iter().chain(&location.reads) {
            let second = graph.event(other);
            if second.thread == first.thread && second.index > first.index {
                let to = description.anchor(other);
                if from != to {
                    description.orders().order_writes(from, to);
                }
            }
        }
    }
}
