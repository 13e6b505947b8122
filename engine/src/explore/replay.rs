//! One execution as data, and running it again.
//!
//! A [`Schedule`] is an execution graph without what follows from running the program: the events in insertion order,
//! each with what it reads from or its place in coherence order. Insertion order linearises porf, so that the program can
//! simply be run through the events in that order, each answered as it was. What it does is compared with what was
//! recorded: a program that has changed is noticed, and never run astray.

use super::decide::{effect_of_read, effect_of_store, is_enabled};
use super::program::{Answer, Ending, Program};
use super::{Failure, Found};
use crate::graph::{Action, Effect, EventId, Graph, Origin, ThreadId, Value};
use crate::model::find_race;
use serde::{Deserialize, Serialize};

/// An execution, up to an error or to its end.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Schedule {
    /// Where each thread comes from: a thread is named by its place in this list.
    threads: Vec<Origin>,
    events: Vec<Scheduled>,
}

/// An event of a schedule. Events are named by their place among them, from 1; 0 is the initialising one.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
struct Scheduled {
    thread: u32,
    /// What kind of action it is: for comparison.
    does: Kind,
    /// For a read, the event it reads from.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    rf: Option<u32>,
    /// For a store, its place in coherence order at the time.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    co: Option<u32>,
    /// In which of the ways that its action allows it happened.
    #[serde(default, skip_serializing_if = "is_zero")]
    way: u32,
    /// What the action was answered with.
    answer: Value,
}

fn is_zero(way: &u32) -> bool {
    *way == 0
}

/// The kinds of actions that become events.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
enum Kind {
    Load,
    Store,
    Rmw,
    Cas,
    Try,
    Await,
    Reach,
    Pick,
    Leave,
    Fence,
    Spawn,
    Join,
    Gather,
    Model,
    Choose,
}

impl Kind {
    fn of(action: &Action) -> Option<Kind> {
        Some(match action {
            Action::Load { .. } => Kind::Load,
            Action::Store { .. } => Kind::Store,
            Action::Rmw { .. } => Kind::Rmw,
            Action::Cas { .. } => Kind::Cas,
            Action::Try { .. } => Kind::Try,
            Action::Await { .. } => Kind::Await,
            Action::Reach { .. } => Kind::Reach,
            Action::Pick { .. } => Kind::Pick,
            Action::Leave { .. } => Kind::Leave,
            Action::Fence { .. } => Kind::Fence,
            Action::Spawn => Kind::Spawn,
            Action::Join(_) => Kind::Join,
            Action::Gather => Kind::Gather,
            Action::Model(_) => Kind::Model,
            Action::Choose(_) => Kind::Choose,
            Action::End | Action::Block | Action::Spin { .. } | Action::Exit | Action::Fail => return None,
        })
    }
}

/// The program did not do what was recorded.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("the program does something else at step {event} than when this execution was recorded")]
pub struct Diverged {
    /// The event that should have come.
    pub event: usize,
}

/// An execution that was run again.
#[derive(Debug)]
pub struct Replayed<P: Program> {
    pub graph: Graph,
    pub state: P::State,
    /// What is wrong with it. The execution ends there.
    pub failure: Option<Failure<P::Error>>,
}

impl<P: Program> Replayed<P> {
    /// Whether a thread can take its pending action.
    pub fn can_go_on(&self, program: &P, thread: ThreadId) -> bool {
        is_enabled(program, &self.state, &self.graph, thread)
    }
}

impl Schedule {
    /// The execution that a graph is.
    pub fn of(graph: &Graph) -> Schedule {
        let threads = (0..graph.thread_count()).map(|index| graph.origin(ThreadId::new(index))).collect();
        let scheduled = |(id, event): (EventId, &crate::graph::Event)| {
            Some(Scheduled {
                thread: event.thread.index() as u32,
                does: Kind::of(&event.action)?,
                rf: event.is_read.then(|| event.rf.index() as u32),
                co: (event.is_write && !event.is_read).then(|| graph.place_when_added(id)),
                way: event.way,
                answer: event.answer,
            })
        };
        Schedule { threads, events: graph.events().filter_map(scheduled).collect() }
    }

    /// How many events there are.
    pub fn len(&self) -> usize {
        self.events.len()
    }

    /// Whether nothing visible happened.
    pub fn is_empty(&self) -> bool {
        self.events.is_empty()
    }
}

impl<E> Found<E> {
    /// The erroneous execution as data.
    pub fn schedule(&self) -> Schedule {
        Schedule::of(&self.graph)
    }
}

/// Runs an execution again. The witness sees each event when it is in the graph, and the program before it goes on.
pub fn replay<P: Program>(
    program: &P,
    schedule: &Schedule,
    mut witness: impl FnMut(&Graph, &P::State, EventId),
) -> Result<Replayed<P>, Diverged> {
    let graph = Graph::with_threads(&schedule.threads).filter(|graph| graph.threads().count() == program.threads());
    let mut run = Run { program, graph: graph.ok_or(Diverged { event: 0 })?, state: program.initial() };
    for index in 0..program.threads() {
        run.start(ThreadId::new(index), EventId::INIT);
    }
    let mut failure = run.failed();
    for (scheduled, event) in schedule.events.iter().zip(1..) {
        if failure.is_some() {
            break;
        }
        let id = run.add(scheduled).ok_or(Diverged { event })?;
        witness(&run.graph, &run.state, id);
        failure = match find_race(&run.graph, id) {
            Some(race) => run.unless_allowed(run.graph.event(id).thread, Failure::Race(race)),
            None => {
                run.go_on(id);
                run.failed()
            }
        };
    }
    let failure = failure.or_else(|| run.finish());
    Ok(Replayed { graph: run.graph, state: run.state, failure })
}

struct Run<'p, P: Program> {
    program: &'p P,
    graph: Graph,
    state: P::State,
}

impl<P: Program> Run<'_, P> {
    /// Runs a thread to its first action.
    fn start(&mut self, thread: ThreadId, spawn: EventId) {
        let action = self.program.start(&mut self.state, thread, spawn, &self.graph);
        self.graph.set_pending(thread, action);
    }

    /// Adds the pending action of a thread as it was recorded; nothing if it is another one.
    fn add(&mut self, scheduled: &Scheduled) -> Option<EventId> {
        let thread = ThreadId::new(scheduled.thread as usize);
        let slot = self.graph.threads().find(|(id, _)| *id == thread).map(|(_, slot)| slot)?;
        let action = slot.pending;
        if Kind::of(&action) != Some(scheduled.does) {
            return None;
        }
        if let Some(loc) = action.loc() {
            let Run { program, graph, state } = self;
            graph.touch(loc, || program.initial_value(state, loc));
        }
        let effect = self.effect(thread, action, scheduled)?;
        // What a read reads says whether it waits.
        let can_go_on = match action {
            Action::Model(_) => self.graph.is_alone(thread),
            _ => is_enabled(self.program, &self.state, &self.graph, thread),
        };
        let waits = effect.rf == EventId::NONE && !can_go_on;
        if waits || action.is_lock() && effect.written.is_none() && action.is_blocked_by(effect.answer) {
            return None;
        }
        let id = self.graph.append(thread, action, effect);
        (self.graph.event(id).answer == scheduled.answer).then_some(id)
    }

    fn effect(&self, thread: ThreadId, action: Action, scheduled: &Scheduled) -> Option<Effect> {
        match (action, scheduled.rf, scheduled.co) {
            (Action::Store { loc, .. }, None, Some(place)) => {
                let possible = 1..=self.graph.location(loc).co.len();
                possible.contains(&(place as usize)).then(|| effect_of_store(action, place as usize))
            }
            (_, Some(source), None) => {
                let loc = action.loc()?;
                let writes = &self.graph.location(loc).co;
                let source = writes.iter().copied().find(|write| write.index() == source as usize)?;
                let ways = action.ways(self.graph.written(source, loc));
                (scheduled.way < ways).then(|| effect_of_read(&self.graph, action, source, scheduled.way))
            }
            (Action::Choose(n), None, None) => {
                (scheduled.answer < Value::from(n)).then(|| Effect::answer(scheduled.answer))
            }
            (Action::Gather, None, None) => Some(Effect::answer(self.graph.unjoined(thread))),
            (_, None, None) if action.loc().is_none() => Some(Effect::answer(0)),
            _ => None,
        }
    }

    /// Answers an event and runs its thread, and one that it spawned unless something is wrong, to the next action.
    fn go_on(&mut self, id: EventId) {
        let event = self.graph.event(id);
        let (thread, value, spawns) = (event.thread, event.answer, event.action == Action::Spawn);
        let action = self.program.resume(&mut self.state, thread, Answer::of(&self.graph, id));
        self.graph.set_pending(thread, action);
        if spawns && self.failed().is_none() {
            self.start(ThreadId::new(value as usize), id);
        }
    }

    /// What is wrong, where a thread has failed and that is not accepted.
    fn failed(&mut self) -> Option<Failure<P::Error>> {
        let failed = |graph: &Graph| graph.threads().find(|(_, slot)| slot.pending == Action::Fail).map(|(id, _)| id);
        while let Some(thread) = failed(&self.graph) {
            let failure = Failure::Program(self.program.error(&self.state, &self.graph, thread));
            if let Some(failure) = self.unless_allowed(thread, failure) {
                return Some(failure);
            }
        }
        None
    }

    /// The failure of a thread, unless it is accepted: the thread goes no further then.
    fn unless_allowed(&mut self, thread: ThreadId, failure: Failure<P::Error>) -> Option<Failure<P::Error>> {
        if !self.program.allows(&self.state, &failure) {
            return Some(failure);
        }
        self.program.forgive(&mut self.state);
        self.graph.set_pending(thread, Action::Block);
        None
    }

    /// What is wrong with the execution as a whole, where no thread can go on.
    fn finish(&self) -> Option<Failure<P::Error>> {
        let can_go_on = |thread| is_enabled(self.program, &self.state, &self.graph, thread);
        if self.graph.threads().any(|(thread, _)| can_go_on(thread)) {
            return None;
        }
        let ending = Ending::of(&self.graph);
        self.program.finish(&self.state, &self.graph, ending).err().map(Failure::Program)
    }
}
