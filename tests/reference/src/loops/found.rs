//! What comes of the executions of a program.

use std::collections::BTreeSet;
use std::fmt::{self, Display, Formatter};

/// What comes of the executions of a program in which no loop begins more than a number of iterations.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Found {
    pub outcomes: BTreeSet<Outcome>,
    pub errors: BTreeSet<Error>,
    /// That threads are blocked forever, some of which write and take it back all the time. Where others might mind
    /// what is there in between, the explorer does not say that these wait.
    pub undoing: BTreeSet<Error>,
    /// That threads are blocked forever, some of which overwrite something with what was there: who does that does not
    /// say so.
    pub overwriting: BTreeSet<Error>,
}

/// What comes of a complete execution.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Outcome {
    /// What threads return.
    pub results: Vec<Vec<u64>>,
    /// The last values of the atomics.
    pub values: Vec<u64>,
}

/// What can be wrong with an execution.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Error {
    Race,
    Assertion,
    /// Threads are blocked forever: for each thread, what it returns, or nothing if it is blocked.
    BlockedForever(Vec<Option<Vec<u64>>>),
    /// It is not wrong, but has to be explored again: others contend for the variable that is not atomic with iterations that were
    /// left out.
    Contended,
}

impl Error {
    /// Whether an execution goes no further: what else might be wrong with it is not found.
    pub fn is_fatal(&self) -> bool {
        !matches!(self, Error::BlockedForever(_))
    }
}

impl Found {
    pub fn has_race(&self) -> bool {
        self.errors.contains(&Error::Race)
    }

    /// The errors that an execution does not outlive.
    pub fn fatal(&self) -> BTreeSet<Error> {
        self.errors.iter().filter(|error| error.is_fatal()).cloned().collect()
    }

    pub fn blocked(&self) -> BTreeSet<Error> {
        self.errors.iter().filter(|error| !error.is_fatal()).cloned().collect()
    }
}

impl Display for Outcome {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        write!(f, "{:?} with last values {:?}", self.results, self.values)
    }
}

impl Display for Error {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        match self {
            Error::Race => write!(f, "a data race"),
            Error::Assertion => write!(f, "an assertion that fails"),
            Error::Contended => write!(f, "that threads contend for a variable"),
            Error::BlockedForever(threads) => {
                let show = |(id, results): (usize, &Option<Vec<u64>>)| match results {
                    Some(results) => format!("{id} returns {results:?}"),
                    None => format!("{id} is blocked forever"),
                };
                let threads: Vec<String> = threads.iter().enumerate().map(show).collect();
                write!(f, "that thread {}", threads.join(", thread "))
            }
        }
    }
}
