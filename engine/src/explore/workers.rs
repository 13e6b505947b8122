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
use super::models::{self, Leaf};
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
    earlier: AtomicU64,
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

    /// Executions, complete and blocked, in [stages](super::models) that are done.
    pub fn earlier(&self) -> u64 {
        self.earlier.load(Ordering::Relaxed)
    }

    /// How many executions there are in the current stage, as far as one can tell by now.
    pub fn estimate(&self) -> Estimate {
        *lock(&self.estimate)
    }

    /// A stage begins, after so much was found in earlier ones.
    pub(super) fn begin(&self, earlier: &Stats) {
        self.executions.store(earlier.executions, Ordering::Relaxed);
        self.blocked.store(earlier.blocked, Ordering::Relaxed);
        self.earlier.store(earlier.executions + earlier.blocked, Ordering::Relaxed);
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
    /// Full executions, those of earlier stages included, counted only where there is a limit.
    executions: AtomicU64,
    /// Where the next [stages](super::models) may begin.
    leaves: Mutex<Vec<Leaf<P::State>>>,
    /// Where in the tree exploring ends, if it does before the end.
    has_end: AtomicBool,
    end: Mutex<Option<Path>>,
    ledger: Mutex<Ledger<P::Error>>,
}

/// Explores a stage: from this root, or the program from its start.
pub(super) fn run<P: Program, M: Model, O: Observer<P>>(
    program: &P,
    model: M,
    config: &Config,
    limits: Limits<'_>,
    root: Option<Item<P::State>>,
    progress: Option<&Progress>,
    observers: Vec<O>,
) -> Explored<P, O> {
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
        executions: AtomicU64::new(limits.executions),
        leaves: Mutex::default(),
        has_end: AtomicBool::new(false),
        end: Mutex::new(None),
        ledger: Mutex::new(Ledger::new(config.keep_going)),
    };
    let ties = config.equivalence.ties(&model);
    let root = root.unwrap_or_else(|| Visitor::<P, M>::root_item(program, limits.lessons, ties));
    let estimated = progress.map(|_| Mutex::new(Some(root.clone())));
    shared.offer(root);
    let work = |(number, observer): (usize, O)| {
        let visitor = Visitor::new(program, model.clone(), limits.lessons, ties);
        let root = estimated.as_ref().filter(|_| number == 0).and_then(|root| lock(root).take());
        Worker::new(visitor, &shared, root, observer).work()
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
    let leaves = shared.leaves.into_inner().unwrap_or_else(PoisonError::into_inner);
    Explored { report: Report { stats, errors, lesson, complete, ..Report::empty() }, leaves, observers }
}

/// What came of a stage.
pub(super) struct Explored<P: Program, O> {
    pub report: Report<P::Error>,
    pub leaves: Vec<Leaf<P::State>>,
    pub observers: Vec<O>,
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
    /// With a root it estimates how many executions there are from there.
    fn new(visitor: Visitor<'a, P, M>, shared: &'a Shared<'a, P>, root: Option<Item<P::State>>, observer: O) -> Self {
        let fresh = || Visitor::new(visitor.program, visitor.model.clone(), visitor.lessons, visitor.ties);
        let descents = root.map(|root| Descents::new(fresh(), root, 0x9e37_79b9));
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
            let asked = std::mem::take(&mut self.visitor.buffers.scratch.witness.asked);
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
        let mut goes_on = false;
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
                    if models::counts(self.visitor.graph()) && !self.shared.admits_execution() {
                        break;
                    }
                    if self.visitor.graph().boundary().is_some() {
                        if let Some(lesson) = self.end_stage(&mut goes_on) {
                            step = Step::Restart(lesson);
                            continue;
                        }
                    } else {
                        self.visitor.record(ending, &mut self.observer);
                    }
                }
                Step::Cut => self.visitor.stats.cut += 1,
                Step::Failed(failure) => {
                    let stops = !self.shared.config.keep_going;
                    if !stops && let Some(lesson) = self.visitor.audit_failed(&failure) {
                        step = Step::Restart(lesson);
                        continue;
                    }
                    self.visitor.stats.executions += 1;
                    let path = self.visitor.tree.path();
                    self.visitor.settle();
                    let graph = match self.visitor.confirm_failure(&failure) {
                        Ok(graph) => graph,
                        Err(lesson) => {
                            step = Step::Restart(lesson);
                            continue;
                        }
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
                    self.shared.stop_after(&self.visitor.tree.path());
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

    /// The execution has come to where the next stage may begin. Of the executions of a model in one piece of the tree,
    /// only the first matters. Says what has to be learned if the execution cannot be put in one order.
    fn end_stage(&mut self, goes_on: &mut bool) -> Option<Lesson<P::Error>> {
        if models::counts(self.visitor.graph()) {
            self.visitor.stats.executions += 1;
            self.observer.end_of_model(&self.visitor.state);
        }
        if std::mem::replace(goes_on, true) && self.visitor.is_at_end() {
            return None;
        }
        self.visitor.settle();
        if self.visitor.in_one_order().is_none() {
            return Some(Lesson::AllOrdered);
        }
        lock(&self.shared.leaves).extend(self.visitor.leaf());
        None
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
        self.shared.is_void(&self.visitor.tree.root)
    }

    fn report_progress(&mut self) {
        let Some(progress) = self.shared.progress else { return };
        let (now, before) = (self.visitor.stats, self.reported);
        progress.executions.fetch_add(now.executions - before.executions, Ordering::Relaxed);
        progress.blocked.fetch_add(now.blocked - before.blocked, Ordering::Relaxed);
        self.reported = now;
    }
}
