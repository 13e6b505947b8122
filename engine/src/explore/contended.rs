//! Memory that other threads contend for with iterations that were left out.
//!
//! An iteration that waits, or only counts, or an attempt that fails, may access memory that is not atomic, and race with
//! something that another thread does. So in every full execution, each thread goes [round](super::rounds) before each of its
//! reads in a loop, in every way. What it accesses on ways that can be left out is noted. Then the execution is run again.
//! If another thread does something that races with what was noted, others *contend* for that piece of memory: the program
//! learns that, and iterations that access it are explored from then on.

use super::Failure;
use super::audit::Audited;
use super::lessons::Lesson;
use super::program::Program;
use super::rounds::{Rounds, Start, Way, run_event};
use super::trial::Origin;
use super::visit::Visitor;
use crate::graph::{Action, Event, EventId, Graph, Thread, ThreadId};
use crate::model::{Model, Site};

/// Where what was left out is noted.
struct Held<S> {
    /// A state in which no thread has gone beyond where it may go round, if there was anything to note.
    state: Option<S>,
    /// The read before which that state was saved; if there is none, nothing has run.
    from: Option<EventId>,
    /// Whether something was noted that others may have freed before.
    is_late: bool,
    /// Who was noted to have done something, and after how many events.
    noted: Vec<(ThreadId, u32)>,
}

impl<S> Held<S> {
    fn new(from: Option<EventId>) -> Held<S> {
        Held { state: None, from, is_late: false, noted: Vec::new() }
    }

    /// Whether what a thread does after an event may race with something that was noted.
    fn may_race(&self, graph: &Graph, id: EventId) -> bool {
        let clock = graph.hb(id);
        self.noted.iter().any(|(thread, events)| clock.get(thread.index()).is_none_or(|known| known <= events))
    }
}

impl<P: Program, M: Model> Visitor<'_, P, M> {
    /// What the program has to learn, if other threads do something in the current execution, being full, that races with what
    /// was left out.
    pub(super) fn contended(&mut self) -> Option<Lesson<P::Error>> {
        // What is explored as it is shows by itself whether it accesses memory.
        let is_unproven = !self.lessons.audited.is_empty() && self.program.may_touch_memory();
        if !self.program.touches_memory() && !is_unproven {
            return None;
        }
        let mut held = Held::new(self.first_saved());
        self.note_all(&mut held);
        if held.is_late && self.learned.is_none() {
            held = Held::new(None);
            self.note_all(&mut held);
        }
        self.learned.take().or_else(|| self.run_again(held))
    }

    /// Notes what all threads would access if they went round.
    fn note_all(&mut self, held: &mut Held<P::State>) {
        let mut latest: Option<Rounds> = None;
        for start in self.starts() {
            if start.next.is_some_and(|next| self.is_quiet(next)) {
                continue;
            }
            if let Some(rounds) = &mut latest
                && let Some(stop) = self.is_at(rounds, &start)
            {
                rounds.starts.push((start, stop));
                continue;
            }
            if let Some(rounds) = latest.take() {
                self.note_rounds(&rounds, held);
            }
            latest = Some(self.rounds_from(start, held));
            if self.learned.is_some() {
                return;
            }
        }
        if let Some(rounds) = latest {
            self.note_rounds(&rounds, held);
        }
    }

    /// The read with the earliest state that was saved.
    fn first_saved(&self) -> Option<EventId> {
        let saved = self.graph().events().filter(|(_, event)| event.snapshot.is_some());
        saved.min_by_key(|(_, event)| event.snapshot.events).map(|(id, _)| id)
    }

    /// The state in which an execution is run again.
    fn held_state(&mut self, from: Option<EventId>) -> P::State {
        match from {
            Some(id) => self.snapshots.get(self.graph().event(id).snapshot.slot as usize).clone(),
            None => self.first_state(),
        }
    }

    /// Whether it is known that no memory is accessed by a thread that goes round before an event: it was so when the execution was
    /// audited that this one was explored after, and there is nothing more that the thread could read.
    fn is_quiet(&self, next: EventId) -> bool {
        let Audited { events, quiet } = self.levels.audited();
        let is_known = next.index() < *events && quiet.get(next.index()).is_some_and(|quiet| *quiet);
        let can_be_read = |id: EventId| self.graph().event(id).is_write && !self.graph().is_porf_before(next, id);
        is_known && !(*events..self.graph().len()).map(EventId::new).any(can_be_read)
    }

    /// A state in which all threads that are there from the beginning have come to their first action.
    pub(super) fn first_state(&mut self) -> P::State {
        let Visitor { program, levels, trials, .. } = self;
        let graph = levels.current();
        let first = trials.first.get_or_insert_with(|| {
            let mut state = program.initial();
            for thread in (0..program.threads()).map(ThreadId::new) {
                program.start(&mut state, thread, EventId::INIT, graph);
            }
            state
        });
        first.clone()
    }

    /// Everywhere that threads may have gone round: before reads in loops, before loads that are confirmed, and where they wait;
    /// one thread after the other.
    fn starts(&self) -> Vec<Start> {
        let graph = self.graph();
        let confirmed: Vec<EventId> =
            graph.events().filter(|(_, event)| event.confirms).map(|(_, event)| event.po_prev).collect();
        let is_start = |id: EventId| {
            let event = graph.event(id);
            event.is_read && event.snapshot.is_some() && (event.in_loop || confirmed.contains(&id))
        };
        let before = |(id, event): (EventId, &Event)| {
            // To fail to confirm a load, and load again, is to go round before that load.
            let confirms = event.confirms && event.po_prev.is_some() && is_start(event.po_prev);
            (is_start(id) && !confirms).then(|| Start {
                site: Site::of(graph, id, false),
                events: event.index,
                next: Some(id),
                from: Origin::Saved(event.snapshot.slot as usize),
                known: event.snapshot.events as usize,
            })
        };
        let at_end = |(thread, slot): (ThreadId, &Thread)| {
            let loc = slot.pending.loc().filter(|_| slot.alive && self.may_spin(thread))?;
            let (events, known) = (slot.len, graph.len());
            Some(Start { site: Site::pending(graph, thread, loc, false), events, next: None, from: Origin::Now, known })
        };
        let mut starts: Vec<Start> =
            graph.events().filter_map(before).chain(graph.threads().filter_map(at_end)).collect();
        starts.sort_by_key(|start| (start.site.thread, start.events));
        starts
    }

    /// Lets a thread go round, in every way.
    fn rounds_from(&mut self, start: Start, held: &mut Held<P::State>) -> Rounds {
        self.begin_trial(start.from);
        let mut done = vec![0; self.graph().thread_count()];
        for event in self.graph().events().take(start.known - 1).map(|(_, event)| event) {
            done[event.thread.index()] = event.index + 1;
        }
        let rounds = self.go_round(start, done);
        if !rounds.failed || !self.run_to(&start) {
            return rounds;
        }
        // Others have done something that does not happen before, such as to free what is accessed: that has to come up again.
        held.is_late = true;
        let mut done = self.graph().porf(start.site.tip).to_vec();
        done.resize(self.graph().thread_count(), 0);
        self.go_round(start, done)
    }

    /// Notes what a thread would access if it went round: these are the latest rounds.
    fn note_rounds(&mut self, rounds: &Rounds, held: &mut Held<P::State>) {
        let ways = rounds.left_out();
        let mut noted: Option<Start> = None;
        for &(start, stop) in rounds.starts.iter().filter(|_| !ways.is_empty()) {
            // Only a fence tells others, by what is written later, how far the thread has come.
            let is_fence = |id| self.graph().event(id).is_fence();
            if noted.is_some_and(|noted| !self.since(&noted, &start).any(is_fence)) {
                continue;
            }
            let reached = rounds.reached_from(stop);
            for way in ways.iter().filter(|way| reached[way.from]) {
                self.note_way(rounds, way, &start, held);
            }
            held.noted.push((start.site.thread, start.events));
            noted = Some(start);
        }
        for next in rounds.starts.iter().filter_map(|(start, _)| start.next) {
            let quiet = &mut self.levels.audited_mut().quiet;
            quiet.resize(quiet.len().max(next.index() + 1), false);
            quiet[next.index()] = ways.is_empty();
        }
    }

    /// Notes what a thread would access on a way, at a place where it goes round.
    fn note_way(&mut self, rounds: &Rounds, way: &Way, start: &Start, held: &mut Held<P::State>) {
        let thread = start.site.thread;
        // Where it has stopped for the first time, that state is there.
        let stopped = way.to.filter(|_| way.is_first);
        let after = match stopped {
            Some(to) => rounds.stops[to].clone(),
            None => match self.try_answer(thread, &rounds.stops, way.from, &way.answered) {
                Some((after, _)) => after,
                None => return,
            },
        };
        let state = held.state.get_or_insert_with(|| self.held_state(held.from));
        let Visitor { program, trials, .. } = self;
        let trial = stopped.map_or(&trials.state, |to| &trials.heads()[to]);
        if let Some(lesson) = program.note_left_out(state, trial, thread, start.events, &after.clock) {
            self.learn(Lesson::Program(lesson));
        }
    }

    /// Runs the current execution again, with what was left out noted, as far as it may race with that.
    fn run_again(&mut self, mut held: Held<P::State>) -> Option<Lesson<P::Error>> {
        let mut state = held.state.take()?;
        let Visitor { program, levels, .. } = self;
        let graph = levels.current();
        let first = held.from.map_or(1, |id| graph.event(id).snapshot.events as usize);
        let last = (first..graph.len()).map(EventId::new).rfind(|id| held.may_race(graph, *id))?;
        for id in (first..=last.index()).map(EventId::new) {
            if let Some(failed) = run_event(*program, graph, &mut state, id) {
                let error = program.error(&state, graph, failed);
                if program.is_lesson(&error) {
                    return Some(Lesson::Program(error));
                }
                // A thread that was just spawned has not begun.
                if graph.event(id).action == Action::Spawn || !program.allows(&state, &Failure::Program(error)) {
                    return None;
                }
                program.forgive(&mut state);
            }
        }
        None
    }
}
