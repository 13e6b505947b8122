//! Random programs with updates that commute: the explorer against the reference, up to swaps of these.

use proptest::test_runner::TestCaseError;

use crate::agreement::{LOOP_MODELS, agrees_on_commuting};
use crate::generate::{Counters, Shape, commuting, nth};
use crate::program::Prog;
use crate::readers;
use crate::soak::Verdict;

/// The kinds of random programs.
pub fn kinds() -> [(Shape, Counters); 4] {
    let shape = Shape { threads: 4, locations: 3, events: 7, reads: 5, ..Shape::plain_atomics() };
    [
        (shape, Counters { tests: false, others: false }),
        (shape, Counters { tests: true, others: false }),
        (shape, Counters { tests: true, others: true }),
        (Shape { spawned: true, threads: 3, ..shape }, Counters { tests: true, others: true }),
    ]
}

/// Whether the explorer and the reference agree on a program, up to swaps. Where no result is looked at, there is one
/// execution for each class.
pub fn compare(program: &Prog, counters: Counters) -> Result<(), TestCaseError> {
    agrees_on_commuting(program, &LOOP_MODELS, !counters.tests)
}

/// Compares the program of a number; every second one has [readers](crate::readers).
pub fn compare_nth(seed: u64, number: u64) -> Verdict<String> {
    if number % 2 == 1 {
        return readers::compare_nth(seed, number / 2);
    }
    let (shape, counters) = kinds()[(number / 2 % kinds().len() as u64) as usize];
    let program = nth(commuting(shape, counters), seed, number);
    Verdict::of(compare(&program, counters), &program)
}
