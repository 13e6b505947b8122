//! Random programs with threads that are alike, as many as one likes: the explorer against the reference, up to
//! permutations.

use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Mutex, PoisonError};
use std::thread;

use proptest::prelude::ProptestConfig;
use proptest::strategy::{Strategy, ValueTree};
use proptest::test_runner::{RngAlgorithm, TestCaseError, TestRng, TestRunner};

use crate::agreement::{LOOP_MODELS, MODELS, agrees_on_loops_up_to_permutation, agrees_up_to_permutation};
use crate::generate::{Loops, Shape, alike};
use crate::loops::soak::Summary;
use crate::program::Prog;

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

impl Soak {
    /// The program of a number.
    pub fn program(&self, number: u64) -> (Prog, Shape) {
        let shape = shapes()[(number % shapes().len() as u64) as usize];
        let mut bytes = [0; 32];
        bytes[..8].copy_from_slice(&self.seed.to_le_bytes());
        bytes[8..16].copy_from_slice(&number.to_le_bytes());
        let random = TestRng::from_seed(RngAlgorithm::ChaCha, &bytes);
        let mut runner = TestRunner::new_with_rng(ProptestConfig::default(), random);
        let program = alike(shape).new_tree(&mut runner).expect("a program").current();
        (program, shape)
    }

    /// Compares all programs; tells of each that differs as soon as it is found.
    pub fn run(&self, tell: impl Fn(&str) + Sync) -> Summary {
        let next = AtomicU64::new(self.first);
        let summary = Mutex::new(Summary::default());
        let work = || {
            let end = self.first + self.programs;
            while let Some(number) = Some(next.fetch_add(1, Ordering::Relaxed)).filter(|number| *number < end) {
                let (program, shape) = self.program(number);
                let agreed = compare(&program, shape);
                let mut summary = summary.lock().unwrap_or_else(PoisonError::into_inner);
                match agreed {
                    Err(TestCaseError::Reject(_)) => summary.too_large += 1,
                    Ok(()) => summary.compared += 1,
                    Err(TestCaseError::Fail(reason)) => {
                        summary.compared += 1;
                        summary.differences += 1;
                        tell(&format!("program {number}: {reason}\n{program:#?}"));
                    }
                }
            }
        };
        thread::scope(|scope| (0..self.jobs.max(1)).for_each(|_| _ = scope.spawn(work)));
        summary.into_inner().unwrap_or_else(PoisonError::into_inner)
    }
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
