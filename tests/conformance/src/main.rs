//! Runs test suites that others wrote under cargo-dpor, and writes down what came of it.

use std::fs;
use std::path::Path;
use std::process::ExitCode;
use std::time::Instant;

use anyhow::{Context, Result, bail};
use clap::Parser;

use dpor_conformance::checker::Checker;
use dpor_conformance::command::{CheckerArgs, exit_code, write_page};
use dpor_conformance::explained::{self, Explained};
use dpor_conformance::page::{self, SuiteResult};
use dpor_conformance::repository;
use dpor_conformance::suites::{SUITES, Suite};
use dpor_conformance::workspace::Workspace;

/// Run test suites that others wrote under cargo-dpor
#[derive(Debug, Parser)]
struct Args {
    /// Run only these; without any, all are run and docs/conformance.md is written
    #[arg(value_name = "SUITE")]
    suites: Vec<String>,
    #[command(flatten)]
    checker: CheckerArgs,
    /// Use the newest dependencies of the suites, and lock them
    #[arg(long)]
    update: bool,
}

fn main() -> ExitCode {
    exit_code(conformance(&Args::parse()))
}

/// Whether all failures are explained.
fn conformance(args: &Args) -> Result<bool> {
    let chosen = chosen(&args.suites)?;
    let explained = explained::all()?;
    let repository = repository()?;
    let workspace = Workspace::prepare(&repository, args.update)?;
    let (program, jobs) = (args.checker.program(&repository)?, args.checker.jobs());
    let target = if args.checker.is_given() { "target-of-another" } else { "target" };
    let directory = workspace.directory.clone();
    let checker = Checker { program, target: directory.join(target), directory, jobs };
    let mut results = Vec::new();
    for suite in chosen {
        let result = run_suite(&checker, &workspace, suite)?;
        eprint!("{}", page::table(std::slice::from_ref(&result)).lines().last().unwrap_or_default());
        eprintln!();
        results.push(result);
    }
    if args.update {
        copy(&workspace.directory.join("Cargo.lock"), &repository.join("tests/conformance/workspace.lock"))?;
    }
    if args.suites.is_empty() {
        write_page(&repository, "conformance.md", &page::page(&results, &explained))?;
    } else {
        print!("{}", page::table(&results));
    }
    Ok(all_explained(&results, &explained))
}

fn run_suite(checker: &Checker, workspace: &Workspace, suite: Suite) -> Result<SuiteResult> {
    let start = Instant::now();
    let tests = checker.run(&suite.job()).with_context(|| format!("the suite {} could not be run", suite.name))?;
    Ok(SuiteResult { suite, version: workspace.version(&suite)?, tests, time: start.elapsed() })
}

/// Names the failures that are not explained.
fn all_explained(results: &[SuiteResult], explained: &[Explained]) -> bool {
    let mut all = true;
    for result in results {
        for test in result.unexplained(explained) {
            eprintln!("{}: {} failed, which is not explained: {}", result.suite.name, test.name, test.message);
            all = false;
        }
    }
    all
}

/// The suites with these names, or all.
fn chosen(names: &[String]) -> Result<Vec<Suite>> {
    if names.is_empty() {
        return Ok(SUITES.to_vec());
    }
    let find = |name: &String| match SUITES.iter().find(|suite| suite.name == name) {
        Some(suite) => Ok(*suite),
        None => {
            let known: Vec<&str> = SUITES.iter().map(|suite| suite.name).collect();
            bail!("there is no suite `{name}`; there are {}", known.join(", "))
        }
    };
    names.iter().map(find).collect()
}

fn copy(from: &Path, to: &Path) -> Result<()> {
    fs::copy(from, to).with_context(|| format!("cannot copy {} to {}", from.display(), to.display()))?;
    Ok(())
}
