//! Random programs without loops: the explorer against the reference.

use proptest::test_runner::TestCaseError;

use crate::agreement::{MODELS, agrees_in};
use crate::generate::{Shape, nth, program};
use crate::program::Prog;
use crate::soak::Verdict;

/// The kinds of random programs.
pub fn shapes() -> [Shape; 5] {
    let updates = Shape { updates: true, locations: 1, events: 8, reads: 6, ..Shape::plain_atomics() };
    [
        updates,
        Shape { locations: 2, events: 9, ..updates },
        Shape { strong: true, events: 10, ..Shape::plain_atomics() },
        Shape { threads: 3, locations: 2, events: 8, reads: 6, primitives: true, ..Shape::plain_atomics() },
        Shape::plain_atomics(),
    ]
}

/// Whether the explorer and the reference agree on a program, in every model, under both equivalences.
pub fn compare(program: &Prog) -> Result<(), TestCaseError> {
    agrees_in(program, &MODELS, &[1])
}

/// Compares the program of a number.
pub fn compare_nth(seed: u64, number: u64) -> Verdict<String> {
    let shape = shapes()[(number % shapes().len() as u64) as usize];
    let program = nth(program(shape), seed, number);
    Verdict::of(compare(&program), &program)
}
