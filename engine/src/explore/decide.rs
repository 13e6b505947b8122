//! What can happen next: the children of a node of the exploration tree (VISIT in algorithm 1 of the TruSt paper).
//!
//! A read-modify-write is one event here, where the paper has a read and a write next to each other. It therefore
//! chooses a write to read from even where another read-modify-write already reads from that: it cannot stay so, but it
//! can revisit the other one, or delete it by revisiting an earlier read.

use super::buffers::Buffers;
use super::choice::Choice;
use super::maximal::{Revisiter, is_maximally_added};
use super::program::Program;
use super::reads_from::Part;
use super::symmetry::floor_of_revisit;
use super::visit::Visitor;
use crate::graph::{Action, Effect, Event, EventId, Graph, Loc, Test, ThreadId, Value, join};
use crate::model::{Model, Site};

/// What the revisiting write is, for the choice of its place.
#[derive(Clone, Copy, Debug)]
pub(super) enum Writes {
    /// A store: anywhere after this position.
    After(usize),
    /// A read-modify-write that happens in this way: right after the write it reads from.
    RightAfter(EventId, u32),
}

/// The floors of an access, as far as it only reads and as far as it also writes: a compare-and-swap has an ordering
/// for either.
#[derive(Clone, Copy, Debug)]
pub(super) struct Floors {
    pub read: usize,
    pub update: usize,
}

/// Whether a thread can take its pending action in this graph.
#[inline]
pub(super) fn is_enabled<P: Program>(program: &P, state: &P::State, graph: &Graph, thread: ThreadId) -> bool {
    match graph.thread(thread).pending {
        Action::End | Action::Block | Action::Spin { .. } | Action::Exit | Action::Model(_) | Action::Fail => false,
        Action::Gather => graph.is_alone(thread),
        Action::Join(target) => {
            target.index() < graph.thread_count() && graph.thread(target).alive && graph.thread(target).is_finished()
        }
        Action::Await { loc, test, .. } => passes(program, state, graph, loc, test),
        Action::Reach { loc, test, keepers, .. } => match graph.last_value(loc) {
            Some(value) if test.passes(value) => true,
            _ if graph.is_kept(thread) => false,
            _ => is_over(program, state, graph, loc, test, keepers),
        },
        _ => true,
    }
}

/// Whether what is waited for at a location has come, or will not come any more.
#[inline(never)]
fn is_over<P: Program>(
    program: &P,
    state: &P::State,
    graph: &Graph,
    loc: Loc,
    test: Test,
    keepers: Option<Loc>,
) -> bool {
    keepers.is_some_and(|keepers| program.keepers(state, keepers) == 0) || passes(program, state, graph, loc, test)
}

/// Whether the last value of a location passes a test.
fn passes<P: Program>(program: &P, state: &P::State, graph: &Graph, loc: Loc, test: Test) -> bool {
    test.passes(graph.last_value(loc).unwrap_or_else(|| program.initial_value(state, loc)))
}

impl<P: Program, M: Model> Visitor<'_, P, M> {
    /// Pushes all ways in which the pending action of a thread can happen.
    pub(super) fn decide(&mut self, thread: ThreadId) {
        let pending = self.graph().thread(thread).pending;
        if pending.loc().is_some_and(|loc| self.decide_commuting(thread, loc)) {
            return;
        }
        match pending {
            Action::Load { loc, .. } => self.decide_read(thread, loc),
            Action::Store { loc, .. } => self.decide_store(thread, loc),
            Action::Rmw { loc, .. }
            | Action::Cas { loc, .. }
            | Action::Try { loc, .. }
            | Action::Await { loc, .. }
            | Action::Pick { loc, .. } => self.decide_read(thread, loc),
            Action::Reach { loc, test, .. } => self.decide_reach(thread, loc, test),
            Action::Choose(n) => {
                let end = self.end_of_values(thread, n);
                self.tree.choices.extend((0..end).map(Choice::Value));
            }
            Action::Gather => self.tree.choices.push(Choice::Value(self.graph().unjoined(thread))),
            _ => self.tree.choices.push(Choice::Only),
        }
    }

    pub(super) fn touch(&mut self, loc: Loc) {
        let Visitor { program, state, levels, .. } = self;
        levels.current_mut().touch(loc, || program.initial_value(state, loc));
    }

    /// Pushes what the pending read, or read-modify-write, of a thread can read from, the latest first.
    fn decide_read(&mut self, thread: ThreadId, loc: Loc) {
        self.touch(loc);
        let action = self.graph().thread(thread).pending;
        let floors = self.floors(thread, loc, &action);
        let mut sources = std::mem::take(&mut self.buffers.sources);
        self.list_sources(loc, floors, &mut sources);
        let confirms = self.confirms(thread);
        let start = self.tree.choices.len();
        for &source in sources.iter().rev() {
            self.decide_source(thread, loc, source, floors, confirms, true);
            if self.search.only_latest() && self.tree.choices.len() > start {
                break;
            }
        }
        self.buffers.sources = sources;
    }

    /// Pushes the ways in which the pending read, or read-modify-write, of a thread can read from a write, and the revisits
    /// that it can make then, if they are asked for.
    pub(super) fn decide_source(
        &mut self,
        thread: ThreadId,
        loc: Loc,
        source: EventId,
        floors: Floors,
        confirms: bool,
        revisits: bool,
    ) {
        let graph = self.levels.current();
        let action = graph.thread(thread).pending;
        let settled = graph.is_settled();
        let (position, old) = (graph.position(source), graph.written(source, loc));
        if !graph.may_read(thread, source) || self.comes_before_twin(thread, source) {
            return;
        }
        let free = graph.is_free(source, loc);
        // What would wait for ever and has not seen the latest value is of no interest.
        if action.is_blocked_by(old) && (action.is_lock() || !self.can_be_last(Part::Whole, loc, source)) {
            return;
        }
        if confirms && self.fails_to_confirm(thread, source) || !free && self.cannot_confirm(thread, loc, source) {
            return;
        }
        for way in 0..self.end_of_ways(thread, source, old) {
            let Some(value) = action.update(old, way) else {
                let can_read = position >= floors.read || !settled && self.can_read(thread, source, way);
                if can_read && (way == 0 || !self.fails_in_vain(thread, source)) {
                    self.tree.choices.push(Choice::Read { source, way });
                }
                continue;
            };
            if settled && position < floors.update {
                continue;
            }
            if value == old && self.waits_in_vain(thread, source) {
                if self.can_be_last(Part::Whole, loc, source) {
                    self.tree.choices.push(Choice::Read { source, way });
                }
                continue;
            }
            if free && (position >= floors.update || self.can_read(thread, source, way)) {
                self.tree.choices.push(Choice::Read { source, way });
            }
            if revisits {
                self.decide_revisits_of(thread, loc, value, Writes::RightAfter(source, way));
            }
        }
    }

    /// The writes that a read may read from, as far as the floors say that: under reads-from equivalence in the order
    /// in which they were added, which does not depend on the witness.
    fn list_sources(&self, loc: Loc, floors: Floors, sources: &mut Vec<EventId>) {
        let graph = self.graph();
        let co = &graph.location(loc).co;
        sources.clear();
        match graph.has_witness() {
            true => {
                sources.extend_from_slice(co);
                sources.sort_unstable();
            }
            false => sources.extend_from_slice(&co[floors.read.min(floors.update)..]),
        }
    }

    /// What is waited for has come: the first write that did it; or it will not come any more.
    fn decide_reach(&mut self, thread: ThreadId, loc: Loc, test: Test) {
        self.touch(loc);
        let graph = self.levels.current();
        let site = Site::pending(graph, thread, loc, false);
        if graph.has_witness() && !(graph.location(loc).is_settled() && self.model.is_local(graph, &site)) {
            return self.decide_reach_from(thread, loc, test);
        }
        let floor = self.model.floor(graph, &site, &mut self.buffers.scratch);
        let late = &graph.location(loc).co[floor..];
        let first = late.iter().copied().find(|&write| test.passes(graph.written(write, loc)));
        let source = first.unwrap_or(graph.location(loc).co_max());
        self.tree.choices.push(Choice::Read { source, way: 0 });
    }

    /// The floors of the pending access of a thread.
    pub(super) fn floors(&mut self, thread: ThreadId, loc: Loc, action: &Action) -> Floors {
        let graph = self.levels.current();
        let (model, scratch) = (&self.model, &mut self.buffers.scratch);
        let mut floor = |updates| model.floor(graph, &Site::pending(graph, thread, loc, updates), scratch);
        let read = floor(false);
        let is_attempt = matches!(action, Action::Try { .. });
        let same = !is_attempt && action.order(false).is_sc() == action.order(true).is_sc();
        Floors { read, update: if same { read } else { floor(true) } }
    }

    fn decide_store(&mut self, thread: ThreadId, loc: Loc) {
        self.touch(loc);
        let graph = self.levels.current();
        let Action::Store { value, .. } = graph.thread(thread).pending else { return };
        let floor = self.model.floor(graph, &Site::pending(graph, thread, loc, true), &mut self.buffers.scratch);
        let floor = floor.max(self.floor_of_store(thread));
        let co = &graph.location(loc).co;
        let first = if graph.has_witness() { co.len() } else { floor + 1 };
        for place in (first..=co.len()).rev() {
            if place == co.len() || !graph.event(co[place]).is_update() {
                self.tree.choices.push(Choice::Place(place as u32));
                if self.search.only_latest() {
                    break;
                }
            }
        }
        self.decide_revisits_of(thread, loc, value, Writes::After(floor));
    }

    /// Pushes what can happen where no thread can go on: a thread that waits for a lock revisits another that had it,
    /// since it may as well have come first.
    pub(super) fn decide_full(&mut self) {
        for index in 0..self.graph().preference().len() {
            let graph = self.graph();
            let thread = graph.preference()[index];
            let slot = graph.thread(thread);
            let action = slot.pending;
            let (Some(loc), true) = (action.loc(), slot.alive && action.is_lock()) else { continue };
            if graph.lets_like_go_first(thread) {
                continue;
            }
            self.touch(loc);
            if self.is_shared(loc) {
                self.decide_overtaking(thread, loc);
                continue;
            }
            let graph = self.levels.current();
            let floor = match graph.is_settled() {
                true => self.model.floor(graph, &Site::pending(graph, thread, loc, true), &mut self.buffers.scratch),
                false => 0,
            };
            for position in (floor..graph.location(loc).co.len()).rev() {
                let graph = self.levels.current();
                let source = graph.location(loc).co[position];
                if let Some(value) = action.update(graph.written(source, loc), 0) {
                    self.decide_revisits_of(thread, loc, value, Writes::RightAfter(source, 0));
                }
            }
        }
    }

    /// Pushes the revisits that the pending write of a thread can make.
    pub(super) fn decide_revisits_of(&mut self, thread: ThreadId, loc: Loc, value: Value, writes: Writes) {
        let graph = self.levels.current();
        if !self.search.revisits() || graph.location(loc).reads.is_empty() {
            return;
        }
        let slot = graph.thread(thread);
        self.buffers.porf.clear();
        self.buffers.porf.extend_from_slice(graph.porf(slot.tip()));
        self.buffers.porf[thread.index()] = slot.len + 1;
        if let Writes::RightAfter(source, _) = writes
            && source != EventId::INIT
        {
            join(&mut self.buffers.porf, graph.porf(source));
        }
        graph.join_twin(thread, &mut self.buffers.porf);
        self.decide_revisits(thread, EventId::NONE, loc, value, writes);
    }

    /// Pushes the revisits that the latest event, a read-modify-write that was itself revisited, can make.
    pub(super) fn decide_revisits_by_last(&mut self) {
        let graph = self.levels.current();
        let id = graph.last();
        let event = graph.event(id);
        if self.lessons.commute && graph.has_candidates_at(event.loc) && !self.lessons.ordered.contains(event.loc) {
            return self.decide_revisits_among(event.thread, event.loc, id);
        }
        self.buffers.porf.clear();
        self.buffers.porf.extend_from_slice(graph.porf(id));
        self.decide_revisits(event.thread, id, event.loc, event.written, Writes::RightAfter(event.rf, event.way));
    }

    /// Goes back through the events that are not causally before the write, as long as they were added maximally: the
    /// first that was not would be deleted by every revisit of an earlier read.
    fn decide_revisits(&mut self, thread: ThreadId, write: EventId, loc: Loc, value: Value, writes: Writes) {
        let graph = self.levels.current();
        let reads = &graph.location(loc).reads;
        let Some(&earliest) = reads.first() else { return };
        let reads = self.read_part(thread, write, loc, writes);
        let porf = std::mem::take(&mut self.buffers.porf);
        let revisiter = Revisiter { thread, porf: &porf, id: write, reads };
        let graph = self.levels.current();
        let rival = rival(graph, loc, write, writes);
        for index in (earliest.index()..graph.len()).rev() {
            let id = EventId::new(index);
            let graph = self.levels.current();
            if id == write || revisiter.depends_on(graph, id) {
                continue;
            }
            let candidate = graph.event(id).is_read && graph.event(id).loc == loc;
            self.stats.revisits_tried += u64::from(candidate);
            // In a large graph this takes a while, and then it is not worth it any more.
            if candidate && self.deadline.is_over() {
                break;
            }
            if !self.is_maximal(id, &revisiter) && !self.is_only_confirmation(id, &revisiter) {
                break;
            }
            let graph = self.levels.current();
            let event = graph.event(id);
            if candidate
                && event.snapshot.is_some()
                && (!event.after.is_some() || revisiter.depends_on(graph, event.after))
                && !rival.is_some_and(|rival| revisiter.keeps(graph, id, rival))
            {
                let action = event.action;
                for way in 0..action.ways(value) {
                    if self.decides_by_witness(writes) {
                        self.decide_revisit((id, way), &revisiter, value, writes);
                        continue;
                    }
                    let updates = action.update(value, way).is_some();
                    let graph = self.levels.current();
                    if graph.has_blind() {
                        self.decide_places((id, way), &revisiter, updates, writes);
                        continue;
                    }
                    let site = Site::of(graph, id, updates);
                    let floor = self.model.floor(graph, &site, &mut self.buffers.scratch);
                    let floor = floor.max(floor_of_revisit(graph, id, &revisiter));
                    push_places(graph, &mut self.tree.choices, (id, way), &revisiter, floor, writes);
                }
            }
        }
        self.buffers.porf = porf;
    }

    /// Whether an event that is not causally before a write was added maximally before it.
    pub(super) fn is_maximal(&mut self, id: EventId, write: &Revisiter<'_>) -> bool {
        let graph = self.graph();
        match graph.is_settled() {
            true if graph.event(id).blind => self.is_blind_maximally(id, write),
            true => is_maximally_added(graph, id, write),
            false => self.is_added_maximally(id, write),
        }
    }

    /// Pushes the revisits of a read for every place that the write can then have. Where there are blind updates, what is
    /// deleted may stand between them, so that the floors are those of what is left.
    fn decide_places(&mut self, read: (EventId, u32), write: &Revisiter<'_>, updates: bool, writes: Writes) {
        let Event { thread, loc, .. } = *self.graph().event(read.0);
        self.restrict_bare(read.0, write.porf, write.id);
        let by = match write.id.is_some() {
            true => self.graph().event(write.id).action,
            false => self.graph().thread(write.thread).pending,
        };
        self.levels.next_mut().set_pending(write.thread, by);
        let Visitor { model, levels, buffers: Buffers { scratch, renaming, .. }, tree, .. } = self;
        let (whole, left) = (levels.current(), levels.next());
        let mut floor = |thread, updates| {
            let floor = model.floor(left, &Site::pending(left, thread, loc, updates), scratch);
            let name = left.location(loc).co[floor];
            whole.location(loc).co.iter().position(|&id| renaming.get(id) == name).unwrap_or(0)
        };
        let (read_floor, own_floor) = (floor(thread, updates), floor(write.thread, true));
        let writes = match writes {
            Writes::After(_) => Writes::After(own_floor),
            Writes::RightAfter(source, _) if whole.position(source) < own_floor => return,
            other => other,
        };
        push_places(whole, &mut tree.choices, read, write, read_floor, writes);
    }
}

/// The update in the graph that reads from the write that the revisiting one reads from: no revisit may keep both.
fn rival(graph: &Graph, loc: Loc, write: EventId, writes: Writes) -> Option<EventId> {
    let Writes::RightAfter(source, _) = writes else { return None };
    if graph.has_witness() || graph.has_blind() {
        return None;
    }
    let mut later = graph.location(loc).co[graph.position(source) + 1..].iter().copied();
    later.find(|&other| other != write).filter(|&next| graph.event(next).is_update())
}

/// Pushes the revisits of `read` for every place that the write can then have, among the writes that are kept.
fn push_places(
    graph: &Graph,
    choices: &mut Vec<Choice>,
    (read, read_way): (EventId, u32),
    write: &Revisiter<'_>,
    floor: usize,
    writes: Writes,
) {
    let co = &graph.location(graph.event(read).loc).co;
    let kept = |w: EventId| write.keeps(graph, read, w);
    let kept_before =
        |position: usize| co[..position].iter().filter(|&&w| w == EventId::INIT || kept(w)).count() as u32;
    match writes {
        Writes::RightAfter(source, way) => {
            let position = if source == EventId::INIT { 0 } else { graph.event(source).co_pos as usize };
            let next = co[position + 1..].iter().copied().find(|&w| w != write.id);
            let taken = next.is_some_and(|w| graph.event(w).is_update() && kept(w));
            if position >= floor && !taken {
                choices.push(match write.id.is_some() {
                    true => Choice::RevisitOn { read, read_way },
                    false => {
                        let (thread, place) = (write.thread, kept_before(position + 1));
                        Choice::Revisit { thread, read, place, source, way, read_way }
                    }
                });
            }
        }
        Writes::After(own_floor) => {
            let len = co.iter().rposition(|&w| kept(w)).map_or(1, |last| last + 1);
            for place in (own_floor.max(floor) + 1..=len).rev() {
                let deleted = co[place - 1] != EventId::INIT && !kept(co[place - 1]);
                let splits = place < len && graph.event(co[place]).is_update() && kept(co[place]);
                if !splits && !deleted {
                    let (thread, place) = (write.thread, kept_before(place));
                    let source = EventId::NONE;
                    choices.push(Choice::Revisit { thread, read, place, source, way: 0, read_way });
                }
            }
        }
    }
}

/// How the pending action of a thread happens, given a choice that is no revisit.
pub(super) fn effect(graph: &Graph, thread: ThreadId, choice: Choice) -> Effect {
    let action = graph.thread(thread).pending;
    match choice {
        Choice::Read { source, way } => effect_of_read(graph, action, source, way),
        Choice::Place(place) => effect_of_store(action, place as usize),
        Choice::Blind => {
            let last = action.loc().map_or(EventId::INIT, |loc| graph.location(loc).co_max());
            Effect { blind: true, ..effect_of_read(graph, action, last, 0) }
        }
        Choice::Value(value) => Effect::answer(value),
        _ => Effect::answer(0),
    }
}

/// A read, or read-modify-write, that reads from `rf` and happens in this way.
pub(super) fn effect_of_read(graph: &Graph, action: Action, rf: EventId, way: u32) -> Effect {
    let value = action.loc().map_or(0, |loc| graph.written(rf, loc));
    let place = if rf == EventId::INIT { 1 } else { graph.event(rf).co_pos as usize + 1 };
    Effect { rf, written: action.update(value, way), place, answer: action.answer(value, way), way, blind: false }
}

/// A store at a place in coherence order.
pub(super) fn effect_of_store(action: Action, place: usize) -> Effect {
    let written = match action {
        Action::Store { value, .. } => Some(value),
        _ => None,
    };
    Effect { rf: EventId::NONE, written, place, answer: 0, way: 0, blind: false }
}
