//! Updates that commute: those whose order makes no difference are explored in one order only.
//!
//! An update of a location such as `x.fetch_add(1)` is added *blind* ([`crate::graph`], layers) if its thread goes on in the
//! same state whichever of the others come before it. It then reads from nobody, as far as exploring goes, so it is neither
//! revisited nor placed. Who looks at the location reads from a *cut*: a set of updates that contains, with each, all
//! that the update depends on. So
//!
//! - a read has a child for each cut that it may see;
//! - a new update revisits a read with each cut that contains the update. What stays is what was there before the read, and
//!   what any member of the cut depends on;
//! - an update whose result matters for some cuts is blind for the others, and reads from a cut where it matters: the
//!   last one to drop a reference, say. It is *eligible* to be blind after a cut if its thread goes on alike after this
//!   and every smaller one. Hence what is blind stays so when others are deleted.
//!
//! Everything else is TruSt. docs/commuting.md has the argument.

use super::choice::Choice;
use super::decide::effect_of_read;
use super::lessons::Lesson;
use super::program::Program;
use super::trial::Origin;
use super::visit::{Step, Visitor};
use crate::graph::{Action, Effect, EventId, Loc, ThreadId};
use crate::model::Model;

/// Where more updates than this are there to choose from, their order is explored.
pub(super) const MAX_OPTIONAL: usize = 10;
/// Where a location has more writes than this, the order of updates is explored.
const MAX_WRITES: usize = 60;

impl<P: Program, M: Model> Visitor<'_, P, M> {
    /// Decides about the pending access of a thread, if blind updates take part; says whether they do.
    pub(super) fn decide_commuting(&mut self, thread: ThreadId, loc: Loc) -> bool {
        if !self.lessons.commute || self.lessons.ordered.contains(loc) || self.graph().has_witness() {
            return false;
        }
        let action = self.graph().thread(thread).pending;
        if action.is_read_lock() || self.graph().has_read_locks_at(loc) {
            return self.decide_shared(thread, loc);
        }
        let candidate = action.may_be_blind();
        if !candidate && !self.graph().has_candidates_at(loc) {
            return false;
        }
        self.touch(loc);
        if !self.may_commute(thread, loc) {
            self.learn(Lesson::Ordered(loc));
            return true;
        }
        match candidate {
            true => self.decide_update(thread, loc),
            false => self.decide_look(thread, loc),
        }
        true
    }

    /// Whether a location is only looked at and updated, all updates commute, and nothing is special about that.
    fn may_commute(&self, thread: ThreadId, loc: Loc) -> bool {
        let graph = self.graph();
        let location = graph.location(loc);
        let slot = graph.thread(thread);
        let is_load = |action: &Action| matches!(action, Action::Load { .. });
        let commutes = |action: &Action| {
            let with = if is_load(&slot.pending) { action } else { &slot.pending };
            is_load(action) || action.commutes_with(with)
        };
        commutes(&slot.pending)
            && location.co.len() <= MAX_WRITES
            && !slot.after.is_some()
            && location.co[1..].iter().chain(&location.reads).all(|id| commutes(&graph.event(*id).action))
            && !self.lessons.transients.iter().any(|(at, _)| *at == loc)
            && !self.program.may_undo(&self.state, thread)
    }

    /// A read, or an update that is not blind: it sees everything up to a border, or a part of a layer.
    fn decide_look(&mut self, thread: ThreadId, loc: Loc) {
        let action = self.graph().thread(thread).pending;
        let floors = self.floors(thread, loc, &action);
        let confirms = self.confirms(thread);
        let len = self.graph().location(loc).co.len();
        for position in (floors.read.min(floors.update)..len).rev() {
            if self.graph().is_border(loc, position) {
                let source = self.graph().location(loc).co[position];
                self.decide_source(thread, loc, source, floors, confirms, false);
            }
        }
        let mut position = len - 1;
        while position > 0 {
            let graph = self.graph();
            let blind = graph.event(graph.location(loc).co[position]).blind;
            let start = if blind { graph.layer(loc, position).start } else { position };
            if blind {
                self.decide_parts(thread, loc, start, position + 1 - start);
            }
            position = start - 1;
        }
        if action.is_rmw() {
            self.decide_revisits_among(thread, loc, EventId::NONE);
        }
    }

    /// A read that sees a part of a layer, other than none or all of it.
    fn decide_parts(&mut self, thread: ThreadId, loc: Loc, start: usize, len: usize) {
        if len > MAX_OPTIONAL {
            return self.learn(Lesson::Ordered(loc));
        }
        let action = self.graph().thread(thread).pending;
        let first = u64::from(!action.is_rmw() || self.graph().last_look(loc) >= start);
        for mask in first..(1u64 << len) - 1 {
            let Some(source) = self.build_part(thread, loc, start, mask) else { continue };
            let first = self.tree.choices.len();
            self.levels.enter();
            let floors = self.floors(thread, loc, &action);
            let confirms = self.confirms(thread);
            if action.update(self.graph().written(source, loc), 0).is_some() {
                let fits = floors.update <= self.graph().position(source)
                    && self.graph().last_look(loc) < start
                    && self.fits_as_update(thread, loc, source);
                if fits {
                    self.tree.choices.push(Choice::Read { source, way: 0 });
                }
            } else if mask > 0 && floors.read.min(floors.update) <= self.graph().position(source) {
                self.decide_source(thread, loc, source, floors, confirms, false);
            }
            self.levels.leave();
            for choice in &mut self.tree.choices[first..] {
                if let Choice::Read { way, .. } = *choice {
                    *choice = Choice::Part { start: start as u32, mask, way };
                }
            }
        }
    }

    /// Makes the next graph of the stack one in which these of a layer come first, so that a read or an update can come
    /// after them; what is then the last of these. None if it cannot be.
    fn build_part(&mut self, thread: ThreadId, loc: Loc, start: usize, mask: u64) -> Option<EventId> {
        let graph = self.graph();
        let co = &graph.location(loc).co;
        let end = graph.layer(loc, start).end;
        let (part, rest): (Vec<(usize, EventId)>, Vec<_>) =
            co[start..end].iter().copied().enumerate().partition(|(index, _)| mask >> index & 1 == 1);
        let (part, rest) = (names(&part), names(&rest));
        if part.iter().any(|&id| rest.iter().any(|&other| graph.is_porf_before(other, id))) {
            return None;
        }
        let before = co[start - 1];
        let action = graph.thread(thread).pending;
        self.copy_level();
        self.levels.enter();
        let order = [&part[..], &rest].concat();
        self.levels.current_mut().arrange(loc, start, &order);
        let from = start + part.len();
        let source = part.last().copied().unwrap_or(before);
        let pending = action.update(self.graph().written(source, loc), 0).map(|_| thread);
        let fits = self.order_part(loc, from..end, pending) && self.is_orderly(loc, start..from);
        self.levels.leave();
        fits.then_some(source)
    }

    /// Makes the next graph of the stack a copy of the current one.
    pub(super) fn copy_level(&mut self) {
        let (graph, next) = self.levels.current_and_next();
        next.copy_from(graph, &mut self.buffers.renaming);
    }

    /// An update that may be blind.
    fn decide_update(&mut self, thread: ThreadId, loc: Loc) {
        let graph = self.graph();
        let all = graph.location(loc).co[1..].to_vec();
        let (last, layer) = (graph.location(loc).co_max(), graph.open_layer(loc));
        let update = self.pending_update(thread, Origin::Now);
        if self.is_eligible(&update, loc, &all, None) {
            self.tree.choices.push(Choice::Blind);
        } else {
            self.tree.choices.push(Choice::Read { source: last, way: 0 });
            if layer.len() > MAX_OPTIONAL {
                return self.learn(Lesson::Ordered(loc));
            }
            if self.build_among(thread, loc) {
                self.tree.choices.push(Choice::Among);
            }
            for mask in 0..(1u64 << layer.len()).saturating_sub(1) {
                let part = |&(index, _): &(usize, &EventId)| mask >> index & 1 == 1;
                let co = &self.graph().location(loc).co;
                let mut cut = co[1..layer.start].to_vec();
                cut.extend(co[layer.clone()].iter().enumerate().filter(part).map(|(_, id)| *id));
                if !self.is_eligible(&update, loc, &cut, None) && self.can_update_part(thread, loc, layer.start, mask) {
                    self.tree.choices.push(Choice::Part { start: layer.start as u32, mask, way: 0 });
                }
            }
        }
        self.decide_revisits_among(thread, loc, EventId::NONE);
    }

    /// Whether the pending update of a thread can come after these of a layer and before the others.
    fn can_update_part(&mut self, thread: ThreadId, loc: Loc, start: usize, mask: u64) -> bool {
        let Some(source) = self.build_part(thread, loc, start, mask) else { return false };
        self.levels.enter();
        let position = self.graph().position(source);
        let action = self.graph().thread(thread).pending;
        let fits = self.floors(thread, loc, &action).update <= position && self.fits_as_update(thread, loc, source);
        self.levels.leave();
        fits
    }

    /// Whether everything fits together if the pending update of a thread reads from a write.
    pub(super) fn fits_as_update(&mut self, thread: ThreadId, loc: Loc, source: EventId) -> bool {
        let graph = self.levels.current_mut();
        let len = graph.len();
        let action = graph.thread(thread).pending;
        let effect = effect_of_read(graph, action, source, 0);
        graph.append(thread, action, effect);
        let position = graph.position(source);
        let start = graph.layer_start(loc, position);
        let fits = self.is_orderly(loc, start..position + 1);
        self.levels.current_mut().truncate(len);
        fits
    }

    /// Makes the next graph of the stack one with the pending update of a thread, which is blind, and others of its layer
    /// after it. Says whether it can be.
    fn build_among(&mut self, thread: ThreadId, loc: Loc) -> bool {
        let start = self.graph().open_layer(loc).start;
        self.copy_level();
        self.levels.enter();
        self.append_blind(thread, loc);
        let fits = self.order_from(loc, start, None);
        self.levels.leave();
        fits
    }

    /// Adds the pending update of a thread, which is blind, at the end.
    pub(super) fn append_blind(&mut self, thread: ThreadId, loc: Loc) -> EventId {
        let graph = self.levels.current_mut();
        let action = graph.thread(thread).pending;
        let effect = Effect { blind: true, ..effect_of_read(graph, action, graph.location(loc).co_max(), 0) };
        graph.append(thread, action, effect)
    }

    /// A new read sees a part of a layer.
    pub(super) fn apply_part(&mut self, thread: ThreadId, choice: Choice, slot: usize) -> Step<P::Error> {
        let Choice::Part { start, mask, way } = choice else { return Step::Extended };
        let Some(loc) = self.graph().thread(thread).pending.loc() else { return Step::Extended };
        let Some(source) = self.build_part(thread, loc, start as usize, mask) else { return Step::Cut };
        self.enter_level();
        self.extend(thread, Choice::Read { source, way }, slot)
    }

    /// A new update is blind, but others that were there must come after it.
    pub(super) fn apply_among(&mut self, thread: ThreadId, slot: usize) -> Step<P::Error> {
        let Some(loc) = self.graph().thread(thread).pending.loc() else { return Step::Extended };
        if !self.build_among(thread, loc) {
            return Step::Cut;
        }
        let (events, in_loop) = (self.graph().len() as u32, self.is_audited(thread));
        self.enter_level();
        self.extended(self.graph().last(), events, slot, (false, in_loop))
    }

    fn enter_level(&mut self) {
        let audited = self.levels.audited().clone();
        self.levels.go_on_in_next(audited);
    }
}

fn names(list: &[(usize, EventId)]) -> Vec<EventId> {
    list.iter().map(|(_, id)| *id).collect()
}
