//! Random programs with threads that are alike: the explorer against the reference, up to permutations.

use proptest::test_runner::TestCaseError;

use crate::agreement::{LOOP_MODELS, MODELS, agrees_on_loops_up_to_permutation, agrees_up_to_permutation};
use crate::generate::{Loops, Shape, alike, nth};
use crate::program::Prog;
use crate::soak::Verdict;

/// The kinds of random programs.
pub fn shapes() -> [Shape; 6] {
    let small = Shape { threads: 3, locations: 2, events: 8, reads: 6, ..Shape::plain_atomics() };
    [
        Shape { threads: 4, reads: 5, ..small },
        Shape { reads: 5, strong: true, ..small },
        Shape { threads: 4, reads: 5, waiting: true, ..small },
        Shape { events: 7, reads: 5, spawned: true, ..small },
        Shape { primitives: true, ..small },
        Shape { events: 9, loops: Loops::All, ..small },
    ]
}

/// Whether the explorer and the reference agree on a program, up to permutations.
pub fn compare(program: &Prog, shape: Shape) -> Result<(), TestCaseError> {
    match shape {
        Shape { loops: Loops::None, spawned: false, primitives: false, .. } => {
            agrees_up_to_permutation(program, &MODELS, &[1])
        }
        Shape { loops: Loops::None, .. } => agrees_up_to_permutation(program, &LOOP_MODELS, &[1, 2, 4]),
        _ => agrees_on_loops_up_to_permutation(program, &LOOP_MODELS, &[1, 2]),
    }
}

/// Compares the program of a number.
pub fn compare_nth(seed: u64, number: u64) -> Verdict<String> {
    let shape = shapes()[(number % shapes().len() as u64) as usize];
    let program = nth(alike(shape), seed, number);
    Verdict::of(compare(&program, shape), &program)
}
