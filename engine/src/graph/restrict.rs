//! Copying the part of a graph that a backward revisit keeps (`G|_{G.E \ Deleted}` in the paper).
//!
//! The copy begins with the events that were there when the revisited read was added, which keep their ids; the caller
//! then adds the other events that stay, in insertion order, and closes the copy, which gives all writes their place in
//! coherence order.

use super::event::{Event, Snapshot};
use super::ids::EventId;
use super::{Graph, Location, VIEWS};

/// How the events that stay are called in the copy.
#[derive(Debug, Default)]
pub(crate) struct Renaming {
    names: Vec<EventId>,
}

impl Renaming {
    /// The name in the copy, or none if the event does not stay.
    pub fn get(&self, id: EventId) -> EventId {
        self.names[id.index()]
    }

    fn get_or_none(&self, id: EventId) -> EventId {
        if id.is_some() { self.get(id) } else { EventId::NONE }
    }
}

impl Graph {
    /// Makes this graph a copy of another, in the buffers that it has.
    pub(crate) fn copy_from(&mut self, whole: &Graph, renaming: &mut Renaming) {
        self.begin_copy(whole, whole.len(), renaming);
        self.end_copy(whole, whole.len(), renaming);
    }

    /// Makes this graph a copy of `whole` as it was with `len` events, all writes without coherence order.
    pub(crate) fn begin_copy(&mut self, whole: &Graph, len: usize, renaming: &mut Renaming) {
        renaming.names.clear();
        renaming.names.extend((0..len).map(EventId::new));
        renaming.names.resize(whole.len(), EventId::NONE);
        self.stride = whole.stride;
        self.ties = whole.ties;
        self.loose = 0;
        self.events.clear();
        self.events.extend_from_slice(&whole.events[..len]);
        self.views.clear();
        self.views.extend_from_slice(&whole.views[..len * VIEWS * self.stride]);
        self.threads.clear();
        self.threads.extend_from_slice(&whole.threads);
        self.preference.clear();
        self.preference.extend_from_slice(&whole.preference);
        self.keep_thread_ids();
        self.forget_kept_since(len);
        self.departures = whole.departures;
        for (index, event) in whole.events.iter().enumerate().skip(len).rev() {
            self.unlink_thread(event, EventId::new(index));
        }
        for event in &mut self.events {
            if event.elsewhere_after.is_some() && event.elsewhere_after.index() >= len {
                event.elsewhere_after = EventId::NONE;
            }
        }
        self.copy_locations(whole, len);
        self.count_kinds(whole, len);
    }

    fn copy_locations(&mut self, whole: &Graph, len: usize) {
        self.locations.resize_with(whole.locations.len(), Location::default);
        for (mine, theirs) in self.locations.iter_mut().zip(&whole.locations) {
            mine.init = theirs.init;
            mine.loose = 0;
            let kept = theirs.reads.partition_point(|r| r.index() < len);
            mine.reads.clear();
            mine.reads.extend_from_slice(&theirs.reads[..kept]);
        }
    }

    fn count_kinds(&mut self, whole: &Graph, len: usize) {
        let kept = whole.sc.partition_point(|e| e.index() < len);
        self.sc.clear();
        self.sc.extend_from_slice(&whole.sc[..kept]);
        self.sc_fences = whole.sc_fences;
        self.plain_accesses = whole.plain_accesses;
        self.blind = match whole.blind {
            0 => 0,
            _ => whole.events[..len].iter().map(|event| u32::from(event.blind)).sum(),
        };
        if self.sc_fences + self.plain_accesses == 0 {
            return;
        }
        for event in &whole.events[len..] {
            self.sc_fences -= u32::from(event.is_sc_fence());
            self.plain_accesses -= u32::from(event.is_access() && !event.order.is_atomic());
        }
    }

    /// Adds another event of `whole` that stays. What threads have pending is not changed.
    pub(crate) fn keep(&mut self, whole: &Graph, id: EventId, renaming: &mut Renaming) -> EventId {
        let event = whole.event(id);
        // All that it depends on stays, so that its views are the same.
        let views = id.index() * VIEWS * self.stride;
        self.views.extend_from_slice(&whole.views[views..views + VIEWS * self.stride]);
        let name = self.push(Event {
            po_prev: renaming.get_or_none(event.po_prev),
            rf: renaming.get_or_none(event.rf),
            release_fence: renaming.get_or_none(event.release_fence),
            sc_before: renaming.get_or_none(event.sc_before),
            elsewhere_before: renaming.get_or_none(event.elsewhere_before),
            elsewhere_after: EventId::NONE,
            after: renaming.get_or_none(event.after),
            // Where a blind update is looked at again, its thread starts from there.
            snapshot: if event.blind { event.snapshot } else { Snapshot::NONE },
            twin: renaming.get_or_none(event.twin),
            ..*event
        });
        renaming.names[id.index()] = name;
        name
    }

    /// Gives all writes that stay their place in coherence order, and threads what they have to wait for; the events
    /// before `from` have all stayed.
    pub(crate) fn end_copy(&mut self, whole: &Graph, from: usize, renaming: &Renaming) {
        self.copy_after(whole, from, renaming);
        for (mine, theirs) in self.locations.iter_mut().zip(&whole.locations) {
            mine.co.clear();
            for &write in &theirs.co {
                let name = renaming.get(write);
                if name.is_some() {
                    self.events[name.index()].co_pos = mine.co.len() as u32;
                    mine.co.push(name);
                }
            }
        }
        if self.has_witness() {
            self.tie_everything();
        }
        self.rechain_all();
    }

    /// A thread whose next event was deleted has to wait for what that had to wait for. Where the wait itself began only
    /// after `from`, it is as if it had been deleted.
    fn copy_after(&mut self, whole: &Graph, from: usize, renaming: &Renaming) {
        self.has_after = whole.has_after;
        if !self.has_after {
            return;
        }
        for (mine, theirs) in self.threads.iter_mut().zip(&whole.threads) {
            let stays = mine.len == theirs.len && theirs.after.is_some() && theirs.after.index() < from;
            mine.after = if stays { renaming.get(theirs.after) } else { EventId::NONE };
        }
        for (index, event) in whole.events.iter().enumerate().filter(|(_, event)| event.after.is_some()) {
            let thread = &mut self.threads[event.thread.index()];
            if !renaming.names[index].is_some() && thread.len == event.index && event.after.index() < from {
                thread.after = renaming.get(event.after);
            }
        }
    }
}
