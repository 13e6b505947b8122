//! The runner, on small suites.

use std::process::Command;

/// A suite that passes: as many tests as the crate has under `cargo test`.
#[test]
fn a_suite_passes() {
    let output = conformance(&["smallvec"]);
    let (stdout, stderr) = (String::from_utf8_lossy(&output.stdout), String::from_utf8_lossy(&output.stderr));
    assert!(stdout.contains("| smallvec | 1.16.4 | 63 | 63 | 0 | 0 | 0 | 0 | 100.0% |"), "{stdout}{stderr}");
    assert_eq!(output.status.code(), Some(0), "{stderr}");
}

#[test]
fn a_suite_that_is_not_there_is_an_error() {
    let output = conformance(&["smallvac"]);
    let stderr = String::from_utf8_lossy(&output.stderr);
    assert!(stderr.contains("there is no suite `smallvac`; there are coretests, alloctests"), "{stderr}");
    assert_eq!(output.status.code(), Some(2));
}

fn conformance(suites: &[&str]) -> std::process::Output {
    let mut command = Command::new(env!("CARGO_BIN_EXE_conformance"));
    command.arg("--checker").arg(dpor_tests::checker::program()).args(suites);
    command.output().expect("the runner can be run")
}
