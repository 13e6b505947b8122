//! Backward revisits (lines 15–18 of algorithm 1 of the TruSt paper).
//!
//! When a write `w` revisits a read `r`, the new graph has what was there when `r` was added, what `w` depends on, `w`,
//! and `r` reading from it. `r` comes last in the insertion order, so that the order keeps linearising porf; the paper
//! leaves it where it was, which is the same to every later decision: `r` counts as maximally added only for writes
//! that depend on `w`, and all that was between the two places is then kept anyway.
//!
//! The program does not run from the start: its state from before `r` was saved, and only the events that `w` depends
//! on and that came after `r` are run again. That they turn out the same is checked.

use super::Failure;
use super::choice::Choice;
use super::decide::{effect_of_read, effect_of_store};
use super::lessons::Lessons;
use super::program::Program;
use super::visit::{Step, Visitor};
use crate::graph::{Action, Event, EventId, Snapshot, ThreadId, View, contains, join};
use crate::model::{Model, find_race};

/// The write that revisits.
#[derive(Clone, Copy, Debug)]
pub(super) struct Write {
    pub thread: ThreadId,
    pub action: Action,
    /// Itself, if it is in the graph already.
    pub id: EventId,
    /// For a read-modify-write, what it reads from.
    pub source: EventId,
    /// For a store, its place in coherence order; the last one, if there are not that many.
    pub place: u32,
    /// In which of the ways that its action allows it happens.
    pub way: u32,
}

impl<P: Program, M: Model> Visitor<'_, P, M> {
    /// Lets the pending write of a thread revisit a read.
    pub(super) fn revisit_by_pending(&mut self, choice: Choice) -> Step<P::Error> {
        let Choice::Revisit { thread, read, place, source, way, read_way } = choice else { return Step::Extended };
        let graph = self.levels.current();
        let slot = graph.thread(thread);
        self.buffers.porf.clear();
        self.buffers.porf.extend_from_slice(graph.porf(slot.tip()));
        self.buffers.porf[thread.index()] = slot.len + 1;
        if source.is_some() && source != EventId::INIT {
            join(&mut self.buffers.porf, graph.porf(source));
        }
        graph.join_twin(thread, &mut self.buffers.porf);
        let write = Write { thread, action: slot.pending, id: EventId::NONE, source, place, way };
        self.revisit(write, read, read_way)
    }

    /// Lets the latest event, a read-modify-write that was itself just revisited, revisit a read.
    pub(super) fn revisit_by_last(&mut self, read: EventId, read_way: u32) -> Step<P::Error> {
        let graph = self.levels.current();
        let id = graph.last();
        let event = graph.event(id);
        self.buffers.porf.clear();
        self.buffers.porf.extend_from_slice(graph.porf(id));
        let Event { thread, action, rf: source, co_pos: place, way, .. } = *event;
        self.revisit(Write { thread, action, id, source, place, way }, read, read_way)
    }

    fn revisit(&mut self, write: Write, read: EventId, read_way: u32) -> Step<P::Error> {
        let porf = std::mem::take(&mut self.buffers.porf);
        self.restrict(write, read, &porf);
        self.buffers.porf = porf;
        let source = self.levels.next().last();
        self.revisit_built(read, read_way, source, true)
    }

    /// Goes on in the next graph of the stack, which is what is left after a revisit but for the read: this reads from
    /// `source`.
    pub(super) fn revisit_built(
        &mut self,
        read: EventId,
        read_way: u32,
        source: EventId,
        stays: bool,
    ) -> Step<P::Error> {
        let Event { thread, action, snapshot, .. } = *self.graph().event(read);
        let audited = self.levels.audited().beginning(snapshot.events as usize);
        self.levels.go_on_in_next(audited);
        self.renew_witness_after_revisit();
        self.stats.revisits_done += 1;
        self.stats.events += 1;
        self.state.clone_from(self.snapshots.get(snapshot.slot as usize));
        match self.replay(snapshot.events as usize) {
            Step::Extended => {}
            other => return other,
        }
        if self.graph().thread(thread).pending != action {
            return Step::Failed(Failure::Nondeterminism(thread));
        }
        let write = source;
        if self.confirms(thread) && self.fails_to_confirm(thread, write) {
            if !action.loc().is_some_and(|loc| self.may_come_back(loc)) {
                return Step::Cut;
            }
            self.levels.current_mut().set_after(thread, write);
            return Step::Extended;
        }
        if read_way > 0 && self.fails_in_vain(thread, write) {
            return Step::Cut;
        }
        if self.would_wait_for(thread, action, write) {
            // The writes of a lock are ordered anyhow, unless readers share it.
            if !action.is_lock() || action.loc().is_some_and(|loc| self.is_shared(loc)) {
                self.levels.current_mut().set_after(thread, write);
            }
            return Step::Extended;
        }
        self.add_revisited(thread, snapshot, write, read_way, stays)
    }

    /// Adds the revisited read, which reads from the write.
    /// If it cannot stay so, it revisits something else, in turn.
    fn add_revisited(
        &mut self,
        thread: ThreadId,
        snapshot: Snapshot,
        write: EventId,
        way: u32,
        stays: bool,
    ) -> Step<P::Error> {
        self.stats.events += 1;
        let graph = self.levels.current();
        let action = graph.thread(thread).pending;
        let effect = effect_of_read(graph, action, write, way);
        let in_loop = self.is_audited(thread);
        let read = self.append(thread, action, effect);
        if stays {
            self.settle_after(read);
        }
        let graph = self.levels.current_mut();
        let event = graph.event_mut(read);
        event.revisited = true;
        event.in_loop = in_loop;
        event.snapshot = snapshot;
        if graph.has_blind()
            && stays
            && let Some(lesson) = self.minds_blind(read)
        {
            return Step::Restart(lesson);
        }
        if let Some(race) = find_race(self.graph(), read) {
            return self.raced(read, race);
        }
        match self.run(read) {
            Step::Extended if effect.written.is_some() => self.revisit_on(stays),
            other => other,
        }
    }

    /// Makes the next graph of the stack the restricted one, with the write at its place.
    pub(super) fn restrict(&mut self, write: Write, read: EventId, porf: &View) {
        self.restrict_bare(read, porf, write.id);
        let (graph, renaming) = (self.levels.next_mut(), &self.buffers.renaming);
        let effect = match write.source.is_some() {
            true => effect_of_read(graph, write.action, renaming.get(write.source), write.way),
            false => {
                let len = write.action.loc().map_or(1, |loc| graph.location(loc).co.len());
                effect_of_store(write.action, len.min(write.place as usize))
            }
        };
        let write = graph.append(write.thread, write.action, effect);
        graph.event_mut(write).fixed = true;
    }

    /// Makes the next graph of the stack the restricted one: what was there before the read, and what is in a view, but for
    /// the write itself.
    pub(super) fn restrict_bare(&mut self, read: EventId, porf: &View, write: EventId) {
        let (whole, graph) = self.levels.current_and_next();
        let snapshot = whole.event(read).snapshot;
        let renaming = &mut self.buffers.renaming;
        graph.begin_copy(whole, snapshot.events as usize, renaming);
        for id in (snapshot.events as usize..whole.len()).map(EventId::new) {
            if id != read && id != write && (id < read || contains(porf, whole.event(id))) {
                graph.keep(whole, id, renaming);
            }
        }
        graph.end_copy(whole, read.index(), renaming);
    }

    /// Saves the state from before a read that is kept, if it will be looked at: it cannot be revisited, since what has
    /// revisited depends on it.
    fn save_for_audit(&mut self, id: EventId) {
        let Lessons { audited, transients, .. } = self.lessons;
        let is_audited = !audited.is_empty() || !transients.is_empty() || self.program.touches_memory();
        if self.graph().event(id).blind || is_audited && self.graph().event(id).is_read {
            let slot = self.save() as u32;
            self.levels.current_mut().event_mut(id).snapshot = Snapshot { slot, events: id.index() as u32 };
        }
    }

    /// Runs the program from a state that contains the first `from` events through the others.
    fn replay(&mut self, from: usize) -> Step<P::Error> {
        for id in (from..self.graph().len()).map(EventId::new) {
            let event = self.graph().event(id);
            if self.graph().thread(event.thread).pending != event.action {
                return Step::Failed(Failure::Nondeterminism(event.thread));
            }
            if let Some(race) = find_race(self.graph(), id) {
                match self.raced(id, race) {
                    Step::Extended => continue,
                    other => return other,
                }
            }
            self.save_for_audit(id);
            match self.run(id) {
                Step::Extended => {}
                other => return other,
            }
        }
        Step::Extended
    }
}
