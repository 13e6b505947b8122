//! A few new random programs of one thread each time: `docs/testing.md` says how to run more of them.

use std::path::Path;
use std::sync::Mutex;

use dpor_reference::loops::random::new_seed;
use dpor_tests::sequential::Sequential;

/// How many programs are run.
const PROGRAMS: u64 = 40;

#[test]
fn random_programs_print_what_they_print_natively() {
    let seed = new_seed();
    let directory = Path::new(env!("CARGO_TARGET_TMPDIR")).join("random-sequential");
    let differences = Mutex::new(Vec::new());
    let programs = Sequential { seed, first: 0, programs: PROGRAMS };
    programs.run(&directory, |difference| differences.lock().expect("no panic").push(difference.to_owned()));
    let differences = differences.into_inner().expect("no panic");
    assert!(differences.is_empty(), "seed {seed}:\n{}", differences.join("\n"));
}
