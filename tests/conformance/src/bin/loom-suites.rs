//! Runs the tests for loom of published crates, and writes docs/loom-suites.md.

use std::process::ExitCode;

use anyhow::Result;
use clap::Parser;

use dpor_conformance::command::{CheckerArgs, exit_code, write_page};
use dpor_conformance::loom::{self, LoomSuites};
use dpor_conformance::{explained, repository};

/// Run the tests for loom of published crates under cargo-dpor
#[derive(Debug, Parser)]
struct Args {
    /// Run only those of these; without any, all are run and docs/loom-suites.md is written
    #[arg(value_name = "CRATE")]
    crates: Vec<String>,
    #[command(flatten)]
    checker: CheckerArgs,
    /// Take results that are in the target directory, and run only what is missing
    #[arg(long)]
    keep: bool,
    /// Use the newest dependencies of the crates, and lock them
    #[arg(long)]
    update: bool,
}

fn main() -> ExitCode {
    exit_code(run(&Args::parse()))
}

/// Whether all failures are explained.
fn run(args: &Args) -> Result<bool> {
    let chosen = loom::chosen(&args.crates)?;
    let explained = explained::all()?;
    let repository = repository()?;
    let suites = LoomSuites::new(&repository, args.update)?;
    let (program, jobs) = (args.checker.program(&repository)?, args.checker.jobs());
    let mut results = Vec::new();
    for suite in chosen {
        let kept = if args.keep { suites.kept(suite)? } else { None };
        let result = kept.map_or_else(|| suites.run(suite, &program, jobs), Ok)?;
        eprintln!("{}", loom::table(std::slice::from_ref(&result)).lines().last().unwrap_or_default());
        results.push(result);
    }
    if args.crates.is_empty() {
        write_page(&repository, "loom-suites.md", &loom::page(&results, &explained))?;
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
