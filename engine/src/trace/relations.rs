//! How the steps of an execution hang together: coherence, and who synchronizes with whom.

use crate::graph::{Action, Event, EventId, Graph};

/// The writes of each location, in coherence order; locations with fewer than two are left out.
pub fn coherence(graph: &Graph) -> Vec<Vec<u32>> {
    let writes = graph.locations().map(|(_, location)| location.co[1..].iter().map(|id| number(*id)).collect());
    writes.filter(|writes: &Vec<u32>| writes.len() > 1).collect()
}

/// The pairs of steps in which the first synchronizes with the second, spawns and joins included: with program order they
/// make up happens-before.
pub fn synchronizes_with(graph: &Graph) -> Vec<(u32, u32)> {
    let mut pairs = Vec::new();
    for (id, event) in graph.events() {
        pairs.extend(sources(graph, id, event).into_iter().map(|source| (number(source), number(id))));
    }
    pairs.sort_unstable_by_key(|(from, to)| (*to, *from));
    pairs.dedup();
    pairs
}

/// The events of other threads that synchronize with an event.
fn sources(graph: &Graph, id: EventId, event: &Event) -> Vec<EventId> {
    let mut sources = Vec::new();
    if event.index == 0 {
        let spawn = graph.thread(event.thread).spawn;
        sources.extend((spawn != EventId::INIT).then_some(spawn));
    }
    match event.action {
        Action::Join(target) => {
            let last = graph.thread(target).last;
            sources.extend(last.is_some().then_some(last));
        }
        Action::Fence { order } if order.is_acquire() => {
            let mut before = event.po_prev;
            while before.is_some() {
                let earlier = graph.event(before);
                if earlier.is_fence() && earlier.order.is_acquire() {
                    break;
                }
                if earlier.is_read && earlier.order.is_atomic() {
                    release_heads(graph, earlier.rf, &mut sources);
                }
                before = earlier.po_prev;
            }
        }
        Action::Reach { .. } => sources.extend(graph.leaves(id).filter(|left| *left < id)),
        _ => {}
    }
    if event.is_read && event.order.is_acquire() {
        release_heads(graph, event.rf, &mut sources);
    }
    sources.retain(|source| graph.event(*source).thread != event.thread);
    sources
}

/// The releases that a read of a write sees: the write, a fence before it, and those of the updates that it continues.
fn release_heads(graph: &Graph, mut write: EventId, heads: &mut Vec<EventId>) {
    while write.is_some() && write != EventId::INIT {
        let event = graph.event(write);
        if event.order.is_release() {
            heads.push(write);
        } else if event.release_fence.is_some() {
            heads.push(event.release_fence);
        }
        if !event.is_read {
            return;
        }
        write = event.rf;
    }
}

fn number(id: EventId) -> u32 {
    id.index() as u32
}
