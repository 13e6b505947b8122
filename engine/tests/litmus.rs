//! Litmus tests under all models: the final states must be those of the files, under both equivalences, and
//! the number of executions under trace equivalence.
//!
//! What the files expect was computed by enumerating candidate executions from the axioms of each model, with two
//! programs that share nothing with this one. TSO and PSO have the hardware's view: orderings of accesses mean nothing.
//! The name of a test is its code: `v0=p.acq` loads, `p.rel=1` stores, threads are separated by `|`.

use dpor_engine::explore::Equivalence;
use dpor_engine::litmus::{LitmusTest, Verdict, check, parse_line};
use dpor_engine::model::MemoryModel;

fn tests(file: &str) -> Vec<LitmusTest> {
    let path = format!("{}/tests/litmus/{file}.jsonl", env!("CARGO_MANIFEST_DIR"));
    let text = std::fs::read_to_string(&path).unwrap_or_else(|error| panic!("{path}: {error}"));
    text.lines().map(|line| parse_line(line).unwrap_or_else(|error| panic!("{path}: {error}: {line}"))).collect()
}

fn run(file: &str) {
    let mut checked = 0;
    for test in tests(file) {
        for model in MemoryModel::ALL {
            for (equivalence, workers) in Equivalence::ALL.into_iter().flat_map(|e| [(e, 1), (e, 2)]) {
                let result = check(&test, model, equivalence, workers);
                let result = result.unwrap_or_else(|error| panic!("{}: {error}", test.id));
                assert_ne!(result.expected, Some(Verdict::Mismatch), "{}: {}: {result:?}", test.id, test.name);
                checked += usize::from(result.expected.is_some());
            }
        }
    }
    assert!(checked > 0, "{file} expects nothing");
}

#[test]
fn accesses() {
    run("accesses");
}

#[test]
fn branches() {
    run("branches");
}

#[test]
fn fences() {
    run("fences");
}

#[test]
fn updates() {
    run("updates");
}

#[test]
fn compare_and_swap() {
    run("compare-and-swap");
}

#[test]
fn plain_accesses() {
    run("plain");
}

/// Independent reads of an SC store and of an update of the same location, where RC11 as published, and so C++20, allows
/// an outcome that stronger definitions of the SC order forbid: 24 executions, by the axioms of the paper.
#[test]
fn rc11_is_the_papers() {
    let all: Vec<LitmusTest> = tests("updates");
    let name = "p.sc=1; q.rel=1 | v0=q.sc.add(1); v1=q.rlx | q.sc=3; v0=p.sc";
    let test = all.iter().find(|t| t.name == name).expect("the test is there");
    let result = check(test, MemoryModel::Rc11, Equivalence::Trace, 1).expect("the test is well-formed");
    assert_eq!(result.executions, 24);
    assert!(result.states.is_some_and(|states| states.contains(&vec![1, 3, 0, 1, 3])));
}
