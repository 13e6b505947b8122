//! Readers that share a lock: in which order they lock and unlock makes no difference.
//!
//! The lock is a location that counts its readers, or says that a writer has it. Between two writers, readers come and go.
//! Their locks and unlocks are added *blind* ([`crate::graph`], layers): what readers do between two writers is one layer,
//! in no order. A reader depends on the writer before its layer, not on the other readers. A writer depends on the whole
//! layer before it. So
//!
//! - a new reader joins the last layer, or overtakes a writer that it does not depend on: that one waits then;
//! - a new writer comes after everything that is there, or overtakes a writer, or a reader and any of those who came after it.
//!
//! A reader acquires from other readers only what it depends on anyhow. In a real execution it may acquire more; so
//! whether an execution has a real order is looked at in the end. docs/commuting.md has the argument.

use super::Failure;
use super::choice::Choice;
use super::commute::MAX_OPTIONAL;
use super::decide::effect_of_read;
use super::lessons::Lesson;
use super::maximal::Revisiter;
use super::program::Program;
use super::replay::{Schedule, replay};
use super::visit::{Step, Visitor};
use crate::graph::{Action, Effect, Event, EventId, Graph, Loc, Test, Then, ThreadId, UNLOCKED, contains, join};
use crate::model::{Model, Site};
use std::ops::Range;

/// Where a layer has more events than this, the order of readers is explored.
const MAX_LAYER: usize = 60;

/// Whether an action is the lock of a writer, which keeps all others out.
fn is_write_lock(action: &Action) -> bool {
    match *action {
        Action::Await { order, test: Test::Is(UNLOCKED), then: Then::Set(value), .. } => {
            order.is_acquire() && value != UNLOCKED
        }
        _ => false,
    }
}

/// Whether a writer that has the lock may unlock it like that.
fn is_write_unlock(action: &Action) -> bool {
    match *action {
        Action::Store { value, .. } => value == UNLOCKED,
        Action::Rmw { .. } => action.update(0, 0) == Some(UNLOCKED) && action.update(1, 0) == Some(UNLOCKED),
        _ => false,
    }
}

fn is_load(action: &Action) -> bool {
    matches!(action, Action::Load { .. })
}

impl<P: Program, M: Model> Visitor<'_, P, M> {
    /// Decides about the pending access of a thread to a location that readers lock, if their order is not explored; says
    /// whether it does.
    pub(super) fn decide_shared(&mut self, thread: ThreadId, loc: Loc) -> bool {
        self.touch(loc);
        let action = self.graph().thread(thread).pending;
        let may = self.may_share(thread, loc);
        if !self.lessons.shared.contains(loc) {
            let overlaps = may && action.is_read_lock() && self.overlaps(thread, loc);
            if overlaps {
                let told_apart = self.lessons.symmetry && self.graph().has_likes();
                self.learn(if told_apart { Lesson::ToldApart } else { Lesson::Shared(loc) });
            }
            return overlaps;
        }
        if !may {
            self.learn(Lesson::Ordered(loc));
            return true;
        }
        if is_write_unlock(&action) || is_load(&action) {
            return false;
        }
        match is_write_lock(&action) {
            true => {
                let source = self.graph().location(loc).co_max();
                self.tree.choices.push(Choice::Read { source, way: 0 });
            }
            false => self.tree.choices.push(Choice::Blind),
        }
        if action.is_lock() {
            self.decide_overtaking(thread, loc);
        }
        true
    }

    /// Whether a location is known to be a lock that readers share, so that their order is not explored.
    pub(super) fn is_shared(&self, loc: Loc) -> bool {
        self.lessons.shared.contains(loc) && !self.lessons.ordered.contains(loc) && self.lessons.commute
    }

    /// Whether a location is only locked and unlocked, and nothing is special about that.
    fn may_share(&self, thread: ThreadId, loc: Loc) -> bool {
        let graph = self.graph();
        let location = graph.location(loc);
        let slot = graph.thread(thread);
        let limits = |action: &Action| match *action {
            Action::Await { test: Test::Below(limit), .. } => Some(limit),
            _ => None,
        };
        let others = location.co[1..].iter().map(|&id| &graph.event(id).action);
        let limit = others.filter_map(limits).chain(limits(&slot.pending)).max().unwrap_or(0);
        let keeps_out = |action: &Action| match *action {
            Action::Await { then: Then::Set(value), .. } => is_write_lock(action) && value >= limit,
            _ => false,
        };
        let is_known = |event: &Event| {
            let action = &event.action;
            event.is_write
                && (action.is_read_lock() || action.is_read_unlock() || keeps_out(action) || is_write_unlock(action))
        };
        let last = graph.event(location.co_max());
        let fits = match slot.pending {
            action if action.is_read_lock() || keeps_out(&action) => true,
            action if action.is_read_unlock() => self.holds(thread, loc),
            // The lock is moved, say: nobody uses it any more.
            action if is_load(&action) => {
                let hb = graph.hb(slot.tip());
                location.co[1..].iter().all(|id| contains(hb, graph.event(*id)))
            }
            action => is_write_unlock(&action) && last.thread == thread && is_write_lock(&last.action),
        };
        fits && location.init == UNLOCKED
            && location.co[1..].iter().chain(&location.reads).all(|id| {
                let event = graph.event(*id);
                is_known(event) || is_load(&slot.pending) && is_load(&event.action)
            })
            && !self.lessons.transients.iter().any(|(at, _)| *at == loc)
            && !self.program.may_undo(&self.state, thread)
    }

    /// Whether a thread has locked a location as a reader, and not unlocked it.
    fn holds(&self, thread: ThreadId, loc: Loc) -> bool {
        let graph = self.graph();
        let own = graph.location(loc).co[1..].iter().map(|&id| graph.event(id)).filter(|event| event.thread == thread);
        let (locks, unlocks): (Vec<&Event>, Vec<_>) = own.partition(|event| event.action.is_read_lock());
        locks.len() > unlocks.iter().filter(|event| event.action.is_read_unlock()).count()
    }

    /// Whether a reader that locks does not depend on another one that has locked after the last writer.
    fn overlaps(&self, thread: ThreadId, loc: Loc) -> bool {
        let graph = self.graph();
        let porf = graph.porf(graph.thread(thread).tip());
        let is_reader = |event: &Event| event.action.is_read_lock() || event.action.is_read_unlock();
        let co = &graph.location(loc).co;
        let mut readers = co.iter().rev().map(|&id| graph.event(id)).take_while(|event| is_reader(event));
        readers.any(|event| !contains(porf, event))
    }

    /// Pushes the ways in which a thread that locks comes before another one that has locked.
    pub(super) fn decide_overtaking(&mut self, thread: ThreadId, loc: Loc) {
        if !self.search.revisits() {
            return;
        }
        let own = self.porf_of_pending(thread);
        let graph = self.graph();
        let reads = self.is_reading(thread);
        let open = |id: &EventId| {
            let event = graph.event(*id);
            id.index() >= self.tree.frozen
                && event.snapshot.is_some()
                && event.action.is_lock()
                && !contains(&own, event)
        };
        let others: Vec<EventId> = graph.location(loc).reads.iter().copied().filter(open).collect();
        for &read in others.iter().rev() {
            if self.learned.is_some() || self.deadline.is_over() {
                return;
            }
            match (reads, self.graph().event(read).blind) {
                (true, true) => {}
                (false, true) => self.decide_readers(thread, loc, read, &own),
                (_, false) => self.decide_overtake(thread, read, 0),
            }
        }
    }

    /// Whether the pending action of a thread is the lock of a reader.
    fn is_reading(&self, thread: ThreadId) -> bool {
        self.graph().thread(thread).pending.is_read_lock()
    }

    /// What the pending action of a thread depends on, as far as its own thread goes.
    fn porf_of_pending(&self, thread: ThreadId) -> Vec<u32> {
        let graph = self.graph();
        let slot = graph.thread(thread);
        let mut porf = graph.porf(slot.tip()).to_vec();
        porf[thread.index()] = slot.len + 1;
        porf
    }

    /// Pushes the ways in which a writer comes before a reader: with any of those that came after that reader.
    fn decide_readers(&mut self, thread: ThreadId, loc: Loc, read: EventId, own: &[u32]) {
        let graph = self.graph();
        let layer = graph.layer(loc, graph.position(read));
        let events = graph.location(loc).co[layer].to_vec();
        let sections = self.sections(&events);
        let is_first = |lock: &EventId| *lock < read || contains(own, graph.event(*lock));
        let optional: Vec<usize> = (0..sections.len())
            .filter(|&index| {
                let lock = events[sections[index].0];
                lock != read && !is_first(&lock) && sections[index].1.is_some()
            })
            .collect();
        if events.len() > MAX_LAYER || optional.len() > MAX_OPTIONAL {
            return self.learn(Lesson::Ordered(loc));
        }
        let mut first = 0;
        for &(lock, unlock) in sections.iter().filter(|(lock, _)| is_first(&events[*lock])) {
            let Some(unlock) = unlock else { return };
            first |= 1 << lock | 1 << unlock;
        }
        for choice in 0..1u64 << optional.len() {
            let chosen = optional.iter().enumerate().filter(|(index, _)| choice >> index & 1 == 1);
            let before = chosen.fold(first, |mask, (_, &index)| {
                let (lock, unlock) = sections[index];
                mask | 1 << lock | unlock.map_or(0, |unlock| 1 << unlock)
            });
            self.decide_overtake(thread, read, before);
        }
    }

    /// Who has locked and unlocked in a layer, by the places of both.
    fn sections(&self, layer: &[EventId]) -> Vec<(usize, Option<usize>)> {
        let graph = self.graph();
        let mut sections: Vec<(usize, Option<usize>)> = Vec::new();
        let mut places: Vec<usize> = (0..layer.len()).collect();
        places.sort_unstable_by_key(|&place| layer[place]);
        for place in places {
            let Event { thread, action, .. } = *graph.event(layer[place]);
            if action.is_read_lock() {
                sections.push((place, None));
                continue;
            }
            let held = |(lock, unlock): &(usize, Option<usize>)| {
                unlock.is_none() && graph.event(layer[*lock]).thread == thread
            };
            if let Some(index) = sections.iter().rposition(held) {
                sections[index].1 = Some(place);
            }
        }
        sections
    }

    /// Pushes a choice, if it fits together.
    fn decide_overtake(&mut self, thread: ThreadId, read: EventId, before: u64) {
        let Some(porf) = self.porf_of_overtaking(thread, read, before) else { return };
        let revisiter = Revisiter { thread, porf: &porf, id: EventId::NONE, reads: None };
        let graph = self.graph();
        // One that was overtaken before can be overtaken again only by those who depend on who did: others could have done so
        // in the first place.
        let after = graph.event(read).after;
        if after.is_some() && !revisiter.depends_on(graph, after) {
            return;
        }
        if !revisiter.depends_on(graph, read) && self.is_maximal_extension(read, &revisiter) {
            self.tree.choices.push(Choice::Overtake { thread, read, before });
        }
    }

    /// What a thread that comes before a reader or a writer depends on; none if others that it comes before are among that.
    fn porf_of_overtaking(&self, thread: ThreadId, read: EventId, before: u64) -> Option<Vec<u32>> {
        let mut porf = self.porf_of_pending(thread);
        let graph = self.graph();
        let Event { loc, blind, co_pos, .. } = *graph.event(read);
        let co = &graph.location(loc).co;
        let layer = match blind {
            true => graph.layer(loc, co_pos as usize),
            false => self.layer_before(loc, co_pos as usize),
        };
        join(&mut porf, graph.porf(co[layer.start - 1]));
        if self.is_reading(thread) {
            return Some(porf);
        }
        let comes_before = |place: usize| !blind || before >> place & 1 == 1;
        for (place, &id) in co[layer.clone()].iter().enumerate() {
            if comes_before(place) {
                join(&mut porf, graph.porf(id));
            }
        }
        let is_missing = |(place, id): (usize, &EventId)| !comes_before(place) && contains(&porf, graph.event(*id));
        (!co[layer].iter().enumerate().any(is_missing)).then_some(porf)
    }

    /// The layer right before a position.
    fn layer_before(&self, loc: Loc, position: usize) -> Range<usize> {
        let graph = self.graph();
        match graph.event(graph.location(loc).co[position - 1]).blind {
            true => graph.layer(loc, position - 1),
            false => position..position,
        }
    }

    /// A thread locks before another one that has locked.
    pub(super) fn overtake(&mut self, choice: Choice) -> Step<P::Error> {
        let Choice::Overtake { thread, read, before } = choice else { return Step::Extended };
        let Some(porf) = self.porf_of_overtaking(thread, read, before) else { return Step::Cut };
        let Event { loc, .. } = *self.graph().event(read);
        let action = self.graph().thread(thread).pending;
        self.restrict_bare(read, &porf, EventId::NONE);
        let graph = self.levels.next_mut();
        let effect = effect_of_read(graph, action, graph.location(loc).co_max(), 0);
        debug_assert!(effect.written.is_some(), "a thread locks what is locked");
        let id = graph.append(thread, action, Effect { blind: action.is_read_lock(), ..effect });
        graph.event_mut(id).fixed = true;
        self.revisit_built(read, 0, id, true)
    }

    /// Whether readers share a lock.
    pub(super) fn has_shared(&self) -> bool {
        self.shared().is_some()
    }

    /// A location that readers share.
    fn shared(&self) -> Option<Loc> {
        let graph = self.graph();
        if !graph.has_blind() {
            return None;
        }
        graph.locations_with_blind().into_iter().find(|&loc| graph.has_read_locks_at(loc))
    }

    /// The lesson of an execution whose readers are not known to have an order. Where the model does not say what happens
    /// before what, any order will do that it allows, and there is one.
    pub(super) fn minds_readers(&mut self) -> Option<Lesson<P::Error>> {
        if self.model.orders_updates() {
            return None;
        }
        let loc = self.shared()?;
        (!self.overlap_at_once(loc) && self.in_one_order().is_none()).then_some(Lesson::Ordered(loc))
    }

    /// Whether all readers of each layer can lock before any of them unlocks, so that none acquires from another. Behind a release
    /// fence, locking releases, too.
    fn overlap_at_once(&self, loc: Loc) -> bool {
        let graph = self.graph();
        if graph.locations_with_blind() != [loc] || graph.events().any(|(_, event)| event.is_fence()) {
            return false;
        }
        let co = &graph.location(loc).co;
        let mut position = 1;
        while position < co.len() {
            if !graph.event(co[position]).blind {
                position += 1;
                continue;
            }
            let layer = graph.layer(loc, position);
            position = layer.end;
            let thread = graph.event(co[layer.start]).thread;
            let (locks, unlocks): (Vec<EventId>, Vec<_>) =
                co[layer.clone()].iter().partition(|&&id| graph.event(id).action.is_read_lock());
            let alone = co[layer].iter().all(|&id| graph.event(id).thread == thread);
            if !alone && locks.iter().any(|&lock| unlocks.iter().any(|&unlock| graph.is_porf_before(unlock, lock))) {
                return false;
            }
        }
        true
    }

    /// The events of a layer, those first that are to come first if they can: readers that lock.
    pub(super) fn by_preference(&self, mut layer: Vec<EventId>, latest: bool) -> Vec<EventId> {
        let graph = self.graph();
        if layer.first().is_some_and(|&id| graph.has_read_locks_at(graph.event(id).loc)) {
            let key = |id: &EventId| {
                let locks = graph.event(*id).action.is_read_lock();
                (!locks, if latest && !locks { usize::MAX - id.index() } else { id.index() })
            };
            layer.sort_unstable_by_key(key);
        }
        layer
    }

    /// Whether an execution is one, by what happens before what in the order that it has.
    pub(super) fn is_consistent(&mut self, graph: &Graph) -> bool {
        graph.events().filter(|(_, event)| event.is_access()).all(|(id, event)| {
            let site = Site::of(graph, id, event.is_write);
            let floor = self.model.floor(graph, &site, &mut self.buffers.scratch);
            match event.is_write {
                true => floor < graph.position(id),
                false => floor <= graph.position(event.rf),
            }
        })
    }

    /// Whether something is wrong with an execution in the order that it has been put in, too, which says more about what
    /// happens before what; and what is to be learned if not.
    pub(super) fn confirm_failure(&mut self, failure: &Failure<P::Error>) -> Result<Graph, Lesson<P::Error>> {
        let shared = self.shared();
        let Some(graph) = self.in_one_order() else { return Err(shared.map_or(Lesson::AllOrdered, Lesson::Ordered)) };
        let Some(loc) = shared else { return Ok(graph) };
        let fails = replay(self.program, &Schedule::of(&graph), |_, _, _| {});
        match fails {
            Ok(replayed) if replayed.failure.as_ref() == Some(failure) => Ok(graph),
            _ => Err(Lesson::Ordered(loc)),
        }
    }
}
