//! A few new random Rust programs with loops each time, explored in ways that must agree: `docs/testing.md` says how to
//! explore more of them.

use std::path::Path;
use std::sync::Mutex;

use dpor_reference::loops::random::{Random, new_seed};
use dpor_tests::soak::Soak;
use dpor_tests::soak::profile::Profile;

/// How many programs of a profile are explored.
const PROGRAMS: u64 = 15;

#[test]
fn random_programs_are_explored_alike_in_every_way() {
    let seed = new_seed();
    let directory = Path::new(env!("CARGO_TARGET_TMPDIR")).join("random-loops");
    let profiles = [Profile::All, Random::new(seed).one_of(&Profile::SPECIAL)];
    for profile in profiles {
        println!("profile {profile:?}, seed {seed}");
        let differences = Mutex::new(Vec::new());
        let soak = Soak { profile, seed, first: 0, programs: PROGRAMS };
        soak.run(&directory, |difference| differences.lock().expect("no panic").push(difference.to_owned()));
        let differences = differences.into_inner().expect("no panic");
        assert!(differences.is_empty(), "profile {profile:?}, seed {seed}:\n{}", differences.join("\n"));
    }
}
