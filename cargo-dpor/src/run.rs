//! Checks the selected tests: small ones side by side, large ones one after the other.
//!
//! Most tests of a suite are over in some milliseconds, too soon for several workers to share the work. So as many tests
//! as there are workers are attempted at once, each on one worker. A test that is not over within [`SMALL`], or that reaches
//! another limit, is large: it is checked again, alone, on all workers, with the limits that the user has set. Counts and
//! errors are the same for any number of workers, so the result does not depend on which way a test has gone. Results
//! are reported in the order of the tests.

use std::fs;
use std::mem;
use std::path::Path;
use std::process;
use std::thread;
use std::time::{Duration, Instant};

use anyhow::{Context, Result};
use dpor_engine::explore::{Progress, Stats};
use dpor_engine::interrupt::Interrupt;
use dpor_engine::program::Test;
use dpor_engine::verdict::Outcome;
use dpor_engine::vm::Environment;
use signal_hook::consts::{SIGHUP, SIGINT, SIGTERM};
use signal_hook::iterator::Signals;

use crate::advice;
use crate::args::TestArgs;
use crate::cache::{Cache, Key, Passed};
use crate::check::{self, Check};
use crate::compile::Binary;
use crate::expectation::{Verdict, verdict_on};
use crate::finding::{FindingKind, Printed};
use crate::memory;
use crate::picture::Gallery;
use crate::pool;
use crate::progress;
use crate::replay::Recorder;
use crate::report::{Report, Summary, TestResult};
use crate::select::{SelectedTarget, SelectedTest, Selection};
use crate::settings::{self, Settings};
use crate::style::Style;

/// A test that takes no longer on one worker is small. It is the most that is lost where a test turns out to be large.
const SMALL: Duration = Duration::from_millis(100);

/// The exit code of what a signal has ended, less the signal.
const KILLED: i32 = 128;

/// What all tests of a run have in common.
pub struct Run<'a> {
    pub args: &'a TestArgs,
    pub recorder: &'a Recorder,
    /// The directory that the names of source files are relative to.
    pub root: &'a Path,
    /// Where pictures of failing executions go.
    pub gallery: Option<Gallery>,
    pub interrupt: Interrupt,
    /// Where verdicts are kept.
    pub cache: Option<Cache>,
}

impl Run<'_> {
    /// Checks the tests, and reports them as they end.
    pub fn run(&self, selection: &Selection, report: &mut dyn Report) -> Result<Summary> {
        self.listen()?;
        let start = Instant::now();
        let mut summary = Summary::default();
        report.begin(selection)?;
        for target in &selection.targets {
            // As in `cargo test`, all tests of a target are run, whether or not one fails.
            if !summary.all_passed() && !self.args.no_fail_fast {
                summary.not_run += target.tests.len();
                continue;
            }
            self.run_target(target, &mut summary, report)?;
        }
        if let Some(cache) = self.cache.as_ref().filter(|_| summary.cached < summary.run()) {
            cache.prune();
        }
        summary.interrupted = self.interrupt.is_requested();
        summary.duration = start.elapsed();
        report.end(&summary)?;
        Ok(summary)
    }

    /// The first signal ends the check with what is known so far, the second at once.
    fn listen(&self) -> Result<()> {
        let mut signals = Signals::new(ending_signals()).context("cannot listen for signals")?;
        let interrupt = self.interrupt.clone();
        thread::spawn(move || {
            for signal in signals.forever() {
                if interrupt.is_requested() {
                    process::exit(KILLED + signal);
                }
                interrupt.request();
            }
        });
        Ok(())
    }

    fn run_target(&self, target: &SelectedTarget, summary: &mut Summary, report: &mut dyn Report) -> Result<()> {
        let tasks = self.tasks(target)?;
        let threads = settings::workers(&self.args.explore).min(tasks.len());
        if threads < 2 {
            return tasks.iter().try_for_each(|task| self.conclude(task, self.attempt(task, None), summary, report));
        }
        let attempt = |task: &Task| self.attempt(task, Some(SMALL));
        pool::in_order(&tasks, threads, attempt, |task, attempted, pool| {
            let attempted = match attempted {
                Attempted::Large => pool.alone(|| self.attempt(task, None)),
                small => small,
            };
            self.conclude(task, attempted, summary, report)
        })
    }

    /// What is to be done for a target: each test under each model. A test that is not run is reported once.
    fn tasks<'a>(&self, target: &'a SelectedTarget<'a>) -> Result<Vec<Task<'a>>> {
        let mut tasks = Vec::new();
        for &SelectedTest { test, ignored } in &target.tests {
            let binary = target.binary;
            let mut settings = Settings::resolve(&self.args.explore, &binary.defaults, &test.config)?;
            settings.truncate(if ignored { 1 } else { usize::MAX });
            let several_models = settings.len() > 1;
            tasks.extend(settings.into_iter().map(|settings| Task { binary, test, ignored, settings, several_models }));
        }
        Ok(tasks)
    }

    /// Checks a test, unless its verdict is known. Given a time, does that on one worker, and gives up when it is over.
    fn attempt(&self, task: &Task, time: Option<Duration>) -> Attempted {
        if self.interrupt.is_requested() {
            return Attempted::NotRun;
        }
        if task.ignored {
            return Attempted::Ignored;
        }
        let key = self.cache.as_ref().and_then(|_| Key::new(task.binary.digest(task.test), &task.settings));
        if let Some(passed) = key.and_then(|key| self.known(key, task.binary)) {
            return Attempted::Known(passed);
        }
        if time.is_some() && task.settings.sampling.is_some() {
            return Attempted::Large;
        }
        // What is explored is the program of the test: it does not depend on what other tests there are.
        let binary = task.binary.only(task.test);
        let environment = check::environment(&binary);
        let start = Instant::now();
        let explore = |settings: &Settings, progress: Option<&Progress>| {
            check::check(&binary, &binary.program.tests[0], settings, &environment, &self.interrupt, progress)
        };
        let check = match time {
            Some(time) => {
                let timeout = Some(task.settings.timeout.map_or(time, |timeout| timeout.min(time)));
                explore(&Settings { workers: 1, timeout, ..task.settings.clone() }, None)
            }
            None => {
                memory::give_back(task.settings.max_memory);
                let title = format!("{} {}", binary.id(), task.test.name);
                let explore = |progress: Option<&Progress>| explore(&task.settings, progress);
                progress::watched(&title, progress::is_visible(), explore)
            }
        };
        // Memory may have been short because of the others.
        let is_limited = check.findings.iter().any(|finding| finding.kind == FindingKind::Limit);
        match time.is_some() && is_limited {
            true => Attempted::Large,
            false => Attempted::Checked(Box::new(Fresh { binary, environment, key, check, duration: start.elapsed() })),
        }
    }

    /// Reports what an attempt came to.
    fn conclude(
        &self,
        task: &Task,
        attempted: Attempted,
        summary: &mut Summary,
        report: &mut dyn Report,
    ) -> Result<()> {
        let mut fresh;
        let mut result = match attempted {
            Attempted::NotRun | Attempted::Large => {
                summary.not_run += 1;
                return Ok(());
            }
            Attempted::Ignored => task.unknown(),
            Attempted::Known(passed) => self.kept(task, passed),
            Attempted::Checked(checked) => {
                fresh = checked;
                self.judged(task, &mut fresh)
            }
        };
        result.several_models = task.several_models;
        summary.count(result.verdict.outcome);
        summary.cached += usize::from(result.cached);
        Ok(report.test(&result)?)
    }

    /// The result of a test that was checked.
    fn judged<'a>(&self, task: &Task, fresh: &'a mut Fresh) -> TestResult<'a> {
        let Check { findings, output, stats, covers, missing, restarts, survey, .. } = mem::take(&mut fresh.check);
        let Fresh { binary, environment, key, duration, .. } = &*fresh;
        let test = &binary.program.tests[0];
        let is_whole = findings.iter().all(|finding| finding.kind != FindingKind::Limit);
        let verdict = verdict_on(findings, &test.config, binary.program.location(test.place)).with_missing(missing);
        let unknown = unknown(binary, test, task.settings.clone());
        let duration = *duration;
        let mut result = TestResult { verdict, output, stats, covers, restarts, survey, duration, ..unknown };
        if let Some(key) = key.filter(|_| is_whole && result.verdict.outcome == Outcome::Passed) {
            self.keep_verdict(key, environment, &result);
        }
        self.keep(&mut result);
        result.advice = advice::advise(self.args, &result, self.root, &self.interrupt);
        result
    }

    /// The verdict on a test that has passed before, if nothing has changed that it depends on.
    fn known(&self, key: Key, binary: &Binary) -> Option<Passed> {
        // Whoever wants to know what else would pass wants it to be tried.
        let cache = self.cache.as_ref().filter(|_| !self.args.relax)?;
        cache.find(key, &check::environment(binary))
    }

    /// The result of a test whose verdict is known.
    fn kept<'a>(&self, task: &Task<'a>, passed: Passed) -> TestResult<'a> {
        let Passed { stats, covers, restarts, output } = passed;
        let verdict = Verdict { outcome: Outcome::Passed, findings: Vec::new() };
        let mut result = TestResult { cached: true, verdict, stats, covers, restarts, output, ..task.unknown() };
        self.keep(&mut result);
        result
    }

    /// Keeps the verdict on a test that has passed. It counts, whether or not there is room for that.
    fn keep_verdict(&self, key: Key, environment: &Environment, result: &TestResult) {
        let (covers, restarts, output) = (result.covers.clone(), result.restarts.clone(), result.output.clone());
        let passed = Passed { stats: result.stats, covers, restarts, output };
        if let Some(cache) = &self.cache
            && let Err(error) = cache.keep(key, environment, passed)
        {
            let warning = Style::for_stderr(self.args.color).warning("warning");
            eprintln!("{warning}: cannot keep the verdict on {}: {error}", result.test.name);
        }
    }

    /// Writes the failing executions of a test to files. What was found counts, whether or not there is room for those.
    fn keep(&self, result: &mut TestResult) {
        let name = self.recorder.name(result.binary, result.test, &result.settings);
        let recorded = self.recorder.record(result);
        let drawn = self.gallery.as_ref().map_or(Ok(()), |gallery| gallery.draw(result, &name));
        let warning = Style::for_stderr(self.args.color).warning("warning");
        for error in [recorded, drawn].into_iter().filter_map(Result::err) {
            eprintln!("{warning}: {error:#}");
        }
    }
}

/// A check of a test: under one model.
struct Task<'a> {
    binary: &'a Binary,
    test: &'a Test,
    /// It is reported, but not run.
    ignored: bool,
    settings: Settings,
    several_models: bool,
}

impl<'a> Task<'a> {
    fn unknown(&self) -> TestResult<'a> {
        unknown(self.binary, self.test, self.settings.clone())
    }
}

/// What came of an attempt to check a test.
enum Attempted {
    Ignored,
    /// The run was interrupted before.
    NotRun,
    /// The test has passed before.
    Known(Passed),
    Checked(Box<Fresh>),
    /// It takes more than it was given.
    Large,
}

/// A test that was checked.
struct Fresh {
    /// With the program of this test alone.
    binary: Binary,
    environment: Environment,
    key: Option<Key>,
    check: Check,
    duration: Duration,
}

/// The result of a test that was not run.
fn unknown<'a>(binary: &'a Binary, test: &'a Test, settings: Settings) -> TestResult<'a> {
    TestResult {
        binary,
        test,
        settings,
        several_models: false,
        verdict: Verdict { outcome: Outcome::Ignored, findings: Vec::new() },
        output: Printed::default(),
        stats: Stats::default(),
        covers: Vec::new(),
        restarts: Vec::new(),
        survey: None,
        duration: Duration::ZERO,
        cached: false,
        advice: None,
    }
}

/// The signals that end a check: Ctrl-C, the wish of another process, and the end of the terminal, unless that was to
/// be ignored (`nohup`).
fn ending_signals() -> Vec<i32> {
    let mut signals = vec![SIGINT, SIGTERM];
    let status = fs::read_to_string("/proc/self/status").unwrap_or_default();
    signals.extend((!is_ignored(SIGHUP, &status)).then_some(SIGHUP));
    signals
}

/// Whether a process ignores a signal, given what the system says of it.
fn is_ignored(signal: i32, status: &str) -> bool {
    let mask = status.lines().find_map(|line| line.strip_prefix("SigIgn:"));
    let mask = mask.and_then(|mask| u64::from_str_radix(mask.trim(), 16).ok());
    mask.is_some_and(|mask| mask >> (signal - 1) & 1 == 1)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ignored_signals_are_known() {
        let status = "Name:\tx\nSigBlk:\t0000000000000002\nSigIgn:\t0000000000000001\n";
        assert!(is_ignored(SIGHUP, status) && !is_ignored(SIGINT, status));
        assert!(!is_ignored(SIGHUP, ""));
    }
}
