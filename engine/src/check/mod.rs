//! What must not happen: checks every execution of a test that the memory model allows.
//!
//! A [`Subject`] is a lowered test as a program that the explorer can explore: it runs the machine from one visible
//! action to the next, and answers atomics from the execution graph instead of from memory.
//!
//! Which memory threads share is learned: exploring begins anew whenever more is found, with accesses to it tracked.
//!
//! A failing execution is run once more to tell what happened in it ([`crate::trace`]), and can be at any later time:
//! a [`Recording`] has all that is needed for that besides the program.

mod alike;
mod allow;
mod identity;
mod locations;
mod output;
mod subject;
pub mod trail;

use std::sync::Arc;
use std::time::{Duration, Instant};

use serde::{Deserialize, Serialize};

use crate::explore::{self, Config, Found, Lesson, Progress, Report, Schedule, Stats};
use crate::graph::ThreadId;
use crate::program::FuncId;
use crate::trace::{self, Recorded, ReplayError, Trace};
use crate::verdict::{ErrorKind, Outcome};
use crate::vm::{self, Failure, FailureKind, Image, Output, RunOptions, Site, Tracked};

pub use allow::{Allowed, UnknownErrors};
use output::FirstOutput;
pub use subject::{Issue, State, Subject, Wrong};

/// What a check found out.
#[derive(Clone, Debug)]
pub struct Checked {
    pub outcome: Outcome,
    /// Why it did not pass: the failures in the order of exploration, each mistake once. There is at most one, unless
    /// exploring went on after it.
    pub failures: Vec<Counterexample>,
    /// Why not everything was explored, where that is not because of a failure.
    pub limit: Option<Limit>,
    /// What the first execution printed that fails; if there is none, that is complete; if there is none, at all.
    pub output: Output,
    pub stats: Stats,
    pub time: Duration,
}

impl Checked {
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
    /// A bound of a model.
    Model,
    /// Somebody wanted it to stop.
    Interrupt,
}

/// A failure, and the execution that has it.
#[derive(Clone, Debug)]
pub struct Counterexample {
    pub failure: Arc<Failure>,
    /// What happens in the execution; empty for what is no error of the program.
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

/// The same, and the progress, if any, is kept up to date.
pub fn check_with_progress(
    image: &Arc<Image>,
    entry: FuncId,
    options: &RunOptions,
    config: &Config,
    progress: Option<&Progress>,
) -> Checked {
    let start = Instant::now();
    let deadline = config.timeout.and_then(|timeout| start.checked_add(timeout));
    let timed = RunOptions { deadline, interrupt: config.interrupt.clone(), ..options.clone() };
    let mut tracked = Tracked::default();
    let compares_threads = config.symmetry && !identity::is_asked_for(&image.program, entry);
    loop {
        let subject = Subject::new(image, entry, &timed, tracked.clone()).comparing_threads(compares_threads);
        let limits = limited(config, deadline);
        let (report, outputs) = explore::explore_with(&subject, &limits, progress, FirstOutput::default);
        let learned = match &report.lesson {
            Some(Lesson::Program(Issue::Shared(site))) => Some(*site),
            Some(Lesson::Noticed(_)) => Some(Site::Noticed),
            _ => None,
        };
        if learned.is_some_and(|site| tracked.insert(site)) {
            continue;
        }
        let limit = (!report.complete || report.lesson.is_some()).then(|| reached(config, &report));
        let again = |recording: &Recording| replay(image, entry, options, recording);
        let mut found = Findings::new(report.errors, limit, &tracked, again);
        let (output, recording) = (Output::default(), Recording::default());
        if learned.is_some() {
            let message = "exploring began again though nothing new was learned: this is a bug of cargo-dpor";
            found.add(Counterexample::without_trace(internal(message.to_owned()), output, recording));
        } else if let Some(failure) = subject.given_up().filter(|_| config.keep_going || found.failures.is_empty()) {
            found.add(Counterexample::without_trace(failure, output, recording));
        }
        return found.conclude(output::first(outputs), report.stats, start.elapsed());
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

/// How to explore in the time that is left.
fn limited(config: &Config, deadline: Option<Instant>) -> Config {
    Config {
        timeout: deadline.map(|deadline| deadline.saturating_duration_since(Instant::now())),
        // With a limit on executions, which ones are explored must not depend on who is faster.
        workers: if config.max_executions.is_some() { 1 } else { config.workers },
        ..config.clone()
    }
}

/// The limit that ended an exploration.
fn reached(config: &Config, report: &Report<Issue>) -> Limit {
    let stats = &report.stats;
    match config.max_executions {
        _ if config.interrupt.is_requested() => Limit::Interrupt,
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
        Checked { outcome: outcome(&failures, limit), failures, limit, output, stats, time }
    }
}

impl Counterexample {
    fn without_trace(failure: Box<Failure>, output: Output, recording: Recording) -> Counterexample {
        Counterexample { failure: Arc::from(failure), trace: Trace::default(), output, recording }
    }

    fn nondeterminism(thread: ThreadId, recording: Recording) -> Counterexample {
        let message = format!("{thread} behaved differently when it was run again: this is a bug of cargo-dpor");
        Counterexample::without_trace(internal(message), Output::default(), recording)
    }

    fn not_reproduced(error: ReplayError, recording: Recording) -> Counterexample {
        let message = format!("a failing execution could not be run again: this is a bug of cargo-dpor ({error})");
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
    let is_error = matches!(failure.kind, FailureKind::Error(_));
    is_error && (!recording.schedule.is_empty() || failure.kind == ErrorKind::Deadlock.into())
}

/// A mistake of ours: the test cannot be checked.
fn internal(message: String) -> Box<Failure> {
    Box::new(Failure::bare(FailureKind::Unsupported, message, vm::ThreadId::MAIN, Vec::new()))
}
