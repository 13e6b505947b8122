//! Runs the tests for loom of published crates, and writes docs/loom-suites.md.

use std::fs;
use std::num::NonZeroUsize;
use std::path::PathBuf;
use std::process::ExitCode;
use std::thread;

use anyhow::{Context, Result};
use clap::Parser;

use dpor_conformance::checker::build_checker;
use dpor_conformance::loom::{self, LoomSuites};
use dpor_conformance::{explained, repository};

/// Run the tests for loom of published crates under cargo-dpor
#[derive(Debug, Parser)]
struct Args {
    /// Run only those of these; without any, all are run and docs/loom-suites.md is written
    #[arg(value_name = "CRATE")]
    crates: Vec<String>,
    /// How many processes run at a time [default: as many as there are cores]
    #[arg(long, value_name = "N")]
    jobs: Option<NonZeroUsize>,
    /// The cargo-dpor to run [default: that of this repository, optimised, built first]
    #[arg(long, value_name = "PATH")]
    checker: Option<PathBuf>,
    /// Take results that are in the target directory, and run only what is missing
    #[arg(long)]
    keep: bool,
    /// Use the newest dependencies of the crates, and lock them
    #[arg(long)]
    update: bool,
}

fn main() -> ExitCode {
    match run(&Args::parse()) {
        Ok(true) => ExitCode::SUCCESS,
        Ok(false) => ExitCode::FAILURE,
        Err(error) => {
            eprintln!("error: {error:#}");
            ExitCode::from(2)
        }
    }
}

/// Whether all failures are explained.
fn run(args: &Args) -> Result<bool> {
    let chosen = loom::chosen(&args.crates)?;
    let explained = explained::all()?;
    let repository = repository()?;
    let suites = LoomSuites::new(&repository, args.update)?;
    let program = match &args.checker {
        Some(program) => std::path::absolute(program)?,
        None => build_checker(&repository)?,
    };
    let jobs = args.jobs.or_else(|| thread::available_parallelism().ok()).map_or(1, NonZeroUsize::get);
    let mut results = Vec::new();
    for suite in chosen {
        let kept = if args.keep { suites.kept(suite)? } else { None };
        let result = kept.map_or_else(|| suites.run(suite, &program, jobs), Ok)?;
        eprintln!("{}", loom::table(std::slice::from_ref(&result)).lines().last().unwrap_or_default());
        results.push(result);
    }
    if args.crates.is_empty() {
        let path = repository.join("docs/loom-suites.md");
        fs::write(&path, loom::page(&results, &explained))
            .with_context(|| format!("cannot write {}", path.display()))?;
    } else {
        print!("{}", loom::table(&results));
    }
    let unexplained = |result: &loom::LoomResult| {
        let tests: Vec<_> = result.unexplained(&explained).collect();
        for test in &tests {
            eprintln!("{}: {} failed, which is not explained: {}", result.suite.name, test.name, test.message);
        }
        tests.len()
    };
    Ok(results.iter().map(unexplained).sum::<usize>() == 0)
}
