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
use super::maximal::Revisiter;
use super::program::Program;
use super::trial::{Course, Origin, Reply};
use super::visit::{Step, Visitor};
use crate::graph::{Action, Effect, Event, EventId, Graph, Loc, ThreadId, Value, contains, join};
use crate::model::{Model, Site};
use std::ops::Range;

/// Where more updates than this are there to choose from, their order is explored.
pub(super) const MAX_OPTIONAL: usize = 10;
/// Where a location has more writes than this, the order of updates is explored.
const MAX_WRITES: usize = 60;
/// Where there are more cuts than this, an update is not eligible to be blind.
const MAX_CUTS: usize = 5_000;
/// Where an update may find more values than this, it is not eligible to be blind.
const MAX_VALUES: usize = 64;
/// Instead of a set of writes: the update is blind.
const BLIND: u64 = u64::MAX;

/// An update that may be blind.
#[derive(Clone, Debug)]
struct Update {
    thread: ThreadId,
    action: Action,
    /// The state in which it is pending.
    from: Origin,
    /// What it depends on.
    porf: Vec<u32>,
}

/// An update that is not in the graph yet, and that others may come after.
#[derive(Clone, Copy, Debug)]
struct Newcomer {
    thread: ThreadId,
    action: Action,
    /// It comes after all writes at positions before this one.
    position: usize,
}

/// A revisit with a cut: who makes it, which read it revisits, and which writes the read then sees, by their positions.
#[derive(Clone, Copy, Debug)]
struct Among {
    thread: ThreadId,
    /// The update itself, if it is in the graph already.
    write: EventId,
    read: EventId,
    cut: u64,
    /// What the update itself reads from, or [`BLIND`].
    own: u64,
}

/// An update that may come before another one.
struct Member {
    action: Action,
    /// Those before it in the list that must come before it.
    needs: u64,
    /// Whether it must be among them.
    forced: bool,
}

/// The members of a list that pass a test.
fn mask_of(ids: &[EventId], test: impl Fn(&EventId) -> bool) -> u64 {
    ids.iter().enumerate().filter(|(_, id)| test(id)).fold(0, |mask, (index, _)| mask | 1 << index)
}

/// Collects the values after all sets of members, of which so far these were chosen among the first, that contain all that
/// their members need; says whether there are not too many.
fn collect_values(
    members: &[Member],
    index: usize,
    chosen: u64,
    value: Value,
    values: &mut Vec<Value>,
    budget: &mut usize,
) -> bool {
    let Some(member) = members.get(index) else {
        *budget = budget.saturating_sub(1);
        if !values.contains(&value) {
            values.push(value);
        }
        return *budget > 0 && values.len() <= MAX_VALUES;
    };
    let can = member.needs & !chosen == 0;
    let with = || member.action.update(value, 0).unwrap_or(value);
    (member.forced || collect_values(members, index + 1, chosen, value, values, budget))
        && (!can || collect_values(members, index + 1, chosen | 1 << index, with(), values, budget))
}

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
            let first = self.choices.len();
            self.level += 1;
            let floors = self.floors(thread, loc, &action);
            let confirms = self.confirms(thread);
            if action.update(self.graph().written(source, loc), 0).is_some() {
                let fits = floors.update <= self.graph().position(source)
                    && self.graph().last_look(loc) < start
                    && self.fits_as_update(thread, loc, source);
                if fits {
                    self.choices.push(Choice::Read { source, way: 0 });
                }
            } else if mask > 0 && floors.read.min(floors.update) <= self.graph().position(source) {
                self.decide_source(thread, loc, source, floors, confirms, false);
            }
            self.level -= 1;
            for choice in &mut self.choices[first..] {
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
        self.level += 1;
        let order = [&part[..], &rest].concat();
        self.graphs[self.level].arrange(loc, start, &order);
        let from = start + part.len();
        let source = part.last().copied().unwrap_or(before);
        let pending = action.update(self.graph().written(source, loc), 0).map(|_| thread);
        let fits = self.order_part(loc, from..end, pending) && self.is_orderly(loc, start..from);
        self.level -= 1;
        fits.then_some(source)
    }

    /// Makes the next graph of the stack a copy of the current one.
    fn copy_level(&mut self) {
        if self.graphs.len() == self.level + 1 {
            self.graphs.push(Graph::new(self.program.threads()));
        }
        let (whole, rest) = self.graphs.split_at_mut(self.level + 1);
        rest[0].copy_from(&whole[self.level], &mut self.renaming);
    }

    /// Puts blind updates at these positions, which nobody has looked between, in an order in which all are eligible,
    /// though the pending update of a thread comes before them, if one is given. Says whether there is one.
    fn order_part(&mut self, loc: Loc, part: Range<usize>, pending: Option<ThreadId>) -> bool {
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
        self.graphs[self.level].arrange(loc, part.start, &order);
        true
    }

    /// The same for all from a position on.
    fn order_from(&mut self, loc: Loc, from: usize, pending: Option<ThreadId>) -> bool {
        let len = self.graph().location(loc).co.len();
        self.order_part(loc, from..len, pending)
    }

    /// Whether blind updates at these positions may come before all that follow, and everything fits together.
    fn is_orderly(&mut self, loc: Loc, positions: Range<usize>) -> bool {
        let Visitor { model, graphs, level, scratch, .. } = self;
        let graph = &graphs[*level];
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

    /// An update that may be blind, as it is in the graph.
    fn update_of(&self, id: EventId) -> Update {
        let graph = self.graph();
        let Event { thread, action, snapshot, .. } = *graph.event(id);
        let from = if snapshot.is_some() { Origin::Saved(snapshot.slot as usize) } else { Origin::Now };
        Update { thread, action, from, porf: graph.porf(id).to_vec() }
    }

    /// The pending update of a thread.
    fn pending_update(&self, thread: ThreadId, from: Origin) -> Update {
        let graph = self.graph();
        let slot = graph.thread(thread);
        Update { thread, action: slot.pending, from, porf: graph.porf(slot.tip()).to_vec() }
    }

    /// Whether the thread of an update goes on alike after these writes, and after any of them that can come alone.
    fn is_eligible(&mut self, update: &Update, loc: Loc, cut: &[EventId], newcomer: Option<Newcomer>) -> bool {
        if !update.action.may_be_blind() {
            return false;
        }
        let Some(values) = self.values(update, loc, cut, newcomer) else { return false };
        let Some((&first, others)) = values.split_first() else { return true };
        others.iter().all(|&value| self.goes_on_alike(update, first, value))
    }

    /// The values that an update may find after some of these writes; none if they are too many, or it is not known.
    fn values(&self, update: &Update, loc: Loc, cut: &[EventId], newcomer: Option<Newcomer>) -> Option<Vec<Value>> {
        let graph = self.graph();
        let forced = |id: &EventId| contains(&update.porf, graph.event(*id));
        let mut members = cut.to_vec();
        members.sort_unstable();
        let mut steps: Vec<Member> = Vec::with_capacity(members.len() + 1);
        for (index, &id) in members.iter().enumerate() {
            let needs = |other: &EventId| graph.is_porf_before(*other, id);
            let needs = mask_of(&members[..index], needs);
            steps.push(Member { action: graph.event(id).action, needs, forced: forced(&id) });
        }
        if let Some(Newcomer { thread, action, position }) = newcomer {
            let porf = graph.porf(graph.thread(thread).tip());
            let is_before = |event: &Event| (event.co_pos as usize) < position || contains(porf, event);
            let needs = mask_of(&members, |id| is_before(graph.event(*id)));
            steps.push(Member { action, needs, forced: false });
        }
        let mut values = Vec::new();
        let mut budget = MAX_CUTS;
        collect_values(&steps, 0, 0, graph.written(EventId::INIT, loc), &mut values, &mut budget).then_some(values)
    }

    /// Whether an update makes no difference to its thread, and to whatever the thread does until its next action, whichever of
    /// these values it finds.
    fn goes_on_alike(&mut self, update: &Update, one: Value, other: Value) -> bool {
        if one == other {
            return true;
        }
        let Update { thread, action, from, .. } = *update;
        let reply = |value| [Reply { value: action.answer(value, 0), wrote: true }];
        let (one, other) = (reply(one), reply(other));
        self.leads_to_equal(thread, Course { from, replies: &one }, Course { from, replies: &other })
    }

    /// An update that may be blind.
    fn decide_update(&mut self, thread: ThreadId, loc: Loc) {
        let graph = self.graph();
        let all = graph.location(loc).co[1..].to_vec();
        let (last, layer) = (graph.location(loc).co_max(), graph.open_layer(loc));
        let update = self.pending_update(thread, Origin::Now);
        if self.is_eligible(&update, loc, &all, None) {
            self.choices.push(Choice::Blind);
        } else {
            self.choices.push(Choice::Read { source: last, way: 0 });
            if layer.len() > MAX_OPTIONAL {
                return self.learn(Lesson::Ordered(loc));
            }
            if self.build_among(thread, loc) {
                self.choices.push(Choice::Among);
            }
            for mask in 0..(1u64 << layer.len()).saturating_sub(1) {
                let part = |&(index, _): &(usize, &EventId)| mask >> index & 1 == 1;
                let co = &self.graph().location(loc).co;
                let mut cut = co[1..layer.start].to_vec();
                cut.extend(co[layer.clone()].iter().enumerate().filter(part).map(|(_, id)| *id));
                if !self.is_eligible(&update, loc, &cut, None) && self.can_update_part(thread, loc, layer.start, mask) {
                    self.choices.push(Choice::Part { start: layer.start as u32, mask, way: 0 });
                }
            }
        }
        self.decide_revisits_among(thread, loc, EventId::NONE);
    }

    /// Whether the pending update of a thread can come after these of a layer and before the others.
    fn can_update_part(&mut self, thread: ThreadId, loc: Loc, start: usize, mask: u64) -> bool {
        let Some(source) = self.build_part(thread, loc, start, mask) else { return false };
        self.level += 1;
        let position = self.graph().position(source);
        let action = self.graph().thread(thread).pending;
        let fits = self.floors(thread, loc, &action).update <= position && self.fits_as_update(thread, loc, source);
        self.level -= 1;
        fits
    }

    /// Whether everything fits together if the pending update of a thread reads from a write.
    fn fits_as_update(&mut self, thread: ThreadId, loc: Loc, source: EventId) -> bool {
        let graph = &mut self.graphs[self.level];
        let len = graph.len();
        let action = graph.thread(thread).pending;
        let effect = effect_of_read(graph, action, source, 0);
        graph.append(thread, action, effect);
        let position = graph.position(source);
        let start = graph.layer_start(loc, position);
        let fits = self.is_orderly(loc, start..position + 1);
        self.graphs[self.level].truncate(len);
        fits
    }

    /// Makes the next graph of the stack one with the pending update of a thread, which is blind, and others of its layer
    /// after it. Says whether it can be.
    fn build_among(&mut self, thread: ThreadId, loc: Loc) -> bool {
        let start = self.graph().open_layer(loc).start;
        self.copy_level();
        self.level += 1;
        self.append_blind(thread, loc);
        let fits = self.order_from(loc, start, None);
        self.level -= 1;
        fits
    }

    /// Adds the pending update of a thread, which is blind, at the end.
    fn append_blind(&mut self, thread: ThreadId, loc: Loc) -> EventId {
        let graph = &mut self.graphs[self.level];
        let action = graph.thread(thread).pending;
        let effect = Effect { blind: true, ..effect_of_read(graph, action, graph.location(loc).co_max(), 0) };
        graph.append(thread, action, effect)
    }

    /// Whether a blind update was added maximally before a write: whether it would be blind after everything that was
    /// there.
    pub(super) fn is_blind_maximally(&mut self, id: EventId, write: &Revisiter<'_>) -> bool {
        let graph = self.graph();
        let Event { loc, fixed, .. } = *graph.event(id);
        let was_there = |other: &EventId| *other != id && write.was_there(graph, id, *other);
        let there: Vec<EventId> = graph.location(loc).co[1..].iter().copied().filter(was_there).collect();
        if graph.has_read_locks_at(loc) {
            return !fixed;
        }
        let update = self.update_of(id);
        !fixed && self.is_eligible(&update, loc, &there, None)
    }

    /// Pushes the revisits that the pending update of a thread can make, or the latest event, which is one.
    pub(super) fn decide_revisits_among(&mut self, thread: ThreadId, loc: Loc, write: EventId) {
        let graph = self.graph();
        let mut own = match write.is_some() {
            true => graph.porf(write).to_vec(),
            false => graph.porf(graph.thread(thread).tip()).to_vec(),
        };
        own[thread.index()] = own[thread.index()].max(graph.thread(thread).len + u32::from(!write.is_some()));
        let action = if write.is_some() { graph.event(write).action } else { graph.thread(thread).pending };
        let open = |id: &EventId| {
            let event = graph.event(*id);
            *id != write && event.snapshot.is_some() && !contains(&own, event)
        };
        let reads: Vec<EventId> = graph.location(loc).reads.iter().copied().filter(open).collect();
        for &read in reads.iter().rev() {
            if self.learned.is_some() || self.deadline.is_over() {
                return;
            }
            if self.goes_on_regardless(read, thread, action, write) {
                continue;
            }
            self.decide_revisits_of_read(thread, loc, write, read, &own);
        }
    }

    /// Whether a read is an update that is blind whatever comes before it, an update of a thread included.
    fn goes_on_regardless(&mut self, read: EventId, thread: ThreadId, action: Action, write: EventId) -> bool {
        let Event { blind, loc, .. } = *self.graph().event(read);
        if !blind {
            return false;
        }
        let graph = self.graph();
        let others = |id: &EventId| !graph.is_porf_before(read, *id);
        let cut: Vec<EventId> = graph.location(loc).co[1..].iter().copied().filter(others).collect();
        let update = self.update_of(read);
        let newcomer = (!write.is_some()).then_some(Newcomer { thread, action, position: 0 });
        self.is_eligible(&update, loc, &cut, newcomer)
    }

    fn decide_revisits_of_read(&mut self, thread: ThreadId, loc: Loc, write: EventId, read: EventId, own: &[u32]) {
        let graph = self.graph();
        let co = &graph.location(loc).co;
        let needs_read = |id: EventId| graph.is_porf_before(read, id);
        let optional: Vec<usize> = (1..co.len())
            .filter(|&position| {
                let id = co[position];
                id != read && id != write && !contains(own, graph.event(id)) && !needs_read(id)
            })
            .collect();
        let forced: u64 = (1..co.len())
            .filter(|&position| co[position] != write && contains(own, graph.event(co[position])))
            .fold(0, |mask, position| mask | 1 << position);
        if optional.len() > MAX_OPTIONAL {
            return self.learn(Lesson::Ordered(loc));
        }
        for choice in 0..1u64 << optional.len() {
            let chosen = optional.iter().enumerate().filter(|(index, _)| choice >> index & 1 == 1);
            let cut = chosen.fold(forced, |mask, (_, position)| mask | 1 << position);
            let Some(porf) = self.porf_of_cut(loc, own, cut, write) else { continue };
            let revisiter = Revisiter { thread, porf: &porf, id: write };
            if revisiter.depends_on(self.graph(), read) || !self.is_maximal_extension(read, &revisiter) {
                continue;
            }
            let after = self.graph().event(read).after;
            if after.is_some() && !revisiter.depends_on(self.graph(), after) {
                continue;
            }
            self.decide_modes(Among { thread, write, read, cut, own: BLIND }, loc, own, forced);
        }
    }

    /// Whether an update is the one that makes the revisit: of the members of the cut that came after the read, and that no
    /// other member depends on, the one whose thread is the last in the order of preference. The others have revisited
    /// the read before.
    fn is_newest(&self, thread: ThreadId, loc: Loc, read: EventId, own: &[u32], cut: u64) -> bool {
        let graph = self.graph();
        let rank = |thread: ThreadId| graph.preference().iter().position(|&other| other == thread);
        let first = graph.event(read).snapshot.events as usize;
        let members = self.members(loc, cut);
        let is_last = |id: EventId| {
            let needed = |other: &EventId| *other != id && graph.is_porf_before(id, *other);
            !contains(own, graph.event(id)) && !members.iter().any(needed)
        };
        let mut rivals = members.iter().filter(|id| id.index() >= first && is_last(**id));
        rivals.all(|&id| rank(graph.event(id).thread) < rank(thread))
    }

    /// What a cut depends on, with what its newest member depends on; none if something is missing from it.
    fn porf_of_cut(&self, loc: Loc, own: &[u32], cut: u64, newest: EventId) -> Option<Vec<u32>> {
        let graph = self.graph();
        let co = &graph.location(loc).co;
        let mut porf = own.to_vec();
        positions(cut).for_each(|position| join(&mut porf, graph.porf(co[position])));
        let is_missing = |position: usize| {
            cut >> position & 1 == 0 && co[position] != newest && contains(&porf, graph.event(co[position]))
        };
        (!(1..co.len()).any(is_missing)).then_some(porf)
    }

    /// Whether everything that a revisit deletes was added maximally, and the read, too.
    pub(super) fn is_maximal_extension(&mut self, read: EventId, revisiter: &Revisiter<'_>) -> bool {
        (read.index()..self.graph().len()).rev().map(EventId::new).all(|id| {
            id == revisiter.id
                || revisiter.depends_on(self.graph(), id)
                || self.is_maximal(id, revisiter)
                || self.is_only_confirmation(id, revisiter)
        })
    }

    /// Pushes a revisit for each way in which the update that makes it can itself take place.
    fn decide_modes(&mut self, among: Among, loc: Loc, porf: &[u32], forced: u64) {
        let Among { thread, write, .. } = among;
        if write.is_some() {
            let own = self.chain_mask(write, loc);
            return self.decide_revisit_among(Among { own, ..among }, loc, porf);
        }
        let action = self.graph().thread(thread).pending;
        if action.may_be_blind() {
            self.decide_revisit_among(among, loc, porf);
            let update = self.pending_update(thread, Origin::Now);
            let cut = self.members(loc, among.cut);
            if self.is_eligible(&update, loc, &cut, None) {
                return;
            }
        }
        let rest: Vec<usize> = positions(among.cut & !forced).collect();
        for choice in 0..1u64 << rest.len() {
            let chosen = rest.iter().enumerate().filter(|(index, _)| choice >> index & 1 == 1);
            let own = chosen.fold(forced, |mask, (_, position)| mask | 1 << position);
            let mut porf = porf.to_vec();
            let graph = self.graph();
            positions(own).for_each(|position| join(&mut porf, graph.porf(graph.location(loc).co[position])));
            self.decide_revisit_among(Among { own, ..among }, loc, &porf);
        }
    }

    fn members(&self, loc: Loc, mask: u64) -> Vec<EventId> {
        let co = &self.graph().location(loc).co;
        positions(mask).map(|position| co[position]).collect()
    }

    /// What an update in the graph sees.
    fn chain_mask(&self, write: EventId, loc: Loc) -> u64 {
        let graph = self.graph();
        let position = graph.position(write);
        debug_assert_eq!(graph.event(write).loc, loc);
        (1..position).fold(0, |mask, position| mask | 1 << position)
    }

    /// Pushes a revisit, if what comes of it fits together; the update that makes it depends on `porf`.
    fn decide_revisit_among(&mut self, among: Among, loc: Loc, porf: &[u32]) {
        let Among { thread, read, cut, own, write } = among;
        if !self.is_newest(thread, loc, read, porf, cut) {
            return;
        }
        let Event { thread: reader, action, snapshot, .. } = *self.graph().event(read);
        let Some(source) = self.build_revisit_among(among, loc) else { return };
        self.level += 1;
        let value = self.graph().written(source, loc);
        let position = self.graph().position(source);
        let floors = self.floors(reader, loc, &action);
        let update = self.pending_update(reader, Origin::Saved(snapshot.slot as usize));
        let seen = self.graph().location(loc).co[1..=position].to_vec();
        let blind = action.may_be_blind() && self.is_eligible(&update, loc, &seen, None);
        for read_way in 0..action.ways(value) {
            let updates = action.update(value, read_way).is_some();
            let floor = if updates { floors.update } else { floors.read };
            if blind || floor > position || !updates && !self.order_from(loc, position + 1, None) {
                continue;
            }
            // What was there before a revisited update may have to be revisited by it, in turn.
            let stays = !updates || self.fits_after_read(reader, loc, source);
            let in_graph = write.is_some();
            self.choices.push(Choice::RevisitAmong { thread, read, cut, own, read_way, in_graph, stays });
        }
        self.level -= 1;
    }

    /// Whether what comes after a revisited update still fits.
    fn fits_after_read(&mut self, reader: ThreadId, loc: Loc, source: EventId) -> bool {
        let from = self.graph().position(source) + 1;
        self.order_from(loc, from, Some(reader)) && self.fits_as_update(reader, loc, source)
    }

    /// Makes the next graph of the stack what is left after a revisit, without the read, and with the update that makes it;
    /// what the read then reads from. None if it does not fit together.
    fn build_revisit_among(&mut self, among: Among, loc: Loc) -> Option<EventId> {
        let Among { thread, write, read, cut, own } = among;
        let graph = self.graph();
        let action = if write.is_some() { graph.event(write).action } else { graph.thread(thread).pending };
        let mut porf = match write.is_some() {
            true => graph.porf(write).to_vec(),
            false => graph.porf(graph.thread(thread).tip()).to_vec(),
        };
        let (members, sees) = (self.members(loc, cut), if own == BLIND { Vec::new() } else { self.members(loc, own) });
        let graph = self.graph();
        members.iter().for_each(|&id| join(&mut porf, graph.porf(id)));
        let snapshot = graph.event(read).snapshot;
        let from = match write.is_some() {
            true => Origin::Saved(graph.event(write).snapshot.slot as usize),
            false => Origin::Now,
        };
        self.restrict_bare(read, &porf, write);
        let renamed = |ids: &[EventId]| ids.iter().map(|&id| self.renaming.get(id)).collect::<Vec<_>>();
        let (members, sees) = (renamed(&members), renamed(&sees));
        self.level += 1;
        // What threads have pending is as it was before they were run again.
        let pending = self.graph().thread(thread).pending;
        self.graphs[self.level].set_pending(thread, action);
        let sees = (own != BLIND).then_some(&sees);
        let source = self.settle_revisit_among(thread, (action, from), loc, &members, sees);
        self.graphs[self.level].set_pending(thread, pending);
        if source.is_some() {
            let graph = &mut self.graphs[self.level];
            graph.event_mut(graph.last()).fixed = true;
            for id in members.into_iter().filter(|id| id.index() >= snapshot.events as usize) {
                graph.event_mut(id).fixed = true;
            }
        }
        self.level -= 1;
        source
    }

    /// Adds the update that makes a revisit, with these before the read, and what the update itself sees, unless it is
    /// blind.
    fn settle_revisit_among(
        &mut self,
        thread: ThreadId,
        (action, from): (Action, Origin),
        loc: Loc,
        members: &[EventId],
        sees: Option<&Vec<EventId>>,
    ) -> Option<EventId> {
        let graph = self.graph();
        let co = &graph.location(loc).co;
        let border = graph.last_look(loc);
        let in_cut = |id: &EventId| members.contains(id);
        let in_own = |id: &EventId| sees.is_none_or(|sees| sees.contains(id));
        if !co[1..=border].iter().all(|id| in_cut(id) && in_own(id)) {
            return None;
        }
        let loose = co[border + 1..].to_vec();
        let rest: Vec<EventId> = loose.iter().copied().filter(|id| !in_cut(id)).collect();
        let start = border + 1;
        let Some(_) = sees else {
            let early: Vec<EventId> = loose.iter().copied().filter(in_cut).collect();
            let write = self.append_blind(thread, loc);
            let order = [&early[..], &[write], &rest].concat();
            self.graphs[self.level].arrange(loc, start, &order);
            let end = start + early.len() + 1;
            let fits = self.order_part(loc, start..end, None);
            // Whether there is an order for the rest is for the read to say.
            self.order_from(loc, end, None);
            return (fits && self.is_orderly(loc, start..end)).then(|| self.graph().location(loc).co[end - 1]);
        };
        let seen: Vec<EventId> = loose.iter().copied().filter(|id| in_cut(id) && in_own(id)).collect();
        let between: Vec<EventId> = loose.iter().copied().filter(|id| in_cut(id) && !in_own(id)).collect();
        let order = [&seen[..], &between, &rest].concat();
        self.graphs[self.level].arrange(loc, start, &order);
        let middle = start + seen.len();
        if !self.order_part(loc, start..middle, None) {
            return None;
        }
        let before = self.graph().location(loc).co[1..middle].to_vec();
        let update = self.pending_update(thread, from);
        if self.is_eligible(&update, loc, &before, None) {
            return None;
        }
        let graph = &mut self.graphs[self.level];
        let source = graph.location(loc).co[middle - 1];
        let site = Site::pending(graph, thread, loc, true);
        if self.model.floor(graph, &site, &mut self.scratch) >= middle {
            return None;
        }
        let effect = effect_of_read(graph, action, source, 0);
        effect.written?;
        graph.append(thread, action, effect);
        let end = middle + 1 + between.len();
        if !self.order_part(loc, middle + 1..end, None) {
            return None;
        }
        self.order_from(loc, end, None);
        (self.is_orderly(loc, start..middle) && self.is_orderly(loc, middle + 1..end))
            .then(|| self.graph().location(loc).co[end - 1])
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
        let audited = self.audited[self.level].clone();
        self.level += 1;
        self.audited.truncate(self.level);
        self.audited.push(audited);
    }

    /// An update, or the latest event, which is one, revisits a read with a cut.
    pub(super) fn revisit_among(&mut self, choice: Choice) -> Step<P::Error> {
        let Choice::RevisitAmong { thread, read, cut, own, read_way, in_graph, stays } = choice else {
            return Step::Extended;
        };
        let write = if in_graph { self.graph().last() } else { EventId::NONE };
        let Event { loc, .. } = *self.graph().event(read);
        match self.build_revisit_among(Among { thread, write, read, cut, own }, loc) {
            Some(source) => self.revisit_built(read, read_way, source, stays),
            None => Step::Cut,
        }
    }

    /// What was revisited is in the graph: the blind updates after it are in order again.
    pub(super) fn settle_after(&mut self, id: EventId) {
        let Event { loc, is_write, .. } = *self.graph().event(id);
        if is_write && self.graph().has_blind_at(loc) {
            let from = self.graph().position(id) + 1;
            let settled = self.order_from(loc, from, None);
            debug_assert!(settled, "blind updates have no order");
        }
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
        self.level += 1;
        let mut found = true;
        while let Some(layer) = self.some_layer().filter(|_| found) {
            let layer = self.by_preference(layer, latest);
            match layer.iter().copied().find(|&id| self.can_be_first(id)) {
                Some(first) => self.graphs[self.level].settle_first(first),
                None => found = false,
            }
        }
        let graph = found.then(|| self.graph().sorted());
        self.level -= 1;
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
            self.level += 1;
            self.graphs[self.level].settle_first(id);
            let fits = self.is_orderly_at(loc, id);
            self.level -= 1;
            return fits;
        }
        let start = self.graph().layer_start(loc, co_pos as usize);
        let before = self.graph().location(loc).co[1..start].to_vec();
        let update = self.update_of(id);
        if !self.is_eligible(&update, loc, &before, None) {
            return false;
        }
        self.copy_level();
        self.level += 1;
        self.graphs[self.level].settle_first(id);
        let rest = self.graph().layer_start(loc, start) + 1;
        let end = self.graph().location(loc).co[rest..].iter().take_while(|&&id| self.graph().event(id).blind).count();
        let fits = self.order_part(loc, rest..rest + end, None)
            && self.is_orderly_at(loc, id)
            && self.admits_fences(loc, rest);
        self.level -= 1;
        fits
    }

    /// Whether an update that is not blind may be where it is.
    fn is_orderly_at(&mut self, loc: Loc, id: EventId) -> bool {
        let Visitor { model, graphs, level, scratch, .. } = self;
        let graph = &graphs[*level];
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
        if !self.model.orders_updates() && locs.len() < 2 {
            locs.retain(|&loc| self.is_fenced(loc));
        }
        locs.retain(|&loc| !self.graph().has_read_locks_at(loc));
        locs.into_iter().find(|&loc| self.is_constrained(loc)).map(Lesson::Ordered)
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

fn names(list: &[(usize, EventId)]) -> Vec<EventId> {
    list.iter().map(|(_, id)| *id).collect()
}

/// The positions in a set.
fn positions(mask: u64) -> impl Iterator<Item = usize> {
    (0..64).filter(move |position| mask >> position & 1 == 1)
}
