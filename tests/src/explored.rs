//! Explores every execution of the tests of a package, and compares what is found with what their comments say.

use std::fs;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread;
use std::time::Duration;

use dpor_engine::check::{Checked, check};
use dpor_engine::explore::{AwaitLevel, Config, Equivalence, Stats};
use dpor_engine::model::MemoryModel;
use dpor_engine::program::{Program, Test};
use dpor_engine::verdict::{Location, Outcome};
use dpor_engine::vm::{Failure, FailureKind, Image, RunOptions};

use crate::annotations::{self, Annotation, Expected};
use crate::{Package, checker};

/// Tests with more executions than this are not explored with everything run anew.
const MOST_ANEW: u64 = 2_000;
/// No test takes nearly as long: one that does is explored without end.
const LIMIT: Duration = Duration::from_secs(60);

/// The lowered tests of a package.
pub struct Explored {
    program: Arc<Program>,
    image: Arc<Image>,
}

impl Explored {
    /// Has the library of a package lowered.
    pub fn of(package: &Package) -> Explored {
        checker::lower(package);
        let mut found = Vec::new();
        collect(&package.directory().join("target/dpor"), &mut found);
        found.sort_by_key(|path| fs::metadata(path).and_then(|metadata| metadata.modified()).ok());
        let path = found.pop().expect("a lowered program");
        let program = Arc::new(Program::load(&path).expect("a program"));
        Explored { image: Image::of(&program), program }
    }

    pub fn tests(&self) -> &[Test] {
        &self.program.tests
    }

    /// Explores a test under a model.
    pub fn check(&self, test: &Test, model: MemoryModel, workers: usize) -> Checked {
        self.check_with(test, Config { workers, ..Config::new(model) })
    }

    /// Explores a test as this says, and as its attribute does.
    fn check_with(&self, test: &Test, config: Config) -> Checked {
        self.check_on(test, config, RunOptions::default())
    }

    /// The same, on a machine with these options.
    fn check_on(&self, test: &Test, config: Config, options: RunOptions) -> Checked {
        let buffer_bound = test.config.buffer_bound.map(|bound| bound as usize);
        let config = Config { buffer_bound, timeout: Some(LIMIT), ..config };
        let (spurious, unroll) = (test.config.spurious.unwrap_or(false), test.config.unroll);
        self.explore(test, &RunOptions { spurious, unroll, ..options }, &config)
    }

    /// Explores a test as these say, whatever its attribute does.
    pub fn explore(&self, test: &Test, options: &RunOptions, config: &Config) -> Checked {
        check(&self.image, test.entry, options, config)
    }

    /// Calls a function for each test, several at a time, and gives what it found wrong, in the order of the tests.
    pub fn problems(&self, of: impl Fn(&Test) -> Vec<String> + Sync) -> Vec<String> {
        let next = AtomicUsize::new(0);
        let found = Mutex::new(Vec::new());
        thread::scope(|scope| {
            for _ in 0..thread::available_parallelism().map_or(1, usize::from) {
                scope.spawn(|| {
                    while let Some((index, test)) = self.next(&next) {
                        let problems = of(test);
                        found.lock().unwrap_or_else(PoisonError::into_inner).push((index, problems));
                    }
                });
            }
        });
        let mut found = found.into_inner().unwrap_or_else(PoisonError::into_inner);
        found.sort();
        found.into_iter().flat_map(|(_, problems)| problems).collect()
    }

    fn next(&self, next: &AtomicUsize) -> Option<(usize, &Test)> {
        let index = next.fetch_add(1, Ordering::Relaxed);
        self.tests().get(index).map(|test| (index, test))
    }
}

/// Explores the tests of a package under each model, with several numbers of workers; panics with all that differs from
/// what the comments say.
pub fn assert_as_annotated(package: &Package) {
    let explored = Explored::of(package);
    let annotations = annotations::read(package.directory());
    let wrong = explored.problems(|test| {
        let annotation = &annotations[&test.name];
        MemoryModel::ALL.iter().flat_map(|model| problems(&explored, test, annotation, *model)).collect()
    });
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
    assert_eq!(explored.tests().len(), annotations.len(), "tests that are in no module");
}

/// Explores the tests of a package under RC11 with each value of `--await`: what they come to is the same, and so is
/// the number of complete executions, unless the comments say otherwise. Panics with all that differs.
pub fn assert_levels_agree(package: &Package) {
    let explored = Explored::of(package);
    let annotations = annotations::read(package.directory());
    let wrong = explored.problems(|test| {
        let full = explored.check(test, MemoryModel::Rc11, 1).stats.executions;
        let annotation = &annotations[&test.name];
        AwaitLevel::ALL.iter().flat_map(|level| problems_at(&explored, test, annotation, *level, full)).collect()
    });
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

/// Explores tests under some models, once with what threads did being remembered and once with everything run anew: all
/// that is found is the same, and so are the counts. Panics with all that differs.
pub fn assert_memory_makes_no_difference(explored: &Explored, models: &[MemoryModel]) {
    let wrong = explored.problems(|test| {
        let differs = |model: &MemoryModel| {
            let check = |remember| {
                let options = RunOptions { remember, ..RunOptions::default() };
                summary(&explored.check_on(test, Config { keep_going: true, ..Config::new(*model) }, options))
            };
            let remembered = check(true);
            if remembered.1 + remembered.2 > MOST_ANEW {
                return None;
            }
            let anew = check(false);
            (remembered != anew).then(|| format!("{} under {model}: {remembered:?}, and anew {anew:?}", test.name))
        };
        models.iter().filter_map(differs).collect()
    });
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

/// What is wrong with a test at a level, given the number of its executions at the full one.
fn problems_at(
    explored: &Explored,
    test: &Test,
    annotation: &Annotation,
    awaiting: AwaitLevel,
    full: u64,
) -> Vec<String> {
    let (name, model) = (awaiting.name(), MemoryModel::Rc11);
    let count = annotation.level(name);
    let config = Config { awaiting, keep_going: count.is_some(), ..Config::new(model) };
    let checked = explored.check_with(test, config);
    let expected = expected(test, annotation, model.name());
    let mut wrong = Vec::new();
    if !is_expected(&checked, &expected, &annotation.file) {
        wrong.push(format!("{} at {name}: {} instead of {expected:?}", test.name, found(&checked)));
    }
    let Stats { executions, blocked, .. } = checked.stats;
    let as_many = match count {
        Some(count) => count.is(executions, blocked),
        None => executions == full || checked.outcome != Outcome::Passed,
    };
    if !as_many {
        wrong.push(format!(
            "{} at {name}: {executions}+{blocked} executions instead of {count:?} (full: {full})",
            test.name
        ));
    }
    wrong
}

/// What a test must come to under a model: what its attribute says, or else its comments.
fn expected(test: &Test, annotation: &Annotation, model: &str) -> Expected {
    match test.config.expect {
        Some(kind) => Expected::Error { kind: kind.name().to_owned(), lines: Vec::new() },
        None => annotation.under(model).clone(),
    }
}

/// What is wrong with a test under a model.
fn problems(explored: &Explored, test: &Test, annotation: &Annotation, model: MemoryModel) -> Vec<String> {
    let name = model.name();
    if test.config.model.as_ref().is_some_and(|models| models.split(',').all(|model| model.trim() != name)) {
        return Vec::new();
    }
    let mut wrong = Vec::new();
    let trace = problems_with(explored, test, annotation, (model, Equivalence::Trace), &mut wrong);
    let reads_from = problems_with(explored, test, annotation, (model, Equivalence::ReadsFrom), &mut wrong);
    let config = Config::new(model);
    wrong.extend(problems_reduced(explored, test, annotation, Config { symmetry: true, ..config.clone() }, &trace));
    wrong.extend(problems_reduced(explored, test, annotation, Config { commute: true, ..config }, &trace));
    let passed = (trace.outcome, reads_from.outcome) == (Outcome::Passed, Outcome::Passed);
    let (many, few) = (trace.stats.executions, reads_from.stats.executions);
    let may_be_more = annotation.count(name, Equivalence::ReadsFrom).is_some_and(|count| count.at_least);
    if passed && few > many && !may_be_more {
        wrong.push(format!("{} under {name}: what is read takes {few} executions, and traces {many}", test.name));
    }
    wrong
}

/// Checks a test under a model and with an equivalence, and adds what is wrong.
fn problems_with(
    explored: &Explored,
    test: &Test,
    annotation: &Annotation,
    (model, equivalence): (MemoryModel, Equivalence),
    wrong: &mut Vec<String>,
) -> Checked {
    let case = format!("{} under {model}, {}", test.name, equivalence.name());
    let check = |workers| explored.check_with(test, Config { workers, equivalence, ..Config::new(model) });
    let checked = check(1);
    let expected = expected(test, annotation, model.name());
    if !is_expected(&checked, &expected, &annotation.file) {
        wrong.push(format!("{case}: {} instead of {expected:?}", found(&checked)));
    }
    if let Some(count) = annotation.count(model.name(), equivalence) {
        let Stats { executions, blocked, .. } = checked.stats;
        if !count.is(executions, blocked) {
            wrong.push(format!("{case}: {executions}+{blocked} executions instead of {count:?}"));
        }
    }
    for workers in [2, 4] {
        if summary(&check(workers)) != summary(&checked) {
            wrong.push(format!("{case}: {workers} workers find something else than one"));
        }
    }
    checked
}

/// What is wrong with a test where threads that are alike, or updates that commute, are explored in one order, given what
/// it comes to without.
fn problems_reduced(
    explored: &Explored,
    test: &Test,
    annotation: &Annotation,
    config: Config,
    plain: &Checked,
) -> Vec<String> {
    let model = config.model;
    let case = format!("{} under {model}, {} on", test.name, if config.symmetry { "symmetry" } else { "commute" });
    let check = |workers| explored.check_with(test, Config { workers, ..config.clone() });
    let checked = check(1);
    let expected = expected(test, annotation, model.name());
    let mut wrong = Vec::new();
    if !is_expected(&checked, &expected, &annotation.file) {
        wrong.push(format!("{case}: {} instead of {expected:?}", found(&checked)));
    }
    let Stats { executions, blocked, .. } = checked.stats;
    let passed = (plain.outcome, checked.outcome) == (Outcome::Passed, Outcome::Passed);
    if passed && executions > plain.stats.executions {
        wrong.push(format!("{case}: {executions} executions, and {} without", plain.stats.executions));
    }
    if let Some(count) = annotation.reduced_count(model.name(), &config)
        && !count.is(executions, blocked)
    {
        wrong.push(format!("{case}: {executions}+{blocked} executions instead of {count:?}"));
    }
    if summary(&check(2)) != summary(&checked) {
        wrong.push(format!("{case}: two workers find something else than one"));
    }
    wrong
}

/// Whether a test ended as it must.
fn is_expected(checked: &Checked, expected: &Expected, file: &str) -> bool {
    let kind = match checked.failure().map(|failure| failure.kind) {
        Some(FailureKind::Error(kind)) => kind.name(),
        _ => checked.outcome.name(),
    };
    match (expected, checked.failure()) {
        (Expected::Passed, _) => kind == "passed",
        (Expected::Outcome(outcome), _) => kind == outcome,
        (Expected::Error { .. }, None) => false,
        (Expected::Error { kind: wanted, lines }, Some(failure)) => kind == wanted && are_places(failure, file, lines),
    }
}

/// Whether a failure is in one of the lines, and its notes name the others.
fn are_places(failure: &Failure, file: &str, lines: &[u32]) -> bool {
    let line = |location: &Option<Location>| location.as_ref().filter(|l| l.file == file).map(|l| l.line);
    let own = line(&failure.location);
    let noted: Vec<u32> = failure.notes.iter().filter_map(|note| line(&note.location)).collect();
    let others = lines.iter().filter(|line| Some(**line) != own);
    lines.is_empty()
        || own.is_some_and(|own| lines.contains(&own)) && others.into_iter().all(|line| noted.contains(line))
}

/// How a test ended, for people.
fn found(checked: &Checked) -> String {
    let Some(failure) = checked.failure() else { return checked.outcome.name().to_owned() };
    let place = |location: &Option<Location>| match location {
        Some(location) => format!("{}:{}", location.file, location.line),
        None => "nowhere".to_owned(),
    };
    let notes: Vec<String> =
        failure.notes.iter().map(|note| format!("; {}: {}", note.message(true), place(&note.location))).collect();
    format!("{:?} at {}: {}{}", failure.kind, place(&failure.location), failure.message, notes.concat())
}

/// What must not depend on the number of workers, nor on what is remembered.
fn summary(checked: &Checked) -> (Outcome, u64, u64, Vec<String>) {
    let failures = checked.failures.iter().map(|found| format!("{:?}", found.failure)).collect();
    (checked.outcome, checked.stats.executions, checked.stats.blocked, failures)
}

/// All lowered programs below a directory.
fn collect(directory: &Path, found: &mut Vec<PathBuf>) {
    for entry in fs::read_dir(directory).into_iter().flatten().flatten() {
        let path = entry.path();
        if path.is_dir() {
            collect(&path, found);
        } else if path.extension().is_some_and(|extension| extension == "dpor") {
            found.push(path);
        }
    }
}
