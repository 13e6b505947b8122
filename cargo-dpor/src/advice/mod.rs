//! Which changes would be better: orderings, fences and the like with which a failing test passes, or weaker orderings
//! with which a passing test still does.
//!
//! Nothing is guessed: every change that is named was tried out, by exploring all executions of the changed program.

mod candidates;
mod change;
mod code;
mod search;
mod sites;

use std::cell::{Cell, RefCell};
use std::collections::HashMap;
use std::fmt;
use std::fs;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::{Duration, Instant};

use dpor_engine::interrupt::Interrupt;
use dpor_engine::program::Program;
use dpor_engine::verdict::{Location, Outcome};
use serde::Serialize;

use crate::args::TestArgs;
use crate::check::{self, Check};
use crate::expectation::verdict_on;
use crate::finding::Finding;
use crate::report::TestResult;
use crate::settings::Settings;

pub use change::{AtomicCall, Change, ORDERINGS, What};
use code::Code;
use sites::Sites;

/// A search takes no longer than this, unless `--timeout` says otherwise.
const PATIENCE: Duration = Duration::from_secs(30);

/// One change is not looked at for longer than this part of it: others may do.
const SHARE: u32 = 4;

/// What was found out.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Advice {
    /// With any of these groups of changes the test passes; no smaller group would do.
    Stronger(Vec<Vec<Change>>),
    /// No change that was tried makes the test pass, not even the strongest orderings everywhere.
    NotOrderings,
    /// The same, but with the strongest orderings the error is another one.
    AnotherError(OtherError),
    /// With all of these changes the test still passes.
    Weaker(Vec<Change>),
    /// Nothing can be weaker.
    AsWeakAsCanBe,
    /// The test reaches nothing that there is a weaker ordering for.
    NoOrderings,
    /// It could not be found out in time.
    OutOfTime,
}

/// An error that is left when all orderings are the strongest.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct OtherError {
    kind: &'static str,
    pub message: String,
    #[serde(flatten)]
    pub location: Option<Location>,
}

impl OtherError {
    fn of(finding: &Finding) -> OtherError {
        let (message, location) = (finding.problem.message.clone(), finding.problem.location.clone());
        OtherError { kind: finding.kind.name(), message, location }
    }
}

impl fmt::Display for OtherError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: {}", self.kind, self.message.lines().next().unwrap_or_default())
    }
}

/// Looks for better orderings, where that is wanted. The files of the source are below `root`.
pub fn advise(args: &TestArgs, result: &TestResult, root: &Path, interrupt: &Interrupt) -> Option<Advice> {
    let subject = || Subject::new(result, root, interrupt);
    match result.verdict.outcome {
        Outcome::Failed if args.suggest => Some(search::stronger(&subject(), &result.verdict.findings)),
        Outcome::Passed if args.relax && result.stats.executions > 0 => Some(search::weaker(&subject())),
        _ => None,
    }
}

/// What the test came to.
struct Tried {
    passes: bool,
    findings: Vec<Finding>,
}

/// The test, to be checked with changes.
struct Subject<'a> {
    result: &'a TestResult<'a>,
    settings: Settings,
    sites: Sites,
    root: PathBuf,
    /// The files of the source that were needed.
    code: RefCell<HashMap<String, Option<Code>>>,
    interrupt: &'a Interrupt,
    patience: Duration,
    deadline: Instant,
    /// Whether some change took too long.
    given_up: Cell<bool>,
}

impl<'a> Subject<'a> {
    fn new(result: &'a TestResult<'a>, root: &Path, interrupt: &'a Interrupt) -> Subject<'a> {
        let patience = result.settings.timeout.unwrap_or(PATIENCE);
        Subject {
            result,
            settings: Settings { keep_going: false, sampling: None, ..result.settings.clone() },
            sites: Sites::of(&result.binary.program),
            root: root.to_owned(),
            code: RefCell::default(),
            interrupt,
            patience,
            deadline: Instant::now() + patience,
            given_up: Cell::new(false),
        }
    }

    /// A change, and how it is made.
    fn change(&self, site: &AtomicCall, what: What) -> Change {
        let mut files = self.code.borrow_mut();
        let file = &site.place.file;
        let code = files
            .entry(file.clone())
            .or_insert_with(|| Code::parse(fs::read_to_string(self.root.join(file)).ok()?))
            .as_ref();
        let edits = code.and_then(|code| code.edits(site, what)).unwrap_or_default();
        Change { site: site.clone(), what, own: self.is_own(site), edits }
    }

    /// Where a change is made in the source: the file, and what follows that is not white space.
    fn place_of(&self, change: &Change) -> (String, Option<usize>) {
        let (files, file) = (self.code.borrow(), &change.site.place.file);
        let code = files.get(file).and_then(Option::as_ref);
        let next = code.zip(change.edits.first()).map(|(code, edit)| code.skip_space(edit.range.end));
        (file.clone(), next)
    }

    /// Whether a site is in the function of the test itself.
    fn is_own(&self, site: &AtomicCall) -> bool {
        self.sites.is_within(site, &check::inner_function(self.result.test))
    }

    /// Whether failing executions use atomics outside of the function of the test, too.
    fn has_other_code(&self, findings: &[Finding]) -> bool {
        candidates::orderings(self, findings).iter().any(|candidate| !candidate.own)
    }

    /// What the test comes to with these changes; nothing where the time is over.
    fn check(&self, changes: &[Change]) -> Option<Tried> {
        self.check_program(&self.sites.with(changes), self.deadline)
    }

    fn check_program(&self, program: &Arc<Program>, deadline: Instant) -> Option<Tried> {
        let left = deadline.saturating_duration_since(Instant::now());
        if left.is_zero() || self.interrupt.is_requested() {
            return None;
        }
        let settings = Settings { timeout: Some(left), ..self.settings.clone() };
        let TestResult { binary, test, .. } = self.result;
        let Check { findings, stats, .. } =
            check::check_program(program, binary, test, &settings, self.interrupt, None);
        let verdict = verdict_on(findings, &test.config, binary.program.location(test.place));
        // Where no execution comes to its end, nothing was checked.
        let passes = verdict.outcome == Outcome::Passed && stats.executions > 0;
        (Instant::now() < deadline).then_some(Tried { passes, findings: verdict.findings })
    }

    /// Whether the test passes with these changes; nothing where the time is over. What takes too long does not count.
    fn passes(&self, changes: &[Change]) -> Option<bool> {
        let deadline = self.deadline.min(Instant::now() + self.patience / SHARE);
        let tried = self.check_program(&self.sites.with(changes), deadline);
        if tried.is_none() {
            self.given_up.set(true);
        }
        match tried {
            Some(tried) => Some(tried.passes),
            None if Instant::now() < self.deadline && !self.interrupt.is_requested() => Some(false),
            None => None,
        }
    }

    /// Whether there are changes of which it is not known whether they would do.
    fn has_given_up(&self) -> bool {
        self.given_up.get()
    }
}
