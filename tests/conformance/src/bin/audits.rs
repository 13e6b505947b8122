//! Runs the small tests of published crates, compares the verdicts with those that are expected, and writes docs/audits.md.

use std::process::ExitCode;

use anyhow::Result;
use clap::Parser;

use dpor_conformance::audits::{self, Audits, Changed, Round, Surprise, Verdict};
use dpor_conformance::command::{CheckerArgs, exit_code, write_page};
use dpor_conformance::repository;

/// Run small tests of published crates under cargo-dpor
#[derive(Debug, Parser)]
struct Args {
    /// Run only the tests of these; without any, all are run and docs/audits.md is written
    #[arg(value_name = "CRATE")]
    crates: Vec<String>,
    #[command(flatten)]
    checker: CheckerArgs,
    /// Write down what was found as what is expected; not with names of crates
    #[arg(long, conflicts_with = "crates")]
    accept: bool,
}

fn main() -> ExitCode {
    exit_code(run(&Args::parse()))
}

/// Whether all is as expected.
fn run(args: &Args) -> Result<bool> {
    let repository = repository()?;
    let audits = Audits::read(&repository, &args.crates)?;
    let (program, jobs) = (args.checker.program(&repository)?, args.checker.jobs());
    let checker = audits.checker(program, jobs);
    let rows = audits.run(&checker)?;
    let fixes = audits.run_round(&checker, Round::Fixes)?;
    let seeds = audits.run_round(&checker, Round::Seeds)?;
    if args.accept {
        audits.accept(&rows)?;
    }
    if args.crates.is_empty() {
        write_page(&repository, "audits.md", &audits.page(&rows, &fixes, &seeds)?)?;
    } else {
        print!("{}", audits::table(&rows));
    }
    let mut surprises = if args.accept { Vec::new() } else { audits.surprises(&rows) };
    surprises.extend(fixes.iter().chain(&seeds).flat_map(Changed::surprises));
    Ok(report(surprises))
}

/// Names what was not expected: whether there was nothing.
fn report(surprises: Vec<Surprise>) -> bool {
    let shown = |verdict: Option<Verdict>| verdict.map_or_else(|| "nothing".to_owned(), |verdict| verdict.to_string());
    let mut none = true;
    for Surprise { test, expected, found } in surprises {
        eprintln!("{test}: expected {}, found {}", shown(expected), shown(found));
        none = false;
    }
    none
}
