//! Every execution of concurrent programs: their numbers, and the errors that only some of them have.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use dpor_engine::check::{Checked, check};
use dpor_engine::explore::Config;
use dpor_engine::model::MemoryModel;
use dpor_engine::program::Program;
use dpor_engine::verdict::Outcome;
use dpor_engine::vm::{FailureKind, Image, RunOptions};
use dpor_tests::annotations::{self, Expected};
use dpor_tests::{Package, checker};

const MODELS: [(&str, MemoryModel); 4] =
    [("rc11", MemoryModel::Rc11), ("sc", MemoryModel::Sc), ("tso", MemoryModel::Tso), ("pso", MemoryModel::Pso)];

#[test]
fn executions_and_errors_are_as_expected() {
    let package = Package::new("explored");
    let program = Arc::new(Program::load(&lowered(package)).expect("a program"));
    let image = Image::of(&program);
    let expected = annotations::read(&package.directory());
    let counts = counts(&package.directory());
    let mut wrong = Vec::new();
    for test in &program.tests {
        let run = |model, workers| {
            check(&image, test.entry, &RunOptions::default(), &Config { workers, ..Config::new(model) })
        };
        let reference = run(MemoryModel::Rc11, 1);
        if let Some(problem) = problem(&reference, &expected[&test.name].1, test.config.expect) {
            wrong.push(format!("{}: {problem}", test.name));
        }
        for workers in [2, 4] {
            if summary(&run(MemoryModel::Rc11, workers)) != summary(&reference) {
                wrong.push(format!("{}: {workers} workers find something else than one", test.name));
            }
        }
        for (model, count) in counts.get(&test.name).into_iter().flatten() {
            let checked = run(*model, 1);
            if checked.outcome != Outcome::Passed || checked.stats.executions != *count {
                wrong.push(format!("{} under {model:?}: {:?} instead of {count}", test.name, summary(&checked)));
            }
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
    assert!(program.tests.len() >= 25, "{} tests are too few", program.tests.len());
}

/// What is wrong with a result.
fn problem(checked: &Checked, expected: &Expected, expect: Option<dpor_engine::verdict::ErrorKind>) -> Option<String> {
    let found = match (checked.failure(), checked.outcome) {
        (None, outcome) => outcome.name().to_owned(),
        (Some(failure), _) => match failure.kind {
            FailureKind::Error(kind) => {
                let line = failure.location.as_ref().map_or(0, |location| location.line);
                format!("{} in line {line}", kind.name())
            }
            other => format!("{other:?}: {}", failure.message),
        },
    };
    let wanted = match (expect, expected) {
        (Some(kind), _) if found.starts_with(kind.name()) => return None,
        (Some(kind), _) => kind.name().to_owned(),
        (None, Expected::Passed) => "passed".to_owned(),
        (None, Expected::Error { kind, line }) => format!("{kind} in line {line}"),
        (None, Expected::Outcome(outcome)) => outcome.clone(),
    };
    (found != wanted).then(|| format!("{found} instead of {wanted}"))
}

/// What must not depend on the number of workers.
fn summary(checked: &Checked) -> (Outcome, u64, u64, Option<String>) {
    let failure = checked.failure().map(|failure| format!("{failure:?}"));
    (checked.outcome, checked.stats.executions, checked.stats.blocked, failure)
}

/// The lowered program of the library of a package.
fn lowered(package: Package) -> PathBuf {
    checker::lower(package);
    let mut found = Vec::new();
    collect(&package.directory().join("target/dpor"), &mut found);
    found.sort_by_key(|path| fs::metadata(path).and_then(|metadata| metadata.modified()).ok());
    found.pop().expect("a lowered program")
}

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

/// The numbers of executions that `// COUNT: model number …` states, by test.
fn counts(directory: &Path) -> BTreeMap<String, Vec<(MemoryModel, u64)>> {
    let mut counts = BTreeMap::new();
    for entry in fs::read_dir(directory.join("src")).expect("a directory of sources").flatten() {
        let path = entry.path();
        let module = path.file_stem().and_then(|stem| stem.to_str()).expect("a name").to_owned();
        let mut name = String::new();
        for line in fs::read_to_string(&path).expect("a source file").lines() {
            if let Some(signature) = line.strip_prefix("fn ") {
                name = format!("{module}::{}", signature.split('(').next().unwrap_or_default());
            }
            if let Some(text) = line.trim_start().strip_prefix("// COUNT: ") {
                counts.insert(name.clone(), parse_counts(text));
            }
        }
    }
    counts
}

fn parse_counts(text: &str) -> Vec<(MemoryModel, u64)> {
    let words: Vec<&str> = text.split_whitespace().collect();
    let pair = |pair: &[&str]| {
        let model = MODELS.iter().find(|(name, _)| *name == pair[0]).unwrap_or_else(|| panic!("no model {}", pair[0]));
        (model.1, pair[1].parse().expect("a number"))
    };
    words.chunks(2).map(pair).collect()
}
