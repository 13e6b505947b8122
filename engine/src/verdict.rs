//! What a check found out: the outcome of a test and, where it failed, the error.
//!
//! The names of outcomes and error kinds are part of the tool's interface: scripts rely on them.

use serde::{Deserialize, Serialize};

/// The outcome of one test under one model.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Outcome {
    /// Every execution was explored, none has an error.
    Passed,
    /// Some execution has an error.
    Failed,
    /// A limit was reached before everything was explored.
    Incomplete,
    /// The test reached something that the checker cannot model.
    Unsupported,
    /// The test was not run.
    Ignored,
}

impl Outcome {
    /// The name users see.
    pub fn name(self) -> &'static str {
        match self {
            Outcome::Passed => "passed",
            Outcome::Failed => "failed",
            Outcome::Incomplete => "incomplete",
            Outcome::Unsupported => "unsupported",
            Outcome::Ignored => "ignored",
        }
    }
}

/// What went wrong in a failing execution.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum ErrorKind {
    Panic,
    DataRace,
    UseAfterFree,
    DoubleFree,
    InvalidFree,
    OutOfBounds,
    UninitializedRead,
    NullPointer,
    Misaligned,
    MemoryLeak,
    Deadlock,
    NonTermination,
    MixedSizeRace,
    UndefinedBehavior,
    Abort,
}

impl ErrorKind {
    /// Every kind, in the order of the documentation.
    pub const ALL: [ErrorKind; 15] = [
        ErrorKind::Panic,
        ErrorKind::DataRace,
        ErrorKind::UseAfterFree,
        ErrorKind::DoubleFree,
        ErrorKind::InvalidFree,
        ErrorKind::OutOfBounds,
        ErrorKind::UninitializedRead,
        ErrorKind::NullPointer,
        ErrorKind::Misaligned,
        ErrorKind::MemoryLeak,
        ErrorKind::Deadlock,
        ErrorKind::NonTermination,
        ErrorKind::MixedSizeRace,
        ErrorKind::UndefinedBehavior,
        ErrorKind::Abort,
    ];

    /// The name users see.
    pub fn name(self) -> &'static str {
        match self {
            ErrorKind::Panic => "panic",
            ErrorKind::DataRace => "data-race",
            ErrorKind::UseAfterFree => "use-after-free",
            ErrorKind::DoubleFree => "double-free",
            ErrorKind::InvalidFree => "invalid-free",
            ErrorKind::OutOfBounds => "out-of-bounds",
            ErrorKind::UninitializedRead => "uninitialized-read",
            ErrorKind::NullPointer => "null-pointer",
            ErrorKind::Misaligned => "misaligned",
            ErrorKind::MemoryLeak => "memory-leak",
            ErrorKind::Deadlock => "deadlock",
            ErrorKind::NonTermination => "non-termination",
            ErrorKind::MixedSizeRace => "mixed-size-race",
            ErrorKind::UndefinedBehavior => "undefined-behavior",
            ErrorKind::Abort => "abort",
        }
    }

    /// The kind of that name.
    pub fn from_name(name: &str) -> Option<ErrorKind> {
        ErrorKind::ALL.into_iter().find(|kind| kind.name() == name)
    }
}

/// A place in the user's source.
#[derive(Clone, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
pub struct Location {
    /// The file as the compiler names it: relative to the workspace for the user's crates.
    pub file: String,
    /// The line, from 1.
    pub line: u32,
    /// The column, from 1.
    pub column: u32,
}
