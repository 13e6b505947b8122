//! What the commands of this package have in common: their options, and how they end.

use std::fs;
use std::num::NonZeroUsize;
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::thread;

use anyhow::{Context, Result};

use crate::checker::build_checker;

/// Which checker runs, and how.
#[derive(Debug, clap::Args)]
pub struct CheckerArgs {
    /// How many processes run at a time [default: as many as there are cores]
    #[arg(long, value_name = "N")]
    jobs: Option<NonZeroUsize>,
    /// The cargo-dpor to run [default: that of this repository, optimised, built first]
    #[arg(long, value_name = "PATH")]
    checker: Option<PathBuf>,
}

impl CheckerArgs {
    /// How many processes run at a time.
    pub fn jobs(&self) -> usize {
        self.jobs.or_else(|| thread::available_parallelism().ok()).map_or(1, NonZeroUsize::get)
    }

    /// Whether the command line names a checker.
    pub fn is_given(&self) -> bool {
        self.checker.is_some()
    }

    /// The checker to run: the given one, or that of this repository, built first.
    pub fn program(&self, repository: &Path) -> Result<PathBuf> {
        match &self.checker {
            Some(program) => Ok(std::path::absolute(program)?),
            None => build_checker(repository),
        }
    }
}

/// Writes a page of the documentation.
pub fn write_page(repository: &Path, name: &str, text: &str) -> Result<()> {
    let path = repository.join("docs").join(name);
    fs::write(&path, text).with_context(|| format!("cannot write {}", path.display()))
}

/// The exit code of a command: 0 if all is as expected, 1 if it is not, 2 if the command failed.
pub fn exit_code(result: Result<bool>) -> ExitCode {
    match result {
        Ok(true) => ExitCode::SUCCESS,
        Ok(false) => ExitCode::FAILURE,
        Err(error) => {
            eprintln!("error: {error:#}");
            ExitCode::from(2)
        }
    }
}
