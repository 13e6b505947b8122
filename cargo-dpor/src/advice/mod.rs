//! Which orderings would be better: stronger ones with which a failing test passes, or weaker ones with which a passing
//! test still does.
//!
//! Nothing is guessed: every change that is named was tried out, by exploring all executions of the changed program.

mod search;
mod sites;

use std::sync::Arc;
use std::time::{Duration, Instant};

use dpor_engine::interrupt::Interrupt;
use dpor_engine::program::Program;
use dpor_engine::verdict::Outcome;
use serde::Serialize;

use crate::args::TestArgs;
use crate::check::{self, Check};
use crate::finding::Finding;
use crate::judge::judge;
use crate::report::TestResult;
use crate::settings::Settings;

use sites::Sites;
pub use sites::{Change, Site};

/// A search takes no longer than this, unless `--timeout` says otherwise.
const PATIENCE: Duration = Duration::from_secs(30);

/// What was found out.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Advice {
    /// With any of these groups of changes the test passes; no smaller group would do.
    Stronger(Vec<Vec<Change>>),
    /// The test fails with the strongest orderings, too.
    NotOrderings,
    /// With all of these changes the test still passes.
    Weaker(Vec<Change>),
    /// Nothing can be weaker.
    AsWeakAsCanBe,
    /// It could not be found out in time.
    OutOfTime,
}

/// Looks for better orderings, where that is wanted.
pub fn advise(args: &TestArgs, result: &TestResult, interrupt: &Interrupt) -> Option<Advice> {
    let subject = || Subject::new(result, interrupt);
    match result.verdict.outcome {
        Outcome::Failed if args.suggest => search::stronger(&subject(), &result.verdict.findings),
        Outcome::Passed if args.relax && result.stats.executions > 0 => search::weaker(&subject()),
        _ => None,
    }
}

/// What the test came to.
struct Tried {
    passes: bool,
    findings: Vec<Finding>,
}

/// The test, to be checked with other orderings.
struct Subject<'a> {
    result: &'a TestResult<'a>,
    settings: Settings,
    sites: Sites,
    interrupt: &'a Interrupt,
    deadline: Instant,
}

impl<'a> Subject<'a> {
    fn new(result: &'a TestResult<'a>, interrupt: &'a Interrupt) -> Subject<'a> {
        let patience = result.settings.timeout.unwrap_or(PATIENCE);
        Subject {
            result,
            settings: Settings { keep_going: false, ..result.settings.clone() },
            sites: Sites::of(&result.binary.program),
            interrupt,
            deadline: Instant::now() + patience,
        }
    }

    /// What the test comes to with these changes; nothing where the time is over.
    fn check(&self, changes: &[Change]) -> Option<Tried> {
        self.check_program(&self.sites.with(changes))
    }

    fn check_program(&self, program: &Arc<Program>) -> Option<Tried> {
        let left = self.deadline.saturating_duration_since(Instant::now());
        if left.is_zero() || self.interrupt.is_requested() {
            return None;
        }
        let settings = Settings { timeout: Some(left), ..self.settings.clone() };
        let TestResult { binary, test, .. } = self.result;
        let Check { findings, stats, .. } =
            check::check_program(program, binary, test, &settings, self.interrupt, None);
        let verdict = judge(findings, &test.config, binary.program.location(test.place));
        // Where no execution comes to its end, nothing was checked.
        let passes = verdict.outcome == Outcome::Passed && stats.executions > 0;
        (Instant::now() < self.deadline).then_some(Tried { passes, findings: verdict.findings })
    }

    /// Whether the test passes with these changes; nothing where the time is over.
    fn passes(&self, changes: &[Change]) -> Option<bool> {
        Some(self.check(changes)?.passes)
    }
}
