//! Random programs with loops: what the explorer and the reference differ in, made small.

use std::fmt::{self, Display, Formatter};

use super::compare::{Setup, Wrong, compare, compare_rounds};
use super::generate;
use super::program::Program;
use super::random::Random;
use super::shrink::shrink;
use crate::soak::Verdict;

/// A program on which the explorer and the reference differ.
#[derive(Clone, Debug)]
pub struct Difference {
    pub setup: Setup,
    pub program: Program,
    pub wrong: Wrong,
}

/// The program of a number, and how it is explored.
fn nth(seed: u64, number: u64) -> (Program, Setup) {
    let mut random = Random::nth(seed, number);
    let program = generate::program(&mut random);
    let setup = Setup::random(&mut random);
    (program, setup)
}

/// Compares what the explorer and the reference find in the program of a number.
pub fn compare_nth(seed: u64, number: u64) -> Verdict<Difference> {
    let (program, setup) = nth(seed, number);
    match compare(&program, setup) {
        Verdict::Agrees => Verdict::Agrees,
        Verdict::TooLarge => Verdict::TooLarge,
        Verdict::Differs(wrong) => Verdict::Differs(smallest(setup, &program, wrong)),
    }
}

/// Compares what the explorer finds in the program of a number with what it finds if each round is gone for itself.
pub fn compare_rounds_of_nth(seed: u64, number: u64) -> Verdict<Program> {
    let (program, setup) = nth(seed, number);
    let differs = |program: &Program| matches!(compare_rounds(program, setup), Verdict::Differs(()));
    match compare_rounds(&program, setup) {
        Verdict::Agrees => Verdict::Agrees,
        Verdict::TooLarge => Verdict::TooLarge,
        Verdict::Differs(()) => Verdict::Differs(shrink(&program, differs)),
    }
}

/// The smallest program that is wrong in the same way, explored as simply as possible.
fn smallest(setup: Setup, program: &Program, wrong: Wrong) -> Difference {
    let is_wrong = |program: &Program, setup: Setup| match compare(program, setup) {
        Verdict::Differs(other) => other.is_like(&wrong),
        _ => false,
    };
    let setup = simpler(setup).into_iter().find(|simpler| is_wrong(program, *simpler)).unwrap_or(setup);
    let program = shrink(program, |program| is_wrong(program, setup));
    let wrong = match compare(&program, setup) {
        Verdict::Differs(wrong) => wrong,
        _ => wrong,
    };
    Difference { setup, program, wrong }
}

/// Simpler ways to explore, the simplest first.
fn simpler(setup: Setup) -> Vec<Setup> {
    use dpor_engine::explore::{AwaitLevel, Equivalence};
    use dpor_engine::model::MemoryModel;
    let mut all = Vec::new();
    for model in [MemoryModel::Sc, MemoryModel::Rc11, setup.model] {
        for equivalence in [Equivalence::Trace, setup.equivalence] {
            for level in AwaitLevel::ALL.into_iter().filter(|level| *level <= setup.level) {
                all.push(Setup { model, equivalence, level, workers: 1, ..setup });
            }
        }
    }
    all
}

impl Display for Difference {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        let Difference { setup, program, wrong } = self;
        write!(f, "{wrong}\nexplored: {setup}\n{program}")
    }
}
