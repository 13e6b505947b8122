//! Random executions, of programs of any size.
//!
//! An execution is built forwards, one event after the other, and nothing is ever revisited: so it takes time in proportion
//! to its events. Two schemes take turns. In the one, threads have random priorities, of which a few change at random points
//! (PCT; Burckhardt, Kothari, Musuvathi, Nagarakatte: A Randomized Scheduler with Probabilistic Guarantees of Finding Bugs,
//! ASPLOS 2010): a bug that needs few context switches is found with a probability that does not vanish. In the other,
//! every step is that of a random thread. Independently of that, reads read the latest write, or one of those that the
//! model allows, with a rate that differs from execution to execution: what PCT does for context switches, this does for
//! old values (as Gao, Chakraborty, Ozkan: Probabilistic Concurrency Testing for Weak Memory Programs, ASPLOS 2023).
//!
//! Executions are numbered, and each depends on the seed and its number only: the results are the same for any number of
//! workers. Of an error that was found, some more executions are looked at for a simpler one.

use super::choice::Choice;
use super::clock::Clock;
use super::estimate::SplitMix;
use super::lessons::{Lessons, Restart};
use super::program::{Ending, Program};
use super::visit::{Search, Step, Visitor};
use super::{AwaitLevel, Config, Equivalence, Failure, Found, Lesson, Observer, Report, Stats, UnderModel, with_model};
use crate::graph::{Action, EventId, Graph, ThreadId};
use crate::model::Model;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Mutex, PoisonError};
use std::time::Instant;

/// How many executions are looked at for one that is simpler than the first that fails.
const SIMPLER: u64 = 64;

/// How many random executions are wanted.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Sampling {
    pub samples: u64,
    pub seed: u64,
}

/// Runs random executions instead of all. What is found is real; that nothing is found means little.
pub fn sample_with<P: Program, O: Observer<P>>(
    program: &P,
    config: &Config,
    sampling: Sampling,
    observer: impl Fn() -> O,
) -> (Report<P::Error>, Vec<O>) {
    let deadline = config.timeout.and_then(|timeout| Instant::now().checked_add(timeout));
    // What would be left out of an exploration need not be here: it only has to be known who waits.
    let config = &Config {
        awaiting: config.awaiting.min(AwaitLevel::InPlace),
        commute: false,
        symmetry: false,
        equivalence: Equivalence::Trace,
        ..config.clone()
    };
    let mut lessons = Lessons::new(config);
    let mut observers: Vec<O> = (0..config.workers.max(1)).map(|_| observer()).collect();
    let (mut stats, mut restarts, mut next) = (Stats::default(), Vec::new(), 0);
    loop {
        let run = Run { program, config, lessons: &lessons, sampling, deadline, first: next, observers };
        let part = with_model(config, run);
        observers = part.observers;
        stats += part.stats;
        next = part.next;
        let mut report =
            Report { stats, errors: Vec::new(), lesson: None, complete: part.complete, restarts, ..Report::empty() };
        match part.event {
            Some(Event::Lesson(lesson)) => {
                report.restarts.push(Restart { lesson: lesson.describe().into(), stats: Stats::default() });
                report.lesson = lessons.learn(lesson);
                if report.lesson.is_none() {
                    restarts = report.restarts;
                    continue;
                }
            }
            Some(Event::Failed(found)) => report.errors.push(*found),
            None => {}
        }
        return (report, observers);
    }
}

/// What ends sampling.
enum Event<E> {
    Failed(Box<Found<E>>),
    Lesson(Lesson<E>),
}

/// What came of the executions from one number on.
struct Sampled<E, O> {
    stats: Stats,
    /// The number to go on with.
    next: u64,
    event: Option<Event<E>>,
    /// Whether the time was enough.
    complete: bool,
    observers: Vec<O>,
}

struct Run<'a, P, O> {
    program: &'a P,
    config: &'a Config,
    lessons: &'a Lessons,
    sampling: Sampling,
    deadline: Option<Instant>,
    /// The number to begin with.
    first: u64,
    observers: Vec<O>,
}

/// What workers share.
struct Shared<E> {
    next: AtomicU64,
    /// What comes after this number is of no interest.
    end: AtomicU64,
    event: Mutex<Option<(u64, Event<E>)>>,
    out_of_time: AtomicBool,
}

impl<E> Shared<E> {
    /// Something has happened in an execution: the first of these counts.
    fn happened(&self, number: u64, event: Event<E>) {
        let mut first = self.event.lock().unwrap_or_else(PoisonError::into_inner);
        if first.as_ref().is_none_or(|(known, _)| number < *known) {
            *first = Some((number, event));
            self.end.fetch_min(number, Ordering::Relaxed);
        }
    }
}

impl<P: Program, O: Observer<P>> UnderModel for Run<'_, P, O> {
    type Output = Sampled<P::Error, O>;

    fn under<M: Model>(self, model: M) -> Self::Output {
        let shared = Shared {
            next: AtomicU64::new(self.first),
            end: AtomicU64::new(self.sampling.samples),
            event: Mutex::new(None),
            out_of_time: AtomicBool::new(false),
        };
        let clock = || Clock::new(self.deadline, self.config.interrupt.clone());
        let sampler = || Sampler::new(self.program, model.clone(), self.lessons, clock(), self.sampling.seed);
        // How long executions are: of the first one, so that it does not depend on who runs which.
        let mut first = sampler();
        first.run(0);
        let horizon = first.length();
        let work = |mut observer: O| {
            let mut sampler = Sampler { horizon, ..sampler() };
            let counted = sampler.work(&shared, &mut observer);
            (counted, observer)
        };
        let done: Vec<(Vec<(u64, Count)>, O)> = match self.observers.len() {
            1 => self.observers.into_iter().map(work).collect(),
            _ => std::thread::scope(|scope| {
                let handles: Vec<_> = self.observers.into_iter().map(|o| scope.spawn(|| work(o))).collect();
                let join = |handle: std::thread::ScopedJoinHandle<'_, _>| {
                    handle.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic))
                };
                handles.into_iter().map(join).collect()
            }),
        };
        let (counted, observers): (Vec<_>, Vec<_>) = done.into_iter().unzip();
        let event = shared.event.into_inner().unwrap_or_else(PoisonError::into_inner);
        let end = event.as_ref().map_or(self.sampling.samples, |(number, _)| *number);
        let mut stats = Stats::default();
        for (number, count) in counted.into_iter().flatten() {
            if number < end {
                count.add_to(&mut stats);
            }
        }
        let event = event.map(|(number, event)| match event {
            Event::Failed(found) => {
                stats.executions += 1;
                Event::Failed(Box::new(Sampler { horizon, ..sampler() }.simplest(number, *found)))
            }
            lesson => lesson,
        });
        let complete = !shared.out_of_time.load(Ordering::Relaxed);
        Sampled { stats, next: end, event, complete, observers }
    }
}

/// How an execution is counted.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Count {
    Complete,
    Blocked,
    Cut,
}

impl Count {
    fn add_to(self, stats: &mut Stats) {
        *match self {
            Count::Complete => &mut stats.executions,
            Count::Blocked => &mut stats.blocked,
            Count::Cut => &mut stats.cut,
        } += 1;
    }
}

/// How simple an execution is: context switches, old reads, events. Less is simpler.
type Simplicity = (u32, u32, usize);

/// Runs random executions.
struct Sampler<'p, P: Program, M> {
    visitor: Visitor<'p, P, M>,
    seed: u64,
    /// How many events an execution has, about.
    horizon: usize,
    switches: u32,
    old_reads: u32,
    last: Option<ThreadId>,
}

impl<'p, P: Program, M: Model> Sampler<'p, P, M> {
    fn new(program: &'p P, model: M, lessons: &'p Lessons, clock: Clock, seed: u64) -> Self {
        let ties = Equivalence::Trace.ties(&model);
        let mut visitor = Visitor::new(program, model, lessons, ties);
        visitor.deadline = clock;
        visitor.search = Search::Sample { only_latest: false };
        Sampler { visitor, seed, horizon: 1, switches: 0, old_reads: 0, last: None }
    }

    fn graph(&self) -> &Graph {
        self.visitor.graph()
    }

    /// How many events the last execution had.
    fn length(&self) -> usize {
        self.graph().len()
    }

    /// Runs executions until there are enough; says how each of them is counted.
    fn work<O: Observer<P>>(&mut self, shared: &Shared<P::Error>, observer: &mut O) -> Vec<(u64, Count)> {
        let mut counted = Vec::new();
        loop {
            let number = shared.next.fetch_add(1, Ordering::Relaxed);
            if number >= shared.end.load(Ordering::Relaxed) {
                return counted;
            }
            let count = match self.run(number) {
                Step::Full(ending) => {
                    observer.begin(&vec![number as u32]);
                    self.visitor.record(ending, observer);
                    if ending == Ending::Complete { Count::Complete } else { Count::Blocked }
                }
                // A thread that spins while another could go on does so only because it is preferred here.
                Step::Failed(Failure::Program(error)) if self.visitor.program.is_limit(&error) => Count::Cut,
                Step::Failed(_) if self.waits_in_doubt() => Count::Blocked,
                Step::Failed(failure) => {
                    let found = self.found(number, failure);
                    shared.happened(number, Event::Failed(Box::new(found)));
                    continue;
                }
                Step::Restart(Lesson::Program(error)) if self.visitor.program.is_out_of_time(&error) => {
                    shared.out_of_time.store(true, Ordering::Relaxed);
                    return counted;
                }
                Step::Restart(lesson) => {
                    shared.happened(number, Event::Lesson(lesson));
                    continue;
                }
                Step::Cut | Step::Extended => Count::Cut,
            };
            if self.visitor.deadline.was_over() {
                shared.out_of_time.store(true, Ordering::Relaxed);
                return counted;
            }
            counted.push((number, count));
        }
    }

    fn found(&mut self, number: u64, failure: Failure<P::Error>) -> Found<P::Error> {
        Found { failure, path: vec![number as u32], graph: self.graph().clone() }
    }

    /// Whether the execution ended because threads wait in loops, and one of them has written in its last iteration, or failed
    /// without a reason: were that iteration taken back, as it is in an exploration, others could go on.
    fn waits_in_doubt(&self) -> bool {
        let graph = self.graph();
        if graph.threads().any(|(_, thread)| thread.pending == Action::Fail) {
            return false;
        }
        graph.threads().any(|(_, thread)| {
            let Action::Spin { events } = thread.pending else { return false };
            let before = |id: &EventId| Some(graph.event(*id).po_prev);
            let iteration = std::iter::successors(Some(thread.last), before).take_while(|id| id.is_some());
            iteration.take(events as usize).any(|id| graph.event(id).is_write || graph.event(id).way > 0)
        })
    }

    fn simplicity(&self) -> Simplicity {
        (self.switches, self.old_reads, self.length())
    }

    /// The simplest execution with the same failure among some that come after this one.
    fn simplest(&mut self, number: u64, found: Found<P::Error>) -> Found<P::Error> {
        self.run(number);
        let (mut best, mut simplest) = (found, self.simplicity());
        for other in number + 1..=number + SIMPLER {
            if self.visitor.deadline.is_over() {
                break;
            }
            if let Step::Failed(failure) = self.run(other)
                && failure == best.failure
                && !self.waits_in_doubt()
                && self.simplicity() < simplest
            {
                simplest = self.simplicity();
                best = self.found(other, failure);
            }
        }
        best
    }

    /// Runs one execution to its end; it has grown only where the time was over.
    fn run(&mut self, number: u64) -> Step<P::Error> {
        let Visitor { program, lessons, ties, .. } = self.visitor;
        let mut random = SplitMix::new(self.seed ^ number.wrapping_mul(0xd134_2543_de82_ef95));
        let mut scheme = Scheme::new(number, self.horizon, &mut random);
        (self.switches, self.old_reads, self.last) = (0, 0, None);
        let mut step = self.visitor.begin(Visitor::<P, M>::root_item(program, lessons, ties));
        while let Step::Extended = step {
            if self.visitor.deadline.is_over() {
                return step;
            }
            step = self.step(&mut scheme, &mut random);
            // A model begins or ends: the execution goes on behind it.
            if let (Step::Full(_), Some(leaf)) = (&step, self.visitor.leaf()) {
                step = self.visitor.begin(leaf.item);
            }
        }
        step
    }

    fn step(&mut self, scheme: &mut Scheme, random: &mut SplitMix) -> Step<P::Error> {
        let visitor = &mut self.visitor;
        let graph = visitor.levels.current_mut();
        scheme.order(graph, random);
        let only_latest = !scheme.reads_old(random);
        visitor.search = Search::Sample { only_latest };
        let start = visitor.tree.choices.len();
        let thread = match visitor.branch() {
            Ok(thread) => thread,
            Err(end) => return end,
        };
        let ways = (visitor.tree.choices.len() - start) as u64;
        let is_choice = matches!(visitor.tree.choices[start], Choice::Value(_));
        let pick = if is_choice || !only_latest { random.below(ways) as usize } else { 0 };
        let choice = visitor.tree.choices[start + pick];
        visitor.tree.choices.truncate(start);
        self.old_reads += u32::from(pick > 0 && !is_choice);
        self.switches += u32::from(self.last.is_some_and(|last| last != thread));
        self.last = Some(thread);
        // Nothing is revisited: no state has to be saved.
        visitor.apply(thread, choice, usize::MAX)
    }
}

/// How the next thread and what it reads are chosen in an execution.
struct Scheme {
    /// Whether every step is that of a random thread; otherwise of that with the highest priority.
    walks: bool,
    /// At which numbers of events the thread with the highest priority gets the lowest.
    changes: Vec<usize>,
    /// By thread, the highest first.
    priorities: Vec<ThreadId>,
    /// A read may be old once in so many times; never, if 0.
    old: u64,
}

impl Scheme {
    /// The scheme of an execution: simple ones come first, and all come again and again.
    fn new(number: u64, horizon: usize, random: &mut SplitMix) -> Scheme {
        const OLD: [u64; 4] = [0, 16, 4, 1];
        let walks = number % 2 == 1;
        let changes = if walks { 0 } else { number / 2 % 4 };
        let mut changes: Vec<usize> = (0..changes).map(|_| random.below(horizon.max(1) as u64) as usize).collect();
        changes.sort_unstable();
        Scheme { walks, changes, priorities: Vec::new(), old: OLD[(number / 8 % 4) as usize] }
    }

    /// Whether the next read may be old.
    fn reads_old(&self, random: &mut SplitMix) -> bool {
        self.old > 0 && random.below(self.old) == 0
    }

    /// Says which threads the graph prefers.
    fn order(&mut self, graph: &mut Graph, random: &mut SplitMix) {
        let threads = graph.preference().len();
        let is_new = self.priorities.len() != threads;
        for thread in self.priorities.len()..threads {
            let place = random.below(self.priorities.len() as u64 + 1) as usize;
            self.priorities.insert(place, ThreadId::new(thread));
        }
        let mut is_changed = false;
        while self.changes.first().is_some_and(|change| graph.len() > *change) {
            self.changes.remove(0);
            let is_active = |id: &ThreadId| !graph.thread(*id).is_finished();
            if let Some(first) = self.priorities.iter().position(is_active) {
                let thread = self.priorities.remove(first);
                self.priorities.push(thread);
            }
            is_changed = true;
        }
        if self.walks {
            for last in (1..self.priorities.len()).rev() {
                self.priorities.swap(last, random.below(last as u64 + 1) as usize);
            }
        }
        if is_new || is_changed || self.walks {
            graph.set_preference(&self.priorities);
        }
    }
}
