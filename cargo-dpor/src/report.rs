//! Says how the tests went: as text for people, or as lines of JSON for programs.

mod human;
mod json;
mod source;

use std::io::{self, stdout};
use std::path::Path;
use std::time::Duration;

use dpor_engine::program::Test;
use dpor_engine::verdict::Outcome;

use crate::args::{Format, TestArgs};
use crate::compile::Binary;
use crate::judge::Verdict;
use crate::machine::Output;
use crate::select::Selection;
use crate::style::Style;

/// A test that was run, or ignored.
pub struct TestResult<'a> {
    pub binary: &'a Binary,
    pub test: &'a Test,
    pub model: &'a str,
    pub verdict: Verdict,
    /// What the test printed.
    pub output: Output,
    /// Complete executions, and executions that did not become complete.
    pub executions: u64,
    pub blocked: u64,
    pub duration: Duration,
}

/// How many tests had which outcome.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Summary {
    pub passed: usize,
    pub failed: usize,
    pub incomplete: usize,
    pub unsupported: usize,
    pub ignored: usize,
    /// Not run, because another test did not pass.
    pub not_run: usize,
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
        self.passed == self.run()
    }
}

/// Receives what happens, in order.
pub trait Report {
    /// The selected tests, in place of a run.
    fn list(&mut self, selection: &Selection) -> io::Result<()>;
    fn begin(&mut self, selection: &Selection) -> io::Result<()>;
    fn test(&mut self, result: &TestResult) -> io::Result<()>;
    fn end(&mut self, summary: &Summary) -> io::Result<()>;
}

/// The report in the format that the user wants. Paths in it are relative to `root`.
pub fn for_format(args: &TestArgs, root: &Path) -> Box<dyn Report> {
    match args.format {
        Format::Human => {
            Box::new(human::Human::new(stdout(), Style::for_stdout(args.color), root.to_owned(), args.nocapture))
        }
        Format::Json => Box::new(json::Json::new(stdout(), args.nocapture)),
    }
}

#[cfg(test)]
mod fixture {
    //! Results to report, for the tests of the formats.

    use std::sync::Arc;

    use dpor_engine::program::{FuncId, Origin, PlaceId, Program, TestConfig};
    use dpor_engine::verdict::Location;

    use super::*;
    use crate::compile::TargetKind;
    use crate::judge::{Frame, Note, Problem};

    pub fn place(line: u32) -> Location {
        Location { file: "src/lib.rs".into(), line, column: 13 }
    }

    pub fn binary() -> Binary {
        let program = Arc::new(Program::default());
        Binary {
            package: "stack".into(),
            kind: TargetKind::Lib,
            target: "stack".into(),
            directory: "/stack".into(),
            program,
        }
    }

    pub fn test(config: &str) -> Test {
        let config = TestConfig::parse(config).unwrap();
        Test { name: "tests::pops".into(), dpor: true, config, entry: FuncId(0), place: PlaceId(0) }
    }

    pub fn problem() -> Problem {
        let frame = Frame { function: "tests::pops::pops".into(), origin: Origin::User, location: place(41) };
        let note = Note { message: "freed here".into(), location: Some(place(40)) };
        Problem { message: "gone".into(), location: Some(place(41)), stack: vec![frame], notes: vec![note] }
    }

    pub fn result<'a>(
        binary: &'a Binary,
        test: &'a Test,
        outcome: Outcome,
        problem: Option<(&'static str, Problem)>,
    ) -> TestResult<'a> {
        TestResult {
            binary,
            test,
            model: test.config.model.as_deref().unwrap_or("rc11"),
            verdict: Verdict { outcome, problem },
            output: Output { all: "printed\n".into(), stdout: "printed\n".into(), stderr: String::new() },
            executions: 1,
            blocked: 0,
            duration: Duration::from_millis(250),
        }
    }
}
