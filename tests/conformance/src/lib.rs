//! Runs tests of code that others wrote under cargo-dpor, and writes down what came of it: whole test suites
//! (docs/conformance.md), and small tests of published crates (docs/audits.md).

pub mod audits;
pub mod checker;
pub mod command;
pub mod explained;
pub mod loom;
mod packages;
pub mod page;
pub mod suites;
pub mod workspace;

use std::path::{Path, PathBuf};

use anyhow::{Context, Result};

/// The root of the repository that this is part of.
pub fn repository() -> Result<PathBuf> {
    let own = Path::new(env!("CARGO_MANIFEST_DIR"));
    Ok(own.ancestors().nth(2).context("this package is in tests/conformance")?.to_owned())
}
