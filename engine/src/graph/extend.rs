//! Adding an event at the end of a graph, and taking the latest ones away again.

use super::action::Action;
use super::event::{Event, Snapshot};
use super::ids::{EventId, Loc, ThreadId, Value};
use super::view::{contains, join};
use super::{Graph, Location, Thread, VIEWS};

/// How the pending action of a thread takes place.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Effect {
    /// The write it reads from, for reads.
    pub rf: EventId,
    /// The value it writes, for writes.
    pub written: Option<Value>,
    /// Its coherence position, for writes.
    pub place: usize,
    /// What it is answered with. Spawns answer themselves.
    pub answer: Value,
    /// In which of the ways that the action allows it happens.
    pub way: u32,
    /// Whether its place among its neighbours is not part of the graph.
    pub blind: bool,
}

impl Effect {
    /// No reading, no writing.
    pub fn answer(answer: Value) -> Effect {
        Effect { rf: EventId::NONE, written: None, place: 0, answer, way: 0, blind: false }
    }
}

impl Graph {
    /// Makes sure that a location exists, with its initial value if no thread has accessed it.
    pub(crate) fn touch(&mut self, loc: Loc, init: impl FnOnce() -> Value) {
        if self.locations.len() <= loc.index() {
            let empty = || Location { init: 0, co: vec![EventId::INIT], reads: Vec::new(), loose: 0 };
            self.locations.resize_with(loc.index() + 1, empty);
        }
        let location = &mut self.locations[loc.index()];
        if location.is_untouched() {
            location.init = init();
        }
    }

    /// Adds an action of a thread as an event.
    pub(crate) fn append(&mut self, thread: ThreadId, action: Action, effect: Effect) -> EventId {
        let id = self.append_unordered(thread, action, effect);
        if effect.written.is_some() {
            self.insert_co(id, effect.place);
            if self.blind > 0 {
                self.rechain(self.event(id).loc);
            }
        }
        id
    }

    /// Adds an action of a thread as an event; a write gets no place in coherence order yet.
    pub(super) fn append_unordered(&mut self, thread: ThreadId, action: Action, effect: Effect) -> EventId {
        let event = self.make_event(thread, action, effect);
        self.push_views(&event, EventId::new(self.events.len()));
        self.push(event)
    }

    /// Adds an event whose views are there already.
    #[inline]
    pub(super) fn push(&mut self, event: Event) -> EventId {
        let id = EventId::new(self.events.len());
        self.link_elsewhere(&event, id);
        self.events.push(event);
        let slot = &mut self.threads[event.thread.index()];
        slot.last = id;
        slot.len += 1;
        slot.after = EventId::NONE;
        slot.asleep.clear();
        if event.order.is_sc() {
            self.sc.push(id);
        }
        if event.is_access() {
            self.plain_accesses += u32::from(!event.order.is_atomic());
            self.blind += u32::from(event.blind);
            if event.is_read {
                self.locations[event.loc.index()].reads.push(id);
            }
        } else {
            self.append_other(event.thread, id, event.action);
        }
        id
    }

    fn append_other(&mut self, thread: ThreadId, id: EventId, action: Action) {
        match action {
            Action::Fence { order } => self.sc_fences += u32::from(order.is_sc()),
            Action::Join(target) => self.set_joined(target, id),
            Action::Leave { .. } => self.departures += 1,
            Action::Spawn => {
                let child = self.begin_thread(thread, id);
                self.event_mut(id).answer = child.index() as Value;
            }
            _ => {}
        }
    }

    fn make_event(&self, thread: ThreadId, action: Action, effect: Effect) -> Event {
        let slot = &self.threads[thread.index()];
        let before = slot.last;
        let order = action.order(effect.written.is_some());
        let release_fence = match before.is_some() {
            true => match self.event(before) {
                fence if fence.is_fence() && fence.order.is_release() => before,
                other => other.release_fence,
            },
            false => EventId::NONE,
        };
        let mut event = Event {
            thread,
            index: slot.len,
            po_prev: before,
            action,
            order,
            is_read: effect.rf.is_some(),
            is_write: effect.written.is_some(),
            loc: action.loc().unwrap_or(Loc::new(0)),
            rf: effect.rf,
            co_pos: 0,
            answer: effect.answer,
            written: effect.written.unwrap_or(0),
            release_fence,
            sc_before: self.latest_sc(before),
            elsewhere_before: slot.tip(),
            elsewhere_after: EventId::NONE,
            snapshot: Snapshot::NONE,
            way: effect.way,
            after: slot.after,
            twin: self.next_twin(thread, &action),
            shared: false,
            confirms: false,
            in_loop: false,
            tied: true,
            revisited: false,
            fixed: false,
            blind: effect.blind,
        };
        if before.is_some() && event.is_at_same_location(self.event(before)) {
            event.elsewhere_before = self.event(before).elsewhere_before;
        }
        event.shared = self.is_shared(&event);
        event
    }

    /// Tells the events before that this one is the first after them that is elsewhere.
    fn link_elsewhere(&mut self, event: &Event, id: EventId) {
        let mut before = event.po_prev;
        if !before.is_some() || event.is_at_same_location(self.event(before)) {
            return;
        }
        while before.is_some() && !self.event(before).elsewhere_after.is_some() {
            let earlier = self.event_mut(before);
            earlier.elsewhere_after = id;
            before = earlier.po_prev;
        }
    }

    fn unlink_elsewhere(&mut self, event: &Event, id: EventId) {
        let mut before = event.po_prev;
        while before.is_some() && self.event(before).elsewhere_after == id {
            let earlier = self.event_mut(before);
            earlier.elsewhere_after = EventId::NONE;
            before = earlier.po_prev;
        }
    }

    fn push_views(&mut self, event: &Event, id: EventId) {
        let stride = self.stride;
        let acquired = self.acquired_by(event);
        let tip = self.threads[event.thread.index()].tip();
        let base = tip.index() * VIEWS * stride;
        let start = id.index() * VIEWS * stride;
        self.views.extend_from_within(base..base + VIEWS * stride);
        let (old, new) = self.views.split_at_mut(start);
        let (porf, rest) = new.split_at_mut(stride);
        let (hb, rel) = rest.split_at_mut(stride);
        let of = |id: EventId, which: usize| &old[(id.index() * VIEWS + which) * stride..][..stride];
        porf[event.thread.index()] = event.index + 1;
        hb[event.thread.index()] = event.index + 1;
        if event.is_read && !event.blind {
            for write in chain(&self.events, event.rf) {
                join(porf, of(write, 0));
                if event.order.is_acquire() {
                    join(hb, of(write, 2));
                }
            }
        }
        if event.blind && event.order.is_acquire() {
            // Of those that it may as well come before, it acquires from those that it depends on anyhow.
            for write in chain(&self.events, event.rf) {
                let other = &self.events[write.index()];
                if !other.blind {
                    join(porf, of(write, 0));
                }
                if !other.blind || contains(porf, other) {
                    join(hb, of(write, 2));
                }
            }
        }
        if event.twin.is_some() {
            join(porf, of(event.twin, 0));
        }
        match event.action {
            Action::Fence { order } if order.is_acquire() => {
                acquired.into_iter().for_each(|write| join(hb, of(write, 2)));
            }
            Action::Join(target) => {
                let end = self.threads[target.index()].tip();
                join(porf, of(end, 0));
                join(hb, of(end, 1));
                // What the thread did after its last event comes before, too.
                hb[target.index()] = self.threads[target.index()].len + 1;
            }
            Action::Reach { .. } => {
                if let Some(keepers) = awaited(event) {
                    let latest = |thread: &Thread| latest_leave(&self.events, thread.last, keepers);
                    // What the thread itself did is there already.
                    let others = self.threads.iter().filter(|thread| thread.alive && thread.last != event.po_prev);
                    for left in others.filter_map(latest) {
                        let Event { thread, index, .. } = self.events[left.index()];
                        // What comes before it is there already if it is there itself.
                        if porf[thread.index()] <= index {
                            join(porf, of(left, 0));
                        }
                        if hb[thread.index()] <= index {
                            join(hb, of(left, 1));
                        }
                    }
                }
            }
            _ => {}
        }
        if event.is_write {
            if event.order.is_release() {
                rel.copy_from_slice(hb);
            } else if event.release_fence.is_some() {
                rel.copy_from_slice(of(event.release_fence, 1));
            } else {
                rel.fill(0);
            }
            if event.is_read && !event.blind {
                chain(&self.events, event.rf).for_each(|write| join(rel, of(write, 2)));
            }
        }
    }

    /// The writes that an acquire fence synchronises with, as far as they release: those that the reads before it read
    /// from, back to the acquire fence before it.
    fn acquired_by(&self, fence: &Event) -> Vec<EventId> {
        let mut writes = Vec::new();
        if !(fence.is_fence() && fence.order.is_acquire()) {
            return writes;
        }
        let mut before = fence.po_prev;
        while before.is_some() {
            let event = self.event(before);
            if event.is_fence() && event.order.is_acquire() {
                break;
            }
            match event.is_read && event.order.is_atomic() {
                true if event.blind => writes.extend(self.acquired_blindly(before)),
                true => writes.extend(self.chain(event.rf)),
                false => {}
            }
            before = event.po_prev;
        }
        writes
    }

    /// Gives a write its place in coherence order.
    pub(super) fn insert_co(&mut self, id: EventId, place: usize) {
        let loc = self.event(id).loc;
        let co = &mut self.locations[loc.index()].co;
        co.insert(place, id);
        for (pos, &write) in co.iter().enumerate().skip(place) {
            self.events[write.index()].co_pos = pos as u32;
        }
        if self.has_witness() {
            self.tie(id, place);
        }
    }

    fn remove_co(&mut self, event: &Event) {
        let co = &mut self.locations[event.loc.index()].co;
        co.remove(event.co_pos as usize);
        for (pos, &write) in co.iter().enumerate().skip(event.co_pos as usize) {
            self.events[write.index()].co_pos = pos as u32;
        }
        if self.has_witness() {
            self.untie(event.loc, event.co_pos as usize, event.tied);
        }
    }

    /// Takes the latest events away until `len` are left.
    pub(crate) fn truncate(&mut self, len: usize) {
        self.forget_kept_since(len);
        while self.events.len() > len.max(1) {
            let Some(event) = self.events.pop() else { return };
            let id = EventId::new(self.events.len());
            self.unlink(&event, id);
            self.unlink_elsewhere(&event, id);
        }
        self.views.truncate(self.events.len() * VIEWS * self.stride);
    }

    fn unlink(&mut self, event: &Event, id: EventId) {
        if event.order.is_sc() {
            self.sc.pop();
        }
        if event.is_access() {
            self.plain_accesses -= u32::from(!event.order.is_atomic());
            self.blind -= u32::from(event.blind);
            if event.is_read {
                self.locations[event.loc.index()].reads.pop();
            }
            if event.is_write {
                self.remove_co(event);
                if self.blind > 0 {
                    self.rechain(event.loc);
                }
            }
        } else if let Action::Fence { order } = event.action {
            self.sc_fences -= u32::from(order.is_sc());
        }
        self.unlink_thread(event, id);
    }

    /// Gives the thread of the latest event its action back.
    pub(super) fn unlink_thread(&mut self, event: &Event, id: EventId) {
        match event.action {
            Action::Join(target) => self.set_joined(target, EventId::NONE),
            Action::Leave { .. } => self.departures -= 1,
            Action::Spawn => self.end_thread(event.thread, ThreadId::new(event.answer as usize), id),
            _ => {}
        }
        let slot = &mut self.threads[event.thread.index()];
        slot.last = event.po_prev;
        slot.len -= 1;
        slot.pending = event.action;
        slot.after = event.after;
        slot.asleep.clear();
    }
}

/// Those whose leaving has ended the wait of `event`, if that is what has.
fn awaited(event: &Event) -> Option<Loc> {
    match event.action {
        Action::Reach { test, keepers: Some(keepers), .. } if !test.passes(event.answer) => Some(keepers),
        _ => None,
    }
}

/// The latest event of a thread by which one of the keepers leaves, from this one back: those before happen before it.
fn latest_leave(events: &[Event], mut last: EventId, all: Loc) -> Option<EventId> {
    while last.is_some() {
        let event = &events[last.index()];
        if matches!(event.action, Action::Leave { keepers } if keepers == all) {
            return Some(last);
        }
        last = event.po_prev;
    }
    None
}

/// The events by which all who could have written a location left, if that is what ended the wait of `event`.
pub(crate) fn leaves<'a>(events: &'a [Event], event: &Event) -> impl Iterator<Item = EventId> + use<'a> {
    let awaited = awaited(event);
    let left = move |event: &Event| matches!((event.action, awaited), (Action::Leave { keepers }, Some(all)) if keepers == all);
    // Where nobody is awaited, there is no need to look.
    let events = if awaited.is_some() { events } else { &[] };
    events.iter().enumerate().filter(move |(_, event)| left(event)).map(|(index, _)| EventId::new(index))
}

/// A write, and the blind updates right before it with what they come after: all that a reader of the write depends on
/// and that the views of the write itself do not tell.
pub(super) fn chain(events: &[Event], write: EventId) -> impl Iterator<Item = EventId> {
    let start = (write != EventId::INIT).then_some(write);
    std::iter::successors(start, move |&write| {
        let event = &events[write.index()];
        (event.blind && event.rf != EventId::INIT).then_some(event.rf)
    })
}
