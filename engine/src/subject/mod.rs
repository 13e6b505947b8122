//! A lowered test as a program to explore: the bridge between the machine and the explorer.

mod alike;
mod locations;
pub mod trail;

use std::collections::BTreeMap;
use std::sync::atomic::{self, AtomicBool};
use std::sync::{Arc, Mutex, PoisonError};

use crate::explore::{self, Answer, Ending, Program, Spot};
use crate::graph::{self, Boundary, EventId, Graph, Loc, MemOrder, Test, Then, ThreadId, Value, View};
use crate::program::address::REGION_BITS;
use crate::program::{AtomicWidth, FuncId, Ordering, Origin, RmwOp};
use crate::verdict::{ErrorKind, Location};
use crate::vm::{
    self, Action, Allowed, Atom, Atomics, Basis, Changes, Cue, Effect, Explored, Failure, FailureKind, Halt, Image,
    Interpreter, Late, Observable, Output, Peeked, Reply, RunOptions, Stepped, Stop, Tracked, Translated, Wait,
};

use alike::Births;
use locations::Atomic;
use trail::{LoopPoint, Trails, Visited, may_wait};

pub use locations::Locations;

/// Beyond all addresses: marks the location of the queue of a futex.
const QUEUE_BIT: u64 = 1 << 47;
/// In the queue of a futex: a thread has locked it.
const ENTERED: Value = 1 << 31;

/// A test to be explored.
pub struct Subject {
    basis: Arc<Basis<graph::Action>>,
    locations: Locations,
    check_leaks: bool,
    /// Errors that are accepted.
    allow: Vec<Allowed>,
    /// Whether weak compare-and-swaps may fail without a reason.
    spurious: bool,
    tracked: Tracked,
    /// How often a thread may come back to the same place.
    unroll: Option<u32>,
    /// The loop that was given up because of that: the first in the source.
    given_up: Mutex<Option<Box<Failure>>>,
    /// Whether threads are compared with each other.
    compares_threads: bool,
    /// Whether there were atomics in memory that is not initialized: only then reads are looked at closely.
    uninitialized: AtomicBool,
}

/// An iteration that takes back what it has written, and may be noticed by others, is explored so often, one after the
/// other.
const MAX_UNDONE: u32 = 3;
/// A thread with more events than this will not end by itself.
const MAX_EVENTS: u32 = 20_000;

/// What ends an exploration.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Issue {
    Failure(Arc<Wrong>),
    /// Memory turned out to be shared that was not tracked.
    Shared(Observable),
    /// The deadline has passed.
    OutOfTime,
}

/// What is wrong with an execution. The same mistakes are equal.
#[derive(Clone, Debug)]
pub struct Wrong {
    pub failure: Box<Failure>,
    /// What the execution printed.
    pub output: Output,
    /// An access that may come later, which would be another error.
    late: Option<Late>,
}

impl PartialEq for Wrong {
    fn eq(&self, other: &Wrong) -> bool {
        self.failure.is_same_mistake(&other.failure)
    }
}

impl Eq for Wrong {}

/// The state of a test that runs.
pub struct State {
    vm: Explored<graph::Action>,
    trails: Trails,
    /// What the thread that ran last has written to what others have, as a number; 0 if nothing.
    written: u64,
    /// Whether it has accessed what others may write, and had not done so before in its loop.
    touched: bool,
    /// Whether it has looked at what threads share, not counting what the standard library does for itself.
    looked: bool,
    /// The threads that have begun.
    births: Births,
    /// What went wrong.
    issue: Option<Issue>,
    /// Whether something went wrong that is accepted.
    forgiven: bool,
}

impl Clone for State {
    fn clone(&self) -> State {
        State {
            vm: self.vm.clone(),
            trails: self.trails.clone(),
            written: self.written,
            touched: self.touched,
            looked: self.looked,
            births: self.births.clone(),
            issue: self.issue.clone(),
            forgiven: self.forgiven,
        }
    }

    #[inline]
    fn clone_from(&mut self, source: &State) {
        self.vm.clone_from(&source.vm);
        self.trails.clone_from(&source.trails);
        (self.written, self.touched, self.looked) = (source.written, source.touched, source.looked);
        self.births.clone_from(&source.births);
        self.issue.clone_from(&source.issue);
        self.forgiven = source.forgiven;
    }
}

impl State {
    fn of(vm: Explored<graph::Action>) -> State {
        State {
            vm,
            trails: Trails::default(),
            written: 0,
            touched: false,
            looked: false,
            births: Births::default(),
            issue: None,
            forgiven: false,
        }
    }

    /// A thread does not come to its next action: something went wrong, or was learned.
    fn fail(&mut self, halt: Halt) -> graph::Action {
        self.issue = Some(match halt {
            Halt::Learn(site) => Issue::Shared(site),
            Halt::Failure(failure) if failure.kind == FailureKind::Limit && self.vm.is_out_of_time() => {
                Issue::OutOfTime
            }
            Halt::Failure(failure) => {
                let late = self.vm.late();
                Issue::Failure(Arc::new(Wrong { late, ..self.wrong(failure) }))
            }
        });
        graph::Action::Fail
    }

    fn wrong(&self, failure: Box<Failure>) -> Wrong {
        Wrong { failure, output: self.vm.output(), late: None }
    }

    /// The machine.
    pub fn vm(&self) -> &Explored<graph::Action> {
        &self.vm
    }
}

/// When a thread goes on.
#[derive(Clone, Copy)]
struct Moment<'a> {
    /// What happens before its next step.
    clock: &'a View,
    /// What that causally depends on.
    causes: &'a View,
    /// How many events it has.
    events: u32,
    graph: &'a Graph,
}

/// Answers what the machine asks while a thread runs, from the execution graph.
struct GraphAnswers<'a> {
    subject: &'a Subject,
    causes: &'a View,
    graph: &'a Graph,
}

impl Atomics for GraphAnswers<'_> {
    fn value(&self, address: u64, len: u32, life: u32) -> Option<u64> {
        self.subject.value(self.graph, address, len, life)
    }

    fn is_mixed(&self, address: u64, len: u32) -> bool {
        self.subject.locations.is_mixed(address, len)
    }
}

impl Subject {
    pub fn new(image: &Arc<Image>, entry: FuncId, options: &RunOptions, tracked: Tracked) -> Subject {
        Subject {
            basis: Basis::new(image, entry, options, tracked.clone()),
            tracked,
            locations: Locations::default(),
            check_leaks: options.check_leaks,
            allow: options.allow.clone(),
            spurious: options.spurious,
            unroll: options.unroll,
            given_up: Mutex::new(None),
            compares_threads: false,
            uninitialized: AtomicBool::new(false),
        }
    }

    /// The same, and it says which threads are alike, unless the program tells them apart.
    pub fn comparing_threads(self, compares_threads: bool) -> Subject {
        Subject { compares_threads: compares_threads && !self.tracked.contains(Observable::Identity), ..self }
    }

    /// With the numbers that locations had before.
    pub fn numbered_as(self, locations: Locations) -> Subject {
        Subject { locations, ..self }
    }

    /// What has to be known of statics that were accessed as atomics and as other memory, too.
    pub fn mixed_statics(&self) -> impl Iterator<Item = Observable> {
        self.basis.mixed_statics().into_iter().map(Observable::Static)
    }

    /// The numbers that locations have, for the next exploration.
    pub fn into_locations(self) -> Locations {
        self.locations.renewed()
    }

    /// Runs a thread to its next visible action.
    #[inline]
    fn run(&self, state: &mut State, id: vm::ThreadId, cue: Cue, moment: Moment<'_>) -> graph::Action {
        let Moment { clock, causes, events, graph } = moment;
        if events > MAX_EVENTS {
            let failure = never_ends(state.vm.limit(id, ""));
            return state.fail(Halt::Failure(failure));
        }
        state.looked = false;
        match state.vm.step(id, cue, clock, events, &GraphAnswers { subject: self, causes, graph }) {
            Ok(stepped) if stepped.went_on => self.follow(state, id, stepped),
            Ok(waiting) => waiting.action,
            Err(halt) => state.fail(halt),
        }
    }

    /// Somebody tells threads apart that are alike: exploring begins again, unless something is wrong already.
    fn tell_apart(&self, state: &mut State, action: graph::Action) -> graph::Action {
        if action != graph::Action::Fail {
            state.issue = Some(Issue::Shared(Observable::Identity));
        }
        graph::Action::Fail
    }

    /// The next action of a thread, unless it is to memory by which threads that are alike are told apart.
    fn unless_told_apart(&self, state: &mut State, action: graph::Action) -> graph::Action {
        let is_personal = |loc| state.births.is_personal(self.locations.atomic(loc).address & !QUEUE_BIT);
        match !state.births.is_empty() && action.loc().is_some_and(is_personal) {
            true => self.tell_apart(state, action),
            false => action,
        }
    }

    /// An execution is given up: remembers the first place in the source where that happened.
    fn give_up(&self, failure: Box<Failure>) {
        let mut given_up = self.given_up.lock().unwrap_or_else(PoisonError::into_inner);
        if given_up.as_ref().is_none_or(|known| failure.location < known.location) {
            *given_up = Some(failure);
        }
    }

    /// Why executions were given up, if some were.
    pub fn given_up(&self) -> Option<Box<Failure>> {
        self.given_up.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }

    /// Notices where a thread waits in a loop.
    #[inline]
    fn follow(&self, state: &mut State, id: vm::ThreadId, stepped: Stepped<graph::Action>) -> graph::Action {
        let Stepped { action, mark, effect, changed, written, touched, looked, contended, in_loop, .. } = stepped;
        (state.written, state.looked) = (written, looked);
        if let Some(bound) = self.unroll
            && state.trails.come_back(id, mark.site) > bound
        {
            self.give_up(state.vm.limit(id, &format!("the loop did not end within {bound} iterations")));
            return graph::Action::Block;
        }
        match effect {
            _ if changed == Changes::Others => state.trails.clear(id),
            Effect::Lasting => state.trails.clear(id),
            Effect::Write(write) => state.trails.write(id, write),
            Effect::Fence => state.trails.fence(id),
            Effect::Nothing => {}
        }
        state.touched = state.trails.touch(id, contended);
        state.trails.go_on(id, changed == Changes::OwnBlocks, touched);
        match in_loop {
            Some(place) if may_wait(&action) => {
                let retries = matches!(action, graph::Action::Cas { .. });
                self.visit(state, id, LoopPoint { mark, place, retries }, action)
            }
            _ => action,
        }
    }

    /// A thread is where it can come back to.
    fn visit(&self, state: &mut State, id: vm::ThreadId, point: LoopPoint, action: graph::Action) -> graph::Action {
        let blocks = state.vm.own_digest(id);
        let visited = state.trails.visit(id, point, blocks);
        let of_interest = match visited {
            Visited::New | Visited::Differently { .. } => point.retries,
            Visited::AlikeButForBlocks | Visited::Alike { .. } => true,
        };
        let undone = matches!(visited, Visited::Alike { undone: true, .. });
        let site = if undone { Observable::Undoing(point.place) } else { site_of_loop(point) };
        if of_interest && !self.tracked.contains(site) {
            state.issue = Some(Issue::Shared(site));
            return graph::Action::Fail;
        }
        let touches = match visited {
            Visited::Alike { touched, .. } => touched,
            // It may be left out all the same, as an iteration that counts, or an attempt.
            Visited::Differently { touched } => touched && self.tracked.contains(site),
            _ => false,
        };
        if touches && !self.tracked.is_touched() {
            state.issue = Some(Issue::Shared(Observable::Touching));
            return graph::Action::Fail;
        }
        match visited {
            Visited::Alike { events, undone: true, .. } if self.tracked.contains(Observable::Noticed) => {
                self.iterate_again(state, id, point, action, events)
            }
            Visited::Alike { events, .. } => graph::Action::Spin { events },
            _ => action,
        }
    }

    /// A thread has taken back all that it wrote in an iteration, but somebody may have noticed: it goes on, so often.
    fn iterate_again(
        &self,
        state: &mut State,
        id: vm::ThreadId,
        point: LoopPoint,
        action: graph::Action,
        events: u32,
    ) -> graph::Action {
        if state.trails.undo(id) >= MAX_UNDONE {
            let message = format!(
                "other threads can observe what this loop writes and undoes: \
                 only {MAX_UNDONE} such iterations in a row were explored"
            );
            self.give_up(state.vm.limit(id, &message));
            return graph::Action::Spin { events };
        }
        state.trails.begin_again(id, point, state.vm.own_digest(id));
        action
    }

    /// The location of a 32-bit word.
    fn word(&self, address: u64, life: u32) -> Result<Loc, String> {
        self.loc(address, AtomicWidth::W32, life)
    }

    /// The location of the queue of a futex, which is not in memory: which threads wait, and whether a thread has locked it.
    fn queue(&self, word: u64) -> Result<Loc, String> {
        self.word(word | QUEUE_BIT, 0)
    }

    fn plain_loc(&self, address: u64, len: u32, life: u32) -> Result<Loc, String> {
        match AtomicWidth::from_bytes(u64::from(len)) {
            Some(width) => self.loc(address, width, life),
            None => Err("an atomic of this size".to_owned()),
        }
    }

    fn loc(&self, address: u64, width: AtomicWidth, life: u32) -> Result<Loc, String> {
        match width {
            AtomicWidth::W128 => Err("a 128-bit atomic".to_owned()),
            _ => Ok(self.locations.number(Atomic { address, width, life })),
        }
    }

    /// What was written last to an atomic, if it was accessed.
    fn value(&self, graph: &Graph, address: u64, len: u32, life: u32) -> Option<Value> {
        graph.last_value(self.plain_loc(address, len, life).ok()?)
    }

    /// Whether a thread has ended, or waits with nothing more to come: not where an assumption failed, where its loop was
    /// not explored any further, nor where it sleeps though the word it waits for has changed.
    fn waits_for_good(&self, state: &State, graph: &Graph, id: ThreadId, thread: &graph::Thread) -> bool {
        match thread.pending {
            graph::Action::Block => {}
            graph::Action::Spin { events } => return graph.has_read_latest(thread, events),
            _ => return true,
        }
        let is_bounded = |bound| state.trails.came_back_more_often_than(vm_thread(id), bound);
        if self.unroll.is_some_and(is_bounded) {
            return false;
        }
        if state.vm.pending(vm_thread(id)).is_none_or(|action| action.waits().is_none()) {
            return false;
        }
        let event = graph.event(thread.last);
        graph.location(event.loc).co.last() == Some(&event.rf)
    }

    /// Whether those who have not ended sleep for ever, as they wanted to, and nobody waits for them. A thread that
    /// serves others as their reactor is left like that, too, when the main thread has ended.
    fn only_sleepers_are_left(&self, state: &State, graph: &Graph) -> bool {
        let mut left = graph.threads().filter(|(_, thread)| !thread.is_finished());
        left.all(|(id, _)| match state.vm.pending(vm_thread(id)).and_then(|action| action.waits()) {
            Some(Wait::Time) => true,
            Some(Wait::Epoll) => id.index() != 0,
            _ => false,
        })
    }

    /// The main thread comes to the beginning of a model, and all others have ended.
    fn begins_model(&self, state: &State, graph: &Graph) -> Result<(), Box<Failure>> {
        let main = ThreadId::new(0);
        if graph.is_in_model(main) {
            return Err(state.vm.unsupported(vm_thread(main), "a model that begins before another one has ended"));
        }
        match graph.is_before(main) {
            true => Ok(()),
            false => Err(state.vm.unsupported(
                vm_thread(main),
                "a model that begins while another thread runs: join all threads before the model",
            )),
        }
    }

    /// All remaining threads are blocked forever.
    fn deadlock(&self, state: &State, graph: &Graph) -> Failure {
        let left = graph.threads().filter(|(_, thread)| !thread.is_finished());
        let waiting = left.map(|(id, _)| {
            let holders = self.holders(&state.vm, graph, id);
            state.vm.waiting(vm_thread(id), holders.into_iter().map(vm_thread).collect())
        });
        Failure::deadlock(waiting.collect())
    }

    /// Threads spin, and no other thread can change what they read.
    fn non_termination(&self, state: &State, graph: &Graph) -> Failure {
        let left = graph.threads().filter(|(_, thread)| !thread.is_finished());
        let (spinning, blocked): (Vec<_>, Vec<_>) =
            left.partition(|(_, thread)| matches!(thread.pending, graph::Action::Spin { .. }));
        let waiting = |(id, _): &(ThreadId, &graph::Thread)| {
            let holders = self.holders(&state.vm, graph, *id);
            state.vm.waiting(vm_thread(*id), holders.into_iter().map(vm_thread).collect())
        };
        Failure::non_termination(spinning.iter().map(waiting).collect(), blocked.iter().map(waiting).collect())
    }

    /// Who has what a thread waits for.
    fn holders(&self, vm: &Explored<graph::Action>, graph: &Graph, id: ThreadId) -> Vec<ThreadId> {
        let Some(Action::Await { wait, .. }) = vm.pending(vm_thread(id)) else { return Vec::new() };
        let Some(graph::Action::Await { loc, .. }) = vm.translated(vm_thread(id)) else { return Vec::new() };
        let exclusive = matches!(wait, Wait::Mutex | Wait::ReadLock | Wait::Initialization);
        if !exclusive && wait != Wait::WriteLock {
            return Vec::new();
        }
        let writes = graph.locations().nth(loc.index()).map_or(&[][..], |(_, location)| &location.co[1..]);
        // It was taken when there was but one thread.
        let Some(&last) = writes.last() else { return vec![ThreadId::new(0)] };
        if exclusive || readers(graph, writes).is_empty() {
            return vec![graph.event(last).thread];
        }
        readers(graph, writes)
    }
}

/// The threads that have locked a lock for reading, given all writes to it.
fn readers(graph: &Graph, writes: &[EventId]) -> Vec<ThreadId> {
    let mut held: BTreeMap<ThreadId, u32> = BTreeMap::new();
    for &write in writes {
        let event = graph.event(write);
        match event.action {
            graph::Action::Await { then: Then::Add(_), .. } | graph::Action::Try { then: Then::Add(_), .. } => {
                *held.entry(event.thread).or_default() += 1;
            }
            // A writer that has become a reader.
            graph::Action::Rmw { op: RmwOp::Xchg, operand: 1, .. } => *held.entry(event.thread).or_default() += 1,
            graph::Action::Rmw { op: RmwOp::Sub, .. } => {
                held.entry(event.thread).and_modify(|count| *count = count.saturating_sub(1));
            }
            _ => {}
        }
    }
    held.into_iter().filter(|(_, count)| *count > 0).map(|(thread, _)| thread).collect()
}

impl Interpreter<graph::Action> for GraphAnswers<'_> {
    fn translate(&self, stop: Stop, life: u32) -> Result<Translated<graph::Action>, String> {
        let GraphAnswers { subject, .. } = self;
        let Stop::Action(action) = stop else { return Ok(Translated::Action(graph::Action::Exit)) };
        Ok(Translated::Action(match action {
            // Time passes, or it does not: the order of events shows which.
            Action::Yield | Action::QueueWait { timeout: Some(_), .. } | Action::Assume { holds: true } => {
                return Ok(Translated::Answer(vm::Answer::Done));
            }
            Action::Load { address, width, ordering } => {
                graph::Action::Load { loc: subject.loc(address, width, life)?, order: order(ordering) }
            }
            Action::Store { address, width, ordering, value } => graph::Action::Store {
                loc: subject.loc(address, width, life)?,
                order: order(ordering),
                value: value as Value,
            },
            Action::Rmw { op, address, width, ordering, operand } => graph::Action::Rmw {
                loc: subject.loc(address, width, life)?,
                order: order(ordering),
                op,
                width: graph_width(width),
                operand: operand as Value,
            },
            Action::Cas { address, width, success, failure, expected, new, weak } => graph::Action::Cas {
                loc: subject.loc(address, width, life)?,
                order: order(success),
                failure: order(failure),
                expected: expected as Value,
                new: new as Value,
                spurious: weak && subject.spurious,
            },
            Action::Await { address, test, then, .. } => {
                graph::Action::Await { loc: subject.word(address, life)?, order: MemOrder::Acquire, test, then }
            }
            Action::Try { address, ordering, failure, test, then } => graph::Action::Try {
                loc: subject.word(address, life)?,
                order: order(ordering),
                failure: order(failure),
                test,
                then,
            },
            Action::Reach { address, acquire, test, keepers, .. } => graph::Action::Reach {
                loc: subject.word(address, life)?,
                order: if acquire { MemOrder::Acquire } else { MemOrder::Relaxed },
                test,
                keepers: if keepers == 0 { None } else { Some(subject.word(keepers, 0)?) },
            },
            Action::Pick { address } => {
                graph::Action::Pick { loc: subject.word(address, life)?, order: MemOrder::Relaxed }
            }
            Action::Leave { keepers } => graph::Action::Leave { keepers: subject.word(keepers, 0)? },
            Action::Fence { ordering } => graph::Action::Fence { order: order(ordering) },
            Action::Spawn => graph::Action::Spawn,
            Action::Join { thread } => graph::Action::Join(ThreadId::new(thread.index())),
            Action::Gather => graph::Action::Gather,
            Action::Model(boundary) => graph::Action::Model(boundary),
            Action::Choose { n } => match u32::try_from(n) {
                Ok(n) if n > 0 => graph::Action::Choose(n),
                _ => return Err("`dpor::choose` among no values, or among more than 2^32".to_owned()),
            },
            Action::Assume { holds: false } => graph::Action::Block,
            Action::Spin => graph::Action::Spin { events: 0 },
            Action::End => graph::Action::End,
            Action::QueueEnter { word } => graph::Action::Await {
                loc: subject.queue(word)?,
                order: MemOrder::Acquire,
                test: Test::Clear(ENTERED),
                then: Then::Add(ENTERED),
            },
            Action::QueueLeave { word, waiting } => {
                graph::Action::Store { loc: subject.queue(word)?, order: MemOrder::Release, value: waiting.into() }
            }
            Action::QueueWait { word, bit, .. } => graph::Action::Reach {
                loc: subject.queue(word)?,
                order: MemOrder::Acquire,
                test: Test::Clear(bit.into()),
                keepers: None,
            },
            Action::PlainLoad { address, len } => {
                graph::Action::Load { loc: subject.plain_loc(address, len, life)?, order: MemOrder::NotAtomic }
            }
            Action::PlainStore { address, len, value, .. } => {
                graph::Action::Store { loc: subject.plain_loc(address, len, life)?, order: MemOrder::NotAtomic, value }
            }
        }))
    }

    fn answer(&self, action: Action, value: u64, wrote: bool) -> Reply<graph::Action> {
        let wide = u128::from(value);
        Reply::Answer(match action {
            Action::Cas { .. } => vm::Answer::Cas { old: wide, success: wrote },
            Action::Await { test, .. } if !test.passes(value) => return Reply::Wait(graph::Action::Block),
            _ => vm::Answer::Value(wide),
        })
    }

    fn causes(&self) -> &[u32] {
        self.causes
    }

    fn effect(&self, action: graph::Action, value: u64, wrote: bool) -> Effect {
        trail::effect(&action, value, wrote)
    }
}

impl Program for Subject {
    type State = State;
    type Error = Issue;

    fn threads(&self) -> usize {
        1
    }

    fn initial(&self) -> State {
        match Explored::new(&self.basis) {
            Ok(vm) => State::of(vm),
            Err(halt) => {
                let mut state = State::of(Explored::vacant(&self.basis));
                state.fail(halt);
                state
            }
        }
    }

    fn start(&self, state: &mut State, thread: ThreadId, spawn: EventId, graph: &Graph) -> graph::Action {
        if state.issue.is_some() {
            return graph::Action::Fail;
        }
        if self.compares_threads && thread.index() > 0 {
            let State { vm, births, looked, .. } = state;
            births.begin(vm, graph, thread, *looked);
        }
        let moment = Moment { clock: graph.hb(spawn), causes: graph.porf(spawn), events: 0, graph };
        let action = self.run(state, vm_thread(thread), Cue::Start, moment);
        self.unless_told_apart(state, action)
    }

    #[inline]
    fn resume(&self, state: &mut State, thread: ThreadId, answer: Answer<'_>) -> graph::Action {
        if answer.initial
            && self.uninitialized.load(atomic::Ordering::Relaxed)
            && let Err(halt) = state.vm.check_initialized(vm_thread(thread))
        {
            return state.fail(halt);
        }
        let cue = Cue::Value { value: answer.value, wrote: answer.wrote };
        let events = answer.clock.get(thread.index()).copied().unwrap_or(0);
        let moment = Moment { clock: answer.clock, causes: answer.causes, events, graph: answer.graph };
        if state.births.is_empty() {
            return self.run(state, vm_thread(thread), cue, moment);
        }
        let mut told_apart = false;
        let joins = matches!(state.vm.pending(vm_thread(thread)), Some(Action::Join { .. }));
        if let Some(Action::Join { thread: joined }) = state.vm.pending(vm_thread(thread)) {
            told_apart = state.births.join(&state.vm, ThreadId::new(joined.index()));
        }
        let action = self.run(state, vm_thread(thread), cue, moment);
        if told_apart || joins && state.looked && answer.graph.has_joined_some(thread) {
            return self.tell_apart(state, action);
        }
        self.unless_told_apart(state, action)
    }

    fn like(&self, state: &State, _: &Graph, thread: ThreadId) -> Option<ThreadId> {
        state.births.like(thread)
    }

    #[inline]
    fn may_spin(&self, state: &State, thread: ThreadId) -> bool {
        let is_loop = |point| self.tracked.contains(site_of_loop(point));
        self.tracked.has_loops() && state.trails.points(vm_thread(thread)).any(is_loop) || self.may_undo(state, thread)
    }

    fn is_in_loop(&self, state: &State, thread: ThreadId) -> bool {
        state.trails.all_points(vm_thread(thread)).next().is_some()
    }

    fn has_loops(&self) -> bool {
        self.tracked.has_loops() || self.tracked.has_undoing_loops()
    }

    #[inline]
    fn may_undo(&self, state: &State, thread: ThreadId) -> bool {
        let undoes = |point: LoopPoint| self.tracked.contains(Observable::Undoing(point.place));
        self.tracked.has_undoing_loops()
            && !self.tracked.contains(Observable::Noticed)
            && state.trails.all_points(vm_thread(thread)).any(undoes)
    }

    fn is_alike(&self, a: &State, b: &State, thread: ThreadId) -> bool {
        (a.written, a.touched) == (b.written, b.touched) && a.vm.is_alike(&b.vm, vm_thread(thread))
    }

    fn is_at_same_place(&self, a: &State, b: &State, thread: ThreadId) -> bool {
        a.vm.is_at_same_place(&b.vm, vm_thread(thread))
    }

    fn is_same(&self, a: &State, b: &State, _: ThreadId) -> bool {
        a.issue == b.issue && a.vm.is_same(&b.vm)
    }

    fn has_effect(&self, state: &State) -> bool {
        state.written != 0 || state.touched
    }

    #[inline]
    fn touches_memory(&self) -> bool {
        self.tracked.is_touched()
    }

    fn may_touch_memory(&self) -> bool {
        true
    }

    fn forget_accesses(&self, state: &mut State) {
        state.vm.forget_accesses();
    }

    fn has_accessed(&self, state: &State) -> bool {
        state.vm.has_accessed()
    }

    fn note_left_out(
        &self,
        state: &mut State,
        trial: &State,
        thread: ThreadId,
        events: u32,
        clock: &View,
    ) -> Option<Issue> {
        state.vm.note_left_out(&trial.vm, vm_thread(thread), events, clock).map(Issue::Shared)
    }

    fn give_up_loop(&self, state: &State, thread: ThreadId) {
        let message = "this loop has too many states: not every iteration that waits was checked for data races";
        self.give_up(state.vm.limit(vm_thread(thread), message));
    }

    fn initial_value(&self, state: &State, loc: Loc) -> Value {
        let Atomic { address, width, .. } = self.locations.atomic(loc);
        let Peeked { value, initialized } = state.vm.peek(address, width.bytes() as usize);
        if !initialized {
            self.uninitialized.store(true, atomic::Ordering::Relaxed);
        }
        value
    }

    fn keepers(&self, state: &State, keepers: Loc) -> u32 {
        self.initial_value(state, keepers) as u32
    }

    fn error(&self, state: &State, graph: &Graph, thread: ThreadId) -> Issue {
        match &state.issue {
            Some(Issue::Failure(wrong)) => match &wrong.late {
                Some(late) if may_come_later(graph, thread, late) => {
                    Issue::Failure(Arc::new(state.wrong(late.failure.clone())))
                }
                _ => Issue::Failure(Arc::clone(wrong)),
            },
            Some(issue) => issue.clone(),
            None => {
                let failure = state
                    .vm
                    .limit(vm_thread(thread), "internal error: a failure without a reason; please report this bug");
                Issue::Failure(Arc::new(state.wrong(failure)))
            }
        }
    }

    fn allows(&self, state: &State, failure: &explore::Failure<Issue>) -> bool {
        match failure {
            _ if self.allow.is_empty() => false,
            explore::Failure::Program(Issue::Failure(wrong)) => {
                self.allow.iter().any(|allowed| allowed.covers(&wrong.failure))
            }
            explore::Failure::Race(race) => {
                let stack = state.vm.stack_trace(vm_thread(race.second.0));
                self.allow.iter().any(|allowed| allowed.covers_kind(ErrorKind::DataRace, &stack))
            }
            explore::Failure::Program(_) | explore::Failure::Nondeterminism(_) => false,
        }
    }

    fn forgive(&self, state: &mut State) {
        (state.issue, state.forgiven) = (None, true);
    }

    fn has_forgiven(&self, state: &State) -> bool {
        state.forgiven
    }

    fn is_lesson(&self, issue: &Issue) -> bool {
        !matches!(issue, Issue::Failure(_))
    }

    fn is_out_of_time(&self, issue: &Issue) -> bool {
        *issue == Issue::OutOfTime
    }

    fn is_limit(&self, issue: &Issue) -> bool {
        matches!(issue, Issue::Failure(wrong) if wrong.failure.kind == FailureKind::Limit)
    }

    fn is_lesson_of_trial(&self, issue: &Issue) -> bool {
        self.is_lesson(issue) && !matches!(issue, Issue::Shared(Observable::Seen(_)))
    }

    fn spot(&self, state: &State, thread: ThreadId, loc: Option<Loc>) -> Option<Spot> {
        let stack = state.vm.stack_trace(vm_thread(thread));
        let frame = stack.iter().find(|frame| frame.origin != Origin::Std).or(stack.first())?;
        let address = loc.map(|loc| self.locations.atomic(loc).address & !QUEUE_BIT);
        let variable = address.and_then(|address| state.vm.variable(address).describe());
        Some(Spot { location: frame.location.clone(), variable })
    }

    fn state_bytes(&self, state: &State) -> usize {
        state.vm.bytes()
    }

    fn watched(&self, state: &State, graph: &Graph, ending: Ending) -> Vec<Loc> {
        match ending {
            Ending::Complete if self.check_leaks && leaves_nothing(graph) && state.vm.may_leak() => pointers(graph),
            Ending::Complete => Vec::new(),
            Ending::Blocked => looked_at(graph),
        }
    }

    fn finish(&self, state: &State, graph: &Graph, ending: Ending) -> Result<(), Issue> {
        // A thread has stopped in the middle of what it did: what others wait for, or what is left, says nothing.
        if state.forgiven {
            return Ok(());
        }
        let failure = match ending {
            Ending::Complete if begins_model(graph) => self.begins_model(state, graph).err(),
            Ending::Complete if self.check_leaks && leaves_nothing(graph) => {
                state.vm.leaks(|Atom { address, len, life }| self.value(graph, address, len, life))
            }
            Ending::Complete => None,
            Ending::Blocked => {
                let of_interest = graph.threads().all(|(id, thread)| self.waits_for_good(state, graph, id, thread));
                let spins = |thread: &graph::Thread| matches!(thread.pending, graph::Action::Spin { .. });
                match of_interest {
                    false => None,
                    true if self.only_sleepers_are_left(state, graph) => None,
                    true if graph.threads().any(|(_, thread)| spins(thread)) => {
                        Some(Box::new(self.non_termination(state, graph)))
                    }
                    true => Some(Box::new(self.deadlock(state, graph))),
                }
            }
        };
        failure.map_or(Ok(()), |failure| Err(Issue::Failure(Arc::new(state.wrong(failure)))))
    }
}

/// Says of a thread with too many events where it is: probably in a loop.
fn never_ends(mut failure: Box<Failure>) -> Box<Failure> {
    let thread = failure.thread.phrase();
    failure.message = match &failure.location {
        Some(Location { file, line, .. }) => {
            format!("{thread} took 20,000 visible steps; the loop at {file}:{line} probably never ends")
        }
        None => format!("{thread} took 20,000 visible steps; it probably never ends"),
    };
    failure
}

/// Whether an access does not come before what a thread has done, neither in its thread nor because something was read.
fn may_come_later(graph: &Graph, thread: ThreadId, access: &Late) -> bool {
    let before = graph.porf(graph.thread(thread).tip());
    before.get(access.thread.index()).is_none_or(|events| *events <= access.events)
}

/// What has to be known of a loop that may wait, or try again, at this place.
fn site_of_loop(point: LoopPoint) -> Observable {
    if point.retries { Observable::Retries } else { Observable::Loop(point.place) }
}

/// The locations that may have pointers in them.
fn pointers(graph: &Graph) -> Vec<Loc> {
    let is_pointer = |value: Value| value >= 1 << REGION_BITS;
    let may_point = |(loc, location): &(Loc, &graph::Location)| {
        location.co.iter().any(|&write| is_pointer(graph.written(write, *loc)))
    };
    graph.locations().filter(may_point).map(|(loc, _)| loc).collect()
}

/// The locations that threads look at which wait in loops.
fn looked_at(graph: &Graph) -> Vec<Loc> {
    let mut locs = Vec::new();
    for (_, thread) in graph.threads() {
        let graph::Action::Spin { events } = thread.pending else { continue };
        locs.extend(latest_events(graph, thread, events).filter(|event| event.is_read).map(|event| event.loc));
    }
    locs.sort_unstable();
    locs.dedup();
    locs
}

/// The latest events of a thread.
fn latest_events<'a>(graph: &'a Graph, thread: &graph::Thread, events: u32) -> impl Iterator<Item = &'a graph::Event> {
    let mut next = thread.last;
    (0..events).map_while(move |_| {
        let event = next.is_some().then(|| graph.event(next))?;
        next = event.po_prev;
        Some(event)
    })
}

/// Whether an execution, being complete, is to leave nothing behind: not where a thread has ended the program, with all
/// that is left in memory.
fn leaves_nothing(graph: &Graph) -> bool {
    let exits = graph.threads().any(|(_, thread)| matches!(thread.pending, graph::Action::Exit));
    !exits && !begins_model(graph)
}

/// Whether all that is left is a thread that begins a model.
fn begins_model(graph: &Graph) -> bool {
    graph.boundary().is_some_and(|(_, boundary)| boundary != Boundary::End)
}

fn vm_thread(thread: ThreadId) -> vm::ThreadId {
    vm::ThreadId(thread.index() as u16)
}

fn order(ordering: Ordering) -> MemOrder {
    match ordering {
        Ordering::Relaxed => MemOrder::Relaxed,
        Ordering::Release => MemOrder::Release,
        Ordering::Acquire => MemOrder::Acquire,
        Ordering::AcqRel => MemOrder::AcqRel,
        Ordering::SeqCst => MemOrder::SeqCst,
    }
}

fn graph_width(width: AtomicWidth) -> graph::Width {
    match width {
        AtomicWidth::W8 => graph::Width::W8,
        AtomicWidth::W16 => graph::Width::W16,
        AtomicWidth::W32 => graph::Width::W32,
        AtomicWidth::W64 | AtomicWidth::W128 => graph::Width::W64,
    }
}
