//! Explores random programs in ways that must agree, for as long as one likes: `docs/testing.md` says how.

use std::path::Path;
use std::process::ExitCode;
use std::thread;

use clap::{Args, Parser, Subcommand};
use dpor_reference::loops::random::new_seed;
use dpor_reference::loops::soak::{Soak, Summary};
use dpor_reference::symmetric;
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
        /// Programs with threads that are alike, up to permutations of these.
        #[arg(long)]
        symmetry: bool,
    },
    /// Programs in Rust: ways to explore them against each other.
    Rust {
        #[command(flatten)]
        which: Which,
        /// What the programs are like.
        #[arg(long, value_enum, default_value_t = Profile::All)]
        profile: Profile,
    },
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
        Level::Engine { which, jobs, symmetry } => engine(&which, jobs, symmetry),
        Level::Rust { which, profile } => rust(&which, profile),
    };
    if agree { ExitCode::SUCCESS } else { ExitCode::FAILURE }
}

/// Whether the explorer and the reference agree on all programs.
fn engine(which: &Which, jobs: Option<usize>, symmetry: bool) -> bool {
    let seed = which.seed();
    let jobs = jobs.unwrap_or_else(|| thread::available_parallelism().map_or(1, usize::from));
    let Which { first, programs, .. } = *which;
    let summary = match symmetry {
        true => symmetric::Soak { seed, first, programs, jobs }.run(|difference| println!("\n{difference}")),
        false => Soak { seed, first, programs, jobs }.run(|difference| println!("\n{difference}")),
    };
    let Summary { compared, too_large, differences } = summary;
    println!("\nseed {seed}: {compared} programs compared, {too_large} too large, {differences} differ");
    differences == 0
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

impl Which {
    fn seed(&self) -> u64 {
        let seed = self.seed.unwrap_or_else(new_seed);
        println!("seed {seed}");
        seed
    }
}
