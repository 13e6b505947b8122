//! Compares many random programs, several at a time.

use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Mutex, PoisonError};
use std::thread;

use proptest::test_runner::TestCaseError;

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

/// What came of comparing one program.
#[derive(Clone, Debug)]
pub enum Verdict<D> {
    Agrees,
    /// The program has too many executions.
    TooLarge,
    Differs(D),
}

/// What came of comparing all.
#[derive(Clone, Debug, Default)]
pub struct Summary {
    pub compared: u64,
    /// Programs with too many executions.
    pub too_large: u64,
    pub differences: u64,
}

impl Verdict<String> {
    /// What came of a property of a program.
    pub fn of(result: Result<(), TestCaseError>, program: &Prog) -> Verdict<String> {
        match result {
            Ok(()) => Verdict::Agrees,
            Err(TestCaseError::Reject(_)) => Verdict::TooLarge,
            Err(TestCaseError::Fail(reason)) => Verdict::Differs(format!("{reason}\n{program:#?}")),
        }
    }
}

impl Soak {
    /// Compares all programs, each given by the seed and its number. Reports each difference as soon as it is found.
    pub fn run<D>(&self, compare: impl Fn(u64, u64) -> Verdict<D> + Sync, report: impl Fn(u64, &D) + Sync) -> Summary {
        let next = AtomicU64::new(self.first);
        let summary = Mutex::new(Summary::default());
        let work = || {
            let end = self.first + self.programs;
            while let Some(number) = Some(next.fetch_add(1, Ordering::Relaxed)).filter(|number| *number < end) {
                let verdict = compare(self.seed, number);
                summary.lock().unwrap_or_else(PoisonError::into_inner).add(&verdict);
                if let Verdict::Differs(difference) = verdict {
                    report(number, &difference);
                }
            }
        };
        thread::scope(|scope| (0..self.jobs.max(1)).for_each(|_| _ = scope.spawn(work)));
        summary.into_inner().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Summary {
    fn add<D>(&mut self, verdict: &Verdict<D>) {
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
