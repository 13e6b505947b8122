//! psc without SC fences, which is the common case and has more structure: see [`super::psc`] for the definitions.
//!
//! Without fences psc is scb between SC accesses. If something is reached from an SC access, it is from the SC accesses
//! before that in program order, and from those that are coherence-before it: so it is enough to go back to the nearest
//! ones. Where [`super::psc`] tries all pairs of nodes, this visits each node once, and looks at its thread, its location,
//! and the threads that happen before it.

use super::Site;
use crate::graph::{EventId, Graph, Loc, ThreadId};

/// Which SC accesses reach a site.
#[derive(Debug, Default)]
pub(crate) struct PscReach {
    search: u32,
    /// For each event, the search that reached it last.
    events: Vec<u32>,
    /// For each location, the search that reached a write of it last, and the position up to which all were.
    locations: Vec<(u32, u32)>,
    /// For each thread, the search that came through it last, and up to which event what happens before it was seen.
    threads: Vec<(u32, EventId)>,
    /// For each thread, the search that looked for its SC accesses last, and how many of its events were looked at.
    around: Vec<(u32, u32)>,
    stack: Vec<EventId>,
}

impl PscReach {
    /// The position of the coherence-latest SC write to the site's location from which an SC access at the site is
    /// reached, whatever that reads from and wherever it goes.
    pub(super) fn floor(&mut self, graph: &Graph, site: &Site) -> usize {
        self.begin(graph);
        self.mark_in_thread(graph, site.po_prev);
        self.mark_at_location(graph, site.loc, site.tip, u32::MAX);
        let elsewhere = elsewhere_before(graph, site);
        self.mark_around(graph, site.thread, elsewhere);
        let last = graph.location(site.loc).co.len() as u32 - 1;
        while let Some(id) = self.stack.pop()
            && self.position(site.loc) < last
        {
            self.expand(graph, id);
        }
        self.position(site.loc) as usize
    }

    fn begin(&mut self, graph: &Graph) {
        self.search = self.search.wrapping_add(1);
        if self.search == 0 {
            *self = PscReach { search: 1, ..PscReach::default() };
        }
        self.stack.clear();
        if self.events.len() < graph.len() {
            self.events.resize(graph.len(), 0);
        }
        let locations = graph.locations().len();
        if self.locations.len() < locations {
            self.locations.resize(locations, (0, 0));
        }
        if self.threads.len() < graph.thread_count() {
            self.threads.resize(graph.thread_count(), (0, EventId::INIT));
            self.around.resize(graph.thread_count(), (0, 0));
        }
    }

    fn position(&self, loc: Loc) -> u32 {
        let (search, position) = self.locations[loc.index()];
        if search == self.search { position } else { 0 }
    }

    fn mark(&mut self, id: EventId) {
        if self.events[id.index()] != self.search {
            self.events[id.index()] = self.search;
            self.stack.push(id);
        }
    }

    fn expand(&mut self, graph: &Graph, id: EventId) {
        let event = graph.event(id);
        self.mark_in_thread(graph, event.po_prev);
        if event.is_write {
            self.mark_coherence(graph, event.loc, event.co_pos);
        }
        if event.is_read {
            self.mark_at_location(graph, event.loc, id, graph.event(event.rf).co_pos);
        }
        self.mark_around(graph, event.thread, event.elsewhere_before);
    }

    /// `po`: the latest SC access of the thread up to this event.
    fn mark_in_thread(&mut self, graph: &Graph, last: EventId) {
        let latest = graph.latest_sc(last);
        if latest.is_some() {
            self.mark(latest);
        }
    }

    /// `co ∪ fr`: the SC writes up to a position, and the SC reads from writes before it.
    fn mark_coherence(&mut self, graph: &Graph, loc: Loc, position: u32) {
        let known = self.position(loc);
        if position <= known {
            return;
        }
        self.locations[loc.index()] = (self.search, position);
        let location = graph.location(loc);
        for &write in &location.co[known as usize + 1..=position as usize] {
            if graph.event(write).order.is_sc() {
                self.mark(write);
            }
        }
        for &read in &location.reads {
            let event = graph.event(read);
            let source = graph.event(event.rf).co_pos;
            if event.order.is_sc() && source >= known && source < position {
                self.mark(read);
            }
        }
    }

    /// `hb|loc`: the SC accesses of the location that happen before this event and are not after the position.
    fn mark_at_location(&mut self, graph: &Graph, loc: Loc, event: EventId, position: u32) {
        let known = self.position(loc) as usize;
        let location = graph.location(loc);
        let end = location.co.len().min((position as usize).saturating_add(1));
        let happens_before = |id: EventId| graph.event(id).order.is_sc() && graph.is_hb_before(id, event);
        if let Some(&write) = location.co[(known + 1).min(end)..end].iter().rev().find(|&&w| happens_before(w)) {
            self.mark(write);
        }
        for &read in &location.reads {
            if graph.event(graph.event(read).rf).co_pos as usize >= known && happens_before(read) {
                self.mark(read);
            }
        }
    }

    /// `po≠loc ; hb ; po≠loc`: the latest SC access of each other thread that has something elsewhere after it which
    /// happens before the latest event that is elsewhere.
    fn mark_around(&mut self, graph: &Graph, thread: ThreadId, elsewhere: EventId) {
        let (search, seen) = self.threads[thread.index()];
        if elsewhere == EventId::INIT || (search == self.search && elsewhere <= seen) {
            return;
        }
        self.threads[thread.index()] = (self.search, elsewhere);
        for (other, &count) in graph.hb(elsewhere).iter().enumerate().take(self.around.len()) {
            let around = &mut self.around[other];
            // What comes of fewer events, or of a thread that is not joined, is before what is marked already.
            let known = if around.0 == self.search { around.1 } else { 0 };
            if count <= known || other == thread.index() {
                continue;
            }
            *around = (self.search, count);
            let mut id = graph.latest_sc(graph.thread(ThreadId::new(other)).last);
            while id.is_some() && !is_around(graph, id, elsewhere) {
                id = graph.latest_sc(graph.event(id).po_prev);
            }
            if id.is_some() {
                self.mark(id);
            }
        }
    }
}

fn is_around(graph: &Graph, id: EventId, elsewhere: EventId) -> bool {
    let event = graph.event(id);
    let after = match event.elsewhere_after {
        EventId::NONE => graph.thread(event.thread).join,
        after => after,
    };
    after.is_some() && graph.is_hb_before(after, elsewhere)
}

/// The latest event before the site that is not at its location.
fn elsewhere_before(graph: &Graph, site: &Site) -> EventId {
    if !site.po_prev.is_some() {
        return site.tip;
    }
    let before = graph.event(site.po_prev);
    if before.is_access() && before.loc == site.loc { before.elsewhere_before } else { site.po_prev }
}
