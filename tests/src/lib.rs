//! End-to-end tests of cargo-dpor: real programs, checked.
//!
//! The programs are packages of their own in `programs/`. This library runs them, natively and under the checker, and
//! says what came out; the tests in `tests/` state what must hold.

pub mod annotations;
pub mod checker;
pub mod compare;
pub mod explored;
pub mod native;
pub mod random;
pub mod sequential;
pub mod soak;

use std::path::{Path, PathBuf};
use std::process::{Command, Output};

/// A package of programs.
#[derive(Clone, Debug)]
pub struct Package {
    directory: PathBuf,
}

impl Package {
    /// The package of this name in `programs/`.
    pub fn new(name: &str) -> Package {
        Package { directory: Path::new(env!("CARGO_MANIFEST_DIR")).join("programs").join(name) }
    }

    /// The package in a directory.
    pub fn at(directory: PathBuf) -> Package {
        Package { directory }
    }

    /// Its directory.
    pub fn directory(&self) -> &Path {
        &self.directory
    }
}

/// The cargo that runs these tests.
fn cargo() -> Command {
    Command::new(std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into()))
}

/// Runs a command to its end.
fn output(command: &mut Command) -> Output {
    command.output().unwrap_or_else(|error| panic!("cannot run {command:?}: {error}"))
}

/// Runs a command that must succeed, and gives what it printed.
fn stdout(command: &mut Command) -> String {
    let output = output(command);
    let stderr = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{command:?}: {}\n{stderr}", output.status);
    String::from_utf8(output.stdout).expect("cargo prints UTF-8")
}

/// The executables that a `cargo build` or `cargo test --no-run` names in its messages: target and path.
fn executables(messages: &str) -> impl Iterator<Item = (String, PathBuf)> {
    messages.lines().filter_map(|line| {
        let message: serde_json::Value = serde_json::from_str(line).ok()?;
        let path = PathBuf::from(message["executable"].as_str()?);
        Some((message["target"]["name"].as_str()?.to_owned(), path))
    })
}
