//! What users see: every program in `ui-tests/` is checked, and the report must be the expected one to the letter.
//!
//! See `ui-tests/README.md`. With the environment variable `BLESS=1`, the expectations are written anew.

mod support;

use std::env;
use std::fs;
use std::path::{Path, PathBuf};

use support::{Project, Run, repository, without_times};

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
    every_recorded_execution_fails_again(&project);
}

/// What the failing tests have left behind can be run again, and has the same error.
fn every_recorded_execution_fails_again(project: &Project) {
    let files = fs::read_dir(project.path("target/dpor/replay")).unwrap().map(|entry| entry.unwrap().path());
    let mut count = 0;
    for file in files {
        let recorded: serde_json::Value = serde_json::from_str(&fs::read_to_string(&file).unwrap()).unwrap();
        let text = |key: &str| recorded["error"][key].as_str().unwrap().lines().next().unwrap_or_default().to_owned();
        let error = format!("error[{}]: {}\n", text("kind"), text("message"));
        project.run(&format!("replay --quiet {}", file.display())).expect_code(1).expect_stdout(&[&error]);
        count += 1;
    }
    assert!(count > 30, "there are only {count}");
}

struct Case {
    name: String,
    path: PathBuf,
    /// The options given to `cargo dpor test`.
    arguments: String,
    /// Other commands that are run afterwards.
    then: Vec<String>,
}

/// The report must be the same for each of these numbers of workers.
const WORKERS: [u32; 3] = [1, 2, 4];

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
        let values = |key: &str| {
            let lines = text.lines().filter_map(|line| line.strip_prefix("//@ ")?.strip_prefix(key));
            lines.map(|value| value.trim_start().to_owned()).collect::<Vec<_>>()
        };
        let arguments = values("arguments:").join(" ");
        let name = path.file_stem().unwrap().to_str().unwrap().to_owned();
        Case { arguments, then: values("then:"), name, path }
    }

    /// What all commands print.
    fn run(&self, project: &Project) -> String {
        let [first, others @ ..] = WORKERS.map(|workers| {
            let arguments = format!("test --quiet --test {} --workers {workers} {}", self.name, self.arguments);
            printed(project.run(&arguments)).replace(&format!("\"workers\":{workers}"), "\"workers\":N")
        });
        for other in others {
            assert_eq!(first, other, "{}: the report depends on the number of workers", self.name);
        }
        let then =
            self.then.iter().map(|command| format!("\n$ cargo dpor {command}\n{}", printed(project.run(command))));
        first + &then.collect::<String>()
    }
}

/// A report, with the exit code at its end and without what differs from run to run.
fn printed(run: Run) -> String {
    // What is printed besides the report matters where there is no report.
    let stderr = if run.code == 2 { &run.stderr } else { "" };
    format!("{}{stderr}exit code {}\n", without_times(&run.stdout), run.code)
}
