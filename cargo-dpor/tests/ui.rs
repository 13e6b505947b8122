//! What users see: every program in `ui-tests/` is checked, and the report must be the expected one to the letter.
//!
//! See `ui-tests/README.md`. With the environment variable `BLESS=1`, the expectations are written anew.

mod support;

use std::env;
use std::fs;
use std::path::{Path, PathBuf};

use support::{Project, repository, without_times};

#[test]
fn reports_are_as_expected() {
    let cases = cases();
    assert!(!cases.is_empty());
    let project = project(&cases);
    let bless = env::var_os("BLESS").is_some_and(|value| value == "1");
    let mut wrong = Vec::new();
    for case in &cases {
        let actual = case.run(&project);
        let expectation = case.path.with_extension("stdout");
        if bless {
            fs::write(&expectation, &actual).unwrap();
        } else if fs::read_to_string(&expectation).unwrap_or_default() != actual {
            wrong.push(format!("=== {} prints\n{actual}", case.name));
        }
    }
    assert!(wrong.is_empty(), "{}\nBLESS=1 writes the expectations anew", wrong.join("\n"));
}

struct Case {
    name: String,
    path: PathBuf,
    /// The options given to `cargo dpor test`.
    arguments: String,
}

fn cases() -> Vec<Case> {
    let directory = repository().join("ui-tests");
    let paths = fs::read_dir(directory).unwrap().map(|entry| entry.unwrap().path());
    let mut cases: Vec<Case> = paths.filter(|path| has_extension(path, "rs")).map(Case::new).collect();
    cases.sort_by(|a, b| a.name.cmp(&b.name));
    cases
}

fn has_extension(path: &Path, extension: &str) -> bool {
    path.extension().is_some_and(|other| other == extension)
}

/// A package with all programs, each an integration test.
fn project(cases: &[Case]) -> Project {
    let project = Project::package("ui", "").file("src/lib.rs", "");
    for case in cases {
        project.write(&format!("tests/{}.rs", case.name), &fs::read_to_string(&case.path).unwrap());
    }
    project
}

impl Case {
    fn new(path: PathBuf) -> Case {
        let text = fs::read_to_string(&path).unwrap();
        let arguments = text.lines().find_map(|line| line.strip_prefix("//@ arguments: ")).unwrap_or_default();
        let name = path.file_stem().unwrap().to_str().unwrap().to_owned();
        Case { arguments: arguments.to_owned(), name, path }
    }

    /// The report, with the exit code at its end and without what differs from run to run.
    fn run(&self, project: &Project) -> String {
        let run = project.run(&format!("test --quiet --test {} {}", self.name, self.arguments));
        // What is printed besides the report matters where there is no report.
        let stderr = if run.code == 2 { &run.stderr } else { "" };
        format!("{}{stderr}exit code {}\n", without_times(&run.stdout), run.code)
    }
}
