//! Says how the tests went: as text for people, or as lines of JSON for programs.

mod diagnostic;
mod execution;
mod explanation;
mod github;
mod help;
mod human;
mod json;
mod junit;
mod names;
pub mod printable;
mod source;

pub use execution::{Description, Extent, describe_in_parts, ending, file as file_of};
pub use names::{distinct, short_file};
pub use source::Sources;

use std::env;
use std::io::{self, Write, stdout};
use std::path::PathBuf;
use std::time::Duration;

use dpor_engine::check::Cover;
use dpor_engine::explore::{Restart, Stats, Survey};
use dpor_engine::program::Test;
use dpor_engine::verdict::Outcome;

use crate::advice::Advice;
use crate::args::{ColorChoice, Format, TestArgs};
use crate::compile::Binary;
use crate::expectation::Verdict;
use crate::finding::Printed;
use crate::select::Selection;
use crate::settings::{self, Settings};
use crate::style::Style;

/// A test that was checked, or ignored.
pub struct TestResult<'a> {
    pub binary: &'a Binary,
    pub test: &'a Test,
    pub settings: Settings,
    /// Whether the test is checked under other models too.
    pub several_models: bool,
    pub verdict: Verdict,
    /// What the first execution printed.
    pub output: Printed,
    pub stats: Stats,
    /// The labels that the test names.
    pub covers: Vec<Cover>,
    /// How often exploring began again, and why.
    pub restarts: Vec<Restart>,
    /// Why there is so much to explore, if not everything was explored.
    pub survey: Option<Survey>,
    pub duration: Duration,
    /// Whether this is the verdict of an earlier check of the same program.
    pub cached: bool,
    /// Which orderings would be better.
    pub advice: Option<Advice>,
}

impl TestResult<'_> {
    /// The lessons for which exploring began again, each with how often, and how many executions were given up then.
    pub fn lessons(&self) -> Vec<(&str, u64, u64)> {
        let mut lessons: Vec<(&str, u64, u64)> = Vec::new();
        for Restart { lesson, stats } in &self.restarts {
            let executions = stats.executions + stats.blocked + stats.cut;
            match lessons.iter_mut().find(|(known, ..)| *known == *lesson) {
                Some((_, times, given_up)) => (*times, *given_up) = (*times + 1, *given_up + executions),
                None => lessons.push((lesson, 1, executions)),
            }
        }
        lessons
    }

    /// How many random executions were run, where it is these that were.
    pub fn sampled(&self) -> Option<u64> {
        self.settings.sampling.map(|_| self.stats.executions + self.stats.blocked)
    }

    /// How many executions were begun and are not counted: given up because a thread in them waits that has read
    /// something old, or explored before exploring began again.
    pub fn given_up(&self) -> u64 {
        let discarded = self.restarts.iter().map(|Restart { stats, .. }| stats.executions + stats.blocked + stats.cut);
        self.stats.cut + discarded.sum::<u64>()
    }
}

/// How many tests had which outcome.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Summary {
    pub passed: usize,
    pub failed: usize,
    pub incomplete: usize,
    pub unsupported: usize,
    pub ignored: usize,
    /// Those of the tests that passed whose verdicts were known.
    pub cached: usize,
    /// Not run, because another test did not pass.
    pub not_run: usize,
    /// Whether the user interrupted the check.
    pub interrupted: bool,
    pub duration: Duration,
}

impl Summary {
    pub fn count(&mut self, outcome: Outcome) {
        *match outcome {
            Outcome::Passed => &mut self.passed,
            Outcome::Failed => &mut self.failed,
            Outcome::Incomplete => &mut self.incomplete,
            Outcome::Unsupported => &mut self.unsupported,
            Outcome::Ignored => &mut self.ignored,
        } += 1;
    }

    /// How many tests were run.
    pub fn run(&self) -> usize {
        self.passed + self.failed + self.incomplete + self.unsupported
    }

    pub fn all_passed(&self) -> bool {
        self.passed == self.run() && !self.interrupted
    }
}

/// Receives what happens, in order.
pub trait Report {
    /// The selected tests, in place of a run.
    fn list(&mut self, selection: &Selection) -> io::Result<()>;
    fn begin(&mut self, selection: &Selection) -> io::Result<()>;
    fn test(&mut self, result: &TestResult) -> io::Result<()>;
    /// A failing execution that was run again, in place of a run.
    fn replayed(&mut self, result: &TestResult) -> io::Result<()>;
    fn end(&mut self, summary: &Summary) -> io::Result<()>;
}

/// What the user wants to be told of a run.
pub fn for_args(args: &TestArgs, sources: &Sources) -> Box<dyn Report> {
    let workers = settings::workers(&args.explore);
    for_format(
        args.format,
        args.color,
        sources,
        Details {
            nocapture: args.nocapture,
            workers,
            trace: args.trace,
            slow: args.slow,
            verbose: args.cargo.verbose > 0,
        },
    )
}

/// The report in a format.
pub fn for_format(format: Format, color: ColorChoice, sources: &Sources, details: Details) -> Box<dyn Report> {
    match format {
        Format::Human => Box::new(human::Human::new(stdout(), Style::for_stdout(color), sources.clone(), details)),
        Format::Json => Box::new(json::Json::new(stdout(), details)),
        Format::Junit => Box::new(junit::Junit::new(junit::Destination::stdout(), sources.clone(), details)),
        Format::Github => {
            let out = printable::WithoutCommands::new(stdout());
            let human = human::Human::new(out, Style::for_stdout(color), sources.clone(), details);
            let repository = env::var_os("GITHUB_WORKSPACE").map(PathBuf::from);
            Box::new(github::Github::new(human, sources.root(), repository))
        }
    }
}

/// The names of tests, as `cargo test -- --list` prints them.
fn list_names(out: &mut dyn Write, selection: &Selection) -> io::Result<()> {
    for selected in selection.targets.iter().flat_map(|target| &target.tests) {
        writeln!(out, "{}: test", selected.test.name)?;
    }
    writeln!(out, "\n{}, 0 benchmarks", human::count(selection.tests() as u64, "test"))
}

/// What else reports need to know.
#[derive(Clone, Copy, Debug, Default)]
pub struct Details {
    /// Whether to show what passing tests print.
    pub nocapture: bool,
    /// How many threads explore.
    pub workers: usize,
    /// How much of failing executions is shown.
    pub trace: Extent,
    /// Whether to list the slowest tests.
    pub slow: bool,
    /// Whether to say why exploring began again.
    pub verbose: bool,
}

#[cfg(test)]
pub mod fixture {
    //! Results to report, for the tests of the formats.

    use std::sync::Arc;

    use dpor_engine::check::Recording;
    use dpor_engine::program::{FuncId, Function, Op, Origin, Place, PlaceId, Program, Quiet, TestConfig};
    use dpor_engine::trace::Trace;
    use dpor_engine::verdict::{ErrorKind, Location};
    use dpor_engine::vm::Role;

    use super::*;
    use crate::args::tests::parse;
    use crate::compile::TargetKind;
    use crate::defaults::Defaults;
    use crate::finding::{Execution, Finding, FindingKind, Frame, Note, Problem};

    pub fn place(line: u32) -> Location {
        Location { file: "src/lib.rs".into(), line, column: 13 }
    }

    /// A program with one function, which does nothing.
    fn program() -> Program {
        let function = Function {
            name: "tests::pops".into(),
            origin: Origin::User,
            quiet: Quiet::No,
            registers: 0,
            params: 0,
            results: 0,
            frame_size: 0,
            slots: Vec::new(),
            code: vec![Op::Return],
            code_places: vec![PlaceId(0)],
            lists: Vec::new(),
            switches: Vec::new(),
            ranges: Vec::new(),
            links: Vec::new(),
            place: PlaceId(0),
        };
        Program {
            functions: vec![function],
            files: vec!["src/lib.rs".into()],
            places: vec![Place { file: 0, line: 1, column: 1 }],
            ..Program::default()
        }
    }

    pub fn binary() -> Binary {
        let program = Arc::new(program());
        Binary {
            package: "stack".into(),
            kind: TargetKind::Lib,
            target: "stack".into(),
            directory: "/stack".into(),
            defaults: Defaults::default(),
            program,
            parts: Default::default(),
        }
    }

    pub fn test(config: &str) -> Test {
        let config = TestConfig::parse(config).unwrap();
        Test { name: "tests::pops".into(), dpor: true, config, entry: FuncId(0), place: PlaceId(0) }
    }

    pub fn settings(config: &str) -> Settings {
        let config = TestConfig::parse(config).unwrap();
        Settings::resolve(&parse("cargo-dpor test").explore, &Defaults::default(), &config).unwrap().swap_remove(0)
    }

    /// A use after free, in an execution without a trace.
    pub fn finding() -> Finding {
        let frame = Frame { function: "tests::pops::pops".into(), origin: Origin::User, location: place(41) };
        let note = Note { role: Role::Freed, message: "freed here".into(), location: Some(place(40)), thread: None };
        let problem = Problem {
            race: None,
            dangling: None,
            panics_with: None,
            message: "gone".into(),
            location: Some(place(41)),
            thread: None,
            stack: vec![frame],
            notes: vec![note],
        };
        let execution = Execution {
            trace: Trace::default(),
            output: output(),
            recording: Recording::default(),
            replay: None,
            picture: None,
        };
        Finding { kind: FindingKind::Error(ErrorKind::UseAfterFree), problem, execution: Some(execution) }
    }

    fn output() -> Printed {
        Printed { all: "printed\n".into(), stdout: "printed\n".into(), stderr: String::new() }
    }

    pub fn result<'a>(binary: &'a Binary, test: &'a Test, outcome: Outcome, findings: Vec<Finding>) -> TestResult<'a> {
        let config = &test.config;
        TestResult {
            binary,
            test,
            settings: Settings::resolve(&parse("cargo-dpor test").explore, &Defaults::default(), config)
                .unwrap()
                .swap_remove(0),
            several_models: false,
            verdict: Verdict { outcome, findings },
            output: output(),
            stats: Stats { executions: 3, ..Stats::default() },
            covers: Vec::new(),
            restarts: Vec::new(),
            survey: None,
            duration: Duration::from_millis(250),
            cached: false,
            advice: None,
        }
    }
}
