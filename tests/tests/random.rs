//! Random programs have the same executions as Rust, lowered and run by the machine, and as data that the explorer runs
//! by itself; that the explorer is right about the latter is established by its own tests.

use std::fs;
use std::path::Path;

use dpor_engine::explore::{Config, explore};
use dpor_engine::model::MemoryModel;
use dpor_engine::verdict::Outcome;
use dpor_tests::Package;
use dpor_tests::explored::Explored;
use dpor_tests::random::{self, Program};

/// How many programs are compared: half of them have the same executions under all models, half do not.
const PROGRAMS: usize = 80;
/// So many executions a program has at least, complete and blocked ones.
const LEAST: u64 = 6;
/// And so many at most.
const MOST: u64 = 1000;

#[test]
fn programs_have_the_same_executions_as_rust_and_as_data() {
    let programs = [programs(true), programs(false)].concat();
    let explored = Explored::of(&package(&random::library(&programs)));
    assert_eq!(explored.tests().len(), PROGRAMS);
    let wrong = explored.problems(|test| {
        let number: usize = test.name.trim_start_matches("program_").parse().expect("a number");
        let mut wrong = Vec::new();
        for model in MemoryModel::ALL {
            let expected = counts(&programs[number], model).expect("not too many");
            let checked = explored.check(test, model, 1);
            let found = (checked.stats.executions, checked.stats.blocked);
            if checked.outcome != Outcome::Passed || found != expected {
                let outcome = checked.outcome;
                let program = &programs[number];
                wrong.push(format!("under {model}: {outcome:?}, {found:?} instead of {expected:?}: {program:#?}"));
            }
        }
        wrong
    });
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

/// How many executions a program has under a model, complete and blocked ones.
fn counts(program: &Program, model: MemoryModel) -> Option<(u64, u64)> {
    let config = Config { max_executions: Some(MOST), ..Config::new(model) };
    let report = explore(&random::litmus(program), &config);
    report.complete.then_some((report.stats.executions, report.stats.blocked))
}

/// The first programs of a suitable size that are, or are not, the same under all models.
fn programs(same: bool) -> Vec<Program> {
    let suitable = |program: &Program| {
        let counts: Option<Vec<_>> = MemoryModel::ALL.iter().map(|model| counts(program, *model)).collect();
        counts.is_some_and(|counts| {
            counts.iter().all(|(executions, blocked)| executions + blocked >= LEAST)
                && counts.iter().all(|count| *count == counts[0]) == same
        })
    };
    (0..).map(random::program).filter(suitable).take(PROGRAMS / 2).collect()
}

/// The library as a package, in the target directory.
fn package(library: &str) -> Package {
    let directory = Path::new(env!("CARGO_TARGET_TMPDIR")).join("random-programs");
    let dpor = Path::new(env!("CARGO_MANIFEST_DIR")).join("../dpor");
    let manifest = format!(
        "[package]\nname = \"random-programs\"\nversion = \"0.0.0\"\nedition = \"2024\"\npublish = false\n\n\
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
