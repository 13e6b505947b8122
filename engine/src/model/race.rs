//! Data races: two accesses of a location, one of them a write, one of them not atomic, and neither happens before the
//! other. They are judged by Rust's happens-before in every model: they are the language's, not the machine's.

use crate::graph::{EventId, Graph, Loc, ThreadId};

/// A data race. Accesses are named by thread and place in program order.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Race {
    /// The location.
    pub loc: Loc,
    /// The access that was there first.
    pub first: (ThreadId, u32),
    /// The access that races with it.
    pub second: (ThreadId, u32),
}

/// A race of `event` with an access that was added before it.
#[inline]
pub fn find_race(graph: &Graph, event: EventId) -> Option<Race> {
    if graph.has_plain_accesses() { find_plain_race(graph, event) } else { None }
}

fn find_plain_race(graph: &Graph, event: EventId) -> Option<Race> {
    let e = graph.event(event);
    if !e.is_access() {
        return None;
    }
    let location = graph.location(e.loc);
    let writes = location.co[1..].iter();
    let reads = location.reads.iter().filter(|_| e.is_write);
    let races = |&other: &EventId| {
        let both_atomic = e.order.is_atomic() && graph.event(other).order.is_atomic();
        other < event && !both_atomic && !graph.is_hb_before(other, event)
    };
    let first = graph.event(writes.chain(reads).copied().filter(races).min()?);
    Some(Race { loc: e.loc, first: (first.thread, first.index), second: (e.thread, e.index) })
}
