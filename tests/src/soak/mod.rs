//! Random Rust programs with loops of every kind, or with the standard library's primitives, explored in several ways that
//! must agree.
//!
//! There is no reference for Rust. But what is done about loops that wait, threads that are alike and updates that commute
//! only leaves out what makes no difference: whatever one way to explore finds, every other must find, too, unless it is incomplete; and a weaker memory model
//! must find what a stronger one does.

mod primitives;
pub mod profile;
pub mod source;
mod ways;

use std::fs;
use std::path::Path;

use dpor_engine::program::Test;
use dpor_reference::loops::random::Random;

use crate::Package;
use crate::explored::Explored;
use profile::Profile;
use ways::{Finding, Way};

/// So many programs are compiled together.
const BATCH: u64 = 100;

/// Which programs are explored.
#[derive(Clone, Copy, Debug)]
pub struct Soak {
    pub profile: Profile,
    pub seed: u64,
    /// The number of the first program.
    pub first: u64,
    pub programs: u64,
}

impl Soak {
    /// Explores all programs, and tells of each that is explored differently in some ways; says how many there were.
    pub fn run(&self, directory: &Path, tell: impl Fn(&str)) -> usize {
        let end = self.first + self.programs;
        let batches = (self.first..end).step_by(BATCH as usize);
        batches.map(|first| self.explore(directory, first..end.min(first + BATCH), &tell)).sum()
    }

    /// Explores some of them.
    fn explore(&self, directory: &Path, numbers: std::ops::Range<u64>, tell: &impl Fn(&str)) -> usize {
        let source = |number| source::program(self.profile, &mut Random::nth(self.seed, number));
        let programs: Vec<String> = numbers.clone().map(source).collect();
        let explored = Explored::of(&write_package(directory, "random-loops", &source::library(&programs)));
        assert_eq!(explored.tests().len(), programs.len(), "every program is a test");
        let differences = explored.problems(|test| {
            let index: usize = test.name.trim_start_matches('p').parse().expect("the number of a program");
            let number = numbers.start + index as u64;
            let show = |missed: String| format!("program {number}: {missed}\n{}", programs[index]);
            missed(&explored, test).map(show).into_iter().collect()
        });
        differences.iter().for_each(|difference| tell(difference));
        differences.len()
    }
}

/// What one way to explore a test has found, and another, which is complete, has not.
fn missed(explored: &Explored, test: &Test) -> Option<String> {
    let ways = Way::all();
    let found: Vec<Finding> = ways.iter().map(|way| way.explore(explored, test)).collect();
    let racy = found.iter().any(Finding::has_race);
    let pairs = ways.iter().zip(&found);
    pairs.clone().find_map(|(one, found)| {
        let others = pairs.clone().filter(|(other, _)| one != *other && one.is_included_in(other));
        others.into_iter().find_map(|(other, other_found)| {
            let missed = found.missed_by(other_found, racy)?;
            Some(format!("{missed} is found with `{one}`, and not with `{other}`"))
        })
    })
}

/// The library as a package in a directory.
pub fn write_package(directory: &Path, name: &str, library: &str) -> Package {
    let dpor = Path::new(env!("CARGO_MANIFEST_DIR")).join("../dpor");
    let manifest = format!(
        "[package]\nname = {name:?}\nversion = \"0.0.0\"\nedition = \"2024\"\npublish = false\n\n\
         [dev-dependencies]\ndpor = {{ path = {dpor:?} }}\n\n[profile.dev]\noverflow-checks = false\n\n[workspace]\n"
    );
    fs::create_dir_all(directory.join("src")).expect("a directory for the package");
    for (name, text) in [("Cargo.toml", &*manifest), ("src/lib.rs", library)] {
        let path = directory.join(name);
        fs::write(&path, text).unwrap_or_else(|error| panic!("{}: {error}", path.display()));
    }
    Package::at(directory.to_owned())
}
