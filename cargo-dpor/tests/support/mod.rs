//! What the end-to-end tests share: packages made on the fly, and the command run on them.

// Each test binary uses its own part of this.
#![allow(dead_code)]

pub mod browser;

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};

/// The repository.
pub fn repository() -> &'static Path {
    Path::new(env!("CARGO_MANIFEST_DIR")).parent().unwrap()
}

/// A directory with a package or a workspace, made anew for each test.
pub struct Project {
    root: PathBuf,
}

impl Project {
    /// An empty directory of that name.
    pub fn empty(name: &str) -> Project {
        let root = Path::new(env!("CARGO_TARGET_TMPDIR")).join(name);
        if root.exists() {
            fs::remove_dir_all(&root).unwrap();
        }
        fs::create_dir_all(&root).unwrap();
        Project { root }
    }

    /// A package that can use `dpor` in its tests; `manifest` is added to its manifest.
    pub fn package(name: &str, manifest: &str) -> Project {
        let dpor = repository().join("dpor");
        Project::empty(name).file(
            "Cargo.toml",
            &format!(
                "[package]\nname = \"{name}\"\nversion = \"0.0.0\"\nedition = \"2021\"\n\
                 [workspace]\n[dev-dependencies]\ndpor = {{ path = {dpor:?} }}\n{manifest}\n"
            ),
        )
    }

    /// The same with one more file.
    pub fn file(self, path: &str, text: &str) -> Project {
        self.write(path, text);
        self
    }

    /// Writes a file.
    pub fn write(&self, path: &str, text: &str) {
        let path = self.root.join(path);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, text).unwrap();
    }

    pub fn path(&self, path: &str) -> PathBuf {
        self.root.join(path)
    }

    /// `cargo dpor` with these arguments, in the project's directory.
    pub fn cargo_dpor(&self, arguments: &str) -> Command {
        let mut command = cargo_dpor();
        command.current_dir(&self.root).args(arguments.split_whitespace());
        command
    }

    /// Runs `cargo dpor` with these arguments.
    pub fn run(&self, arguments: &str) -> Run {
        Run::of(&mut self.cargo_dpor(arguments))
    }
}

/// `cargo dpor`, as cargo runs it.
pub fn cargo_dpor() -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_cargo-dpor"));
    command.arg("dpor");
    for variable in ["RUSTFLAGS", "CARGO_TARGET_DIR", "CARGO_BUILD_TARGET", "NO_COLOR", "CLICOLOR_FORCE", "COLUMNS"] {
        command.env_remove(variable);
    }
    command
}

/// How a command ended and what it printed.
pub struct Run {
    pub code: i32,
    pub stdout: String,
    pub stderr: String,
}

impl Run {
    pub fn of(command: &mut Command) -> Run {
        Run::from(command.output().unwrap())
    }

    /// Fails with all that was printed unless the command ended with this code.
    #[track_caller]
    pub fn expect_code(self, code: i32) -> Run {
        assert_eq!(self.code, code, "\n--- stdout\n{}\n--- stderr\n{}", self.stdout, self.stderr);
        self
    }

    /// Fails unless all of these are in the standard output.
    #[track_caller]
    pub fn expect_stdout(self, parts: &[&str]) -> Run {
        for part in parts {
            assert!(self.stdout.contains(part), "no {part:?} in\n{}\n--- stderr\n{}", self.stdout, self.stderr);
        }
        self
    }

    /// Fails unless all of these are in the standard error output.
    #[track_caller]
    pub fn expect_stderr(self, parts: &[&str]) -> Run {
        for part in parts {
            assert!(self.stderr.contains(part), "no {part:?} in\n{}", self.stderr);
        }
        self
    }

    /// The names of the tests that `--list` printed.
    pub fn listed(&self) -> Vec<&str> {
        self.stdout.lines().filter_map(|line| line.strip_suffix(": test")).collect()
    }
}

impl From<Output> for Run {
    fn from(output: Output) -> Run {
        Run {
            code: output.status.code().expect("the command was not killed"),
            stdout: String::from_utf8(output.stdout).unwrap(),
            stderr: String::from_utf8(output.stderr).unwrap(),
        }
    }
}

/// The text with the same time everywhere.
pub fn without_times(text: &str) -> String {
    let without = |line| without_attribute(&without_seconds(&without_time(line)));
    text.lines().map(|line| format!("{}\n", without(line))).collect()
}

/// `[   1.234s]` in the reports for people.
fn without_time(line: &str) -> String {
    match (line.find(" ["), line.find("s] ")) {
        (Some(start), Some(end)) if start < end => format!("{} [   0.000s] {}", &line[..start], &line[end + 3..]),
        _ => line.to_owned(),
    }
}

/// `"seconds":1.234` in JSON.
fn without_seconds(line: &str) -> String {
    const FIELD: &str = "\"seconds\":";
    let Some(start) = line.find(FIELD).map(|start| start + FIELD.len()) else { return line.to_owned() };
    let end = line[start..].find([',', '}']).map_or(line.len(), |end| start + end);
    format!("{}0.0{}", &line[..start], &line[end..])
}

/// `time="1.234"` in XML.
fn without_attribute(line: &str) -> String {
    const ATTRIBUTE: &str = " time=\"";
    let Some(start) = line.find(ATTRIBUTE).map(|start| start + ATTRIBUTE.len()) else { return line.to_owned() };
    let end = line[start..].find('"').map_or(line.len(), |end| start + end);
    format!("{}0.000{}", &line[..start], &line[end..])
}
