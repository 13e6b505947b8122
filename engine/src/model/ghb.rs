//! What is globally ordered before an event: backward reachability along `ppo ∪ rf ∪ co ∪ fr`.
//!
//! SC, TSO and PSO all say that such a relation is acyclic; they differ in the preserved program order and in whether a
//! thread's reads from its own writes count. The writes of a location that are reached always are a prefix of its
//! coherence order, so one position per location says which they are.

use crate::graph::{Action, Event, EventId, Graph, Loc, Thread};

/// Preserved program order.
pub(super) trait Ppo {
    /// Whether a thread's reads from its own writes are globally ordered.
    const INTERNAL_RF: bool;

    /// Calls `found` with events of a thread that are ordered before an event of this kind coming right after `last`;
    /// together with what is ordered before them, they must be all that are ordered before it.
    fn before(&self, graph: &Graph, kind: Kind, last: EventId, counts: &mut Counts, found: impl FnMut(EventId));

    /// What an action is to the preserved program order, before it is known whether it writes.
    fn kind(&self, action: &Action) -> Kind;

    /// What an event is to it.
    fn kind_of(&self, event: &Event) -> Kind {
        self.kind(&event.action)
    }
}

/// How many writes to each location a walk along a thread has met.
pub(super) type Counts = Vec<(Loc, usize)>;

/// What an event is to the preserved program order.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Kind {
    Read,
    Write,
    /// A write that is ordered after all that comes before it.
    ReleaseWrite,
    /// The same, and it is ordered before all that comes after it.
    FencedWrite,
    /// Ordered with everything.
    Full,
    /// Orders writes before it with writes after it.
    WriteFence,
    /// Orders nothing.
    Nothing,
}

/// What was reached.
#[derive(Debug, Default)]
pub(crate) struct Reach {
    /// For each event, the search that reached it last.
    events: Vec<u32>,
    /// For each location, the search that reached it last and the position up to which.
    locations: Vec<(u32, u32)>,
    /// The same for the last blind update that was reached by itself.
    blind: Vec<(u32, u32)>,
    search: u32,
    stack: Vec<EventId>,
    counts: Counts,
}

impl Reach {
    /// The coherence position of the latest write to `loc` that is ordered before an event of this kind that comes
    /// right after `last` in a thread started by `spawn`.
    pub(super) fn floor<P: Ppo>(
        &mut self,
        ppo: &P,
        graph: &Graph,
        kind: Kind,
        last: EventId,
        spawn: EventId,
        loc: Loc,
    ) -> usize {
        self.begin(graph);
        self.mark_before(ppo, graph, kind, last, spawn);
        while let Some(id) = self.stack.pop() {
            self.expand(ppo, graph, id);
        }
        let blind = self.blind.get(loc.index()).filter(|(search, _)| *search == self.search);
        blind.map_or(0, |(_, position)| *position).max(self.position(loc)) as usize
    }

    fn begin(&mut self, graph: &Graph) {
        self.search = self.search.wrapping_add(1);
        if self.search == 0 {
            self.events.fill(0);
            self.locations.fill((0, 0));
            self.blind.fill((0, 0));
            self.search = 1;
        }
        self.stack.clear();
        if self.events.len() < graph.len() {
            self.events.resize(graph.len(), 0);
        }
        let locations = graph.locations().len();
        if self.locations.len() < locations {
            self.locations.resize(locations, (0, 0));
        }
    }

    fn position(&self, loc: Loc) -> u32 {
        let (search, position) = self.locations[loc.index()];
        if search == self.search { position } else { 0 }
    }

    fn mark(&mut self, id: EventId) {
        if id != EventId::INIT && id.is_some() && self.events[id.index()] != self.search {
            self.events[id.index()] = self.search;
            self.stack.push(id);
        }
    }

    fn mark_before<P: Ppo>(&mut self, ppo: &P, graph: &Graph, kind: Kind, last: EventId, spawn: EventId) {
        let mut counts = std::mem::take(&mut self.counts);
        counts.clear();
        ppo.before(graph, kind, last, &mut counts, |id| self.mark(id));
        self.counts = counts;
        self.mark(spawn);
    }

    fn expand<P: Ppo>(&mut self, ppo: &P, graph: &Graph, id: EventId) {
        let event = graph.event(id);
        let source = graph.event(event.rf_or_init());
        match event.is_read && !event.blind {
            // Everything that it sees could be the write that it reads from.
            true if source.blind => self.mark_coherence(graph, event.loc, source.co_pos),
            true if P::INTERNAL_RF || source.thread != event.thread => self.mark(event.rf),
            _ => {}
        }
        match event.is_write {
            true if event.blind => self.mark_before_layer(graph, event),
            true => self.mark_coherence(graph, event.loc, event.co_pos),
            false => {}
        }
        if let Action::Join(target) = event.action {
            let Thread { last, spawn, .. } = *graph.thread(target);
            self.mark_before(ppo, graph, Kind::Full, last, spawn);
        }
        for left in graph.leaves(id) {
            self.mark(left);
        }
        let spawn = graph.thread(event.thread).spawn;
        self.mark_before(ppo, graph, ppo.kind_of(event), event.po_prev, spawn);
    }

    /// Marks the writes up to a position, and the reads that are from-read-before one of them.
    fn mark_coherence(&mut self, graph: &Graph, loc: Loc, position: u32) {
        let known = self.position(loc);
        if position <= known {
            return;
        }
        self.locations[loc.index()] = (self.search, position);
        let location = graph.location(loc);
        for &write in &location.co[known as usize + 1..=position as usize] {
            self.mark(write);
        }
        self.mark_reads(graph, loc, known, position);
    }

    /// Marks the reads that read from these positions.
    fn mark_reads(&mut self, graph: &Graph, loc: Loc, start: u32, end: u32) {
        for &read in &graph.location(loc).reads {
            let event = graph.event(read);
            let source = graph.event(event.rf).co_pos;
            if source >= start && source < end && !event.blind {
                self.mark(read);
            }
        }
    }

    /// Marks what is ordered before a blind update whatever its place in its layer.
    fn mark_before_layer(&mut self, graph: &Graph, event: &Event) {
        if self.blind.len() < self.locations.len() {
            self.blind.resize(self.locations.len(), (0, 0));
        }
        let (search, reached) = self.blind[event.loc.index()];
        let reached = if search == self.search { reached.max(event.co_pos) } else { event.co_pos };
        self.blind[event.loc.index()] = (self.search, reached);
        let start = graph.layer(event.loc, event.co_pos as usize).start as u32;
        self.mark_coherence(graph, event.loc, start - 1);
        self.mark_reads(graph, event.loc, start - 1, start);
    }
}
