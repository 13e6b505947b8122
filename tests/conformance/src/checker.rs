//! Runs the tests of a package under the checker: in portions, several at a time, each portion by a process of its own.
//!
//! A test that takes all memory, or that ends the checker in another way, costs only itself: it counts as lost, and the
//! rest of its portion is run again without it.

use std::collections::{HashSet, VecDeque};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::sync::Mutex;
use std::thread;

use anyhow::{Context, Result, ensure};
use dpor_engine::verdict::Outcome;
use serde::{Deserialize, Serialize};

/// How many tests a process runs.
const PORTION: usize = 40;
/// How much memory a process may use, in KiB.
const MEMORY: &str = "8000000";

/// What came of a test.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct TestResult {
    pub target: String,
    pub name: String,
    pub outcome: Outcome,
    /// The kind of error, where it failed.
    pub kind: Option<String>,
    /// Why it did not pass.
    pub message: String,
    /// How many executions were explored.
    pub executions: u64,
    /// How many errors were accepted.
    pub allowed: u64,
    pub seconds: f64,
}

/// The tests of a package, and how they are run.
#[derive(Clone, Debug, Default)]
pub struct Job<'a> {
    /// `None` for the one package of its workspace.
    pub package: Option<&'a str>,
    /// Arguments that choose targets.
    pub targets: &'a [&'a str],
    /// Arguments that choose features, and what counts as a test.
    pub options: &'a [&'a str],
    /// Only tests whose names contain one of these; all tests where there are none.
    pub filters: Vec<String>,
    /// How many seconds a test has.
    pub seconds: u32,
    /// Flags for the compiler.
    pub flags: &'a str,
}

/// One line of what `cargo dpor test --format json` prints.
#[derive(Deserialize)]
struct Line {
    event: String,
    #[serde(default)]
    name: String,
    target: Option<Target>,
    outcome: Option<Outcome>,
    error: Option<Error>,
    #[serde(default)]
    executions: u64,
    #[serde(default)]
    allowed: u64,
    #[serde(default)]
    seconds: f64,
}

#[derive(Deserialize)]
struct Target {
    kind: String,
    name: String,
}

#[derive(Deserialize)]
struct Error {
    kind: String,
    message: String,
}

/// The tests of one target, by name.
type Portion = (String, Vec<String>);

/// The checker that is tried.
pub struct Checker {
    pub program: PathBuf,
    /// Where it compiles to: what one checker has compiled is of no use to another.
    pub target: PathBuf,
    /// The workspace of the packages.
    pub directory: PathBuf,
    /// How many processes run at a time.
    pub jobs: usize,
}

impl Checker {
    /// Runs all tests of a job.
    pub fn run(&self, job: &Job) -> Result<Vec<TestResult>> {
        let portions = Mutex::new(self.portions(job)?);
        let results = Mutex::new(Vec::new());
        thread::scope(|scope| {
            let work = || -> Result<()> {
                loop {
                    let Some(portion) = lock(&portions).pop_front() else { return Ok(()) };
                    let portion_results = self.run_portion(job, portion)?;
                    lock(&results).extend(portion_results);
                }
            };
            let workers: Vec<_> = (0..self.jobs).map(|_| scope.spawn(work)).collect();
            workers.into_iter().try_for_each(|worker| worker.join().expect("a worker does not panic"))
        })?;
        let mut results = results.into_inner().expect("no worker panics");
        results.sort_by(|a, b| (&a.target, &a.name).cmp(&(&b.target, &b.name)));
        Ok(results)
    }

    /// The tests of a job, cut into portions.
    fn portions(&self, job: &Job) -> Result<VecDeque<Portion>> {
        let mut command = self.command(job);
        command.args(job.targets).args(["--list", "--format", "json"]).args(&job.filters);
        let output = command.stderr(Stdio::piped()).output().with_context(|| format!("cannot run {command:?}"))?;
        ensure!(output.status.success(), "{command:?} failed\n{}", String::from_utf8_lossy(&output.stderr));
        let mut targets: Vec<Portion> = Vec::new();
        for line in String::from_utf8(output.stdout)?.lines() {
            let line: Line = serde_json::from_str(line).with_context(|| format!("cannot read `{line}`"))?;
            let Some(target) = line.target.filter(|_| line.event == "listed") else { continue };
            let target = target.option();
            match targets.last_mut() {
                Some((last, names)) if *last == target && names.len() < PORTION => names.push(line.name),
                _ => targets.push((target, vec![line.name])),
            }
        }
        Ok(targets.into())
    }

    /// Runs some tests of a target; as often as it takes.
    fn run_portion(&self, job: &Job, (target, mut names): Portion) -> Result<Vec<TestResult>> {
        let mut results = Vec::new();
        while !names.is_empty() {
            let before = results.len();
            let trouble = self.run_once(job, &target, &names, &mut results)?;
            let done: HashSet<&str> = results[before..].iter().map(|result| result.name.as_str()).collect();
            names.retain(|name| !done.contains(name.as_str()));
            if !names.is_empty() {
                let name = names.remove(0);
                results.push(TestResult::lost(target.clone(), name, trouble));
            }
        }
        Ok(results)
    }

    fn run_once(&self, job: &Job, target: &str, names: &[String], to: &mut Vec<TestResult>) -> Result<String> {
        let mut command = self.command(job);
        command.args(target.split(' ')).args(["--format", "json", "--exact", "--workers", "1", "--timeout"]);
        command.arg(job.seconds.to_string()).args(names);
        let output = command.stderr(Stdio::piped()).output().with_context(|| format!("cannot run {command:?}"))?;
        let lines = String::from_utf8_lossy(&output.stdout);
        let lines = lines.lines().filter_map(|line| serde_json::from_str::<Line>(line).ok());
        to.extend(lines.filter_map(|line| line.result(target)));
        Ok(match String::from_utf8_lossy(&output.stderr).contains("memory allocation of") {
            true => "it needs more memory than a process has here".to_owned(),
            false => format!("the checker ended: {}", output.status),
        })
    }

    /// `cargo dpor test` for a package, with limited memory.
    fn command(&self, job: &Job) -> Command {
        let mut command = Command::new("sh");
        command.args(["-c", "ulimit -v \"$0\"; exec \"$@\"", MEMORY]).arg(&self.program);
        command
            .args(["test", "--quiet", "--no-fail-fast", "--no-cache", "--max-steps", "20000000000"])
            .args(job.options);
        if let Some(package) = job.package {
            command.args(["-p", package]);
        }
        command.current_dir(&self.directory).stdin(Stdio::null());
        command.env("CARGO_TARGET_DIR", &self.target);
        if !job.flags.is_empty() {
            command.env("RUSTFLAGS", job.flags);
        }
        command
    }
}

impl TestResult {
    /// A test that took the checker with it.
    fn lost(target: String, name: String, message: String) -> TestResult {
        let outcome = Outcome::Incomplete;
        TestResult { target, name, outcome, kind: None, message, executions: 0, allowed: 0, seconds: 0.0 }
    }
}

impl Target {
    /// The option that selects it.
    fn option(&self) -> String {
        match self.kind.as_str() {
            "lib" => "--lib".to_owned(),
            kind => format!("--{kind} {}", self.name),
        }
    }
}

impl Line {
    fn result(self, target: &str) -> Option<TestResult> {
        let outcome = self.outcome.filter(|_| self.event == "test")?;
        let (kind, message) = match (outcome, self.error) {
            (Outcome::Failed, Some(error)) => (Some(error.kind.clone()), format!("{}: {}", error.kind, error.message)),
            (_, error) => (None, error.map(|error| error.message).unwrap_or_default()),
        };
        let Line { name, executions, allowed, seconds, .. } = self;
        Some(TestResult { target: target.to_owned(), name, outcome, kind, message, executions, allowed, seconds })
    }
}

fn lock<T>(mutex: &Mutex<T>) -> std::sync::MutexGuard<'_, T> {
    mutex.lock().expect("no worker panics")
}

/// The checker of this repository, built first.
pub fn build_checker(repository: &Path) -> Result<PathBuf> {
    let mut cargo = Command::new("cargo");
    cargo.args(["build", "--release", "--locked", "-p", "cargo-dpor"]).current_dir(repository);
    let status = cargo.status().with_context(|| format!("cannot run {cargo:?}"))?;
    ensure!(status.success(), "{cargo:?} failed");
    Ok(repository.join("target/release/cargo-dpor"))
}
