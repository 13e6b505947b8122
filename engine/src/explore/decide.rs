//! What can happen next: the children of a node of the exploration tree (VISIT in algorithm 1 of the TruSt paper).
//!
//! A read-modify-write is one event here, where the paper has a read and a write next to each other. It therefore
//! chooses a write to read from even where another read-modify-write already reads from that: it cannot stay so, but it
//! can revisit the other one, or delete it by revisiting an earlier read.

use super::choice::Choice;
use super::maximal::{Revisiter, is_maximally_added};
use super::program::Program;
use super::visit::Visitor;
use crate::graph::{Action, Effect, EventId, Graph, LOCKED, Loc, ThreadId, UNLOCKED, Value, join};
use crate::model::{Model, Site};

/// What the revisiting write is, for the choice of its place.
#[derive(Clone, Copy, Debug)]
enum Writes {
    /// A store: anywhere after this position.
    After(usize),
    /// A read-modify-write: right after the write it reads from.
    RightAfter(EventId),
}

/// The floors of an access, as far as it only reads and as far as it also writes: a compare-and-swap has an ordering for
/// either.
#[derive(Clone, Copy, Debug)]
struct Floors {
    read: usize,
    update: usize,
}

/// Whether a thread can take its pending action in this graph.
pub(super) fn is_enabled<P: Program>(program: &P, state: &P::State, graph: &Graph, thread: ThreadId) -> bool {
    match graph.thread(thread).pending {
        Action::End | Action::Block | Action::Exit | Action::Fail => false,
        Action::Join(target) => {
            target.index() < graph.thread_count() && graph.thread(target).alive && graph.thread(target).is_finished()
        }
        Action::Lock { loc } => {
            let value = graph.last_value(loc).unwrap_or_else(|| program.initial_value(state, loc));
            value == UNLOCKED
        }
        _ => true,
    }
}

impl<P: Program, M: Model> Visitor<'_, P, M> {
    /// Pushes all ways in which the pending action of a thread can happen.
    pub(super) fn decide(&mut self, thread: ThreadId) {
        match self.graph().thread(thread).pending {
            Action::Load { loc, .. } => self.decide_read(thread, loc),
            Action::Store { loc, .. } => self.decide_store(thread, loc),
            Action::Rmw { loc, .. } | Action::Cas { loc, .. } | Action::Lock { loc } => self.decide_read(thread, loc),
            Action::Choose(n) => self.choices.extend((0..u64::from(n.max(1))).map(Choice::Value)),
            _ => self.choices.push(Choice::Only),
        }
    }

    fn touch(&mut self, loc: Loc) {
        let Visitor { program, state, graphs, level, .. } = self;
        graphs[*level].touch(loc, || program.initial_value(state, loc));
    }

    fn decide_read(&mut self, thread: ThreadId, loc: Loc) {
        self.touch(loc);
        let graph = &self.graphs[self.level];
        let action = graph.thread(thread).pending;
        let floors = self.floors(thread, loc, &action);
        let last = self.graphs[self.level].location(loc).co.len() - 1;
        for position in (floors.read.min(floors.update)..=last).rev() {
            let graph = &self.graphs[self.level];
            let co = &graph.location(loc).co;
            let source = co[position];
            let Some(value) = action.update(graph.written(source, loc)) else {
                if position >= floors.read && !matches!(action, Action::Lock { .. }) {
                    self.choices.push(Choice::Read(source));
                }
                continue;
            };
            if position < floors.update {
                continue;
            }
            if position == last || !graph.event(co[position + 1]).is_update() {
                self.choices.push(Choice::Read(source));
            }
            self.decide_revisits_of(thread, loc, value, Writes::RightAfter(source));
        }
    }

    /// The floors of the pending access of a thread.
    fn floors(&mut self, thread: ThreadId, loc: Loc, action: &Action) -> Floors {
        let graph = &self.graphs[self.level];
        let (model, scratch) = (&self.model, &mut self.scratch);
        let mut floor = |updates| model.floor(graph, &Site::pending(graph, thread, loc, updates), scratch);
        let read = floor(false);
        let same = action.order(false).is_sc() == action.order(true).is_sc();
        Floors { read, update: if same { read } else { floor(true) } }
    }

    fn decide_store(&mut self, thread: ThreadId, loc: Loc) {
        self.touch(loc);
        let graph = &self.graphs[self.level];
        let Action::Store { value, .. } = graph.thread(thread).pending else { return };
        let floor = self.model.floor(graph, &Site::pending(graph, thread, loc, true), &mut self.scratch);
        let co = &graph.location(loc).co;
        for place in (floor + 1..=co.len()).rev() {
            if place == co.len() || !graph.event(co[place]).is_update() {
                self.choices.push(Choice::Place(place as u32));
            }
        }
        self.decide_revisits_of(thread, loc, value, Writes::After(floor));
    }

    /// Pushes what can happen where no thread can go on: nothing, or a thread that waits for a lock revisits another
    /// that had it, since it may as well have come first.
    pub(super) fn decide_full(&mut self) {
        self.choices.push(Choice::Full);
        for index in 0..self.graph().preference().len() {
            let graph = self.graph();
            let thread = graph.preference()[index];
            let slot = graph.thread(thread);
            let Action::Lock { loc } = slot.pending else { continue };
            if !slot.alive {
                continue;
            }
            self.touch(loc);
            let graph = &self.graphs[self.level];
            let floor = self.model.floor(graph, &Site::pending(graph, thread, loc, true), &mut self.scratch);
            for position in (floor..graph.location(loc).co.len()).rev() {
                let graph = &self.graphs[self.level];
                let source = graph.location(loc).co[position];
                if graph.written(source, loc) == UNLOCKED {
                    self.decide_revisits_of(thread, loc, LOCKED, Writes::RightAfter(source));
                }
            }
        }
    }

    /// Pushes the revisits that the pending write of a thread can make.
    fn decide_revisits_of(&mut self, thread: ThreadId, loc: Loc, value: Value, writes: Writes) {
        let graph = &self.graphs[self.level];
        if graph.location(loc).reads.is_empty() {
            return;
        }
        let slot = graph.thread(thread);
        self.porf.clear();
        self.porf.extend_from_slice(graph.porf(slot.tip()));
        self.porf[thread.index()] = slot.len + 1;
        if let Writes::RightAfter(source) = writes
            && source != EventId::INIT
        {
            join(&mut self.porf, graph.porf(source));
        }
        self.decide_revisits(thread, EventId::NONE, loc, value, writes);
    }

    /// Pushes the revisits that the latest event, a read-modify-write that was itself revisited, can make.
    pub(super) fn decide_revisits_by_last(&mut self) {
        let graph = &self.graphs[self.level];
        let id = graph.last();
        let event = graph.event(id);
        self.porf.clear();
        self.porf.extend_from_slice(graph.porf(id));
        self.decide_revisits(event.thread, id, event.loc, event.written, Writes::RightAfter(event.rf));
    }

    /// Goes back through the events that are not causally before the write, as long as they were added maximally: the
    /// first that was not would be deleted by every revisit of an earlier read.
    fn decide_revisits(&mut self, thread: ThreadId, write: EventId, loc: Loc, value: Value, writes: Writes) {
        let graph = &self.graphs[self.level];
        let reads = &graph.location(loc).reads;
        let Some(&earliest) = reads.first() else { return };
        let porf = std::mem::take(&mut self.porf);
        let revisiter = Revisiter { thread, porf: &porf, id: write };
        for index in (earliest.index()..graph.len()).rev() {
            let id = EventId::new(index);
            if id == write || revisiter.depends_on(graph, id) {
                continue;
            }
            let event = graph.event(id);
            let candidate = event.is_read && event.loc == loc;
            self.stats.revisits_tried += u64::from(candidate);
            if !is_maximally_added(graph, id, &revisiter) {
                break;
            }
            if candidate && event.snapshot.is_some() {
                let site = Site::of(graph, id, event.action.update(value).is_some());
                let floor = self.model.floor(graph, &site, &mut self.scratch);
                push_places(graph, &mut self.choices, id, &revisiter, loc, floor, writes);
            }
        }
        self.porf = porf;
    }
}

/// Pushes the revisits of `read` for every place that the write can then have.
fn push_places(
    graph: &Graph,
    choices: &mut Vec<Choice>,
    read: EventId,
    write: &Revisiter<'_>,
    loc: Loc,
    floor: usize,
    writes: Writes,
) {
    let co = &graph.location(loc).co;
    let kept = |w: EventId| write.keeps(graph, read, w);
    match writes {
        Writes::RightAfter(source) => {
            let position = if source == EventId::INIT { 0 } else { graph.event(source).co_pos as usize };
            let next = co[position + 1..].iter().copied().find(|&w| w != write.id);
            let taken = next.is_some_and(|w| graph.event(w).is_update() && kept(w));
            if position >= floor && !taken {
                choices.push(match write.id.is_some() {
                    true => Choice::RevisitOn { read },
                    false => Choice::Revisit { thread: write.thread, read, place: position as u32 + 1, source },
                });
            }
        }
        Writes::After(own_floor) => {
            let len = co.iter().rposition(|&w| kept(w)).map_or(1, |last| last + 1);
            for place in (own_floor.max(floor) + 1..=len).rev() {
                let splits = place < len && graph.event(co[place]).is_update();
                if !splits {
                    let (thread, place) = (write.thread, place as u32);
                    choices.push(Choice::Revisit { thread, read, place, source: EventId::NONE });
                }
            }
        }
    }
}

/// How the pending action of a thread happens, given a choice that is no revisit.
pub(super) fn effect(graph: &Graph, thread: ThreadId, choice: Choice) -> Effect {
    let action = graph.thread(thread).pending;
    match choice {
        Choice::Read(rf) => effect_of_read(graph, action, rf),
        Choice::Place(place) => effect_of_store(action, place as usize),
        Choice::Value(value) => Effect::answer(value),
        _ => Effect::answer(0),
    }
}

/// A read, or read-modify-write, that reads from `rf`.
pub(super) fn effect_of_read(graph: &Graph, action: Action, rf: EventId) -> Effect {
    let value = action.loc().map_or(0, |loc| graph.written(rf, loc));
    let place = if rf == EventId::INIT { 1 } else { graph.event(rf).co_pos as usize + 1 };
    Effect { rf, written: action.update(value), place, answer: value }
}

/// A store at a place in coherence order.
pub(super) fn effect_of_store(action: Action, place: usize) -> Effect {
    let written = match action {
        Action::Store { value, .. } => Some(value),
        _ => None,
    };
    Effect { rf: EventId::NONE, written, place, answer: 0 }
}
