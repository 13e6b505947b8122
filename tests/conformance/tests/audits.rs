//! The runner of audits, on small crates.

use std::process::{Command, Output};

/// Crates whose tests are fast: the verdicts are the expected ones, and so are those with fixes and with seeded bugs.
#[test]
fn some_audits_have_the_expected_verdicts() {
    let output = audits(&["heapless", "rtrb", "hybrid-rc", "async-oneshot", "triple_buffer"]);
    let (stdout, stderr) = (String::from_utf8_lossy(&output.stdout), String::from_utf8_lossy(&output.stderr));
    assert_eq!(output.status.code(), Some(0), "{stdout}{stderr}");
    // The known bug of heapless, in the first execution.
    let peek = "| heapless | 0.9.3 | `enqueue_while_peeking` | A thread enqueues while another peeks: nothing or the whole value. | \
                failed: data-race | 1 |";
    assert!(stdout.contains(peek), "{stdout}");
}

#[test]
fn a_crate_without_an_audit_is_an_error() {
    let output = audits(&["heaples"]);
    let stderr = String::from_utf8_lossy(&output.stderr);
    assert!(stderr.contains("there is no audit of `heaples`"), "{stderr}");
    assert_eq!(output.status.code(), Some(2));
}

fn audits(crates: &[&str]) -> Output {
    let mut command = Command::new(env!("CARGO_BIN_EXE_audits"));
    command.arg("--checker").arg(dpor_tests::checker::program()).args(crates);
    command.output().expect("the runner can be run")
}
