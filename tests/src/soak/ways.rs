//! The ways to explore a program.

use std::collections::BTreeSet;
use std::fmt::{self, Display, Formatter};
use std::time::Duration;

use dpor_engine::check::Checked;
use dpor_engine::explore::{AwaitLevel, Config, Equivalence};
use dpor_engine::model::MemoryModel;
use dpor_engine::program::Test;
use dpor_engine::verdict::ErrorKind;
use dpor_engine::vm::{Failure, FailureKind, RunOptions};

use crate::explored::Explored;

/// What takes longer is not compared.
const LONGEST: Duration = Duration::from_secs(2);
/// How often a loop goes round that is explored as it is.
const UNROLL: u32 = 3;

/// A way to explore a program.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Way {
    model: MemoryModel,
    level: AwaitLevel,
    equivalence: Equivalence,
    workers: usize,
    /// Whether threads that are alike, and updates that commute, are explored in one order.
    reduces: bool,
}

impl Way {
    /// All ways that are compared: under each model, as users do and with everything as it is; under RC11 also at the
    /// other levels, under the other equivalence, with two workers, and with all but one of what is left out.
    pub fn all() -> Vec<Way> {
        let (level, equivalence) = (AwaitLevel::Full, Equivalence::Trace);
        let full = |model| Way { model, level, equivalence, workers: 1, reduces: true };
        let rc11 = full(MemoryModel::Rc11);
        let as_it_is = |model| Way { level: AwaitLevel::Off, reduces: false, ..full(model) };
        let levels = [AwaitLevel::Stale, AwaitLevel::InPlace].map(|level| Way { level, ..rc11 });
        let others = [Way { equivalence: Equivalence::ReadsFrom, ..rc11 }, Way { workers: 2, ..rc11 }];
        let one_less = [Way { reduces: false, ..rc11 }, Way { reduces: true, ..as_it_is(MemoryModel::Rc11) }];
        let models = MemoryModel::ALL.into_iter().flat_map(|model| [full(model), as_it_is(model)]);
        models.chain(levels).chain(others).chain(one_less).collect()
    }

    /// Whether everything that is found in this way must be found in the other.
    pub fn is_included_in(&self, other: &Way) -> bool {
        use MemoryModel::{Pso, Rc11, Sc, Tso};
        let is_full = |way: &Way| way.level == AwaitLevel::Full;
        self.model == other.model
            || is_full(self)
                && is_full(other)
                && matches!((self.model, other.model), (Sc, Tso | Pso | Rc11) | (Tso, Pso))
    }

    pub fn explore(&self, explored: &Explored, test: &Test) -> Finding {
        let unroll = (self.level == AwaitLevel::Off).then_some(UNROLL);
        let config = Config {
            awaiting: self.level,
            equivalence: self.equivalence,
            workers: self.workers,
            commute: self.reduces,
            symmetry: self.reduces,
            keep_going: true,
            timeout: Some(LONGEST),
            ..Config::new(self.model)
        };
        Finding::of(&explored.explore(test, &RunOptions { unroll, ..RunOptions::default() }, &config))
    }
}

impl Display for Way {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        let Way { model, level, equivalence, workers, reduces } = self;
        write!(f, "--model {model} --await {}", level.name())?;
        if *level == AwaitLevel::Off {
            write!(f, " --unroll {UNROLL}")?;
        }
        if !reduces {
            write!(f, " --commute off --symmetry off")?;
        }
        write!(f, " --equivalence {} --workers {workers}", equivalence.name())
    }
}

/// What was found in one way.
#[derive(Clone, Debug)]
pub struct Finding {
    /// The kinds of errors; outcomes are panics.
    found: BTreeSet<String>,
    complete: bool,
}

impl Finding {
    fn of(checked: &Checked) -> Finding {
        let is_error = |failure: &&Failure| matches!(failure.kind, FailureKind::Error(_));
        let failures = || checked.failures.iter().map(|found| &*found.failure);
        let found = failures().filter(is_error).map(name).collect();
        Finding { found, complete: checked.limit.is_none() && failures().all(|failure| is_error(&failure)) }
    }

    pub fn has_race(&self) -> bool {
        self.found.contains(ErrorKind::DataRace.name())
    }

    /// What the other has not found, and should have. A program with a race does not mean anything else.
    pub fn missed_by(&self, other: &Finding, racy: bool) -> Option<&String> {
        let matters = |name: &&String| !racy || *name == ErrorKind::DataRace.name();
        self.found.iter().filter(matters).find(|name| other.complete && !other.found.contains(*name))
    }
}

fn name(failure: &Failure) -> String {
    match failure.kind {
        FailureKind::Error(ErrorKind::Panic) => failure.message.clone(),
        FailureKind::Error(kind) => kind.name().to_owned(),
        FailureKind::Unsupported | FailureKind::Limit | FailureKind::Covered => String::new(),
    }
}
