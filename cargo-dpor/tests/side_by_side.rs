//! Tests that are checked side by side: the same results, in the same order, as one by one.

mod support;

use serde_json::Value;
use support::Project;

const PROGRAM: &str = r#"
use std::sync::atomic::{AtomicU32, Ordering::*};
use std::thread;

static X: AtomicU32 = AtomicU32::new(0);

/// Threads exchange a value, each so many times.
fn exchanges(threads: u32, times: u32) {
    thread::scope(|scope| {
        for t in 0..threads {
            scope.spawn(move || for n in 0..times { X.swap(1 + times * t + n, Relaxed); });
        }
    });
}

#[dpor::test]
fn a_small() { exchanges(2, 1) }

#[dpor::test]
fn b_large() { exchanges(4, 3) }

#[dpor::test]
fn c_fails() {
    let thread = thread::spawn(|| X.store(1, Relaxed));
    println!("printed");
    assert_eq!(X.load(Relaxed), 0, "seen");
    thread.join().unwrap();
}

#[dpor::test]
#[ignore = "later"]
fn d_is_ignored() {}

#[dpor::test(max_executions = 3)]
fn e_is_incomplete() { exchanges(2, 3) }

#[dpor::test]
fn f_is_unsupported() { std::process::Command::new("true").status().unwrap(); }

#[dpor::test(model = "sc,tso")]
fn g_under_two_models() { exchanges(3, 1) }

#[dpor::test]
fn h_fails_late() {
    exchanges(3, 3);
    assert_ne!(X.load(Relaxed), 9);
}
"#;

/// The results, but for the time that they took.
fn results(project: &Project, workers: u32) -> Vec<Value> {
    let run = project.run(&format!("test -q --no-cache --format json --workers {workers}")).expect_code(1);
    let objects = run.stdout.lines().map(|line| serde_json::from_str::<Value>(line).unwrap());
    let mut results: Vec<Value> = objects.filter(|object| object["event"] == "test").collect();
    for result in &mut results {
        result.as_object_mut().unwrap().remove("seconds").unwrap();
    }
    results
}

#[test]
fn results_are_those_of_one_by_one() {
    let project = Project::package("side_by_side", "").file("tests/t.rs", PROGRAM).file("src/lib.rs", "");
    let one = results(&project, 1);
    let named = |name: &str| one.iter().filter(|result| result["name"] == name).collect::<Vec<_>>();
    // In as many orders as there are: 2!, 12! / (3!)^4, and 3! under each model.
    assert_eq!(named("a_small")[0]["executions"], 2);
    assert_eq!(named("b_large")[0]["executions"], 369_600);
    assert_eq!(named("g_under_two_models").iter().map(|one| &one["executions"]).collect::<Vec<_>>(), [6, 6]);
    let outcomes: Vec<&str> = one.iter().map(|result| result["outcome"].as_str().unwrap()).collect();
    let expected = ["passed", "passed", "failed", "ignored", "incomplete", "unsupported", "passed", "passed", "failed"];
    assert_eq!(outcomes, expected);
    for workers in [2, 4, 16] {
        assert_eq!(results(&project, workers), one, "{workers} workers");
    }
}
