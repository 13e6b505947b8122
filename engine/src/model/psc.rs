//! RC11's partial SC order: `acyclic (psc_base ∪ psc_F)`.
//!
//! ```text
//! scb      = po ∪ po≠loc ; hb ; po≠loc ∪ hb|loc ∪ co ∪ fr
//! psc_base = ([SC accesses] ∪ [SC fences] ; hb?) ; scb ; ([SC accesses] ∪ hb? ; [SC fences])
//! psc_F    = [SC fences] ; (hb ∪ hb ; eco ; hb) ; [SC fences]
//! ```
//!
//! The nodes are the sequentially consistent accesses and fences, and whether there is an edge between two of them is
//! read off the views and coherence positions: a depth-first search decides about cycles. An event that has just been
//! added has edges out only along coherence, so that every cycle through it passes the event itself, if it is SC, or an
//! SC fence that happens before it: the search starts there.
//!
//! The start of a spawned thread and the end of a joined one are no events in the graph, but they count as such here:
//! they have no location, the start comes right after the spawn, and the end right before the join.

use crate::graph::{Event, EventId, Graph, contains};

/// Buffers for the search.
#[derive(Debug, Default)]
pub(crate) struct PscScratch {
    nodes: Vec<EventId>,
    colours: Vec<Colour>,
    stack: Vec<(usize, usize)>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Colour {
    New,
    Open,
    Done,
}

/// Whether psc is acyclic, given that it is without `added`.
pub(super) fn acyclic_with(graph: &Graph, added: EventId, scratch: &mut PscScratch) -> bool {
    let is_source = |id: EventId| (id == added && !graph.event(id).is_fence()) || precedes_as_fence(graph, id, added);
    search(graph, is_source, scratch)
}

fn precedes_as_fence(graph: &Graph, fence: EventId, event: EventId) -> bool {
    graph.event(fence).is_sc_fence() && graph.is_hb_before(fence, event)
}

/// Whether psc is acyclic.
pub(super) fn acyclic(graph: &Graph, scratch: &mut PscScratch) -> bool {
    search(graph, |_| true, scratch)
}

fn search(graph: &Graph, is_source: impl Fn(EventId) -> bool, scratch: &mut PscScratch) -> bool {
    let PscScratch { nodes, colours, stack } = scratch;
    nodes.clear();
    nodes.extend(graph.events().filter(|(_, e)| e.is_sc_access() || e.is_sc_fence()).map(|(id, _)| id));
    colours.clear();
    colours.resize(nodes.len(), Colour::New);
    for source in 0..nodes.len() {
        if colours[source] == Colour::New && is_source(nodes[source]) && !visit(graph, source, nodes, colours, stack) {
            return false;
        }
    }
    true
}

fn visit(
    graph: &Graph,
    source: usize,
    nodes: &[EventId],
    colours: &mut [Colour],
    stack: &mut Vec<(usize, usize)>,
) -> bool {
    stack.clear();
    stack.push((source, 0));
    colours[source] = Colour::Open;
    while let Some((node, next)) = stack.last_mut() {
        if *next == nodes.len() {
            colours[*node] = Colour::Done;
            stack.pop();
            continue;
        }
        let (from, to) = (*node, *next);
        *next += 1;
        if from == to || colours[to] == Colour::Done || !edge(graph, nodes[from], nodes[to]) {
            continue;
        }
        if colours[to] == Colour::Open {
            return false;
        }
        colours[to] = Colour::Open;
        stack.push((to, 0));
    }
    true
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

/// Orders the accesses of a location along eco: `(x, y) ∈ eco` just if `rank(x) < rank(y)`.
fn rank(graph: &Graph, id: EventId) -> u32 {
    2 * graph.co_position(id) + u32::from(!graph.event(id).is_write)
}

/// Whether `(a, b) ∈ scb`, for two accesses.
fn scb(graph: &Graph, a: EventId, ea: &Event, b: EventId, eb: &Event) -> bool {
    if ea.thread == eb.thread {
        return ea.index < eb.index || (ea.loc == eb.loc && co_or_fr(graph, a, b, eb));
    }
    if ea.loc == eb.loc && (graph.is_hb_before(a, b) || co_or_fr(graph, a, b, eb)) {
        return true;
    }
    happens_before_around(graph, a, ea, eb)
}

/// Whether `(a, b) ∈ co ∪ fr`, for two accesses of the same location.
fn co_or_fr(graph: &Graph, a: EventId, b: EventId, eb: &Event) -> bool {
    eb.is_write && rank(graph, a) < rank(graph, b)
}

/// Whether `(a, b) ∈ po≠loc ; hb ; po≠loc`, for accesses of different threads.
fn happens_before_around(graph: &Graph, a: EventId, ea: &Event, eb: &Event) -> bool {
    let Some(after) = first_elsewhere_after(graph, a, ea) else { return false };
    let before = last_elsewhere_before(graph, eb);
    before != EventId::INIT && graph.is_hb_before(after, before)
}

/// The first event after `a` in program order that is not at its location; the join if that is the thread's end.
fn first_elsewhere_after(graph: &Graph, a: EventId, ea: &Event) -> Option<EventId> {
    let thread = graph.thread(ea.thread);
    let mut first = thread.join.is_some().then_some(thread.join);
    let mut id = thread.last;
    while id != a {
        let event = graph.event(id);
        if !event.is_access() || event.loc != ea.loc {
            first = Some(id);
        }
        id = event.po_prev;
    }
    first
}

/// The last event before `b` in program order that is not at its location; the spawn if that is the thread's start.
fn last_elsewhere_before(graph: &Graph, eb: &Event) -> EventId {
    let mut id = eb.po_prev;
    while id.is_some() {
        let event = graph.event(id);
        if !event.is_access() || event.loc != eb.loc {
            return id;
        }
        id = event.po_prev;
    }
    graph.thread(eb.thread).spawn
}

fn accesses(graph: &Graph, loc: crate::graph::Loc) -> impl Iterator<Item = EventId> {
    let location = graph.location(loc);
    let reads = location.reads.iter().copied().filter(|&r| !graph.event(r).is_write);
    location.co[1..].iter().copied().chain(reads)
}

/// Whether `([SC fence] ; hb? ; scb ; [SC access])` relates `f` and `b`.
fn fence_to_access(graph: &Graph, f: EventId, b: EventId, eb: &Event) -> bool {
    let before = if eb.po_prev.is_some() { eb.po_prev } else { graph.thread(eb.thread).spawn };
    if graph.is_hb_before(f, before) {
        return true;
    }
    accesses(graph, eb.loc)
        .any(|x| x != b && graph.is_hb_before(f, x) && (graph.is_hb_before(x, b) || co_or_fr(graph, x, b, eb)))
}

/// Whether `([SC access] ; scb ; hb? ; [SC fence])` relates `a` and `g`.
fn access_to_fence(graph: &Graph, a: EventId, ea: &Event, g: EventId) -> bool {
    let thread = graph.thread(ea.thread);
    let hb = graph.hb(g);
    if hb[ea.thread.index()] > ea.index + 1 || (thread.join.is_some() && contains(hb, graph.event(thread.join))) {
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
