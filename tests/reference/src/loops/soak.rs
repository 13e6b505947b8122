//! Compares many random programs, several at a time.

use std::fmt::{self, Display, Formatter};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Mutex, PoisonError};
use std::thread;

use super::compare::{Setup, Verdict, Wrong, compare};
use super::generate;
use super::program::Program;
use super::random::Random;
use super::shrink::shrink;

/// Which programs are compared.
#[derive(Clone, Copy, Debug)]
pub struct Soak {
    pub seed: u64,
    /// The number of the first program.
    pub first: u64,
    pub programs: u64,
    /// How many are compared at a time.
    pub jobs: usize,
}

/// A program on which the explorer and the reference differ.
#[derive(Clone, Debug)]
pub struct Difference {
    pub number: u64,
    pub setup: Setup,
    pub program: Program,
    pub wrong: Wrong,
}

/// What came of it.
#[derive(Clone, Debug, Default)]
pub struct Summary {
    pub compared: u64,
    /// Programs with too many executions.
    pub too_large: u64,
    pub differences: u64,
}

impl Soak {
    /// The program of a number, and how it is explored.
    pub fn program(&self, number: u64) -> (Program, Setup) {
        let mut random = Random::nth(self.seed, number);
        let program = generate::program(&mut random);
        let setup = Setup::random(&mut random);
        (program, setup)
    }

    /// Compares all programs; tells of each that differs, made smaller, as soon as it is found.
    pub fn run(&self, tell: impl Fn(&Difference) + Sync) -> Summary {
        let next = AtomicU64::new(self.first);
        let summary = Mutex::new(Summary::default());
        let work = || {
            let end = self.first + self.programs;
            while let Some(number) = Some(next.fetch_add(1, Ordering::Relaxed)).filter(|number| *number < end) {
                let (program, setup) = self.program(number);
                let verdict = compare(&program, setup);
                summary.lock().unwrap_or_else(PoisonError::into_inner).add(&verdict);
                if let Verdict::Differs(wrong) = verdict {
                    tell(&smallest(number, setup, &program, wrong));
                }
            }
        };
        thread::scope(|scope| (0..self.jobs.max(1)).for_each(|_| _ = scope.spawn(work)));
        summary.into_inner().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Summary {
    fn add(&mut self, verdict: &Verdict) {
        match verdict {
            Verdict::Agrees => self.compared += 1,
            Verdict::TooLarge => self.too_large += 1,
            Verdict::Differs(_) => {
                self.compared += 1;
                self.differences += 1;
            }
        }
    }
}

/// The smallest program that is wrong in the same way, explored as simply as possible.
fn smallest(number: u64, setup: Setup, program: &Program, wrong: Wrong) -> Difference {
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
    Difference { number, setup, program, wrong }
}

/// Simpler ways to explore, the simplest first.
fn simpler(setup: Setup) -> Vec<Setup> {
    use dpor_engine::explore::{AwaitLevel, Equivalence};
    use dpor_engine::model::MemoryModel;
    let mut all = Vec::new();
    for model in [MemoryModel::Sc, MemoryModel::Rc11, setup.model] {
        for equivalence in [Equivalence::Trace, setup.equivalence] {
            for level in AwaitLevel::ALL.into_iter().filter(|level| *level <= setup.level) {
                all.push(Setup { model, equivalence, level, workers: 1, bound: setup.bound });
            }
        }
    }
    all
}

impl Display for Difference {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        let Difference { number, setup, program, wrong } = self;
        write!(f, "program {number}: {wrong}\nexplored: {setup}\n{program}")
    }
}
