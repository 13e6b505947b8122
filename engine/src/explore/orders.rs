//! The orders that [blind updates](super::commute) can have: that there is one, which one is shown, and what makes the
//! order matter after all.

use super::buffers::Buffers;
use super::eligible::Newcomer;
use super::lessons::Lesson;
use super::program::Program;
use super::visit::Visitor;
use crate::graph::{Event, EventId, Graph, Loc, ThreadId};
use crate::model::{Model, Site};
use std::ops::Range;

impl<P: Program, M: Model> Visitor<'_, P, M> {
    /// Puts blind updates at these positions, which nobody has looked between, in an order in which all are eligible,
    /// though the pending update of a thread comes before them, if one is given. Says whether there is one.
    pub(super) fn order_part(&mut self, loc: Loc, part: Range<usize>, pending: Option<ThreadId>) -> bool {
        let graph = self.graph();
        let mut left = graph.location(loc).co[part.clone()].to_vec();
        let newcomer = pending.map(|thread| {
            let action = graph.thread(thread).pending;
            Newcomer { thread, action, position: part.start }
        });
        let mut order = Vec::with_capacity(left.len());
        while !left.is_empty() {
            let found = (0..left.len()).rev().find(|&index| {
                let id = left[index];
                let graph = self.graph();
                let last = !left.iter().any(|&other| other != id && graph.is_porf_before(id, other));
                last && {
                    let mut cut = self.graph().location(loc).co[1..part.start].to_vec();
                    cut.extend(left.iter().copied().filter(|&other| other != id));
                    let update = self.update_of(id);
                    self.is_eligible(&update, loc, &cut, newcomer)
                }
            });
            let Some(index) = found else { return false };
            order.push(left.remove(index));
        }
        order.reverse();
        self.levels.current_mut().arrange(loc, part.start, &order);
        true
    }

    /// The same for all from a position on.
    pub(super) fn order_from(&mut self, loc: Loc, from: usize, pending: Option<ThreadId>) -> bool {
        let len = self.graph().location(loc).co.len();
        self.order_part(loc, from..len, pending)
    }

    /// Whether blind updates at these positions may come before all that follow, and everything fits together.
    pub(super) fn is_orderly(&mut self, loc: Loc, positions: Range<usize>) -> bool {
        let Visitor { model, levels, buffers: Buffers { scratch, .. }, .. } = self;
        let graph = levels.current();
        let end = positions.end;
        let early = graph.location(loc).co[positions].iter().copied().filter(|&id| graph.event(id).blind);
        let fits = |id: EventId, scratch: &mut _| model.floor(graph, &Site::of(graph, id, true), scratch) < end;
        let mut early = early.collect::<Vec<_>>().into_iter();
        let orderly = early.all(|id| fits(id, scratch)) && graph.can_be_sorted();
        if orderly && !self.admits_fences(loc, end) {
            self.learn(Lesson::Ordered(loc));
            return false;
        }
        orderly
    }

    /// The execution, its updates in one of the orders that they can have, and none of them blind.
    /// None if there turns out to be no such order.
    pub(super) fn in_one_order(&mut self) -> Option<Graph> {
        if !self.graph().has_blind() {
            return Some(self.graph().clone());
        }
        if !self.has_shared() {
            return self.in_order(false);
        }
        [false, true].into_iter().find_map(|latest| self.in_order(latest).filter(|graph| self.is_consistent(graph)))
    }

    /// The same; of the readers that unlock, the latest one comes first, if asked for.
    fn in_order(&mut self, latest: bool) -> Option<Graph> {
        self.copy_level();
        self.levels.enter();
        let mut found = true;
        while let Some(layer) = self.some_layer().filter(|_| found) {
            let layer = self.by_preference(layer, latest);
            match layer.iter().copied().find(|&id| self.can_be_first(id)) {
                Some(first) => self.levels.current_mut().settle_first(first),
                None => found = false,
            }
        }
        let graph = found.then(|| self.graph().sorted());
        self.levels.leave();
        graph
    }

    /// The updates of a layer, if there are any.
    fn some_layer(&self) -> Option<Vec<EventId>> {
        let graph = self.graph();
        let (_, event) = graph.events().filter(|(_, event)| event.blind).min_by_key(|(_, event)| event.co_pos)?;
        Some(graph.location(event.loc).co[graph.layer(event.loc, event.co_pos as usize)].to_vec())
    }

    /// Whether a blind update can be the first of its layer.
    fn can_be_first(&mut self, id: EventId) -> bool {
        let Event { loc, co_pos, .. } = *self.graph().event(id);
        if self.graph().has_read_locks_at(loc) {
            self.copy_level();
            self.levels.enter();
            self.levels.current_mut().settle_first(id);
            let fits = self.is_orderly_at(loc, id);
            self.levels.leave();
            return fits;
        }
        let start = self.graph().layer_start(loc, co_pos as usize);
        let before = self.graph().location(loc).co[1..start].to_vec();
        let update = self.update_of(id);
        if !self.is_eligible(&update, loc, &before, None) {
            return false;
        }
        self.copy_level();
        self.levels.enter();
        self.levels.current_mut().settle_first(id);
        let rest = self.graph().layer_start(loc, start) + 1;
        let end = self.graph().location(loc).co[rest..].iter().take_while(|&&id| self.graph().event(id).blind).count();
        let fits = self.order_part(loc, rest..rest + end, None)
            && self.is_orderly_at(loc, id)
            && self.admits_fences(loc, rest);
        self.levels.leave();
        fits
    }

    /// Whether an update that is not blind may be where it is.
    fn is_orderly_at(&mut self, loc: Loc, id: EventId) -> bool {
        let Visitor { model, levels, buffers: Buffers { scratch, .. }, .. } = self;
        let graph = levels.current();
        model.floor(graph, &Site::of(graph, id, true), scratch) < graph.position(id)
            && graph.can_be_sorted()
            && graph.location(loc).co.contains(&id)
    }

    /// The lesson of an event in a graph with blind updates that is not known to leave them an order.
    pub(super) fn minds_blind(&mut self, id: EventId) -> Option<Lesson<P::Error>> {
        let graph = self.graph();
        // How threads compare whose updates are blind, nobody knows.
        if self.lessons.symmetry && graph.has_likes() {
            return Some(Lesson::ToldApart);
        }
        if !self.model.admits_blind(graph) {
            return Some(Lesson::AllOrdered);
        }
        let event = *graph.event(id);
        let fences = event.is_fence() && event.order.is_acquire();
        if fences && let Some(loc) = self.minds_fence(id) {
            return Some(Lesson::Ordered(loc));
        }
        if !fences && !event.is_access() {
            return None;
        }
        // Where the order of updates takes part in what is consistent, or has to fit that of another location, or fences.
        // A single update reads what was there at first, whatever happens elsewhere.
        let mut locs = graph.locations_with_blind();
        locs.retain(|&loc| graph.location(loc).co.len() > 2);
        let count = locs.len();
        if !self.model.orders_updates() && count < 2 {
            locs.retain(|&loc| self.is_fenced(loc));
        }
        locs.retain(|&loc| !self.graph().has_read_locks_at(loc));
        if !fences && !self.opens_questions(id, count) {
            locs.retain(|&loc| {
                let is_own = loc == event.loc;
                debug_assert!(
                    is_own || !self.is_constrained(loc),
                    "{id:?} makes the order of updates matter at {loc:?}"
                );
                is_own
            });
        }
        locs.into_iter().find(|&loc| self.is_constrained(loc)).map(Lesson::Ordered)
    }

    /// Whether an event may have made the order of updates matter elsewhere than at its own location; there are so many where it
    /// may matter now. What each of them [admits](Self::is_constrained) depends on the events there alone, and was looked at when
    /// the last of these came, unless the graph is new, or there was only one such location before.
    fn opens_questions(&self, id: EventId, locations: usize) -> bool {
        let graph = self.graph();
        let event = graph.event(id);
        let is_new = id.index() == 1 || graph.event(EventId::new(id.index() - 1)).revisited;
        event.revisited || is_new || event.is_write && locations == 2
    }

    /// Whether a fence makes some blind update of a location acquire, so that it has to come before others of its layer.
    fn is_fenced(&self, loc: Loc) -> bool {
        let graph = self.graph();
        let co = &graph.location(loc).co;
        (1..co.len()).filter(|&position| graph.event(co[position]).blind).any(|position| {
            let acquires = |fence| co[graph.layer(loc, position)].iter().any(|&other| !self.knows(fence, other));
            graph.acquire_fence_after(co[position]).is_some_and(acquires)
        })
    }

    /// Whether a fence acquires nothing new from a write, or from the releases before it.
    fn knows(&self, fence: EventId, write: EventId) -> bool {
        let graph = self.graph();
        graph.hb(fence).iter().zip(graph.rel(write)).all(|(known, released)| known >= released)
    }

    /// Whether not every order of a layer is possible, because an update would not be blind after some others: the model would
    /// have to know.
    fn is_constrained(&mut self, loc: Loc) -> bool {
        let graph = self.graph();
        let co = graph.location(loc).co.clone();
        (1..co.len()).any(|position| {
            let graph = self.graph();
            if !graph.event(co[position]).blind {
                return false;
            }
            let end = graph.layer(loc, position).end;
            let is_other = |id: &EventId| !graph.is_porf_before(co[position], *id);
            let others: Vec<EventId> = co[1..end].iter().copied().filter(is_other).collect();
            let update = self.update_of(co[position]);
            !self.is_eligible(&update, loc, &others, None)
        })
    }

    /// An acquire fence makes the updates before it acquire from what comes before them. Where they are blind, that is only what
    /// comes before them in any order, so that there must be an order in which nothing more does. This says where
    /// there is none.
    fn minds_fence(&self, fence: EventId) -> Option<Loc> {
        let graph = self.graph();
        let mut before = graph.event(fence).po_prev;
        while before.is_some() {
            let event = graph.event(before);
            if event.is_fence() && event.order.is_acquire() {
                return None;
            }
            if event.blind && !graph.has_read_locks_at(event.loc) && !self.can_come_first(before, fence) {
                return Some(event.loc);
            }
            before = event.po_prev;
        }
        None
    }

    /// Whether a blind update that a fence makes acquire can come before all others of its layer from which it would.
    fn can_come_first(&self, id: EventId, fence: EventId) -> bool {
        let graph = self.graph();
        let event = graph.event(id);
        let layer = graph.layer(event.loc, event.co_pos as usize);
        let co = &graph.location(event.loc).co;
        let wants_to = |other: EventId| graph.acquire_fence_after(other).is_some_and(|fence| !self.knows(fence, id));
        co[1..layer.start].iter().all(|&other| self.knows(fence, other))
            && co[layer].iter().all(|&other| other == id || self.knows(fence, other) || !wants_to(other))
    }

    /// Whether blind updates from a position on that fences make acquire can still come first.
    fn admits_fences(&self, loc: Loc, from: usize) -> bool {
        let graph = self.graph();
        graph.location(loc).co[from..].iter().all(|&id| {
            !graph.event(id).blind || graph.acquire_fence_after(id).is_none_or(|fence| self.can_come_first(id, fence))
        })
    }
}
