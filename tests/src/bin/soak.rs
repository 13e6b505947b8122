//! Explores random programs in ways that must agree, for as long as one likes: `docs/testing.md` says how.

use std::process::ExitCode;
use std::thread;

use clap::{Args, Parser, Subcommand};
use dpor_reference::loops::random::new_seed;
use dpor_reference::loops::soak::{Soak, Summary};

/// Explores random programs in ways that must agree.
#[derive(Parser)]
struct Options {
    #[command(subcommand)]
    level: Level,
}

#[derive(Subcommand)]
enum Level {
    /// Programs as data: the explorer against the reference.
    Engine(Which),
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
    /// How many programs are explored at a time.
    #[arg(long)]
    jobs: Option<usize>,
}

fn main() -> ExitCode {
    let found_none = match Options::parse().level {
        Level::Engine(which) => engine(&which),
    };
    if found_none { ExitCode::SUCCESS } else { ExitCode::FAILURE }
}

/// Whether the explorer and the reference agree on all programs.
fn engine(which: &Which) -> bool {
    let seed = which.seed.unwrap_or_else(new_seed);
    let jobs = which.jobs.unwrap_or_else(|| thread::available_parallelism().map_or(1, usize::from));
    println!("seed {seed}");
    let soak = Soak { seed, first: which.first, programs: which.programs, jobs };
    let Summary { compared, too_large, differences } = soak.run(|difference| println!("\n{difference}"));
    println!("\nseed {seed}: {compared} programs compared, {too_large} too large, {differences} differ");
    differences == 0
}
