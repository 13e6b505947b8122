//! What a check found, ready to be told.

use std::path::PathBuf;

use dpor_engine::check::Recording;
use dpor_engine::program::Origin;
use dpor_engine::trace::Trace;
use dpor_engine::verdict::{ErrorKind, Location};
use dpor_engine::vm::{Dangling, RacingPair, Role};
use serde::{Deserialize, Serialize};

/// Something that keeps a test from passing.
#[derive(Clone, Debug)]
pub struct Finding {
    pub kind: FindingKind,
    pub problem: Problem,
    /// The execution: what happens in it, what it prints, and how it can be run again.
    pub execution: Option<Execution>,
}

/// A failing execution.
#[derive(Clone, Debug)]
pub struct Execution {
    pub trace: Trace,
    pub output: Printed,
    pub recording: Recording,
    /// The file that `cargo dpor replay` needs, once it is written.
    pub replay: Option<PathBuf>,
    /// The page with its picture, once it is written.
    pub picture: Option<PathBuf>,
}

/// What kind of thing was found.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum FindingKind {
    /// The program has an error.
    Error(ErrorKind),
    /// A limit was reached.
    Limit,
    /// The program needs something that the checker cannot model.
    Unsupported,
    /// No error: an execution that was to be shown.
    Covered,
}

impl FindingKind {
    /// The name users see.
    pub fn name(self) -> &'static str {
        match self {
            FindingKind::Error(kind) => kind.name(),
            FindingKind::Limit => "incomplete",
            FindingKind::Unsupported => "unsupported",
            FindingKind::Covered => "cover",
        }
    }
}

/// What is wrong, and where.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Problem {
    pub message: String,
    pub location: Option<Location>,
    /// The number of the thread, where there are several.
    pub thread: Option<u16>,
    /// The active functions, the innermost first.
    pub stack: Vec<Frame>,
    pub notes: Vec<Note>,
    /// The accesses of a race.
    pub race: Option<RacingPair>,
    /// The access to a heap block that was freed.
    pub dangling: Option<Dangling>,
    /// What the test itself panics with, where the error is the panic of a thread that it joins.
    pub panics_with: Option<String>,
}

/// An active function.
#[derive(Clone, Debug, PartialEq)]
pub struct Frame {
    pub function: String,
    pub origin: Origin,
    pub location: Location,
}

/// Something that explains a problem.
#[derive(Clone, Debug, PartialEq)]
pub struct Note {
    pub role: Role,
    pub message: String,
    pub location: Option<Location>,
    /// The number of the thread that it is about.
    pub thread: Option<u16>,
}

/// What a test printed.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Printed {
    /// To both streams, in order.
    pub all: String,
    pub stdout: String,
    pub stderr: String,
}

impl Finding {
    /// A finding that is not about one execution.
    pub fn new(kind: FindingKind, message: impl Into<String>, location: Option<Location>) -> Finding {
        let problem = Problem { message: message.into(), location, ..Problem::default() };
        Finding { kind, problem, execution: None }
    }

    /// The same with one more note.
    pub fn note(mut self, message: impl Into<String>) -> Finding {
        let note = Note { role: Role::Explains, message: message.into(), location: None, thread: None };
        self.problem.notes.push(note);
        self
    }
}
