//! Compares what the explorer finds with what the reference does.

use std::collections::BTreeSet;
use std::fmt::{self, Display, Formatter};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::time::Duration;

use dpor_engine::explore::{
    AwaitLevel, Config, Ending, Equivalence, Failure, Lesson, Observer, Report, Stats, explore_with,
};
use dpor_engine::graph::Graph;
use dpor_engine::model::MemoryModel;

use super::enumerate::enumerate;
use super::found::{Error, Found, Outcome};
use super::program::Program;
use super::random::Random;
use super::subject::{Known, State, Subject};
use crate::axioms::Model;
use crate::candidate::Key;
use crate::soak::Verdict;

/// The reference gives up on programs with more executions, and beginnings of executions, than this.
const LIMIT: usize = 4_000;
/// The explorer gives up on programs with more executions than this, or that take longer.
const MOST: u64 = 20_000;
const LONGEST: Duration = Duration::from_secs(20);

/// How a program is explored.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Setup {
    pub model: MemoryModel,
    /// How many iterations a loop may begin.
    pub bound: u32,
    pub level: AwaitLevel,
    pub equivalence: Equivalence,
    pub workers: usize,
    /// Whether rounds that cover others are gone once.
    pub share_rounds: bool,
}

impl Setup {
    /// Some way to explore, as a rule with all that there is about waiting.
    pub fn random(random: &mut Random) -> Setup {
        use AwaitLevel::{Full, InPlace, Off, Stale};
        use MemoryModel::{Pso, Rc11, Sc, Tso};
        Setup {
            model: random.one_of(&[Rc11, Rc11, Rc11, Rc11, Sc, Tso, Pso]),
            bound: random.one_of(&[2, 2, 2, 3]),
            level: random.one_of(&[Full, Full, Full, Full, InPlace, Stale, Off]),
            equivalence: random.one_of(&[Equivalence::Trace, Equivalence::Trace, Equivalence::ReadsFrom]),
            workers: random.one_of(&[1, 1, 1, 2, 4]),
            share_rounds: random.one_of(&[true, true, true, false]),
        }
    }
}

impl Display for Setup {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        let Setup { model, bound, level, equivalence, workers, share_rounds } = self;
        let (level, equivalence) = (level.name(), equivalence.name());
        let rounds = if *share_rounds { "" } else { ", each round for itself" };
        write!(f, "{model}, {equivalence}, --await {level}, {workers} workers, ")?;
        write!(f, "at most {bound} iterations of a loop{rounds}")
    }
}

/// What is wrong with how a program was explored.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Wrong {
    /// The reference has an execution with this outcome, and the explorer has not.
    Missing(Outcome),
    /// The explorer has found it, and the reference has not.
    Impossible(Outcome),
    MissingError(Error),
    ImpossibleError(Error),
    /// An execution was visited twice.
    Twice,
    /// A thread did not do the same again.
    Nondeterminism,
    Panic(String),
}

impl Wrong {
    /// Whether two are wrong in the same way.
    pub fn is_like(&self, other: &Wrong) -> bool {
        let is_fatal = |wrong: &Wrong| match wrong {
            Wrong::MissingError(error) | Wrong::ImpossibleError(error) => error.is_fatal(),
            _ => false,
        };
        std::mem::discriminant(self) == std::mem::discriminant(other) && is_fatal(self) == is_fatal(other)
    }
}

impl Display for Wrong {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        match self {
            Wrong::Missing(outcome) => write!(f, "the explorer misses the outcome {outcome}"),
            Wrong::Impossible(outcome) => write!(f, "the explorer finds the outcome {outcome}, which is impossible"),
            Wrong::MissingError(error) => write!(f, "the explorer misses {error}"),
            Wrong::ImpossibleError(error) => write!(f, "the explorer finds {error}, which is impossible"),
            Wrong::Twice => write!(f, "the explorer visits an execution twice"),
            Wrong::Nondeterminism => write!(f, "a thread did something else when it was run again"),
            Wrong::Panic(message) => write!(f, "the explorer panics: {message}"),
        }
    }
}

/// Compares what the explorer and the reference find in a program.
pub fn compare(program: &Program, setup: Setup) -> Verdict<Wrong> {
    match enumerate(program, axiomatic(setup.model), setup.bound, LIMIT) {
        Some(expected) => compare_with(program, setup, &expected),
        None => Verdict::TooLarge,
    }
}

/// Compares what the explorer finds with what the reference has found.
pub fn compare_with(program: &Program, setup: Setup, expected: &Found) -> Verdict<Wrong> {
    let explored = catch_unwind(AssertUnwindSafe(|| explore(program, setup)));
    match explored {
        Err(panic) => Verdict::Differs(Wrong::Panic(message(&*panic))),
        Ok(explored) => match explored.wrong(expected) {
            Some(wrong) => Verdict::Differs(wrong),
            None if explored.complete => Verdict::Agrees,
            None => Verdict::TooLarge,
        },
    }
}

fn message(panic: &dyn std::any::Any) -> String {
    let text = panic.downcast_ref::<&str>().map(|text| (*text).to_owned());
    text.or_else(|| panic.downcast_ref::<String>().cloned()).unwrap_or_default()
}

/// The model, for the axioms.
pub fn axiomatic(model: MemoryModel) -> Model {
    match model {
        MemoryModel::Rc11 => Model::Rc11,
        MemoryModel::Sc => Model::Sc,
        MemoryModel::Tso => Model::Tso { bound: None, rust: true },
        MemoryModel::Pso => Model::Pso { bound: None, rust: true },
    }
}

/// Compares what the explorer finds in a program, and in how many executions, with what it finds if each round is gone
/// for itself.
pub fn compare_rounds(program: &Program, setup: Setup) -> Verdict<()> {
    let shared = explore(program, Setup { share_rounds: true, workers: 1, ..setup });
    let each = explore(program, Setup { share_rounds: false, workers: 1, ..setup });
    match shared.complete && each.complete {
        false => Verdict::TooLarge,
        true if shared == each => Verdict::Agrees,
        true => Verdict::Differs(()),
    }
}

/// What the explorer has found.
#[derive(Debug, PartialEq)]
struct Explored {
    found: Found,
    executions: u64,
    blocked: u64,
    complete: bool,
    twice: bool,
    nondeterminism: bool,
    /// Whether iterations that take back what they have written count as ones that wait.
    undoes: bool,
}

impl Explored {
    /// What is wrong with it, given what there is. An execution with a race, or in which an assertion fails, goes no
    /// further, nor do the revisits that would come of it: where there are such executions, one of them must be found,
    /// and the rest is not compared.
    fn wrong(&self, expected: &Found) -> Option<Wrong> {
        let (found, complete) = (&self.found, self.complete);
        if self.nondeterminism {
            return Some(Wrong::Nondeterminism);
        }
        let (fatal, wanted) = (found.fatal(), expected.fatal());
        if let Some(error) = wanted.first().filter(|_| complete && fatal.is_empty()) {
            return Some(Wrong::MissingError(error.clone()));
        }
        if !expected.has_race()
            && let Some(error) = fatal.difference(&wanted).next()
        {
            return Some(Wrong::ImpossibleError(error.clone()));
        }
        if !wanted.is_empty() {
            return None;
        }
        if let Some(outcome) = found.outcomes.difference(&expected.outcomes).next() {
            return Some(Wrong::Impossible(outcome.clone()));
        }
        if let Some(outcome) = expected.outcomes.difference(&found.outcomes).next().filter(|_| complete) {
            return Some(Wrong::Missing(outcome.clone()));
        }
        let waiting = &expected.blocked() | &expected.undoing;
        let certain = if self.undoes { &waiting } else { &expected.blocked() };
        let possible = &waiting | &expected.overwriting;
        if let Some(error) = certain.difference(&found.blocked()).next().filter(|_| complete) {
            return Some(Wrong::MissingError(error.clone()));
        }
        if let Some(error) = found.blocked().difference(&possible).next() {
            return Some(Wrong::ImpossibleError(error.clone()));
        }
        self.twice.then_some(Wrong::Twice)
    }
}

/// Explores a program; again where somebody minds what loops take back, or what was left out.
fn explore(program: &Program, setup: Setup) -> Explored {
    let mut known = Known { undoes: true, contended: false };
    loop {
        let (explored, lesson) = explore_once(program, setup, known);
        match lesson {
            Some(Lesson::Noticed(_)) if known.undoes => known.undoes = false,
            Some(Lesson::Program(Error::Contended)) if !known.contended => known.contended = true,
            _ => return explored,
        }
    }
}

/// Explores a program, and says what has to be known.
fn explore_once(program: &Program, setup: Setup, known: Known) -> (Explored, Option<Lesson<Error>>) {
    let subject = Subject::new(program, setup.bound, known);
    let config = Config {
        workers: setup.workers,
        max_executions: Some(MOST),
        timeout: Some(LONGEST),
        keep_going: true,
        awaiting: setup.level,
        equivalence: setup.equivalence,
        share_rounds: setup.share_rounds,
        ..Config::new(setup.model)
    };
    let seen =
        || Seen { subject: &subject, equivalence: setup.equivalence, outcomes: BTreeSet::new(), keys: Vec::new() };
    let (report, seen) = explore_with(&subject, &config, None, seen);
    (conclude(&report, &seen, known.undoes), report.lesson)
}

fn conclude(report: &Report<Error>, seen: &[Seen<'_>], undoes: bool) -> Explored {
    let keys = || seen.iter().flat_map(|seen| &seen.keys);
    let twice = keys().collect::<BTreeSet<_>>().len() != keys().count();
    let outcomes = seen.iter().flat_map(|seen| seen.outcomes.iter().cloned()).collect();
    let (mut errors, mut nondeterminism) = (BTreeSet::new(), false);
    for found in &report.errors {
        match &found.failure {
            Failure::Program(error) => _ = errors.insert(error.clone()),
            Failure::Race(_) => _ = errors.insert(Error::Race),
            Failure::Nondeterminism(_) => nondeterminism = true,
        }
    }
    let found = Found { outcomes, errors, ..Found::default() };
    let Stats { executions, blocked, .. } = report.stats;
    Explored { found, executions, blocked, complete: report.complete, twice, nondeterminism, undoes }
}

/// Looks at all executions.
struct Seen<'a> {
    subject: &'a Subject,
    equivalence: Equivalence,
    outcomes: BTreeSet<Outcome>,
    keys: Vec<Key>,
}

impl Observer<Subject> for Seen<'_> {
    fn full(&mut self, graph: &Graph, state: &State, ending: Ending) {
        let key = Key::of(graph, self.subject.len(), ending == Ending::Blocked);
        self.keys.push(key.under(self.equivalence));
        self.also(graph, state, ending);
    }

    fn also(&mut self, graph: &Graph, state: &State, ending: Ending) {
        if ending == Ending::Complete {
            self.outcomes.insert(self.subject.outcome(state, graph));
        }
    }
}
