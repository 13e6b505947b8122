//! Random programs have the same executions as Rust, lowered and run by the machine, and as data that the explorer runs
//! by itself; that the explorer is right about the latter is established by its own tests.

use std::fs;
use std::path::Path;

use dpor_engine::explore::{Config, Failure, explore};
use dpor_engine::model::MemoryModel;
use dpor_engine::program::Test;
use dpor_engine::verdict::{ErrorKind, Outcome};
use dpor_engine::vm::FailureKind;
use dpor_tests::Package;
use dpor_tests::explored::{Explored, assert_memory_makes_no_difference};
use dpor_tests::random::{self, Program};

/// How many programs of each kind are compared.
const PROGRAMS: usize = 40;
/// So many executions a program has at least, complete and blocked ones.
const LEAST: u64 = 6;
/// And so many at most.
const MOST: u64 = 1000;

/// What exploring a program finds.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Found {
    Race,
    Executions { complete: u64, blocked: u64 },
    Other,
}

/// What distinguishes programs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Kind {
    /// It has the same executions under all models.
    Same,
    /// It has others under some models than under others.
    Different,
    /// It has a data race.
    Racy,
    /// Too small, or too large.
    Unsuitable,
}

#[test]
fn programs_have_the_same_executions_as_rust_and_as_data() {
    let programs = [Kind::Same, Kind::Different, Kind::Racy].map(programs).concat();
    let explored = Explored::of(&package("random-programs", &random::library(&programs)));
    assert_eq!(explored.tests().len(), programs.len());
    let wrong = explored.problems(|test| {
        let number: usize = test.name.trim_start_matches("program_").parse().expect("a number");
        let program = &programs[number];
        let mut wrong = Vec::new();
        for model in MemoryModel::ALL {
            let as_rust = explore_rust(&explored, test, model, 1 + number % 2);
            let as_data = explore_data(program, model);
            if as_rust != as_data {
                wrong.push(format!("under {model}: {as_rust:?} instead of {as_data:?}: {program:#?}"));
            }
        }
        wrong
    });
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

#[test]
fn programs_have_the_same_executions_with_nothing_remembered() {
    let programs = [Kind::Same, Kind::Different, Kind::Racy].map(programs).concat();
    let explored = Explored::of(&package("remembered-programs", &random::library(&programs)));
    assert_memory_makes_no_difference(&explored, &MemoryModel::ALL);
}

fn explore_rust(explored: &Explored, test: &Test, model: MemoryModel, workers: usize) -> Found {
    let checked = explored.check(test, model, workers);
    match (checked.outcome, checked.failure().map(|failure| failure.kind)) {
        (Outcome::Passed, _) => {
            Found::Executions { complete: checked.stats.executions, blocked: checked.stats.blocked }
        }
        (_, Some(FailureKind::Error(ErrorKind::DataRace))) => Found::Race,
        _ => Found::Other,
    }
}

fn explore_data(program: &Program, model: MemoryModel) -> Found {
    let config = Config { max_executions: Some(MOST), ..Config::new(model) };
    let report = explore(&random::litmus(program), &config);
    match report.errors.first().map(|found| &found.failure) {
        Some(Failure::Race(_)) => Found::Race,
        None if report.complete => {
            Found::Executions { complete: report.stats.executions, blocked: report.stats.blocked }
        }
        _ => Found::Other,
    }
}

/// The first programs of a kind.
fn programs(kind: Kind) -> Vec<Program> {
    (0..).map(random::program).filter(|program| kind_of(program) == kind).take(PROGRAMS).collect()
}

fn kind_of(program: &Program) -> Kind {
    let found = MemoryModel::ALL.map(|model| explore_data(program, model));
    let is_suitable = |found: &Found| match found {
        Found::Executions { complete, blocked } => complete + blocked >= LEAST,
        Found::Race | Found::Other => false,
    };
    if found.contains(&Found::Race) && !found.contains(&Found::Other) {
        Kind::Racy
    } else if !found.iter().all(is_suitable) {
        Kind::Unsuitable
    } else if found.iter().all(|other| *other == found[0]) {
        Kind::Same
    } else {
        Kind::Different
    }
}

/// The library as a package, in the target directory.
fn package(name: &str, library: &str) -> Package {
    let directory = Path::new(env!("CARGO_TARGET_TMPDIR")).join(name);
    let dpor = Path::new(env!("CARGO_MANIFEST_DIR")).join("../dpor");
    let manifest = format!(
        "[package]\nname = {name:?}\nversion = \"0.0.0\"\nedition = \"2024\"\npublish = false\n\n\
         [dev-dependencies]\ndpor = {{ path = {dpor:?} }}\n\n[workspace]\n"
    );
    fs::create_dir_all(directory.join("src")).expect("a directory for the package");
    write(&directory.join("Cargo.toml"), &manifest);
    write(&directory.join("src/lib.rs"), library);
    Package::at(directory)
}

/// Writes a file, if it is not the same already: then nothing needs to be compiled again.
fn write(path: &Path, text: &str) {
    if fs::read_to_string(path).is_ok_and(|old| old == text) {
        return;
    }
    fs::write(path, text).unwrap_or_else(|error| panic!("{}: {error}", path.display()));
}
