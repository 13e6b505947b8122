//! Sharing the exploration out among workers.
//!
//! Every worker explores its piece of the tree depth first, and looks only now and then whether somebody is idle; then
//! it gives the last child of its outermost node away, which is the largest piece it has. Pieces are self-contained, so
//! that nothing else is shared. See [`super::ledger`] for why counts and errors are the same for any number of workers.

use super::choice::Path;
use super::clock::Clock;
use super::estimate::{Descents, Estimate};
use super::ledger::{Ledger, Outcome};
use super::lessons::Lesson;
use super::program::Program;
use super::stats::Stats;
use super::visit::{Item, Step, Visitor};
use super::{Config, Found, Limits, Observer, Report};
use crate::model::Model;
use crossbeam_deque::{Injector, Steal};
use std::sync::atomic::{AtomicBool, AtomicU64, AtomicUsize, Ordering};
use std::sync::{Condvar, Mutex, MutexGuard, PoisonError};
use std::time::Instant;

/// How often a worker reports progress: every so many full executions.
const REPORT_EVERY: u64 = 1024;

/// How far an exploration is; to be looked at from another thread.
#[derive(Debug, Default)]
pub struct Progress {
    executions: AtomicU64,
    blocked: AtomicU64,
    estimate: Mutex<Estimate>,
}

impl Progress {
    /// Complete executions so far.
    pub fn executions(&self) -> u64 {
        self.executions.load(Ordering::Relaxed)
    }

    /// Blocked executions so far.
    pub fn blocked(&self) -> u64 {
        self.blocked.load(Ordering::Relaxed)
    }

    /// How many executions there are, as far as one can tell by now.
    pub fn estimate(&self) -> Estimate {
        *lock(&self.estimate)
    }

    /// Exploring begins again.
    pub(crate) fn reset(&self) {
        self.executions.store(0, Ordering::Relaxed);
        self.blocked.store(0, Ordering::Relaxed);
        *lock(&self.estimate) = Estimate::default();
    }

    pub(super) fn add_estimate(&self, more: Estimate) {
        lock(&self.estimate).add(more);
    }
}

/// Panics of other workers are propagated when they are joined, and not made worse here.
fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

/// What workers share.
struct Shared<'a, P: Program> {
    config: &'a Config,
    progress: Option<&'a Progress>,
    deadline: Option<Instant>,
    items: Injector<Item<P::State>>,
    /// Items that are not done: waiting or being explored.
    open: AtomicUsize,
    /// Workers that have nothing to do, less items waiting for one.
    hungry: AtomicUsize,
    sleep: Mutex<()>,
    wake: Condvar,
    /// A limit was reached.
    limit: AtomicBool,
    /// A worker has panicked: the others stop, and the panic goes on when they have.
    panicked: AtomicBool,
    /// Full executions, counted only where there is a limit.
    executions: AtomicU64,
    /// Where in the tree exploring ends, if it does before the end.
    has_end: AtomicBool,
    end: Mutex<Option<Path>>,
    ledger: Mutex<Ledger<P::Error>>,
}

pub(super) fn run<P: Program, M: Model, O: Observer<P>>(
    program: &P,
    model: M,
    config: &Config,
    limits: Limits<'_>,
    progress: Option<&Progress>,
    observers: Vec<O>,
) -> (Report<P::Error>, Vec<O>) {
    let shared = Shared::<P> {
        config,
        progress,
        deadline: limits.deadline,
        items: Injector::new(),
        open: AtomicUsize::new(0),
        hungry: AtomicUsize::new(0),
        sleep: Mutex::new(()),
        wake: Condvar::new(),
        limit: AtomicBool::new(false),
        panicked: AtomicBool::new(false),
        executions: AtomicU64::new(0),
        has_end: AtomicBool::new(false),
        end: Mutex::new(None),
        ledger: Mutex::new(Ledger::new(config.keep_going)),
    };
    let ties = config.equivalence.ties(&model);
    shared.offer(Visitor::<P, M>::root_item(program, limits.lessons, ties));
    let work = |(number, observer): (usize, O)| {
        let visitor = Visitor::new(program, model.clone(), limits.lessons, ties);
        Worker::new(visitor, &shared, number, observer).work()
    };
    let observers: Vec<O> = match observers.len() {
        1 => observers.into_iter().enumerate().map(work).collect(),
        _ => std::thread::scope(|scope| {
            let spawn = |task| scope.spawn(|| work(task));
            let handles: Vec<_> = observers.into_iter().enumerate().map(spawn).collect();
            handles.into_iter().map(|h| h.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic))).collect()
        }),
    };
    let complete = !shared.limit.load(Ordering::Relaxed);
    let Outcome { stats, errors, lesson } = shared.ledger.into_inner().unwrap_or_else(PoisonError::into_inner).total();
    (Report { stats, errors, lesson, complete, restarts: Vec::new(), survey: None }, observers)
}

impl<P: Program> Shared<'_, P> {
    /// Puts an item where idle workers find it.
    fn offer(&self, item: Item<P::State>) {
        lock(&self.ledger).open(item.path.clone());
        self.open.fetch_add(1, Ordering::SeqCst);
        self.items.push(item);
        let _guard = lock(&self.sleep);
        self.wake.notify_one();
    }

    /// The next item to explore; waits for one until all are done.
    fn take(&self) -> Option<Item<P::State>> {
        if let Some(item) = self.steal() {
            return Some(item);
        }
        self.hungry.fetch_add(1, Ordering::SeqCst);
        let item = self.wait();
        self.hungry.fetch_sub(1, Ordering::SeqCst);
        item
    }

    fn wait(&self) -> Option<Item<P::State>> {
        let mut guard = lock(&self.sleep);
        loop {
            if let Some(item) = self.steal() {
                return Some(item);
            }
            if self.open.load(Ordering::SeqCst) == 0 || self.panicked.load(Ordering::SeqCst) {
                return None;
            }
            guard = self.wake.wait(guard).unwrap_or_else(PoisonError::into_inner);
        }
    }

    fn steal(&self) -> Option<Item<P::State>> {
        loop {
            match self.items.steal() {
                Steal::Success(item) => return Some(item),
                Steal::Empty => return None,
                Steal::Retry => {}
            }
        }
    }

    /// An item is done.
    fn close(&self, path: Path, outcome: Outcome<P::Error>) {
        lock(&self.ledger).close(path, outcome);
        if self.open.fetch_sub(1, Ordering::SeqCst) == 1 {
            let _guard = lock(&self.sleep);
            self.wake.notify_all();
        }
    }

    /// Whether some worker waits and nothing is there for it.
    fn is_hungry(&self) -> bool {
        self.hungry.load(Ordering::Relaxed) > 0 && self.items.is_empty()
    }

    /// Whether one more full execution is within the limit.
    fn admits_execution(&self) -> bool {
        let Some(max) = self.config.max_executions else { return true };
        let admits = self.executions.fetch_add(1, Ordering::Relaxed) < max;
        if !admits {
            self.limit.store(true, Ordering::Relaxed);
        }
        admits
    }

    /// An error was found there, or a lesson learned: what comes after it is of no interest.
    fn stop_after(&self, path: &Path) {
        let mut end = lock(&self.end);
        if end.as_ref().is_none_or(|end| path < end) {
            *end = Some(path.clone());
        }
        self.has_end.store(true, Ordering::Release);
    }

    /// Whether a piece of the tree need not be explored any further.
    fn is_void(&self, root: &Path) -> bool {
        self.limit.load(Ordering::Relaxed)
            || self.panicked.load(Ordering::Relaxed)
            || (self.has_end.load(Ordering::Acquire) && lock(&self.end).as_ref().is_some_and(|end| root > end))
    }
}

/// Tells the other workers when this one panics, so that they do not wait for it.
struct Alarm<'a, P: Program>(&'a Shared<'a, P>);

impl<P: Program> Drop for Alarm<'_, P> {
    fn drop(&mut self) {
        if std::thread::panicking() {
            self.0.panicked.store(true, Ordering::SeqCst);
            let _guard = lock(&self.0.sleep);
            self.0.wake.notify_all();
        }
    }
}

/// One worker.
struct Worker<'a, P: Program, M, O> {
    shared: &'a Shared<'a, P>,
    visitor: Visitor<'a, P, M>,
    observer: O,
    descents: Option<Descents<'a, P, M>>,
    /// Full executions, to know when to report.
    full: u64,
    reported: Stats,
    peak_bytes: usize,
}

impl<'a, P: Program, M: Model, O: Observer<P>> Worker<'a, P, M, O> {
    fn new(visitor: Visitor<'a, P, M>, shared: &'a Shared<'a, P>, number: usize, observer: O) -> Self {
        let estimates = shared.progress.is_some() && number == 0;
        let fresh = || Visitor::new(visitor.program, visitor.model.clone(), visitor.lessons, visitor.ties);
        let descents = estimates.then(|| Descents::new(fresh(), 0x9e37_79b9));
        let deadline = Clock::new(shared.deadline, shared.config.interrupt.clone());
        let visitor = Visitor { deadline, ..visitor };
        Worker { shared, visitor, observer, descents, full: 0, reported: Stats::default(), peak_bytes: 0 }
    }

    fn work(mut self) -> O {
        let _alarm = Alarm(self.shared);
        while let Some(item) = self.shared.take() {
            let path = item.path.clone();
            self.visitor.stats = Stats::default();
            self.reported = Stats::default();
            let mut outcome = match self.shared.is_void(&path) {
                true => Outcome::new(Stats::default()),
                false => self.explore(item),
            };
            self.report_progress();
            let bytes = self.visitor.bytes();
            let asked = std::mem::take(&mut self.visitor.scratch.witness.asked);
            (outcome.stats.witness_tests, outcome.stats.witness_searches) = (asked.tests, asked.searches);
            outcome.stats.peak_bytes = bytes.saturating_sub(self.peak_bytes) as u64;
            self.peak_bytes = self.peak_bytes.max(bytes);
            self.shared.close(path, outcome);
        }
        self.observer
    }

    /// Explores an item, and says what came of it.
    fn explore(&mut self, item: Item<P::State>) -> Outcome<P::Error> {
        let mut outcome = Outcome::new(Stats::default());
        self.observer.begin(&item.path);
        let mut step = self.visitor.begin(item);
        loop {
            if self.visitor.deadline.is_over() {
                break;
            }
            match step {
                Step::Extended => {
                    step = self.visitor.step();
                    continue;
                }
                Step::Full(ending) => {
                    if !self.shared.admits_execution() {
                        break;
                    }
                    self.visitor.record(ending, &mut self.observer);
                }
                Step::Cut => self.visitor.stats.cut += 1,
                Step::Failed(failure) => {
                    let stops = !self.shared.config.keep_going;
                    if !stops && let Some(lesson) = self.visitor.audit_failed(&failure) {
                        step = Step::Restart(lesson);
                        continue;
                    }
                    self.visitor.stats.executions += 1;
                    let path = self.visitor.path();
                    self.visitor.settle();
                    let Some(graph) = self.visitor.in_one_order() else {
                        step = Step::Restart(Lesson::AllOrdered);
                        continue;
                    };
                    if stops {
                        self.shared.stop_after(&path);
                    }
                    outcome.add(Found { failure, path, graph });
                    if stops {
                        break;
                    }
                }
                Step::Restart(Lesson::Program(error)) if self.visitor.program.is_out_of_time(&error) => {
                    self.shared.limit.store(true, Ordering::Relaxed);
                    break;
                }
                Step::Restart(lesson) => {
                    self.shared.stop_after(&self.visitor.path());
                    outcome.lesson = Some(lesson);
                    break;
                }
            }
            if self.between() {
                break;
            }
            match self.visitor.backtrack() {
                Some(next) => step = next,
                None => break,
            }
        }
        if self.visitor.deadline.was_over() {
            self.shared.limit.store(true, Ordering::Relaxed);
        }
        outcome.stats = self.visitor.stats;
        outcome
    }

    /// What is to be done between two executions; says whether to stop.
    fn between(&mut self) -> bool {
        self.full += 1;
        if self.full.is_multiple_of(REPORT_EVERY) {
            self.report_progress();
            if let (Some(descents), Some(progress)) = (&mut self.descents, self.shared.progress) {
                progress.add_estimate(descents.sample(1));
            }
        }
        if self.shared.is_hungry()
            && let Some(item) = self.visitor.give_away()
        {
            self.shared.offer(item);
        }
        self.shared.is_void(&self.visitor.root)
    }

    fn report_progress(&mut self) {
        let Some(progress) = self.shared.progress else { return };
        let (now, before) = (self.visitor.stats, self.reported);
        progress.executions.fetch_add(now.executions - before.executions, Ordering::Relaxed);
        progress.blocked.fetch_add(now.blocked - before.blocked, Ordering::Relaxed);
        self.reported = now;
    }
}
