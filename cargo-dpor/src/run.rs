//! Checks the selected tests, one after the other.

use std::cell::LazyCell;
use std::fs;
use std::path::Path;
use std::process;
use std::thread;
use std::time::{Duration, Instant};

use anyhow::{Context, Result};
use dpor_engine::explore::Stats;
use dpor_engine::interrupt::Interrupt;
use dpor_engine::program::Test;
use dpor_engine::verdict::Outcome;
use dpor_engine::vm::Environment;
use signal_hook::consts::{SIGHUP, SIGINT, SIGTERM};
use signal_hook::iterator::Signals;

use crate::advice;
use crate::args::TestArgs;
use crate::cache::{Cache, Key, Passed};
use crate::check;
use crate::compile::Binary;
use crate::expectation::{Verdict, verdict_on};
use crate::finding::{FindingKind, Printed};
use crate::memory;
use crate::picture::Gallery;
use crate::progress;
use crate::replay::Recorder;
use crate::report::{Report, Summary, TestResult};
use crate::select::{SelectedTarget, SelectedTest, Selection};
use crate::settings::Settings;
use crate::style::Style;

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
        for selected in &target.tests {
            let settings = self.settings(target.binary, selected)?;
            let digest = LazyCell::new(|| target.binary.digest(selected.test));
            // What is explored is the program of the test: it does not depend on what other tests there are.
            let own = LazyCell::new(|| target.binary.only(selected.test));
            let several_models = settings.len() > 1;
            for settings in settings {
                if self.interrupt.is_requested() {
                    summary.not_run += 1;
                    continue;
                }
                let key = self.cache.as_ref().and_then(|_| Key::new(*digest, &settings));
                let mut result = match selected.ignored {
                    true => ignored(target.binary, selected.test, settings),
                    false => match key.and_then(|key| self.known(key, target.binary, selected.test, &settings)) {
                        Some(result) => result,
                        None => self.run_test(&own, &own.program.tests[0], settings, key),
                    },
                };
                result.several_models = several_models;
                summary.count(result.verdict.outcome);
                summary.cached += usize::from(result.cached);
                report.test(&result)?;
            }
        }
        Ok(())
    }

    /// The settings for each model that a test is to be checked under. A test that is not run is reported once.
    fn settings(&self, binary: &Binary, selected: &SelectedTest) -> Result<Vec<Settings>> {
        let mut settings = Settings::resolve(&self.args.explore, &binary.defaults, &selected.test.config)?;
        settings.truncate(if selected.ignored { 1 } else { usize::MAX });
        Ok(settings)
    }

    fn run_test<'a>(&self, binary: &'a Binary, test: &'a Test, settings: Settings, key: Option<Key>) -> TestResult<'a> {
        let mut result = ignored(binary, test, settings);
        memory::give_back(result.settings.max_memory);
        let start = Instant::now();
        let environment = check::environment(binary);
        let title = format!("{} {}", binary.id(), test.name);
        let checked = progress::watched(&title, progress::is_visible(), |progress| {
            check::check(binary, test, &result.settings, &environment, &self.interrupt, progress)
        });
        result.duration = start.elapsed();
        result.stats = checked.stats;
        result.covers = checked.covers;
        result.restarts = checked.restarts;
        result.survey = checked.survey;
        result.output = checked.output;
        let is_whole = checked.findings.iter().all(|finding| finding.kind != FindingKind::Limit);
        let verdict = verdict_on(checked.findings, &test.config, binary.program.location(test.place));
        result.verdict = verdict.with_missing(checked.missing);
        if let Some(key) = key.filter(|_| is_whole && result.verdict.outcome == Outcome::Passed) {
            self.keep_verdict(key, &environment, &result);
        }
        self.keep(&mut result);
        result.advice = advice::advise(self.args, &result, self.root, &self.interrupt);
        result
    }

    /// The result of a test that has passed before, if nothing has changed that it depends on.
    fn known<'a>(&self, key: Key, binary: &'a Binary, test: &'a Test, settings: &Settings) -> Option<TestResult<'a>> {
        // Whoever wants to know what else would pass wants it to be tried.
        let cache = self.cache.as_ref().filter(|_| !self.args.relax)?;
        let Passed { stats, covers, restarts, output } = cache.find(key, &check::environment(binary))?;
        let verdict = Verdict { outcome: Outcome::Passed, findings: Vec::new() };
        let unknown = ignored(binary, test, settings.clone());
        let mut result = TestResult { cached: true, verdict, stats, covers, restarts, output, ..unknown };
        self.keep(&mut result);
        Some(result)
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

/// A test that is not run.
fn ignored<'a>(binary: &'a Binary, test: &'a Test, settings: Settings) -> TestResult<'a> {
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
