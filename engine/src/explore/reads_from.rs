//! Reads-from equivalence: coherence is not part of a graph (§4.2 of the TruSt paper).
//!
//! The coherence order that a graph has is a *witness*: some order with which it is consistent. A read may read from
//! whatever it can under some order; a write has one way to be added, at the end of the witness. What depends on the
//! witness must not show: everything that is decided here is a function of events, program order and reads-from.
//!
//! *Maximality.* Of all writes of a location that can be the last in some witness, the *latest* is the one whose thread
//! comes last in the order of preference, and of those the one that comes last in program order. A read is added
//! maximally if it reads from the latest of what was there before or is causally before the write that would delete it;
//! a write always is. So there is one graph that differs in the deleted part only in which a revisit happens. Whatever
//! can be last can be read from, so that this graph is consistent, and is explored. If the write that would delete it is
//! a read-modify-write, what that reads is causally before it, too, and says something about the witness: it may keep
//! a write from being the last.
//!
//! *Speed.* Where the graph has but one witness (see [`crate::graph::Ties`]), all that is asked of a witness is asked of
//! that one, as under trace equivalence. What holds in the current witness can hold. Only else one is searched for.

use super::buffers::Buffers;
use super::choice::Choice;
use super::decide::{Writes, effect_of_read, is_enabled};
use super::maximal::{ReadPart, Revisiter, is_maximally_added};
use super::program::Program;
use super::revisit::Write;
use super::visit::Visitor;
use crate::graph::{
    Action, Effect, Event, EventId, Graph, Loc, MemOrder, Renaming, RmwOp, Test, ThreadId, Value, Width,
};
use crate::model::{Last, Model, Scratch, Site};

/// The part of a graph that something is asked about.
#[derive(Clone, Copy, Debug)]
pub(super) enum Part<'a> {
    /// All of it.
    Whole,
    /// What was added before this event.
    Before(EventId),
    /// What was added before this event, or is causally before a write: also what that write itself reads.
    Previous(EventId, Revisiter<'a>),
}

impl Part<'_> {
    fn contains(&self, graph: &Graph, id: EventId) -> bool {
        match self {
            Part::Whole => true,
            Part::Before(end) => id < *end,
            Part::Previous(end, write) => id < *end || (id != *end && id != write.id && write.depends_on(graph, id)),
        }
    }

    /// Whether the witness of the whole graph is one of this part.
    fn has_witness_of_whole(&self) -> bool {
        match self {
            Part::Previous(_, write) => write.reads.is_none_or(|read| read.fits),
            Part::Whole | Part::Before(_) => true,
        }
    }
}

/// What it takes to ask about a part of a graph.
#[derive(Debug)]
pub(super) struct Parts {
    graph: Graph,
    renaming: Renaming,
}

impl Parts {
    pub fn new() -> Parts {
        Parts { graph: Graph::new(0), renaming: Renaming::default() }
    }

    /// Copies a part of a graph.
    fn copy(&mut self, whole: &Graph, part: Part<'_>) {
        let (end, write) = match part {
            Part::Whole => (EventId::new(whole.len()), None),
            Part::Before(end) => (end, None),
            Part::Previous(end, write) => (end, Some(write)),
        };
        self.graph.begin_copy(whole, end.index(), &mut self.renaming);
        if write.is_some() {
            for id in (end.index()..whole.len()).map(EventId::new) {
                if part.contains(whole, id) {
                    self.graph.keep(whole, id, &mut self.renaming);
                }
            }
        }
        self.graph.end_copy(whole, end.index(), &self.renaming);
        if let Some(Revisiter { thread, reads: Some(read), .. }) = write {
            let rf = self.renaming.get(read.source);
            self.graph.append(thread, read.action, Effect { rf, ..Effect::answer(0) });
        }
    }
}

/// Whether a graph is consistent with some coherence order in which these writes are the last.
pub(super) fn has_witness<M: Model>(model: &M, graph: &Graph, lasts: &[Last], scratch: &mut Scratch) -> bool {
    scratch.witness.find(graph, lasts, |description| model.describe(description)).is_some()
}

/// Gives a graph a witness in which these writes are the last, if there is one.
pub(super) fn adopt_witness<M: Model>(model: &M, graph: &mut Graph, lasts: &[Last], scratch: &mut Scratch) -> bool {
    let found = scratch.witness.find(graph, lasts, |description| model.describe(description));
    found.is_some_and(|found| {
        found.adopt(graph);
        true
    })
}

impl<P: Program, M: Model> Visitor<'_, P, M> {
    /// Whether a write can be the last of its location, in this part of the graph.
    #[inline(never)]
    pub(super) fn can_be_last(&mut self, part: Part<'_>, loc: Loc, write: EventId) -> bool {
        let graph = self.levels.current();
        let mut others = graph.location(loc).co.iter().copied().filter(|&other| part.contains(graph, other));
        if part.has_witness_of_whole() && others.next_back() == Some(write) {
            return true;
        }
        if graph.location(loc).is_settled() {
            return false;
        }
        let others = || graph.location(loc).co.iter().copied().filter(|&other| part.contains(graph, other));
        if others().any(|other| other != write && graph.is_tied(write, other)) {
            return false;
        }
        let Visitor { model, buffers: Buffers { scratch, parts, .. }, .. } = self;
        match part {
            Part::Whole => has_witness(model, graph, &[(loc, write)], scratch),
            _ => {
                parts.copy(graph, part);
                let write = parts.renaming.get(write);
                has_witness(model, &parts.graph, &[(loc, write)], scratch)
            }
        }
    }

    /// The latest write of a location in this part of the graph; none if the part has no witness.
    #[inline(never)]
    pub(super) fn latest(&mut self, part: Part<'_>, loc: Loc) -> EventId {
        let graph = self.levels.current();
        let location = graph.location(loc);
        let mut within = location.co.iter().copied().filter(|&write| part.contains(graph, write));
        if location.is_settled() {
            return within.next_back().unwrap_or(EventId::INIT);
        }
        let mut writes: Vec<EventId> = within.collect();
        writes.sort_by_cached_key(|&write| std::cmp::Reverse(graph.rank_of_write(write)));
        let found = writes.into_iter().find(|&write| self.can_be_last(part, loc, write));
        found.unwrap_or(EventId::NONE)
    }

    /// The latest value of a location, if any event accesses it.
    pub(super) fn latest_value(&mut self, loc: Loc) -> Option<Value> {
        if self.graph().is_settled() {
            return self.graph().last_value(loc);
        }
        let location = self.graph().locations().nth(loc.index()).map(|(_, location)| location);
        location.filter(|location| !location.is_untouched())?;
        let write = self.latest(Part::Whole, loc);
        Some(self.graph().written(write, loc))
    }

    /// Whether a write may be the latest of its location; under trace equivalence, whether it is the last one.
    pub(super) fn can_be_latest(&mut self, loc: Loc, write: EventId) -> bool {
        match self.graph().has_witness() {
            true => self.can_be_last(Part::Whole, loc, write),
            false => self.graph().location(loc).co_max() == write,
        }
    }

    /// Whether what a read has read, or what it has written back, was not the latest, and never will be.
    pub(super) fn has_read_old(&mut self, read: EventId) -> bool {
        let graph = self.graph();
        let event = graph.event(read);
        let (loc, write) = (event.loc, if event.is_write { read } else { event.rf });
        if graph.has_witness() && !graph.location(loc).is_settled() {
            let end = EventId::new(read.index() + usize::from(event.is_write));
            return !self.can_be_last(Part::Before(end), loc, write);
        }
        graph.location(loc).co[graph.position(write) + 1..].iter().any(|&later| later < read)
    }

    /// A write, and those of its location that come after it, or may.
    pub(super) fn not_before(&self, loc: Loc, write: EventId) -> Vec<EventId> {
        let graph = self.graph();
        let location = graph.location(loc);
        match graph.has_witness() && !location.is_settled() {
            true => {
                location.co.iter().copied().filter(|&other| other == write || !graph.is_tied(other, write)).collect()
            }
            false => location.co[graph.position(write)..].to_vec(),
        }
    }

    /// Whether a thread can take its pending action, where there may be several witnesses.
    #[inline(never)]
    pub(super) fn is_ready(&mut self, thread: ThreadId) -> bool {
        let graph = self.graph();
        let (loc, test, keepers) = match graph.thread(thread).pending {
            Action::Await { loc, test, .. } => (loc, test, None),
            Action::Reach { loc, test, keepers, .. } => (loc, test, keepers),
            _ => return is_enabled(self.program, &self.state, graph, thread),
        };
        let latest = self.latest_value(loc).unwrap_or_else(|| self.program.initial_value(&self.state, loc));
        test.passes(latest) || keepers.is_some_and(|keepers| self.program.keepers(&self.state, keepers) == 0)
    }

    /// Whether an event that is not causally before a write was added maximally before it, where there may be several
    /// witnesses.
    #[inline(never)]
    pub(super) fn is_added_maximally(&mut self, id: EventId, write: &Revisiter<'_>) -> bool {
        let graph = self.levels.current();
        let event = graph.event(id);
        if let Action::Reach { test, .. } = event.action {
            return self.has_reached_first(id, write, test);
        }
        if !event.is_access() || graph.location(event.loc).is_settled() {
            return is_maximally_added(graph, id, write);
        }
        if event.fixed || event.way > 0 {
            return false;
        }
        if !event.is_read {
            return true;
        }
        let (source, loc) = (event.rf, event.loc);
        let part = Part::Previous(id, *write);
        if event.revisited && !write.depends_on(graph, source) || !part.contains(graph, source) {
            return false;
        }
        self.latest(part, loc) == source
    }

    /// What is waited for has come, or will not come any more; but how late that is seen may depend on the witness.
    /// Where there are several, whatever can be read is; of those, the first that was added counts as the latest.
    #[inline(never)]
    pub(super) fn decide_reach_from(&mut self, thread: ThreadId, loc: Loc, test: Test) {
        let graph = self.levels.current_mut();
        graph.tie_everything();
        let settled = graph.is_settled();
        let mut writes = graph.location(loc).co.clone();
        writes.sort_unstable();
        writes.retain(|&write| test.passes(graph.written(write, loc)));
        let start = self.tree.choices.len();
        for source in writes {
            let done = settled && self.tree.choices.len() > start;
            if !done && (self.fits(thread, loc, source) || !settled && self.can_read(thread, source, 0)) {
                self.tree.choices.push(Choice::Read { source, way: 0 });
            }
        }
        if self.tree.choices.len() == start {
            let source = self.latest(Part::Whole, loc);
            self.tree.choices.push(Choice::Read { source, way: 0 });
        }
    }

    /// Whether what was reached could not have been reached by reading something that was added earlier.
    fn has_reached_first(&mut self, id: EventId, write: &Revisiter<'_>, test: Test) -> bool {
        let graph = self.levels.current();
        let Event { thread, action, loc, rf, .. } = *graph.event(id);
        let part = Part::Previous(id, *write);
        let earlier = |other: EventId| other < rf && part.contains(graph, other);
        let mut others: Vec<EventId> = graph.location(loc).co.iter().copied().filter(|&other| earlier(other)).collect();
        others.retain(|&other| test.passes(graph.written(other, loc)));
        let is_local = || self.model.is_local(graph, &Site::of(graph, id, false));
        if others.is_empty() || graph.location(loc).is_settled() && is_local() {
            return true;
        }
        let Visitor { model, levels, buffers: Buffers { scratch, parts, .. }, .. } = self;
        parts.copy(levels.current(), part);
        let len = parts.graph.len();
        !others.into_iter().any(|other| {
            let effect = effect_of_read(&parts.graph, action, parts.renaming.get(other), 0);
            parts.graph.append(thread, action, effect);
            let can = has_witness(model, &parts.graph, &[], scratch);
            parts.graph.truncate(len);
            can
        })
    }

    /// Whether the current witness still is one if the pending action of a thread reads from a write, and does not
    /// write.
    fn fits(&mut self, thread: ThreadId, loc: Loc, source: EventId) -> bool {
        let Visitor { model, levels, buffers: Buffers { scratch, .. }, .. } = self;
        let graph = levels.current();
        graph.position(source) >= model.floor(graph, &Site::pending(graph, thread, loc, false), scratch)
    }

    /// Whether the pending action of a thread can read from a write, though not with the current witness.
    pub(super) fn can_read(&mut self, thread: ThreadId, source: EventId, way: u32) -> bool {
        let Visitor { model, levels, buffers: Buffers { scratch, .. }, .. } = self;
        let graph = levels.current_mut();
        let action = graph.thread(thread).pending;
        if action.loc().is_some_and(|loc| graph.is_overwritten(thread, source, loc)) {
            return false;
        }
        let (len, asleep) = (graph.len(), graph.thread(thread).asleep);
        let effect = effect_of_read(graph, action, source, way);
        graph.append(thread, action, effect);
        let found = has_witness(model, graph, &[], scratch);
        graph.truncate(len);
        graph.set_asleep(thread, asleep);
        found
    }

    /// Adds the pending action of a thread as an event, with another witness if need be.
    #[inline]
    pub(super) fn append(&mut self, thread: ThreadId, action: Action, effect: Effect) -> EventId {
        let graph = self.levels.current_mut();
        match graph.is_settled() {
            true => graph.append(thread, action, effect),
            false => self.append_to_loose(thread, action, effect),
        }
    }

    #[inline(never)]
    fn append_to_loose(&mut self, thread: ThreadId, action: Action, effect: Effect) -> EventId {
        let Visitor { model, levels, buffers: Buffers { scratch, .. }, .. } = self;
        let graph = levels.current_mut();
        let fits = !effect.rf.is_some() || {
            let site = |loc| Site::pending(graph, thread, loc, effect.written.is_some());
            action.loc().is_none_or(|loc| graph.position(effect.rf) >= model.floor(graph, &site(loc), scratch))
        };
        let id = graph.append(thread, action, effect);
        if !fits {
            self.renew_witness();
        }
        id
    }

    /// Finds another witness for the current graph, which has one.
    fn renew_witness(&mut self) {
        let Visitor { model, levels, buffers: Buffers { scratch, .. }, .. } = self;
        let found = adopt_witness(model, levels.current_mut(), &[], scratch);
        debug_assert!(found, "an inconsistent graph is explored");
    }

    /// Finds another witness where the latest event, a write that revisits a read, may have made that necessary.
    #[inline(never)]
    pub(super) fn renew_witness_after_revisit(&mut self) {
        let graph = self.graph();
        let event = graph.event(graph.last());
        if event.is_read && !graph.is_settled() && graph.location(event.loc).co_max() != graph.last() {
            self.renew_witness();
        }
    }

    /// What a write that looks for reads to revisit reads itself, as far as that says something about the witness.
    pub(super) fn read_part(&mut self, thread: ThreadId, write: EventId, loc: Loc, writes: Writes) -> Option<ReadPart> {
        let graph = self.levels.current();
        let source = match writes {
            Writes::RightAfter(source, _) if graph.has_witness() && !graph.is_settled() => source,
            _ => return None,
        };
        let (order, fits) = match write.is_some() {
            true => (graph.event(write).action.order(true), true),
            false => (graph.thread(thread).pending.order(true), self.fits(thread, loc, source)),
        };
        Some(ReadPart::new(loc, source, order, fits))
    }

    /// Whether a write can revisit a read is not for floors to say: a store can always, being the last in what is
    /// left, and has but one place then; a read-modify-write has to look for a witness, unless there is but one.
    #[inline]
    pub(super) fn decides_by_witness(&self, writes: Writes) -> bool {
        let graph = self.graph();
        graph.has_witness() && (matches!(writes, Writes::After(_)) || !graph.is_settled())
    }

    /// Pushes the revisit of a read in this way, if it can be made.
    #[inline(never)]
    pub(super) fn decide_revisit(&mut self, read: (EventId, u32), write: &Revisiter<'_>, value: Value, writes: Writes) {
        let (id, read_way) = read;
        let Revisiter { thread, id: itself, .. } = *write;
        let (source, way) = match writes {
            Writes::After(_) => (EventId::NONE, 0),
            Writes::RightAfter(source, way) => (source, way),
        };
        if source.is_some() && !self.can_revisit(read, write, value, (source, way)) {
            return;
        }
        self.tree.choices.push(match itself.is_some() {
            true => Choice::RevisitOn { read: id, read_way },
            false => Choice::Revisit { thread, read: id, place: u32::MAX, source, way, read_way },
        });
    }

    /// Whether a read-modify-write that writes this value can revisit a read: whether what then is left, with both, is
    /// consistent.
    fn can_revisit(
        &mut self,
        (read, read_way): (EventId, u32),
        revisiter: &Revisiter<'_>,
        value: Value,
        (source, way): (EventId, u32),
    ) -> bool {
        let graph = self.graph();
        let kept = |id: EventId| revisiter.keeps(graph, read, id);
        let reads = &graph.location(graph.event(read).loc).reads;
        if reads.iter().any(|&other| graph.event(other).rf == source && graph.event(other).is_write && kept(other)) {
            return false;
        }
        let Event { thread, action, loc, .. } = *graph.event(read);
        let by = match revisiter.id.is_some() {
            true => graph.event(revisiter.id).action,
            false => graph.thread(revisiter.thread).pending,
        };
        // A load that will be confirmed looks ahead.
        let (order, width) = (MemOrder::Relaxed, Width::W64);
        let confirmation = Action::Rmw { loc, order, op: RmwOp::Xchg, width, operand: value };
        let by = if by.is_rmw() { by } else { confirmation };
        let write = Write { thread: revisiter.thread, action: by, id: revisiter.id, source, place: u32::MAX, way };
        self.restrict(write, read, revisiter.porf);
        let Visitor { model, levels, buffers: Buffers { scratch, .. }, .. } = self;
        let graph = levels.next_mut();
        let effect = effect_of_read(graph, action, graph.last(), read_way);
        graph.append(thread, action, effect);
        has_witness(model, graph, &[], scratch)
    }
}

impl Graph {
    /// The place of a write in the witness.
    pub(super) fn position(&self, write: EventId) -> usize {
        if write == EventId::INIT { 0 } else { self.event(write).co_pos as usize }
    }

    /// Whether no read-modify-write reads from a write.
    pub(super) fn is_free(&self, write: EventId, loc: Loc) -> bool {
        let next = self.location(loc).co.get(self.position(write) + 1);
        next.is_none_or(|&next| !self.event(next).is_update())
    }

    /// What makes a write later than another, as far as both can be the last.
    fn rank_of_write(&self, write: EventId) -> Option<(usize, u32)> {
        let event = (write != EventId::INIT).then(|| self.event(write))?;
        let thread = self.preference().iter().position(|&thread| thread == event.thread)?;
        Some((thread, event.index))
    }
}
