//! Loops as people write them: what comes of random programs with such loops, for the explorer and for the brute-force
//! reference.
//!
//! The programs are new ones each time: the seed is printed, and `cargo run --release -p dpor-tests --bin soak --
//! engine --seed SEED` explores the same again.

use dpor_reference::loops::difference::{Difference, compare_nth};
use dpor_reference::loops::known;
use dpor_reference::loops::random::new_seed;
use dpor_reference::soak::{Soak, Summary};
use std::sync::{Mutex, PoisonError};
use std::thread;

/// How many programs are compared.
const PROGRAMS: u64 = 1_500;

#[test]
fn random_programs_have_the_outcomes_that_the_reference_finds() {
    let seed = new_seed();
    println!("seed {seed}");
    let jobs = thread::available_parallelism().map_or(1, usize::from);
    let found = Mutex::new(Vec::new());
    let report = |number: u64, difference: &Difference| {
        found.lock().unwrap_or_else(PoisonError::into_inner).push(format!("program {number}: {difference}"));
    };
    let soak = Soak { seed, first: 0, programs: PROGRAMS, jobs };
    let Summary { compared, .. } = soak.run(compare_nth, report);
    let found = found.into_inner().unwrap_or_else(PoisonError::into_inner);
    assert!(found.is_empty(), "seed {seed}:\n{}", found.join("\n"));
    assert!(compared * 10 > PROGRAMS * 8, "seed {seed}: most programs are too large to compare");
}

#[test]
fn programs_that_once_had_others_have_them_too() {
    let found: Vec<String> = known::differences().iter().map(ToString::to_string).collect();
    assert!(found.is_empty(), "{}", found.join("\n"));
}
