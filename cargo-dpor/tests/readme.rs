//! What the README says is so.

mod support;

use std::fs;
use std::path::Path;

use support::{Run, cargo_dpor, repository, without_times};

/// The blocks of a language in the README.
fn blocks(language: &str) -> Vec<String> {
    let readme = fs::read_to_string(repository().join("README.md")).unwrap();
    let parts = readme.split("```").skip(1).step_by(2);
    parts.filter_map(|block| block.strip_prefix(&format!("{language}\n"))).map(str::to_owned).collect()
}

#[test]
fn the_examples_print_what_is_shown() {
    let target = Path::new(env!("CARGO_TARGET_TMPDIR")).join("examples");
    let mut command = cargo_dpor();
    command.args(["test", "--no-cache", "--manifest-path"]).arg(repository().join("examples/Cargo.toml"));
    let run = Run::of(command.arg("--target-dir").arg(&target)).expect_code(1);
    let printed = run.stdout.replace(target.to_str().unwrap(), "target");
    assert_eq!(without_times(&blocks("text")[0]), without_times(&printed));
}

#[test]
fn the_tests_are_run_in_the_same_way_everywhere() {
    let script = fs::read_to_string(repository().join(".ci/run")).unwrap();
    let command = blocks("sh").pop().unwrap();
    for part in command.trim().split(" && ") {
        assert!(script.lines().any(|line| line == part), "`{part}` is not in .ci/run");
    }
}
