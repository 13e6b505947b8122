//! RC11: `irreflexive (hb ; eco?)`, which says something about coherence alone, and `acyclic psc`.
//!
//! The nodes are the SC accesses and SC fences; [`super::super::psc`] has the definitions. An SC access enters its location
//! where it writes or reads, and leaves it if it writes (`co ∪ fr`). An SC fence enters and leaves through the accesses
//! that happen after and before it; from fence to fence also a read is left through (`eco`).

use super::Description;
use crate::graph::{EventId, Graph, Loc};
use crate::model::psc;

/// Says what RC11 says about a graph.
pub(in crate::model) fn describe(description: &mut Description<'_>) {
    let graph = description.graph;
    let sc = graph.sc_events();
    let nodes = if sc.len() < 2 { &[] } else { sc };
    description.begin(nodes.len());
    for loc in description.witness.locations.clone() {
        order_location(description, graph, loc);
    }
    for (node, &id) in nodes.iter().enumerate() {
        describe_node(description, graph, node as u32, id);
        for (other, &before) in nodes.iter().enumerate() {
            if before != id && psc::static_edge(graph, before, id) {
                description.orders().order_nodes(other as u32, node as u32);
            }
        }
    }
}

fn describe_node(description: &mut Description<'_>, graph: &Graph, node: u32, id: EventId) {
    let event = graph.event(id);
    if event.is_access() {
        if description.is_written(event.loc) {
            let anchor = description.anchor(id);
            description.orders().enter(node, anchor);
            if event.is_write {
                description.orders().leave(node, anchor, false);
            }
        }
        return;
    }
    description.orders().set_fence(node);
    for loc in description.witness.locations.clone() {
        for access in psc::accesses(graph, loc) {
            let anchor = description.anchor(access);
            if graph.is_hb_before(id, access) {
                description.orders().enter(node, anchor);
            }
            if graph.is_hb_before(access, id) {
                description.orders().leave(node, anchor, !graph.event(access).is_write);
            }
        }
    }
}

/// What happens before an access is not coherence-after it.
fn order_location(description: &mut Description<'_>, graph: &Graph, loc: Loc) {
    for first in psc::accesses(graph, loc) {
        for second in psc::accesses(graph, loc) {
            if first != second && graph.is_hb_before(first, second) {
                let (from, to) = (description.anchor(first), description.anchor(second));
                if from != to {
                    description.orders().order_writes(from, to);
                }
            }
        }
    }
}
