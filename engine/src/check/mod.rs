//! Checks every execution of a test that the memory model allows.
//!
//! A [`Subject`](crate::subject) is a lowered test as a program that the explorer can explore: it runs the machine from
//! one visible action to the next, and answers atomics from the execution graph instead of from memory.
//!
//! Which memory is shared between threads is learned: exploration restarts whenever more is found, with accesses to it
//! tracked.
//!
//! A failing execution is replayed to describe it ([`crate::trace`]). It can be replayed at any later time: a
//! [`Recording`] holds everything that this needs besides the program.

mod covers;
mod endings;
mod identity;

use std::sync::Arc;
use std::time::{Duration, Instant};

use serde::{Deserialize, Serialize};

use crate::explore::{self, Config, Found, Lesson, Lessons, Progress, Report, Restart, Schedule, Stats, Survey};
use crate::graph::ThreadId;
use crate::memory::{Allowance, Resource, Watch};
use crate::model::MemoryModel;
use crate::program::FuncId;
use crate::trace::{self, Recorded, ReplayError, Trace};
use crate::verdict::{ErrorKind, Location, Outcome};
use crate::vm::{self, Failure, FailureKind, Image, Observable, Output, RunOptions, Tracked};

use crate::subject::Locations;
pub use crate::subject::{Issue, State, Subject, Wrong, trail};
pub use crate::vm::{Allowed, UnknownErrors};
pub use covers::Cover;
use endings::Endings;

/// The result of a check.
#[derive(Clone, Debug)]
pub struct Checked {
    pub outcome: Outcome,
    /// Why it did not pass: the failures in the order of exploration, each mistake once. There is at most one, unless
    /// exploration continued after it.
    pub failures: Vec<Counterexample>,
    /// Why not everything was explored, where that is not because of a failure.
    pub limit: Option<Limit>,
    /// The output of the first failing execution; if none fails, of the first complete one; otherwise of the first one.
    pub output: Output,
    pub stats: Stats,
    /// The labels that the test names. Counts are of all executions only where nothing kept the test from passing.
    pub covers: Vec<Cover>,
    /// How often exploring began again, and why: what was explored by then is not in the counts.
    pub restarts: Vec<Restart>,
    /// Why there is so much to explore, if not everything was explored.
    pub survey: Option<Survey>,
    pub time: Duration,
}

impl Checked {
    /// A test that names a label which is not a constant.
    fn of_unknown_label(location: Location) -> Checked {
        let mut failure = internal("a label of `dpor::cover!` that is not a literal".to_owned());
        failure.location = Some(location);
        let failure = Counterexample::without_trace(failure, Output::default(), Recording::default());
        Findings { failures: vec![failure], limit: None }.conclude(Output::default(), Stats::default(), Duration::ZERO)
    }

    /// The first failure.
    pub fn failure(&self) -> Option<&Failure> {
        self.failures.first().map(|found| &*found.failure)
    }
}

/// A limit of an exploration.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Limit {
    Executions,
    Time,
    Memory,
    /// All requested samples were run.
    Samples,
    /// A bound of a model.
    Model,
    /// The user interrupted the check.
    Interrupt,
}

/// A failure, and the execution that has it.
#[derive(Clone, Debug)]
pub struct Counterexample {
    pub failure: Arc<Failure>,
    /// The steps of the execution; empty if the failure is not an error of the program.
    pub trace: Trace,
    /// What the execution printed.
    pub output: Output,
    pub recording: Recording,
}

/// An execution of a test, to be run again on the same program.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Recording {
    /// The memory whose accesses are tracked.
    tracked: Tracked,
    schedule: Schedule,
}

/// Explores every execution of a function without arguments, such as the entry of a test.
pub fn check(image: &Arc<Image>, entry: FuncId, options: &RunOptions, config: &Config) -> Checked {
    check_with_progress(image, entry, options, config, None)
}

/// The same, and keeps the progress up to date.
pub fn check_with_progress(
    image: &Arc<Image>,
    entry: FuncId,
    options: &RunOptions,
    config: &Config,
    progress: Option<&Progress>,
) -> Checked {
    let start = Instant::now();
    let deadline = config.timeout.and_then(|timeout| start.checked_add(timeout));
    let interrupt = config.interrupt.of_part();
    let watch = Watch::begin(Allowance { deadline, memory: config.max_memory }, &interrupt);
    let store_buffers = matches!(config.model, MemoryModel::Tso | MemoryModel::Pso);
    let (interrupts, budget) = (interrupt.clone(), watch.budget());
    let timed = RunOptions { deadline, interrupt: interrupts, store_buffers, budget, ..options.clone() };
    let labels = match covers::labels(&image.program, entry) {
        Ok(labels) => labels,
        Err(location) => return Checked::of_unknown_label(location),
    };
    let mut restarts = Vec::new();
    let (mut tracked, mut locations, mut lessons) = (Tracked::default(), Locations::default(), None);
    let compares_threads =
        config.symmetry && config.sampling.is_none() && !identity::is_asked_for(&image.program, entry);
    loop {
        let subject = Subject::new(image, entry, &timed, tracked.clone())
            .comparing_threads(compares_threads)
            .numbered_as(std::mem::take(&mut locations));
        let limits = Config { interrupt: interrupt.clone(), ..limited(config, deadline) };
        let observer = || Endings::new(&labels);
        let (mut report, endings) = match config.sampling {
            Some(sampling) => explore::sample_with(&subject, &limits, sampling, observer),
            None => {
                let lessons = lessons.get_or_insert_with(|| Lessons::new(&limits));
                explore::explore_knowing(&subject, &limits, lessons, progress, observer)
            }
        };
        restarts.append(&mut report.restarts);
        let learned = match &report.lesson {
            Some(Lesson::Program(Issue::Shared(site))) => Some(*site),
            Some(Lesson::Noticed(_)) => Some(Observable::Noticed),
            _ => None,
        };
        if learned.is_some_and(|site| tracked.insert(site)) {
            locations = subject.into_locations();
            continue;
        }
        let goes_on = config.sampling.is_none() && (report.errors.is_empty() || config.keep_going);
        if report.complete && goes_on && subject.mixed_statics().filter(|site| tracked.insert(*site)).count() > 0 {
            restarts.push(Restart { lesson: MIXED_STATICS.into(), stats: report.stats });
            locations = subject.into_locations();
            continue;
        }
        let is_sampled = config.sampling.is_some() && report.errors.is_empty();
        let is_all = report.complete && report.lesson.is_none() && !is_sampled;
        let limit = (!is_all).then(|| reached(config, &report, &watch));
        let again = |recording: &Recording| replay(image, entry, options, recording);
        let mut found = Findings::new(report.errors, limit, &tracked, again);
        let (output, recording) = (Output::default(), Recording::default());
        if learned.is_some() {
            let message =
                "internal error: exploration restarted although nothing new was learned; please report this bug";
            found.add(Counterexample::without_trace(internal(message.to_owned()), output, recording));
        } else if let Some(failure) = subject.given_up().filter(|_| config.keep_going || found.failures.is_empty()) {
            found.add(Counterexample::without_trace(failure, output, recording));
        }
        let covers = endings::count(labels, &endings);
        let checked = found.conclude(endings::first(endings), report.stats, start.elapsed());
        return Checked { restarts, covers, survey: report.survey, ..checked };
    }
}

/// Runs an execution again; it must have a failure.
pub fn replay(
    image: &Arc<Image>,
    entry: FuncId,
    options: &RunOptions,
    recording: &Recording,
) -> Result<Counterexample, ReplayError> {
    let subject = Subject::new(image, entry, options, recording.tracked.clone());
    let Recorded { failure, trace, output } = trace::record(&subject, &recording.schedule)?;
    Ok(Counterexample { failure, trace, output, recording: recording.clone() })
}

/// Why exploring begins again if a static was accessed both ways, but not in the same execution.
const MIXED_STATICS: &str = "a static is accessed as an atomic and as other memory, too";

/// So much of the time is for finding out why it was not enough, but no more than a second.
const FOR_SURVEY: u32 = 10;

/// How to explore in the time that is left.
fn limited(config: &Config, deadline: Option<Instant>) -> Config {
    let reserve = config.timeout.unwrap_or_default() / FOR_SURVEY;
    let reserve = reserve.min(Duration::from_secs(1));
    let left = |deadline: Instant| deadline.saturating_duration_since(Instant::now()).saturating_sub(reserve);
    Config {
        timeout: deadline.map(left),
        survey: Some(deadline),
        // With a limit on executions, which ones are explored must not depend on who is faster.
        workers: if config.max_executions.is_some() { 1 } else { config.workers },
        ..config.clone()
    }
}

/// The limit that ended an exploration.
fn reached(config: &Config, report: &Report<Issue>, watch: &Watch) -> Limit {
    let stats = &report.stats;
    match config.max_executions {
        _ if config.interrupt.is_requested() => Limit::Interrupt,
        _ if watch.exceeded() == Some(Resource::Memory) => Limit::Memory,
        _ if config.sampling.is_some() && report.complete => Limit::Samples,
        _ if report.bounded => Limit::Model,
        Some(max) if stats.executions + stats.blocked >= max => Limit::Executions,
        _ => Limit::Time,
    }
}

/// What an exploration found.
struct Findings {
    failures: Vec<Counterexample>,
    limit: Option<Limit>,
}

impl Findings {
    fn new(
        errors: Vec<Found<Issue>>,
        limit: Option<Limit>,
        tracked: &Tracked,
        again: impl Fn(&Recording) -> Result<Counterexample, ReplayError>,
    ) -> Findings {
        let mut findings = Findings { failures: Vec::new(), limit };
        for found in errors {
            let recording = Recording { tracked: tracked.clone(), schedule: found.schedule() };
            match found.failure {
                // These are no errors: the explorer reports them as lessons.
                explore::Failure::Program(Issue::Shared(_) | Issue::OutOfTime) => {}
                explore::Failure::Program(Issue::Failure(wrong)) if !is_told_by_trace(&wrong.failure, &recording) => {
                    findings.add(Counterexample::without_trace(wrong.failure.clone(), wrong.output.clone(), recording));
                }
                explore::Failure::Program(Issue::Failure(_)) | explore::Failure::Race(_) => {
                    let found = again(&recording);
                    findings.add(found.unwrap_or_else(|error| Counterexample::not_reproduced(error, recording)));
                }
                explore::Failure::Nondeterminism(thread) => {
                    findings.add(Counterexample::nondeterminism(thread, recording));
                }
            }
        }
        findings
    }

    /// Adds a failure, unless the same mistake is known.
    fn add(&mut self, new: Counterexample) {
        if self.failures.iter().all(|known| !known.failure.is_same_mistake(&new.failure)) {
            self.failures.push(new);
        }
    }

    fn conclude(self, first_output: Output, stats: Stats, time: Duration) -> Checked {
        let output = self.failures.first().map_or(first_output, |found| found.output.clone());
        let Findings { failures, limit } = self;
        let outcome = outcome(&failures, limit);
        Checked {
            outcome,
            failures,
            limit,
            output,
            stats,
            covers: Vec::new(),
            restarts: Vec::new(),
            survey: None,
            time,
        }
    }
}

impl Counterexample {
    fn without_trace(failure: Box<Failure>, output: Output, recording: Recording) -> Counterexample {
        Counterexample { failure: Arc::from(failure), trace: Trace::default(), output, recording }
    }

    fn nondeterminism(thread: ThreadId, recording: Recording) -> Counterexample {
        let message =
            format!("internal error: {thread} behaved differently when it was run again; please report this bug");
        Counterexample::without_trace(internal(message), Output::default(), recording)
    }

    fn not_reproduced(error: ReplayError, recording: Recording) -> Counterexample {
        let message =
            format!("internal error: a failing execution could not be run again ({error}); please report this bug");
        Counterexample::without_trace(internal(message), Output::default(), recording)
    }
}

/// An error outweighs everything else that was found; what was not explored entirely has not passed.
fn outcome(failures: &[Counterexample], limit: Option<Limit>) -> Outcome {
    let outcomes: Vec<Outcome> = failures.iter().map(|found| found.failure.kind.outcome()).collect();
    let found = |outcome: &Outcome| outcomes.contains(outcome);
    let worst = [Outcome::Failed, Outcome::Unsupported, Outcome::Incomplete].into_iter().find(found);
    worst.unwrap_or(if limit.is_some() { Outcome::Incomplete } else { Outcome::Passed })
}

/// Whether there is more to tell of a failure than what and where.
fn is_told_by_trace(failure: &Failure, recording: &Recording) -> bool {
    let has_trace = matches!(failure.kind, FailureKind::Error(_) | FailureKind::Covered);
    has_trace && (!recording.schedule.is_empty() || failure.kind == ErrorKind::Deadlock.into())
}

/// A mistake of ours: the test cannot be checked.
fn internal(message: String) -> Box<Failure> {
    Box::new(Failure::bare(FailureKind::Unsupported, message, vm::ThreadId::MAIN, Vec::new()))
}
