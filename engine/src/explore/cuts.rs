//! Revisits with a cut: an update that [commutes](super::commute) with others revisits a read, which then sees the update and
//! any of the others that it may see.

use super::choice::Choice;
use super::commute::MAX_OPTIONAL;
use super::decide::effect_of_read;
use super::eligible::Newcomer;
use super::lessons::Lesson;
use super::maximal::Revisiter;
use super::program::Program;
use super::trial::Origin;
use super::visit::{Step, Visitor};
use crate::graph::{Action, Event, EventId, Loc, ThreadId, contains, join};
use crate::model::{Model, Site};

/// Instead of a set of writes: the update is blind.
const BLIND: u64 = u64::MAX;

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

impl<P: Program, M: Model> Visitor<'_, P, M> {
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
            let revisiter = Revisiter { thread, porf: &porf, id: write, reads: None };
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
        self.levels.enter();
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
            self.tree.choices.push(Choice::RevisitAmong { thread, read, cut, own, read_way, in_graph, stays });
        }
        self.levels.leave();
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
        let renamed = |ids: &[EventId]| ids.iter().map(|&id| self.buffers.renaming.get(id)).collect::<Vec<_>>();
        let (members, sees) = (renamed(&members), renamed(&sees));
        self.levels.enter();
        // What threads have pending is as it was before they were run again.
        let pending = self.graph().thread(thread).pending;
        self.levels.current_mut().set_pending(thread, action);
        let sees = (own != BLIND).then_some(&sees);
        let source = self.settle_revisit_among(thread, (action, from), loc, &members, sees);
        self.levels.current_mut().set_pending(thread, pending);
        if source.is_some() {
            let graph = self.levels.current_mut();
            graph.event_mut(graph.last()).fixed = true;
            for id in members.into_iter().filter(|id| id.index() >= snapshot.events as usize) {
                graph.event_mut(id).fixed = true;
            }
        }
        self.levels.leave();
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
            self.levels.current_mut().arrange(loc, start, &order);
            let end = start + early.len() + 1;
            let fits = self.order_part(loc, start..end, None);
            // Whether there is an order for the rest is for the read to say.
            self.order_from(loc, end, None);
            return (fits && self.is_orderly(loc, start..end)).then(|| self.graph().location(loc).co[end - 1]);
        };
        let seen: Vec<EventId> = loose.iter().copied().filter(|id| in_cut(id) && in_own(id)).collect();
        let between: Vec<EventId> = loose.iter().copied().filter(|id| in_cut(id) && !in_own(id)).collect();
        let order = [&seen[..], &between, &rest].concat();
        self.levels.current_mut().arrange(loc, start, &order);
        let middle = start + seen.len();
        if !self.order_part(loc, start..middle, None) {
            return None;
        }
        let before = self.graph().location(loc).co[1..middle].to_vec();
        let update = self.pending_update(thread, from);
        if self.is_eligible(&update, loc, &before, None) {
            return None;
        }
        let graph = self.levels.current_mut();
        let source = graph.location(loc).co[middle - 1];
        let site = Site::pending(graph, thread, loc, true);
        if self.model.floor(graph, &site, &mut self.buffers.scratch) >= middle {
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
}

/// The positions in a set.
fn positions(mask: u64) -> impl Iterator<Item = usize> {
    (0..64).filter(move |position| mask >> position & 1 == 1)
}
