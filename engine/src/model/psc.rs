//! RC11's partial SC order: `acyclic (psc_base ∪ psc_F)`.
//!
//! ```text
//! scb      = po ∪ po≠loc ; hb ; po≠loc ∪ hb|loc ∪ co ∪ fr
//! psc_base = ([SC accesses] ∪ [SC fences] ; hb?) ; scb ; ([SC accesses] ∪ hb? ; [SC fences])
//! psc_F    = [SC fences] ; (hb ∪ hb ; eco ; hb) ; [SC fences]
//! ```
//!
//! The nodes are the sequentially consistent accesses and fences; whether there is an edge between two of them is read off
//! the views and coherence positions.
//!
//! An access `e` that is added at the end of its thread has edges out only along coherence, and they start at `e` if it
//! is SC and at the SC fences that happen before it. So it closes a cycle just if it comes coherence-before something
//! from where one of these is reached: an SC write; or an access that happens before an SC fence. Edges into `e` that
//! depend on its own place or source need no look: where they begin, an edge to the same coherence-later access begins
//! too, so that the cycle would have been there before. Hence psc, like coherence, comes down to a floor: [`floor`] goes
//! back from `e` and from the fences before it.
//!
//! The start of a spawned thread and the end of a joined one are no events in the graph, but they count as such here:
//! they have no location, the start comes right after the spawn, and the end right before the join.

use super::Site;
use crate::graph::{Event, EventId, Graph, Loc, contains};

/// Buffers for the search.
#[derive(Debug, Default)]
pub(crate) struct PscScratch {
    /// Nodes that were not reached.
    left: Vec<EventId>,
    stack: Vec<EventId>,
}

/// The position of the coherence-latest write that an access at this site must not come before, because of psc.
pub(super) fn floor(graph: &Graph, site: &Site, is_sc: bool, scratch: &mut PscScratch) -> usize {
    let PscScratch { left, stack } = scratch;
    left.clear();
    left.extend_from_slice(graph.sc_events());
    stack.clear();
    let mut floor = 0;
    if graph.sc_fences() > 0 {
        take(left, stack, |f| graph.event(f).is_fence() && graph.is_hb_before(f, site.tip));
        while let Some(node) = stack.pop() {
            floor = floor.max(position_from_fences(graph, node, site.loc));
            take(left, stack, |a| edge(graph, a, node));
        }
    }
    if is_sc {
        let spawn = graph.thread(site.thread).spawn;
        let elsewhere = last_elsewhere_before(graph, site.po_prev, spawn, site.loc);
        take(left, stack, |a| is_before_site(graph, a, site, elsewhere));
        while let Some(node) = stack.pop() {
            floor = floor.max(position_from_access(graph, node, site.loc));
            take(left, stack, |a| edge(graph, a, node));
        }
    }
    floor
}

/// Moves the nodes for which the condition holds to the stack.
fn take(left: &mut Vec<EventId>, stack: &mut Vec<EventId>, mut holds: impl FnMut(EventId) -> bool) {
    left.retain(|&node| {
        let taken = holds(node);
        if taken {
            stack.push(node);
        }
        !taken
    });
}

/// The latest position at `loc` from which a fence that happens before the new access has an edge to the node.
fn position_from_fences(graph: &Graph, node: EventId, loc: Loc) -> usize {
    if !graph.event(node).is_fence() {
        return position_of_write(graph, node, loc);
    }
    let before = accesses(graph, loc).filter(|&y| graph.is_hb_before(y, node));
    before.map(|y| graph.co_position(y) as usize).max().unwrap_or(0)
}

/// The latest position at `loc` from which the new access, being SC, has an edge to the node.
fn position_from_access(graph: &Graph, node: EventId, loc: Loc) -> usize {
    if !graph.event(node).is_fence() {
        return position_of_write(graph, node, loc);
    }
    let co = &graph.location(loc).co;
    co.iter().rposition(|&y| y != EventId::INIT && graph.is_hb_before(y, node)).unwrap_or(0)
}

fn position_of_write(graph: &Graph, node: EventId, loc: Loc) -> usize {
    let event = graph.event(node);
    if event.is_write && event.loc == loc { event.co_pos as usize } else { 0 }
}

/// Whether there is an edge from the node to an SC access at the site, whatever it reads from and wherever it goes.
fn is_before_site(graph: &Graph, a: EventId, site: &Site, elsewhere: EventId) -> bool {
    let ea = graph.event(a);
    if ea.thread == site.thread {
        return graph.is_hb_before(a, site.tip);
    }
    if ea.is_fence() {
        return graph.is_hb_before(a, site.tip);
    }
    (ea.loc == site.loc && graph.is_hb_before(a, site.tip)) || happens_before_around(graph, ea, elsewhere)
}

/// Whether `(a, b) ∈ psc`.
fn edge(graph: &Graph, a: EventId, b: EventId) -> bool {
    let (ea, eb) = (graph.event(a), graph.event(b));
    match (ea.is_fence(), eb.is_fence()) {
        (false, false) => scb(graph, a, ea, b, eb),
        (true, false) => fence_to_access(graph, a, b, eb),
        (false, true) => access_to_fence(graph, a, ea, b),
        (true, true) => fence_to_fence(graph, a, b),
    }
}

/// Whether `(a, b) ∈ psc` for two different nodes, whatever the coherence order is.
pub(super) fn static_edge(graph: &Graph, a: EventId, b: EventId) -> bool {
    let (ea, eb) = (graph.event(a), graph.event(b));
    match (ea.is_fence(), eb.is_fence()) {
        (false, false) if ea.thread == eb.thread => ea.index < eb.index,
        (false, false) => {
            (ea.loc == eb.loc && graph.is_hb_before(a, b)) || happens_before_around(graph, ea, eb.elsewhere_before)
        }
        (true, false) => {
            happens_before_access(graph, a, eb)
                || accesses(graph, eb.loc).any(|x| x != b && graph.is_hb_before(a, x) && graph.is_hb_before(x, b))
        }
        (false, true) => {
            happens_before_fence(graph, ea, b)
                || accesses(graph, ea.loc).any(|y| y != a && graph.is_hb_before(y, b) && graph.is_hb_before(a, y))
        }
        (true, true) => graph.is_hb_before(a, b) || is_read_between(graph, a, b),
    }
}

/// Whether something that happens after the one fence is read by something that happens before the other.
fn is_read_between(graph: &Graph, f: EventId, g: EventId) -> bool {
    let is_between = |read: EventId| {
        let source = graph.event(read).rf;
        source != EventId::INIT && graph.is_hb_before(f, source) && graph.is_hb_before(read, g)
    };
    graph.locations().any(|(_, location)| location.reads.iter().any(|&read| is_between(read)))
}

/// Orders the accesses of a location along eco: `(x, y) ∈ eco` just if `rank(x) < rank(y)`.
fn rank(graph: &Graph, id: EventId) -> u32 {
    2 * graph.co_position(id) + u32::from(!graph.event(id).is_write)
}

/// Whether `(a, b) ∈ scb`, for two accesses.
fn scb(graph: &Graph, a: EventId, ea: &Event, b: EventId, eb: &Event) -> bool {
    if ea.thread == eb.thread {
        return ea.index < eb.index;
    }
    if ea.loc == eb.loc && (graph.is_hb_before(a, b) || co_or_fr(graph, a, b, eb)) {
        return true;
    }
    happens_before_around(graph, ea, eb.elsewhere_before)
}

/// Whether `(a, b) ∈ co ∪ fr`, for two accesses of the same location.
fn co_or_fr(graph: &Graph, a: EventId, b: EventId, eb: &Event) -> bool {
    eb.is_write && rank(graph, a) < rank(graph, b)
}

/// Whether `(a, b) ∈ po≠loc ; hb ; po≠loc`, for accesses of different threads, `before` being the last event before `b`
/// that is not at its location. A thread that is joined has the join after its last event.
fn happens_before_around(graph: &Graph, ea: &Event, before: EventId) -> bool {
    let after = match ea.elsewhere_after {
        EventId::NONE => graph.thread(ea.thread).join,
        after => after,
    };
    after.is_some() && before != EventId::INIT && graph.is_hb_before(after, before)
}

/// The last event, going back from `po_prev`, that is not at this location; `spawn` if that is the thread's start.
fn last_elsewhere_before(graph: &Graph, po_prev: EventId, spawn: EventId, loc: Loc) -> EventId {
    let mut id = po_prev;
    while id.is_some() {
        let event = graph.event(id);
        if !event.is_access() || event.loc != loc {
            return id;
        }
        id = event.po_prev;
    }
    spawn
}

pub(super) fn accesses(graph: &Graph, loc: Loc) -> impl Iterator<Item = EventId> {
    let location = graph.location(loc);
    let reads = location.reads.iter().copied().filter(|&r| !graph.event(r).is_write);
    location.co[1..].iter().copied().chain(reads)
}

/// Whether a fence happens before what comes right before an access.
fn happens_before_access(graph: &Graph, f: EventId, access: &Event) -> bool {
    let before = if access.po_prev.is_some() { access.po_prev } else { graph.thread(access.thread).spawn };
    graph.is_hb_before(f, before)
}

/// Whether what comes right after an access happens before a fence.
fn happens_before_fence(graph: &Graph, access: &Event, g: EventId) -> bool {
    let thread = graph.thread(access.thread);
    let hb = graph.hb(g);
    hb[access.thread.index()] > access.index + 1 || (thread.join.is_some() && contains(hb, graph.event(thread.join)))
}

/// Whether `([SC fence] ; hb? ; scb ; [SC access])` relates `f` and `b`.
fn fence_to_access(graph: &Graph, f: EventId, b: EventId, eb: &Event) -> bool {
    if happens_before_access(graph, f, eb) {
        return true;
    }
    accesses(graph, eb.loc)
        .any(|x| x != b && graph.is_hb_before(f, x) && (graph.is_hb_before(x, b) || co_or_fr(graph, x, b, eb)))
}

/// Whether `([SC access] ; scb ; hb? ; [SC fence])` relates `a` and `g`.
fn access_to_fence(graph: &Graph, a: EventId, ea: &Event, g: EventId) -> bool {
    if happens_before_fence(graph, ea, g) {
        return true;
    }
    accesses(graph, ea.loc).any(|y| {
        y != a && graph.is_hb_before(y, g) && (graph.is_hb_before(a, y) || co_or_fr(graph, a, y, graph.event(y)))
    })
}

/// Whether `(f, g) ∈ hb ∪ hb ; eco ; hb`, for two SC fences.
fn fence_to_fence(graph: &Graph, f: EventId, g: EventId) -> bool {
    if graph.is_hb_before(f, g) {
        return true;
    }
    graph.locations().any(|(loc, _)| {
        let first = accesses(graph, loc).filter(|&x| graph.is_hb_before(f, x)).map(|x| rank(graph, x)).min();
        let last = accesses(graph, loc).filter(|&y| graph.is_hb_before(y, g)).map(|y| rank(graph, y)).max();
        first.is_some_and(|first| last.is_some_and(|last| first < last))
    })
}
