//! Runs the tests of a package natively, one process a test, so that what one prints is known apart from the others.

use std::path::PathBuf;
use std::process::Command;

use crate::compare::Profile;
use crate::{Package, cargo, executables, output, stdout};

/// The test binary of a package's library.
#[derive(Debug)]
pub struct Binary {
    path: PathBuf,
    directory: PathBuf,
}

/// How a test ended natively.
#[derive(Debug)]
pub struct Run {
    pub passed: bool,
    pub stdout: String,
    /// The panics that were reported, caught ones too.
    pub panics: Vec<Panic>,
}

/// A panic as the default hook reports it.
#[derive(Debug, PartialEq, Eq)]
pub struct Panic {
    pub message: String,
    pub file: String,
    pub line: u32,
    pub column: u32,
}

impl Binary {
    /// Builds the tests of a package.
    pub fn build(package: &Package, profile: Profile) -> Binary {
        let directory = package.directory().to_owned();
        let mut command = cargo();
        command.args(["test", "--no-run", "--lib", "--message-format=json", "--quiet"]).current_dir(&directory);
        command.args(profile.arguments());
        let (_, path) = executables(&stdout(&mut command)).next().expect("a test binary");
        Binary { path, directory }
    }

    fn command(&self) -> Command {
        let mut command = Command::new(&self.path);
        command.current_dir(&self.directory).env("RUST_BACKTRACE", "0").env_remove("RUST_TEST_THREADS");
        command
    }

    /// The names of the tests.
    pub fn tests(&self) -> Vec<String> {
        let list = stdout(self.command().args(["--list", "--format", "terse"]));
        list.lines().filter_map(|line| line.strip_suffix(": test")).map(str::to_owned).collect()
    }

    /// Runs one test.
    pub fn run(&self, test: &str) -> Run {
        let mut command = self.command();
        // With more than one thread the harness runs the test in a thread of its name, and says how it went afterwards.
        command.args(["--exact", test, "--nocapture", "--test-threads=2"]);
        let output = output(&mut command);
        let text = String::from_utf8_lossy(&output.stdout);
        Run {
            passed: output.status.success(),
            stdout: own_output(&text, test).unwrap_or_else(|| panic!("{test} printed no result:\n{text}")).to_owned(),
            panics: panics(&String::from_utf8_lossy(&output.stderr)),
        }
    }
}

/// What the test itself printed, without the lines of the test harness before and after.
fn own_output<'a>(stdout: &'a str, test: &str) -> Option<&'a str> {
    let start = "\nrunning 1 test\n";
    let text = stdout.strip_prefix(start)?;
    let end =
        text.rfind(&format!("test {test} ... ")).or_else(|| text.rfind(&format!("test {test} - should panic")))?;
    Some(&text[..end])
}

/// The panics that the default hook reported.
pub fn panics(stderr: &str) -> Vec<Panic> {
    stderr.split("\nthread '").skip(1).filter_map(panic).collect()
}

fn panic(report: &str) -> Option<Panic> {
    let (_, report) = report.split_once(" panicked at ")?;
    let (location, message) = report.split_once(":\n")?;
    let message = message.split("\nnote: run with `RUST_BACKTRACE=1`").next()?;
    // A panic while another one unwinds is always reported with its stack.
    let message = message.split("\nstack backtrace:\n").next()?;
    let message = message.strip_suffix('\n').unwrap_or(message);
    let mut parts = location.rsplitn(3, ':');
    let (column, line, file) = (parts.next()?, parts.next()?, parts.next()?);
    Some(Panic {
        message: message.to_owned(),
        file: file.to_owned(),
        line: line.parse().ok()?,
        column: column.parse().ok()?,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn output_of_the_test_alone() {
        let text = "\nrunning 1 test\none\ntwo without endtest a::b ... ok\n\ntest result: ok. 1 passed\n";
        assert_eq!(own_output(text, "a::b"), Some("one\ntwo without end"));
        let text = "\nrunning 1 test\ntest a::b - should panic ... FAILED\n\nfailures:\n";
        assert_eq!(own_output(text, "a::b"), Some(""));
        assert_eq!(own_output("\nrunning 0 tests\n", "a::b"), None);
    }

    #[test]
    fn panics_as_they_are_reported() {
        let text = "\nthread 'a' (5) panicked at src/a.rs:1:2:\nfirst\n\n\
                    thread 'b' (6) panicked at src/b.rs:30:4:\nsecond\nover: two lines\n\
                    note: run with `RUST_BACKTRACE=1` environment variable to display a backtrace\n";
        let panic = |message: &str, file: &str, line, column| Panic {
            message: message.into(),
            file: file.into(),
            line,
            column,
        };
        let expected = [panic("first", "src/a.rs", 1, 2), panic("second\nover: two lines", "src/b.rs", 30, 4)];
        assert_eq!(panics(text), expected);
        assert_eq!(panics("Error: nothing\n"), []);
    }
}
