//! Coherence: `irreflexive (hb ; eco)` for whatever hb a model has, by views.

use super::Site;
use crate::graph::{EventId, Graph, Loc, View, contains};

/// The position of the coherence-latest write of `loc` that the view contains or that a read in the view reads from.
///
/// A read that has the view before it must not read from an earlier write (write-read and read-read coherence), a write
/// must not go before it (write-write and read-write coherence).
pub(crate) fn floor(graph: &Graph, loc: Loc, view: &View) -> usize {
    let location = graph.location(loc);
    if location.co.len() == 1 {
        return 0;
    }
    let seen = |w: &EventId| contains(view, graph.event(*w));
    let written = location.co.iter().rposition(seen).unwrap_or(0);
    // What a blind update reads from is no more than one of the writes that could be before it.
    let reads = location.reads.iter().filter(|r| seen(r) && !graph.event(**r).blind);
    let sources = reads.map(|&r| graph.event(graph.event(r).rf).co_pos as usize);
    sources.max().unwrap_or(0).max(written)
}

/// The position of the coherence-latest write of a location that the thread has itself written or read from.
pub(super) fn floor_of_thread(graph: &Graph, site: &Site) -> usize {
    let location = graph.location(site.loc);
    let done = if site.po_prev.is_some() { graph.event(site.po_prev).index + 1 } else { 0 };
    let own = |id: &EventId| {
        let event = graph.event(*id);
        event.thread == site.thread && event.index < done
    };
    let written = location.co[1..].iter().rposition(own).map_or(0, |p| p + 1);
    let reads = location.reads.iter().filter(|r| own(r) && !graph.event(**r).blind);
    let sources = reads.map(|&r| graph.event(graph.event(r).rf).co_pos as usize);
    sources.max().unwrap_or(0).max(written)
}
