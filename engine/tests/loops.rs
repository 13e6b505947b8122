//! Loops as people write them: what comes of random programs with such loops, for the explorer and for the brute-force
//! reference.
//!
//! The programs are new ones each time: the seed is printed, and `cargo run --release -p dpor-tests --bin soak --
//! engine --seed SEED` explores the same again.

use dpor_reference::loops::difference::{compare_nth, compare_rounds_of_nth};
use dpor_reference::loops::known;
use dpor_reference::loops::random::new_seed;
use dpor_reference::soak::{Soak, Summary, Verdict};
use std::fmt::Display;
use std::sync::{Mutex, PoisonError};
use std::thread;

/// How many programs are compared.
const PROGRAMS: u64 = 1_500;

#[test]
fn random_programs_have_the_outcomes_that_the_reference_finds() {
    compare(PROGRAMS, compare_nth);
}

#[test]
fn rounds_that_cover_others_make_no_difference() {
    compare(PROGRAMS / 3, compare_rounds_of_nth);
}

/// Compares random programs.
fn compare<D: Display + Send>(programs: u64, compare_nth: impl Fn(u64, u64) -> Verdict<D> + Sync) {
    let seed = new_seed();
    println!("seed {seed}");
    let jobs = thread::available_parallelism().map_or(1, usize::from);
    let found = Mutex::new(Vec::new());
    let report = |number: u64, difference: &D| {
        found.lock().unwrap_or_else(PoisonError::into_inner).push(format!("program {number}: {difference}"));
    };
    let soak = Soak { seed, first: 0, programs, jobs };
    let Summary { compared, .. } = soak.run(compare_nth, report);
    let found = found.into_inner().unwrap_or_else(PoisonError::into_inner);
    assert!(found.is_empty(), "seed {seed}:\n{}", found.join("\n"));
    assert!(compared * 10 > programs * 8, "seed {seed}: most programs are too large to compare");
}

#[test]
fn programs_that_once_had_others_have_them_too() {
    let found: Vec<String> = known::differences().iter().map(ToString::to_string).collect();
    assert!(found.is_empty(), "{}", found.join("\n"));
}
