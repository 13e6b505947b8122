//! Exploring every consistent execution of a program, each exactly once: TruSt (Kokologiannakis, Marmanis, Gladstein,
//! Vafeiadis: Truly Stateless, Optimal Dynamic Partial Order Reduction, POPL 2022), algorithm 1, with trace
//! equivalence.
//!
//! [`visit`] walks the exploration tree, [`decide`] says what the children of a node are, [`maximal`] when a backward
//! revisit is allowed, [`revisit`] makes it. [`workers`] shares the tree out, [`estimate`] guesses its size, [`replay`]
//! runs one execution again, [`sample`] some random ones, [`survey`] says why there are so many.
//!
//! Loops that wait: [`trial`] tries out what a thread would do, [`waiting`] keeps threads that would wait out of the way,
//! [`confirm`] leaves out attempts that fail, [`counting`] iterations that only count, [`transient`] looks after what loops write
//! and take back, [`audit`] looks at every full execution again, and [`lessons`] are why an exploration begins again.
//!
//! Parts of a program that are explored for themselves: [`models`].
//!
//! What is guaranteed: every consistent execution graph of the program is visited exactly once, and none that is not
//! consistent is extended; the counts, and the error reported, do not depend on the number of workers; memory is
//! bounded by the size of the program.

mod audit;
mod buffers;
mod choice;
mod clock;
mod commute;
mod confirm;
mod contended;
mod counting;
mod cuts;
mod decide;
mod eligible;
mod endings;
mod estimate;
mod ledger;
mod lessons;
mod levels;
mod maximal;
mod models;
mod orders;
mod program;
mod readers;
mod reads_from;
mod replay;
mod revisit;
mod rounds;
mod sample;
mod snapshots;
mod stats;
mod survey;
mod symmetry;
mod transient;
mod tree;
mod trial;
mod visit;
mod waiting;
mod workers;

pub use choice::Path;
pub use estimate::{Estimate, estimate};
pub use lessons::{Lesson, Lessons, Restart};
pub use program::{Answer, Ending, Program};
pub use replay::{Diverged, Replayed, Schedule, replay};
pub use sample::{Sampling, sample_with};
pub use stats::Stats;
pub use survey::{Spot, Survey};
pub(crate) use transient::MAX_WRITES;
pub use transient::Transient;
pub use workers::Progress;

use crate::graph::{Graph, ThreadId, Ties};
use crate::interrupt::Interrupt;
use crate::model::{Mapping, MemoryModel, Model, Race, Rc11, Sc, StoreBuffer};
use models::{Plan, Stages};
use serde::{Deserialize, Serialize};
use std::time::{Duration, Instant};
use visit::Item;
use workers::Explored;

/// How to explore.
#[derive(Clone, Debug)]
pub struct Config {
    /// The memory model.
    pub model: MemoryModel,
    /// At most this many delayed stores per buffer, under TSO and PSO.
    pub buffer_bound: Option<usize>,
    /// What orderings mean to TSO and PSO.
    pub mapping: Mapping,
    /// How many threads explore: at least one does.
    pub workers: usize,
    /// Stop after this many executions, complete and blocked ones.
    pub max_executions: Option<u64>,
    /// Stop after this long.
    pub timeout: Option<Duration>,
    /// Stop when the process takes more bytes than this. Looked after by whoever [checks](crate::check) a program.
    pub max_memory: Option<u64>,
    /// Where not everything is explored, say why, until this time.
    pub survey: Option<Option<Instant>>,
    /// Random executions instead of all. Looked after by whoever [checks](crate::check) a program.
    pub sampling: Option<Sampling>,
    /// Do not stop at an error.
    pub keep_going: bool,
    /// What is done about threads that wait.
    pub awaiting: AwaitLevel,
    /// Stop when somebody wants so.
    pub interrupt: Interrupt,
    /// Which executions count as the same.
    pub equivalence: Equivalence,
    /// Whether executions count as the same that differ only in the order of [updates that commute](commute).
    pub commute: bool,
    /// Whether executions that differ only in which of several threads that are alike is which count as the same, too.
    pub symmetry: bool,
    /// Whether ways to go round in a loop that cover others are [gone once for all of them](rounds). For tests: it makes
    /// no difference to any result.
    pub share_rounds: bool,
}

/// Which executions count as the same.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Default, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Equivalence {
    /// Those that agree on events, reads-from and coherence.
    #[default]
    Trace,
    /// Those that agree on events and reads-from.
    ReadsFrom,
}

impl Equivalence {
    /// Every equivalence, the default first.
    pub const ALL: [Equivalence; 2] = [Equivalence::Trace, Equivalence::ReadsFrom];

    /// The name users see.
    pub fn name(self) -> &'static str {
        match self {
            Equivalence::Trace => "trace",
            Equivalence::ReadsFrom => "reads-from",
        }
    }

    /// What graphs have of coherence.
    fn ties(self, model: &impl Model) -> Ties {
        match self {
            Equivalence::Trace => Ties::Fixed,
            Equivalence::ReadsFrom => model.ties(),
        }
    }
}

/// The text names no equivalence.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("unknown equivalence `{0}`: expected one of trace, reads-from")]
pub struct UnknownEquivalence(pub String);

impl std::str::FromStr for Equivalence {
    type Err = UnknownEquivalence;

    fn from_str(text: &str) -> Result<Equivalence, UnknownEquivalence> {
        let known = Equivalence::ALL.into_iter().find(|equivalence| equivalence.name() == text);
        known.ok_or_else(|| UnknownEquivalence(text.to_owned()))
    }
}

/// What is done about threads that wait in a loop (Kokologiannakis, Marmanis, Vafeiadis: Unblocking Dynamic Partial
/// Order Reduction, CAV 2023), from nothing to all that there is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum AwaitLevel {
    /// An iteration that waits blocks its execution.
    Off,
    /// Iterations that wait because they have read something old are dropped.
    Stale,
    /// A thread goes on when what it waits for has come.
    InPlace,
    /// Iterations that would fail to confirm what they have read are dropped, too.
    Full,
}

impl AwaitLevel {
    /// Every level, from the least.
    pub const ALL: [AwaitLevel; 4] = [AwaitLevel::Off, AwaitLevel::Stale, AwaitLevel::InPlace, AwaitLevel::Full];

    /// The name users see.
    pub fn name(self) -> &'static str {
        match self {
            AwaitLevel::Off => "off",
            AwaitLevel::Stale => "stale",
            AwaitLevel::InPlace => "in-place",
            AwaitLevel::Full => "full",
        }
    }
}

/// The text names no level of waiting.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("unknown level `{0}`: expected one of full, in-place, stale, off")]
pub struct UnknownLevel(pub String);

impl std::str::FromStr for AwaitLevel {
    type Err = UnknownLevel;

    fn from_str(text: &str) -> Result<AwaitLevel, UnknownLevel> {
        let known = AwaitLevel::ALL.into_iter().find(|level| level.name() == text);
        known.ok_or_else(|| UnknownLevel(text.to_owned()))
    }
}

impl Config {
    /// Everything under this model, on one thread, up to the first error.
    pub fn new(model: MemoryModel) -> Config {
        Config {
            model,
            buffer_bound: None,
            mapping: Mapping::Rust,
            workers: 1,
            max_executions: None,
            timeout: None,
            max_memory: None,
            survey: None,
            sampling: None,
            keep_going: false,
            awaiting: AwaitLevel::Full,
            interrupt: Interrupt::default(),
            equivalence: Equivalence::Trace,
            commute: false,
            symmetry: false,
            share_rounds: true,
        }
    }
}

/// What is wrong with an execution.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Failure<E> {
    /// What the program says.
    Program(E),
    /// Two accesses race.
    Race(Race),
    /// A thread asked for something else when it was run again with the same answers.
    Nondeterminism(ThreadId),
}

/// An erroneous execution.
#[derive(Clone, Debug)]
pub struct Found<E> {
    /// What is wrong.
    pub failure: Failure<E>,
    /// Where in the exploration tree it was found.
    pub path: Path,
    /// The execution, up to the error.
    pub graph: Graph,
}

/// What an exploration found out.
#[derive(Clone, Debug)]
pub struct Report<E> {
    /// The counts, up to the error where there is one and exploring went no further.
    pub stats: Stats,
    /// The distinct errors, by path: at most one unless exploring went on.
    pub errors: Vec<Found<E>>,
    /// Why the program has to be explored again in another form, if it has to: nothing else counts then.
    pub lesson: Option<Lesson<E>>,
    /// Whether everything was explored (up to an error): no limit was reached.
    pub complete: bool,
    /// How often exploring began again, and why.
    pub restarts: Vec<Restart>,
    /// Why there is so much to explore, where that was not everything.
    pub survey: Option<Survey>,
    /// Whether that limit is a bound of a model.
    pub bounded: bool,
}

/// Somebody who wants to see every full execution.
///
/// With several workers each has its own observer. After an error, observers may have seen executions that the report
/// does not count.
pub trait Observer<P: Program>: Send {
    /// Whether it looks at graphs: if not, what it is given is not made ready for that.
    const LOOKS: bool = true;

    /// The worker begins to explore a part of the tree. Parts are intervals of the depth-first order, in the order of
    /// where they begin.
    fn begin(&mut self, path: &Path) {
        let _ = path;
    }

    /// An execution in which no thread can go on.
    fn full(&mut self, graph: &Graph, state: &P::State, ending: Ending);

    /// An execution has come to the end of a model.
    fn end_of_model(&mut self, state: &P::State) {
        let _ = state;
    }

    /// Under reads-from equivalence: the same execution, with other last values of the locations that the program
    /// [watches](Program::watched).
    fn also(&mut self, graph: &Graph, state: &P::State, ending: Ending) {
        let _ = (graph, state, ending);
    }
}

impl<P: Program> Observer<P> for () {
    const LOOKS: bool = false;

    fn full(&mut self, _: &Graph, _: &P::State, _: Ending) {}
}

/// Explores a program.
pub fn explore<P: Program>(program: &P, config: &Config) -> Report<P::Error> {
    explore_with(program, config, None, || ()).0
}

/// Explores a program; each worker gets an observer, and the progress, if any, is kept up to date.
pub fn explore_with<P: Program, O: Observer<P>>(
    program: &P,
    config: &Config,
    progress: Option<&Progress>,
    observer: impl Fn() -> O,
) -> (Report<P::Error>, Vec<O>) {
    explore_knowing(program, config, &mut Lessons::new(config), progress, observer)
}

/// The same, with what was learned when the program was explored before, in another form. Locations must have the same
/// numbers as then.
pub fn explore_knowing<P: Program, O: Observer<P>>(
    program: &P,
    config: &Config,
    lessons: &mut Lessons,
    progress: Option<&Progress>,
    observer: impl Fn() -> O,
) -> (Report<P::Error>, Vec<O>) {
    let deadline = config.timeout.and_then(|timeout| Instant::now().checked_add(timeout));
    let mut restarts = Vec::new();
    let (mut report, mut observers, mut stages) = (Report::empty(), Vec::new(), Stages::new());
    while let Some(root) = stages.next() {
        let executions = report.stats.executions + report.stats.blocked;
        let plan = Plan::new(root.as_ref(), config, deadline, executions);
        let limits = Limits { lessons, deadline: plan.deadline, executions };
        progress.inspect(|progress| progress.begin(&report.stats));
        let workers = (0..plan.config.workers.max(1)).map(|_| observer()).collect();
        let stage = Run { program, config: &plan.config, limits, root: root.clone(), progress, observers: workers };
        let mut explored = with_model(config, stage);
        explored.report.bounded = plan.was_bounded(&explored.report);
        // At a limit there is no time to begin again: what was explored counts as it is, and is not everything anyway.
        let lesson = explored.report.lesson.take().filter(|_| explored.report.complete);
        if let Some(lesson) = lesson {
            let all_stages = lesson.is_for_all_stages();
            let mut discarded = explored.report.stats;
            if all_stages {
                discarded += report.stats;
            }
            restarts.push(Restart { lesson: lesson.describe().into(), stats: discarded });
            report.lesson = lessons.learn(lesson);
            match report.lesson {
                None if all_stages => (report, observers, stages) = (Report::empty(), Vec::new(), Stages::new()),
                None => stages.again(root),
                Some(_) => {
                    observers.extend(explored.observers);
                    break;
                }
            }
            continue;
        }
        if let Some(deadline) = config.survey.filter(|_| !explored.report.complete) {
            report.survey = Some(survey::survey(program, config, lessons, root, deadline));
        }
        report.append(explored.report);
        observers.extend(explored.observers);
        stages.add(explored.leaves);
        if report.is_over(config) {
            break;
        }
    }
    report.restarts = restarts;
    (report, observers)
}

/// What an exploration begins with that has begun before: what was learned, and the time that is left, for all of them
/// together.
#[derive(Clone, Copy)]
struct Limits<'a> {
    lessons: &'a Lessons,
    deadline: Option<Instant>,
    /// How many executions were explored in earlier stages.
    executions: u64,
}

/// Something to be done under a model that is known only when the program runs.
pub(crate) trait UnderModel {
    type Output;
    fn under<M: Model>(self, model: M) -> Self::Output;
}

pub(crate) fn with_model<T: UnderModel>(config: &Config, task: T) -> T::Output {
    match config.model {
        MemoryModel::Rc11 => task.under(Rc11),
        MemoryModel::Sc => task.under(Sc),
        MemoryModel::Tso => task.under(StoreBuffer::tso(config.buffer_bound, config.mapping)),
        MemoryModel::Pso => task.under(StoreBuffer::pso(config.buffer_bound, config.mapping)),
    }
}

struct Run<'a, P: Program, O> {
    program: &'a P,
    config: &'a Config,
    limits: Limits<'a>,
    root: Option<Item<P::State>>,
    progress: Option<&'a Progress>,
    observers: Vec<O>,
}

impl<P: Program, O: Observer<P>> UnderModel for Run<'_, P, O> {
    type Output = Explored<P, O>;

    fn under<M: Model>(self, model: M) -> Explored<P, O> {
        let Run { program, config, limits, root, progress, observers } = self;
        workers::run(program, model, config, limits, root, progress, observers)
    }
}
