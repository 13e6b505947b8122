//! Runs test suites that others wrote under cargo-dpor, and writes down what came of it.

use std::fs;
use std::num::NonZeroUsize;
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::thread;
use std::time::Instant;

use anyhow::{Context, Result, bail};
use clap::Parser;

use dpor_conformance::checker::{Checker, build_checker};
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
    /// How many processes run at a time [default: as many as there are cores]
    #[arg(long, value_name = "N")]
    jobs: Option<NonZeroUsize>,
    /// The cargo-dpor to run [default: that of this repository, optimised, built first]
    #[arg(long, value_name = "PATH")]
    checker: Option<PathBuf>,
    /// Use the newest dependencies of the suites, and lock them
    #[arg(long)]
    update: bool,
}

fn main() -> ExitCode {
    match conformance(&Args::parse()) {
        Ok(true) => ExitCode::SUCCESS,
        Ok(false) => ExitCode::FAILURE,
        Err(error) => {
            eprintln!("error: {error:#}");
            ExitCode::from(2)
        }
    }
}

/// Whether all failures are explained.
fn conformance(args: &Args) -> Result<bool> {
    let chosen = chosen(&args.suites)?;
    let explained = explained::all()?;
    let repository = repository()?;
    let workspace = Workspace::prepare(&repository, args.update)?;
    let jobs = args.jobs.or_else(|| thread::available_parallelism().ok()).map_or(1, NonZeroUsize::get);
    let (program, target) = match &args.checker {
        Some(program) => (std::path::absolute(program)?, "target-of-another"),
        None => (build_checker(&repository)?, "target"),
    };
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
        let path = repository.join("docs/conformance.md");
        fs::write(&path, page::page(&results, &explained))
            .with_context(|| format!("cannot write {}", path.display()))?;
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
