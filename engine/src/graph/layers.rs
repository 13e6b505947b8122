//! Blind updates, and the layers that they form.
//!
//! Updates such as `x.fetch_add(1)` whose results make no difference commute: in which order they take place is not part
//! of an execution. Such an update is *blind*. It has a place in coherence order, since everything else is easier that
//! way, and a write that it reads from: the one before it. But that is one of many orders, chosen arbitrarily, and
//! nothing may depend on it. So the views of a blind update do not contain what it reads from; who reads from it
//! depends on all of its [chain](super::extend::chain).
//!
//! A run of blind updates with no read in between is a *layer*: its members may be put in any other order. Whoever reads
//! the location sees all layers up to some place, and has a border there from then on. So who reads a part of a layer
//! splits it in two.

use super::action::Action;
use super::extend::{Effect, chain};
use super::ids::{EventId, Loc, ThreadId};
use super::{Event, Graph, Location};
use std::collections::BTreeSet;
use std::ops::Range;

impl Graph {
    /// Whether there are blind updates.
    #[inline]
    pub fn has_blind(&self) -> bool {
        self.blind > 0
    }

    /// Whether there are blind updates of a location.
    pub(crate) fn has_blind_at(&self, loc: Loc) -> bool {
        self.blind > 0 && self.location(loc).co.iter().any(|&write| self.event(write).blind)
    }

    /// The locations with blind updates.
    pub(crate) fn locations_with_blind(&self) -> Vec<Loc> {
        self.locations().map(|(loc, _)| loc).filter(|&loc| self.has_blind_at(loc)).collect()
    }

    /// A write, and the blind updates right before it with what they come after.
    pub(crate) fn chain(&self, write: EventId) -> impl Iterator<Item = EventId> {
        chain(&self.events, write)
    }

    /// Whether somebody reads from the write at a position and sees nothing after it, or something else than a blind
    /// update is at that position or after it: what is on one side of it stays there.
    pub(crate) fn is_border(&self, loc: Loc, position: usize) -> bool {
        let Location { co, reads, .. } = self.location(loc);
        let write = co[position];
        let looks = |read: &EventId| !self.event(*read).blind && self.event(*read).rf == write;
        !self.event(write).blind
            || co.get(position + 1).is_none_or(|&next| !self.event(next).blind)
            || reads.iter().any(looks)
    }

    /// The positions of the layer that a blind update is in.
    pub(crate) fn layer(&self, loc: Loc, position: usize) -> Range<usize> {
        let mut start = position;
        while !self.is_border(loc, start - 1) {
            start -= 1;
        }
        let mut end = position;
        while !self.is_border(loc, end) {
            end += 1;
        }
        start..end + 1
    }

    /// The positions of the blind updates of a location that no thread has read: more can be placed among them.
    pub(crate) fn open_layer(&self, loc: Loc) -> Range<usize> {
        self.last_look(loc) + 1..self.location(loc).co.len()
    }

    /// Where the layer begins that the write at a position is in; right there if it is not blind.
    pub(crate) fn layer_start(&self, loc: Loc, position: usize) -> usize {
        if self.event(self.location(loc).co[position]).blind { self.layer(loc, position).start } else { position }
    }

    /// The last position of a location that is not a blind update, or that some event reads from.
    pub(crate) fn last_look(&self, loc: Loc) -> usize {
        let Location { co, reads, .. } = self.location(loc);
        let looks = |write: EventId| reads.iter().any(|&read| !self.event(read).blind && self.event(read).rf == write);
        co.iter().rposition(|&write| !self.event(write).blind || looks(write)).unwrap_or(0)
    }

    /// Whether some update of a location might have been blind.
    pub(crate) fn has_candidates_at(&self, loc: Loc) -> bool {
        let co = self.locations.get(loc.index()).map_or(&[][..], |location| &location.co);
        co.iter().any(|&write| self.event(write).blind || self.event(write).action.may_be_blind())
    }

    /// Whether readers have locked a location.
    pub(crate) fn has_read_locks_at(&self, loc: Loc) -> bool {
        let co = self.locations.get(loc.index()).map_or(&[][..], |location| &location.co);
        co.iter().any(|&write| self.event(write).action.is_read_lock())
    }

    /// The first acquire fence after an event in program order.
    pub(crate) fn acquire_fence_after(&self, id: EventId) -> Option<EventId> {
        let Event { thread, index, .. } = *self.event(id);
        let after = |event: &Event| event.thread == thread && event.index > index;
        let fence = |event: &Event| event.is_fence() && event.order.is_acquire();
        let mut later = self.events().skip(id.index());
        later.find(|(_, event)| after(event) && fence(event)).map(|(id, _)| id)
    }

    /// The writes that an acquire fence after a blind update acquires from, since they come before it in any order.
    pub(super) fn acquired_blindly(&self, id: EventId) -> Vec<EventId> {
        let Event { loc, co_pos, .. } = *self.event(id);
        let layer = self.layer(loc, co_pos as usize);
        let co = &self.location(loc).co;
        let forced = co[layer.clone()].iter().copied().filter(|&other| other != id && self.is_porf_before(other, id));
        self.chain(co[layer.start - 1]).chain(forced).collect()
    }

    /// Puts the writes of a location in another order, from a position on.
    pub(crate) fn arrange(&mut self, loc: Loc, from: usize, order: &[EventId]) {
        let Location { co, reads, .. } = &mut self.locations[loc.index()];
        // Who looks at a place sees whatever is there.
        for &read in reads.iter() {
            let event = &mut self.events[read.index()];
            let place = co[from..from + order.len()].iter().position(|&write| write == event.rf);
            if let (false, Some(place)) = (event.blind, place) {
                event.rf = order[place];
            }
        }
        co.splice(from..from + order.len(), order.iter().copied());
        self.rechain(loc);
    }

    /// Lets blind updates read from what is before them now.
    pub(super) fn rechain(&mut self, loc: Loc) {
        let Location { co, init, .. } = &self.locations[loc.index()];
        let (mut before, mut value) = (EventId::INIT, *init);
        for (position, &write) in co.iter().enumerate().skip(1) {
            let event = &mut self.events[write.index()];
            event.co_pos = position as u32;
            if event.blind {
                (event.rf, event.answer) = (before, value);
                event.written = event.action.update(value, event.way).unwrap_or(value);
            }
            (before, value) = (write, event.written);
        }
    }

    /// The same for all locations.
    pub(super) fn rechain_all(&mut self) {
        if self.blind > 0 {
            (0..self.locations.len()).for_each(|index| self.rechain(Loc::new(index)));
        }
    }

    /// Puts a blind update at the beginning of its layer, where it stays: it is blind no more.
    pub(crate) fn settle_first(&mut self, id: EventId) {
        let Event { loc, co_pos, .. } = *self.event(id);
        let layer = self.layer(loc, co_pos as usize);
        let mut order = self.location(loc).co[layer.clone()].to_vec();
        order.retain(|&other| other != id);
        order.insert(0, id);
        self.arrange(loc, layer.start, &order);
        self.event_mut(id).blind = false;
        self.blind -= 1;
    }

    /// The execution again, its events in an order in which each comes after those that it depends on.
    pub(crate) fn sorted(&self) -> Graph {
        let order = self.sort().unwrap_or_default();
        let mut names = vec![EventId::INIT; self.len()];
        order.iter().enumerate().for_each(|(index, id)| names[id.index()] = EventId::new(index + 1));
        let origins: Vec<_> = (0..self.thread_count()).map(|index| self.origin(ThreadId::new(index))).collect();
        let Some(mut graph) = Graph::with_threads(&origins) else { return self.clone() };
        for (loc, location) in self.locations() {
            graph.touch(loc, || location.init);
        }
        for &id in &order {
            let event = self.event(id);
            let (mut place, mut written) = (0, None);
            if event.is_write {
                let before = &self.location(event.loc).co[..event.co_pos as usize];
                place = before.iter().filter(|write| names[write.index()] < names[id.index()]).count();
                written = Some(event.written);
            }
            let rf = if event.is_read { names[event.rf.index()] } else { EventId::NONE };
            let effect = Effect { rf, written, place, answer: event.answer, way: event.way, blind: false };
            graph.append(event.thread, event.action, effect);
        }
        for (id, thread) in self.threads() {
            graph.set_pending(id, thread.pending);
        }
        graph
    }

    /// Whether the events fit together: whether they have an order in which each comes after those that it depends on,
    /// where updates depend on the layers before theirs.
    pub(crate) fn can_be_sorted(&self) -> bool {
        self.sort().is_some()
    }

    /// The events in such an order, if there is one.
    fn sort(&self) -> Option<Vec<EventId>> {
        let mut later: Vec<Vec<usize>> = vec![Vec::new(); self.len()];
        let mut missing = vec![0u32; self.len()];
        let mut add = |before: EventId, after: EventId| {
            if before.is_some() && before != EventId::INIT {
                later[before.index()].push(after.index());
                missing[after.index()] += 1;
            }
        };
        for (id, event) in self.events() {
            let thread = self.thread(event.thread);
            add(if event.po_prev.is_some() { event.po_prev } else { thread.spawn }, id);
            if let Action::Join(target) = event.action {
                add(self.thread(target).tip(), id);
            }
            self.leaves(id).for_each(|left| add(left, id));
            if event.is_read && !event.blind {
                self.chain(event.rf).for_each(|write| add(write, id));
            }
        }
        for (loc, location) in self.locations().filter(|(loc, _)| self.has_blind_at(*loc)) {
            let (mut before, mut layer) = (0..0, 0..1);
            for position in 1..location.co.len() {
                if !layer.contains(&position) {
                    let blind = self.event(location.co[position]).blind;
                    before = layer;
                    layer = if blind { self.layer(loc, position) } else { position..position + 1 };
                }
                location.co[before.clone()].iter().for_each(|&earlier| add(earlier, location.co[position]));
            }
        }
        // The earliest in insertion order that can come next: what is in order stays as it is.
        let mut ready: BTreeSet<usize> = (1..self.len()).filter(|&index| missing[index] == 0).collect();
        let mut order = Vec::with_capacity(self.len());
        while let Some(next) = ready.pop_first() {
            order.push(EventId::new(next));
            for &after in &later[next] {
                missing[after] -= 1;
                if missing[after] == 0 {
                    ready.insert(after);
                }
            }
        }
        (order.len() + 1 == self.len()).then_some(order)
    }
}
