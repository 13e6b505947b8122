//! Runs `cargo dpor test` of this workspace on a package.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::OnceLock;

use serde::Deserialize;

use crate::{Package, cargo, executables, output, stdout};

/// What `cargo dpor test` says of a test.
#[derive(Clone, Debug, Deserialize)]
pub struct Verdict {
    pub name: String,
    pub outcome: String,
    pub seconds: f64,
    pub error: Option<Error>,
    /// What the test printed.
    #[serde(default)]
    pub output: String,
    #[serde(default)]
    pub stderr: String,
}

/// What is wrong, and where.
#[derive(Clone, Debug, Deserialize)]
pub struct Error {
    pub kind: String,
    pub message: String,
    pub file: Option<String>,
    pub line: Option<u32>,
    pub column: Option<u32>,
}

/// The verdicts on all tests of a package, by name.
pub fn check(package: &Package, arguments: &[&str]) -> BTreeMap<String, Verdict> {
    let mut command = Command::new(program());
    command
        .args(["dpor", "test", "--format", "json", "--nocapture", "--no-cache"])
        .args(arguments)
        .current_dir(package.directory());
    let output = output(&mut command);
    let text = String::from_utf8_lossy(&output.stdout);
    let verdicts: BTreeMap<String, Verdict> = text.lines().filter_map(verdict).map(|v| (v.name.clone(), v)).collect();
    let complete = text.lines().last().is_some_and(|line| line.contains(r#""event":"done""#));
    let stderr = String::from_utf8_lossy(&output.stderr);
    assert!(complete, "{command:?} did not finish: {}\n{}\n{stderr}", output.status, last_lines(&text));
    verdicts
}

/// Has the tests of a package lowered, without running them.
pub fn lower(package: &Package) {
    let mut command = Command::new(program());
    stdout(command.args(["dpor", "test", "--list"]).current_dir(package.directory()));
}

fn verdict(line: &str) -> Option<Verdict> {
    let event: serde_json::Value = serde_json::from_str(line).unwrap_or_else(|error| panic!("{error}: {line}"));
    let is_test = event["event"] == "test";
    is_test.then(|| serde_json::from_value(event).unwrap_or_else(|error| panic!("{error}: {line}")))
}

fn last_lines(text: &str) -> &str {
    let start = text.rmatch_indices('\n').nth(3).map_or(0, |(at, _)| at + 1);
    &text[start..]
}

/// The `cargo-dpor` that `$CARGO_DPOR` names, or the one of this workspace, built where it is missing.
pub fn program() -> &'static Path {
    static BINARY: OnceLock<PathBuf> = OnceLock::new();
    BINARY.get_or_init(|| {
        if let Some(path) = std::env::var_os("CARGO_DPOR") {
            return path.into();
        }
        let mut command = cargo();
        command.args(["build", "--package", "cargo-dpor", "--bins", "--message-format=json", "--quiet"]);
        command.current_dir(Path::new(env!("CARGO_MANIFEST_DIR")).parent().expect("the workspace"));
        let messages = stdout(&mut command);
        let (_, path) = executables(&messages).find(|(name, _)| name == "cargo-dpor").expect("the binary cargo-dpor");
        path
    })
}
