//! Random programs of one thread: all integers and floats, enums with niches, unions, packed structs, closures, trait
//! objects, collections, futures. Under the checker they print what they print natively, with and without optimization.

mod expression;
mod program;
mod types;

use std::ops::Range;
use std::path::Path;

use dpor_reference::loops::random::Random;

use crate::compare::{self, Profile};
use crate::soak::write_package;

/// So many programs are compiled together.
const BATCH: u64 = 100;

/// Which programs are compared.
#[derive(Clone, Copy, Debug)]
pub struct Sequential {
    pub seed: u64,
    /// The number of the first program.
    pub first: u64,
    pub programs: u64,
}

impl Sequential {
    /// Runs all programs both ways, and tells of each that differs; says how many there were.
    pub fn run(&self, directory: &Path, tell: impl Fn(&str)) -> usize {
        let end = self.first + self.programs;
        let batches = (self.first..end).step_by(BATCH as usize);
        batches.map(|first| self.compare(directory, first..end.min(first + BATCH), &tell)).sum()
    }

    fn compare(&self, directory: &Path, numbers: Range<u64>, tell: &impl Fn(&str)) -> usize {
        let program = |number| program::program(number as usize, &mut Random::nth(self.seed, number));
        let source: String = numbers.map(program).collect();
        let package = write_package(directory, "random-sequential", &(PRELUDE.to_owned() + "\n" + &source));
        let mut found = 0;
        for profile in [Profile::Debug, Profile::Release] {
            for difference in compare::differences(&package, profile) {
                tell(&format!("{profile:?}: {difference}"));
                found += 1;
            }
        }
        found
    }
}

/// What all programs use.
const PRELUDE: &str = include_str!("prelude.txt");
