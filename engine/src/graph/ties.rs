//! Ties: which neighbours in a coherence order must be neighbours in that order, whatever the order of other writes is.
//!
//! Under reads-from equivalence the coherence order of a graph is a mere witness: some order with which the graph is
//! consistent. A write is *tied* if it must come after the one that comes right before it. Where all writes of a location
//! are tied there is but one order, and where all locations are like that, the graph has but one witness: there is nothing
//! to search for. That a write is not marked as tied means nothing.

use super::Graph;
use super::ids::{EventId, Loc, ThreadId};
use super::view::contains;

/// Which orders between writes are known to hold in every witness.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Ties {
    /// The coherence order is part of the graph: ties are not needed.
    Fixed,
    /// What program order says about a location.
    ProgramOrder,
    /// What happens-before says.
    HappensBefore,
    /// What causality says.
    Causality,
}

impl Graph {
    /// From now on the coherence order is a witness. The graph must be empty.
    pub(crate) fn forget_coherence(&mut self, ties: Ties) {
        self.ties = ties;
    }

    /// Whether the coherence order is a witness only.
    #[inline]
    pub(crate) fn has_witness(&self) -> bool {
        self.ties != Ties::Fixed
    }

    /// Whether the graph has but one witness.
    #[inline]
    pub(crate) fn is_settled(&self) -> bool {
        self.loose == 0
    }

    /// Whether a write comes before another of the same location in every witness; where it says no, nothing is known.
    pub(crate) fn is_tied(&self, a: EventId, b: EventId) -> bool {
        if a == EventId::INIT || b == EventId::INIT {
            return a == EventId::INIT;
        }
        let (first, second) = (self.event(a), self.event(b));
        if second.is_read && second.rf == a || self.is_known_before(a, b) {
            return true;
        }
        let reads = &self.location(first.loc).reads;
        reads.iter().any(|&read| read != b && self.event(read).rf == a && self.is_known_before(read, b))
    }

    /// Whether the next event of a thread is known not to be able to read from a write, because another one that comes
    /// after it in every witness is seen by the thread; where it says no, nothing is known.
    pub(crate) fn is_overwritten(&self, thread: ThreadId, write: EventId, loc: Loc) -> bool {
        let tip = self.thread(thread).tip();
        let view = match self.ties {
            Ties::HappensBefore => Some(self.hb(tip)),
            Ties::Causality => Some(self.porf(tip)),
            _ => None,
        };
        let is_seen = |id: EventId| {
            let event = self.event(id);
            event.thread == thread || view.is_some_and(|view| contains(view, event))
        };
        let location = self.location(loc);
        let reads = location.reads.iter().filter(|&&read| is_seen(read)).map(|&read| self.event(read).rf);
        let writes = location.co[1..].iter().copied().filter(|&other| is_seen(other));
        writes.chain(reads).any(|other| other != write && self.is_tied(write, other))
    }

    fn is_known_before(&self, a: EventId, b: EventId) -> bool {
        let (first, second) = (self.event(a), self.event(b));
        match self.ties {
            Ties::HappensBefore => self.is_hb_before(a, b),
            Ties::Causality => self.is_porf_before(a, b),
            _ => first.thread == second.thread && first.index < second.index,
        }
    }

    /// A write was put into the coherence order.
    #[inline(never)]
    pub(super) fn tie(&mut self, id: EventId, place: usize) {
        let event = self.event(id);
        let (loc, source) = (event.loc, event.rf);
        let co = &self.location(loc).co;
        let (before, after) = (co[place - 1], co.get(place + 1).copied());
        let tied = self.is_tied(before, id);
        self.add_tie(id, tied);
        if let Some(next) = after {
            // What comes after the source of a read-modify-write comes after that.
            let tied = self.event(next).tied && source == before || self.is_tied(id, next);
            self.change_tie(next, tied);
        }
    }

    /// A write was taken out of the coherence order of its location, where it had this place.
    #[inline(never)]
    pub(super) fn untie(&mut self, loc: Loc, place: usize, was_tied: bool) {
        self.locations[loc.index()].loose -= u32::from(!was_tied);
        self.loose -= u32::from(!was_tied);
        let co = &self.location(loc).co;
        if let Some(&next) = co.get(place) {
            let tied = self.is_tied(co[place - 1], next);
            self.change_tie(next, tied);
        }
    }

    /// Looks at all writes of a location anew.
    fn tie_all(&mut self, loc: Loc) {
        let location = &mut self.locations[loc.index()];
        self.loose -= std::mem::take(&mut location.loose);
        for place in 1..self.location(loc).co.len() {
            let co = &self.location(loc).co;
            let (before, id) = (co[place - 1], co[place]);
            let tied = self.is_tied(before, id);
            self.add_tie(id, tied);
        }
    }

    /// Looks at all writes anew. Hereafter the graph counts as settled just if all writes can be known to be ordered.
    #[inline(never)]
    pub(crate) fn tie_everything(&mut self) {
        for index in 0..self.locations.len() {
            self.tie_all(Loc::new(index));
        }
    }

    /// Replaces the witness: the writes of a location without the initialising one, in another order.
    pub(crate) fn set_order(&mut self, loc: Loc, order: impl Iterator<Item = EventId>) {
        let co = &mut self.locations[loc.index()].co;
        co.truncate(1);
        co.extend(order);
        for (place, &write) in co.iter().enumerate().skip(1) {
            self.events[write.index()].co_pos = place as u32;
        }
        self.tie_all(loc);
    }

    fn add_tie(&mut self, id: EventId, tied: bool) {
        let event = self.event_mut(id);
        event.tied = tied;
        let loc = event.loc;
        self.locations[loc.index()].loose += u32::from(!tied);
        self.loose += u32::from(!tied);
    }

    fn change_tie(&mut self, id: EventId, tied: bool) {
        let event = self.event(id);
        let (loc, was_tied) = (event.loc, event.tied);
        self.locations[loc.index()].loose -= u32::from(!was_tied);
        self.loose -= u32::from(!was_tied);
        self.add_tie(id, tied);
    }
}
