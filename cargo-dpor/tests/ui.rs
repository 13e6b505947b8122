//! What users see: every program in `ui-tests/` is checked, and the report must be the expected one to the letter.
//!
//! See `ui-tests/README.md`. With the environment variable `BLESS=1`, the expectations are written anew.

mod support;

use std::env;
use std::fs;
use std::path::{Path, PathBuf};
use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::thread;

use support::{Project, Run, repository, without_times};

#[test]
fn reports_are_as_expected() {
    let cases = cases();
    assert!(cases.len() >= 60, "there are only {} programs", cases.len());
    let project = project(&cases);
    check(&project, &cases, "ui-tests");
    every_recorded_execution_fails_again(&project);
}

/// Bugs in published crates, which are dependencies.
#[test]
fn bugs_in_dependencies_are_shown_where_they_are() {
    check_dependents("crates", 8);
}

/// The same for versions that cannot be dependencies of the same package, or that were yanked.
#[test]
fn bugs_in_other_versions_are_shown_where_they_are() {
    check_dependents("other-versions", 6);
}

/// The programs in a directory are tests of a package, of which the dependencies are there, too.
fn check_dependents(name: &str, programs_at_least: usize) {
    let directory = format!("ui-tests/{name}");
    let cases = programs(&directory);
    assert!(cases.len() >= programs_at_least, "there are only {} programs", cases.len());
    let file = |file: &str| read(&repository().join(&directory).join(file));
    let project = Project::package(name, &file("dependencies.toml")).file("src/lib.rs", "");
    let project = write_tests(project, &cases).file("Cargo.lock", &file("Cargo.lock"));
    check(&project, &cases, &directory);
}

/// Every program must print what the file beside it in this directory says.
fn check(project: &Project, cases: &[Case], directory: &str) {
    // Everything is compiled once, for all of them.
    project.run("test --list").expect_code(0);
    let bless = env::var_os("BLESS").is_some_and(|value| value == "1");
    let wrong = at_once(cases, |case| {
        let actual = case.run(project);
        let expectation = repository().join(format!("{directory}/{}.stdout", case.name));
        if bless {
            fs::write(&expectation, &actual).unwrap();
            return None;
        }
        let expected = fs::read_to_string(&expectation).unwrap_or_default();
        (expected != actual).then(|| format!("=== {} prints\n{actual}", case.name))
    });
    assert!(wrong.is_empty(), "{}\nBLESS=1 writes the expectations anew", wrong.join("\n"));
}

/// Does something for several at a time, and gives what came of it.
fn at_once<T: Sync>(all: &[T], work: impl Fn(&T) -> Option<String> + Sync) -> Vec<String> {
    let (next, found) = (AtomicUsize::new(0), Mutex::new(Vec::new()));
    thread::scope(|scope| {
        for _ in 0..thread::available_parallelism().map_or(1, usize::from) {
            scope.spawn(|| {
                while let Some(one) = all.get(next.fetch_add(1, Ordering::Relaxed)) {
                    found.lock().unwrap().extend(work(one));
                }
            });
        }
    });
    let mut found = found.into_inner().unwrap();
    found.sort();
    found
}

/// What the failing tests have left behind can be run again, and has the same error.
fn every_recorded_execution_fails_again(project: &Project) {
    let files = fs::read_dir(project.path("target/dpor/replay")).unwrap().map(|entry| entry.unwrap().path());
    let files: Vec<PathBuf> = files.collect();
    at_once(&files, |file| {
        let recorded: serde_json::Value = serde_json::from_str(&fs::read_to_string(file).unwrap()).unwrap();
        let text = |key: &str| recorded["error"][key].as_str().unwrap().lines().next().unwrap_or_default().to_owned();
        let error = format!("error[{}]: {}\n", text("kind"), text("message"));
        project.run(&format!("replay --quiet {}", file.display())).expect_code(1).expect_stdout(&[&error]);
        None
    });
    assert!(files.len() > 60, "there are only {}", files.len());
}

struct Case {
    name: String,
    /// The options given to `cargo dpor test`.
    arguments: String,
    /// Other commands that are run afterwards.
    then: Vec<String>,
    /// Environment variables, as `NAME=VALUE`.
    environment: Vec<String>,
    /// The program.
    text: String,
}

/// The report must be the same for each of these numbers of workers.
const WORKERS: [u32; 2] = [1, 4];

/// The programs in `ui-tests`, and the examples of `cargo dpor explain`.
fn cases() -> Vec<Case> {
    let mut cases = programs("ui-tests");
    cases.extend(files("cargo-dpor/src/explain", "md").map(|path| {
        let text = read(&path);
        let example = text.split("```").nth(1).unwrap().strip_prefix("rust\n").unwrap();
        Case::new(&format!("explain_{}", stem(&path).replace('-', "_")), example.to_owned())
    }));
    cases.sort_by(|a, b| a.name.cmp(&b.name));
    cases
}

/// The programs in a directory.
fn programs(directory: &str) -> Vec<Case> {
    files(directory, "rs").map(|path| Case::new(&stem(&path), read(&path))).collect()
}

fn files(directory: &str, extension: &'static str) -> impl Iterator<Item = PathBuf> {
    let paths = fs::read_dir(repository().join(directory)).unwrap().map(|entry| entry.unwrap().path());
    paths.filter(move |path| path.extension().is_some_and(|other| other == extension))
}

fn read(path: &Path) -> String {
    fs::read_to_string(path).unwrap()
}

fn stem(path: &Path) -> String {
    path.file_stem().unwrap().to_str().unwrap().to_owned()
}

/// A package with all programs, each an integration test. It depends on the package in `ui-tests/dependency`.
fn project(cases: &[Case]) -> Project {
    let dependency = repository().join("ui-tests/dependency");
    let manifest = format!("[dependencies]\ndependency = {{ path = {dependency:?} }}");
    write_tests(Project::package("ui", &manifest).file("src/lib.rs", ""), cases)
}

/// The same with the programs as integration tests.
fn write_tests(project: Project, cases: &[Case]) -> Project {
    for case in cases {
        project.write(&format!("tests/{}.rs", case.name), &case.text);
    }
    project
}

impl Case {
    fn new(name: &str, text: String) -> Case {
        let values = |key: &str| {
            let lines = text.lines().filter_map(|line| line.strip_prefix("//@ ")?.strip_prefix(key));
            lines.map(|value| value.trim_start().to_owned()).collect::<Vec<_>>()
        };
        let arguments = values("arguments:").join(" ");
        let (then, environment) = (values("then:"), values("env:"));
        Case { arguments, then, environment, name: name.to_owned(), text }
    }

    fn command(&self, project: &Project, arguments: &str) -> Run {
        let mut command = project.cargo_dpor(arguments);
        command.envs(self.environment.iter().filter_map(|variable| variable.split_once('=')));
        Run::of(&mut command)
    }

    /// What all commands print.
    fn run(&self, project: &Project) -> String {
        let [first, others @ ..] = WORKERS.map(|workers| {
            let arguments =
                format!("test --quiet --no-cache --test {} --workers {workers} {}", self.name, self.arguments);
            printed(self.command(project, &arguments)).replace(&format!("\"workers\":{workers}"), "\"workers\":N")
        });
        for other in others {
            assert_eq!(first, other, "{}: the report depends on the number of workers", self.name);
        }
        let then = self
            .then
            .iter()
            .map(|command| format!("\n$ cargo dpor {command}\n{}", printed(self.command(project, command))));
        first + &then.collect::<String>()
    }
}

/// A report, with the exit code at its end and without what differs from run to run.
fn printed(run: Run) -> String {
    // What is printed besides the report matters where there is no report.
    let stderr = if run.code == 2 { &run.stderr } else { "" };
    let text = format!("{}{stderr}exit code {}\n", without_times(&run.stdout), run.code);
    text.replace(repository().to_str().unwrap(), "/repository")
}
