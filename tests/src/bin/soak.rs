//! Explores random programs in ways that must agree, for as long as one likes: `docs/testing.md` says how.

use std::fmt::Display;
use std::path::Path;
use std::process::ExitCode;
use std::thread;

use clap::{Args, Parser, Subcommand, ValueEnum};
use dpor_reference::loops::random::new_seed;
use dpor_reference::soak::{Soak, Summary};
use dpor_reference::{accesses, alike, commuting, loops};
use dpor_tests::sequential::Sequential;
use dpor_tests::soak::{self, profile::Profile};

/// Explores random programs in ways that must agree.
#[derive(Parser)]
struct Options {
    #[command(subcommand)]
    level: Level,
}

#[derive(Subcommand)]
enum Level {
    /// Programs as data: the explorer against the reference.
    Engine {
        #[command(flatten)]
        which: Which,
        /// How many programs are explored at a time: as many as there are processors, if none is given.
        #[arg(long)]
        jobs: Option<usize>,
        /// What the programs are like.
        #[arg(long, value_enum, default_value_t = Kind::Loops)]
        kind: Kind,
    },
    /// Programs in Rust: ways to explore them against each other.
    Rust {
        #[command(flatten)]
        which: Which,
        /// What the programs are like.
        #[arg(long, value_enum, default_value_t = Profile::All)]
        profile: Profile,
    },
    /// Programs of one thread: under the checker against natively, with and without optimization.
    Sequential {
        #[command(flatten)]
        which: Which,
    },
}

/// The kinds of programs as data.
#[derive(Clone, Copy, ValueEnum)]
enum Kind {
    /// Loops as people write them.
    Loops,
    /// Threads that are alike, up to permutations of these.
    Alike,
    /// Updates that commute, up to swaps of these.
    Commuting,
    /// No loops: loads, stores, updates, fences and branches.
    Accesses,
}

#[derive(Args)]
struct Which {
    /// How many programs.
    #[arg(long, default_value_t = 10_000)]
    programs: u64,
    /// What they are made from: a new number each time, if none is given.
    #[arg(long)]
    seed: Option<u64>,
    /// The number of the first program.
    #[arg(long, default_value_t = 0)]
    first: u64,
}

fn main() -> ExitCode {
    let agree = match Options::parse().level {
        Level::Engine { which, jobs, kind } => engine(&which, jobs, kind),
        Level::Rust { which, profile } => rust(&which, profile),
        Level::Sequential { which } => sequential(&which),
    };
    if agree { ExitCode::SUCCESS } else { ExitCode::FAILURE }
}

/// Whether the explorer and the reference agree on all programs.
fn engine(which: &Which, jobs: Option<usize>, kind: Kind) -> bool {
    let seed = which.seed();
    let jobs = jobs.unwrap_or_else(|| thread::available_parallelism().map_or(1, usize::from));
    let Which { first, programs, .. } = *which;
    let soak = Soak { seed, first, programs, jobs };
    let summary = match kind {
        Kind::Loops => soak.run(loops::difference::compare_nth, print_difference),
        Kind::Alike => soak.run(alike::compare_nth, print_difference),
        Kind::Commuting => soak.run(commuting::compare_nth, print_difference),
        Kind::Accesses => soak.run(accesses::compare_nth, print_difference),
    };
    let Summary { compared, too_large, differences } = summary;
    println!("\nseed {seed}: {compared} programs compared, {too_large} too large, {differences} differ");
    differences == 0
}

fn print_difference(number: u64, difference: &impl Display) {
    println!("\nprogram {number}: {difference}");
}

/// Whether all programs are explored alike in every way.
fn rust(which: &Which, profile: Profile) -> bool {
    let seed = which.seed();
    let soak = soak::Soak { profile, seed, first: which.first, programs: which.programs };
    let directory = Path::new(env!("CARGO_MANIFEST_DIR")).join("../target/soak");
    let differences = soak.run(&directory, |difference| println!("\n{difference}"));
    println!("\nseed {seed}: {} programs explored, {differences} differ", which.programs);
    differences == 0
}

/// Whether all programs print under the checker what they print natively.
fn sequential(which: &Which) -> bool {
    let seed = which.seed();
    let directory = Path::new(env!("CARGO_MANIFEST_DIR")).join("../target/sequential");
    let programs = Sequential { seed, first: which.first, programs: which.programs };
    let differences = programs.run(&directory, |difference| println!("\n{difference}"));
    println!("\nseed {seed}: {} programs run, {differences} differ", which.programs);
    differences == 0
}

impl Which {
    fn seed(&self) -> u64 {
        let seed = self.seed.unwrap_or_else(new_seed);
        println!("seed {seed}");
        seed
    }
}
