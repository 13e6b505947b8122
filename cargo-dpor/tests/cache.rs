//! A test that has passed is not checked again unless something has changed that it depends on.

mod support;

use std::collections::BTreeMap;
use std::fs;
use std::path::PathBuf;

use serde_json::Value;
use support::{Project, Run, without_times};

/// Tests with a function each. What a test prints says which version of its function it has called.
fn library(left: u32, right: u32) -> String {
    format!(
        "fn left() -> u32 {{ {left} }}
fn right() -> u32 {{ {right} }}
#[cfg(test)]
mod tests {{
    use std::sync::atomic::{{AtomicUsize, Ordering::Relaxed}};
    fn race(add: u32) {{
        static X: AtomicUsize = AtomicUsize::new(0);
        println!(\"{{add}}\");
        let thread = std::thread::spawn(|| X.store(X.load(Relaxed) + 1, Relaxed));
        X.store(X.load(Relaxed) + 1, Relaxed);
        thread.join().unwrap();
    }}
    #[dpor::test]
    fn on_the_left() {{ race(crate::left()) }}
    #[dpor::test]
    fn on_the_right() {{ race(crate::right()) }}
    #[dpor::test]
    fn variable() {{ assert_ne!(std::env::var(\"FORBIDDEN\").ok().as_deref(), Some(\"1\")) }}
    #[dpor::test]
    fn fails() {{ assert_eq!(crate::left(), 0) }}
    #[dpor::test(expect = \"panic\")]
    fn panics() {{ assert_eq!(crate::left(), 0) }}
}}
"
    )
}

/// The tests by their names; what they have, but for the time.
fn results(run: &Run) -> BTreeMap<String, Value> {
    let events = run.stdout.lines().map(|line| serde_json::from_str::<Value>(line).unwrap());
    let mut tests: BTreeMap<String, Value> = BTreeMap::new();
    for mut event in events.filter(|event| event["event"] == "test") {
        event.as_object_mut().unwrap().remove("seconds");
        tests.insert(event["name"].as_str().unwrap().strip_prefix("tests::").unwrap().to_owned(), event);
    }
    tests
}

fn run(project: &Project, arguments: &str) -> BTreeMap<String, Value> {
    results(&project.run(&format!("test --format json --nocapture {arguments}")).expect_code(1))
}

/// The names of the tests whose verdicts were known.
fn cached(results: &BTreeMap<String, Value>) -> Vec<&str> {
    results.iter().filter(|(_, test)| test["cached"] == true).map(|(name, _)| name.as_str()).collect()
}

const PASSING: [&str; 4] = ["on_the_left", "on_the_right", "panics", "variable"];

#[test]
fn what_has_passed_and_not_changed_is_known() {
    let project = Project::package("cache_known", "").file("src/lib.rs", &library(1, 2));
    let first = run(&project, "");
    assert_eq!(cached(&first), Vec::<&str>::new());
    // Two threads, each with a load and a store. Both loads read the first value, with the stores in either order: 2. Or one of
    // them reads what the other thread stored: 2.
    assert_eq!((&first["on_the_left"]["executions"], &first["on_the_left"]["output"]), (&4.into(), &"1\n".into()));
    let mut again = run(&project, "");
    assert_eq!(cached(&again), PASSING, "what failed is checked again");
    for (name, test) in &mut again {
        test.as_object_mut().unwrap().remove("cached");
        assert_eq!(test, &first[name], "the same but for the time");
    }
    let text = without_times(&project.run("test left").expect_code(0).stdout);
    assert!(text.contains("PASS (cached)    cache_known tests::on_the_left (4 executions)\n"), "{text}");
    assert!(text.contains("1 test run: 1 passed (1 cached)\n"), "{text}");
    assert_eq!(cached(&run(&project, "--no-cache")), Vec::<&str>::new());
    assert_eq!(cached(&run(&project, "--workers 1 --timeout 9")), PASSING);
    assert_eq!(cached(&run(&project, "--model sc")), Vec::<&str>::new());
    assert_eq!(cached(&run(&project, "--model sc,rc11")).len(), PASSING.len());
}

#[test]
fn a_change_is_a_change_for_those_who_reach_it() {
    let project = Project::package("cache_changed", "").file("src/lib.rs", &library(1, 2));
    run(&project, "");
    project.write("src/lib.rs", &library(1, 3));
    let changed = run(&project, "");
    assert_eq!(cached(&changed), ["on_the_left", "panics", "variable"]);
    assert_eq!(changed["on_the_right"]["output"], "3\n");
    project.write("src/lib.rs", &library(0, 2));
    let results = results(&project.run("test --format json --nocapture").expect_code(1));
    // What was there before is known again; with this function, `fails` passes and `panics` does not.
    assert_eq!(cached(&results), ["on_the_right", "variable"]);
    assert_eq!((&results["fails"]["outcome"], &results["panics"]["outcome"]), (&"passed".into(), &"failed".into()));
}

#[test]
fn a_variable_is_what_it_was_for_those_who_ask() {
    let project = Project::package("cache_variable", "").file("src/lib.rs", &library(1, 2));
    run(&project, "");
    let with = |value: &str| {
        let mut command = project.cargo_dpor("test --format json --nocapture");
        results(&Run::of(command.env("FORBIDDEN", value).env("OTHER", value)))
    };
    let results = with("1");
    assert_eq!(cached(&results), ["on_the_left", "on_the_right", "panics"]);
    assert_eq!(results["variable"]["outcome"], "failed");
    assert_eq!((cached(&with("2")).len(), cached(&with("2")).len()), (3, 4));
}

#[test]
fn what_is_damaged_is_made_again() {
    let project = Project::package("cache_damaged", "").file("src/lib.rs", &library(1, 2));
    let first = run(&project, "");
    let files = || -> Vec<PathBuf> {
        fs::read_dir(project.path("target/dpor/cache")).unwrap().map(|entry| entry.unwrap().path()).collect()
    };
    assert_eq!(files().len(), PASSING.len());
    for path in files() {
        let mut bytes = fs::read(&path).unwrap();
        let at = bytes.len() / 2;
        bytes[at] ^= 4;
        fs::write(&path, bytes).unwrap();
    }
    assert_eq!(run(&project, ""), first);
    assert_eq!(cached(&run(&project, "")), PASSING);
}

#[test]
fn what_was_cut_short_is_not_known() {
    let project = Project::package("cache_limits", "").file("src/lib.rs", &library(1, 2));
    for _ in 0..2 {
        let results = run(&project, "--max-executions 2");
        assert_eq!(results["on_the_left"]["outcome"], "incomplete");
        assert!(!cached(&results).contains(&"on_the_left"));
        assert_eq!(cached(&run(&project, "--sample 3 --seed 1")), Vec::<&str>::new());
    }
}

#[test]
fn verdicts_are_forgotten_on_demand() {
    let project = Project::package("cache_clean", "").file("src/lib.rs", &library(1, 2));
    project.run("clean").expect_code(0).expect_stderr(&["Removed 0 verdicts"]);
    run(&project, "");
    project.run("clean").expect_code(0).expect_stderr(&["Removed 4 verdicts in "]);
    assert_eq!(cached(&run(&project, "")), Vec::<&str>::new());
    assert!(project.path("target/dpor/replay").is_dir());
    project.write("target/kept", "");
    project.run("clean --all").expect_code(0);
    assert!(!project.path("target/dpor").exists() && project.path("target/kept").exists());
    // A directory that is not ours.
    project.write("target/dpor/cache/thesis.tex", "");
    project.run("clean").expect_code(0).expect_stderr(&["Removed 0 verdicts"]);
    project.run("clean --all").expect_code(0);
    assert!(project.path("target/dpor/cache/thesis.tex").exists());
}
