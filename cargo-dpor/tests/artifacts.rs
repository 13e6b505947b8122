//! The program of a test is a file of its own: it depends on what the test reaches and on nothing else, and it can be checked
//! without a compiler.

mod support;

use std::collections::BTreeMap;
use std::fs;

use support::{Project, Run, cargo_dpor, without_times};

/// Two tests with a function each, and what they share.
fn library(left: u32, right: u32, more: &str) -> String {
    format!(
        "static TABLE: [&str; 2] = [\"left\", \"right\"];
fn left() -> u32 {{ {left} }}
fn right() -> u32 {{ {right} }}
#[cfg(test)]
mod tests {{
    use std::sync::atomic::{{AtomicUsize, Ordering::Relaxed}};
    fn race(add: u32) {{
        static X: AtomicUsize = AtomicUsize::new(0);
        let add = add as usize;
        let thread = std::thread::spawn(move || X.store(X.load(Relaxed) + add, Relaxed));
        X.store(X.load(Relaxed) + add, Relaxed);
        thread.join().unwrap();
        assert!(X.load(Relaxed) > 0, \"{{}}\", crate::TABLE[add % 2]);
    }}
    #[dpor::test]
    fn on_the_left() {{ race(crate::left()) }}
    #[dpor::test]
    fn on_the_right() {{ race(crate::right()); {more} }}
    #[dpor::test]
    fn fails() {{ let x: Option<&u32> = None; println!(\"before\"); x.unwrap(); }}
}}
"
    )
}

/// The digests of all tests, by their names.
fn digests(project: &Project) -> BTreeMap<String, String> {
    let run = project.run("build -o programs/").expect_code(0);
    let digest = |line: &str| {
        let (name, rest) = line.trim().strip_prefix("Built ")?.split_once(" in programs/")?;
        Some((name.to_owned(), rest.split_once(".dpor")?.0.to_owned()))
    };
    run.stderr.lines().filter_map(digest).collect()
}

#[test]
fn a_program_is_checked_without_a_compiler() {
    let project = Project::package("artifact_run", "").file("src/lib.rs", &library(1, 2, ""));
    let tested = project.run("test --no-cache").expect_code(1);
    let elsewhere = Project::empty("artifact_elsewhere");
    for (test, code) in [("on_the_left", 0), ("fails", 1)] {
        let file = elsewhere.path(&format!("{test}.dpor"));
        let mut build = project.cargo_dpor(&format!("build --exact tests::{test} -o"));
        Run::of(build.arg(&file)).expect_code(0).expect_stderr(&[&format!("Built tests::{test} in ")]);
        let mut run = cargo_dpor();
        // Neither cargo nor the compiler can be found, nor is the source where it was.
        run.current_dir(elsewhere.path("")).env("PATH", "/nowhere").env_remove("HOME").arg("run").arg(&file);
        let run = Run::of(&mut run).expect_code(code);
        let lines = |text: &str| without_times(text).lines().map(str::to_owned).collect::<Vec<String>>();
        let tested = lines(&tested.stdout);
        // The first line says how many tests there are, and what follows the line the summary begins with, too.
        for line in lines(&run.stdout).iter().skip(1).take_while(|line| *line != "------------") {
            assert!(tested.contains(line), "not in the report of `test`: {line}\n{}", run.stdout);
        }
        assert!(run.stdout.contains(if code == 0 { "(4 executions)" } else { "x.unwrap()" }), "{}", run.stdout);
    }
}

#[test]
fn a_program_is_what_its_test_reaches() {
    let project = Project::package("artifact_digest", "").file("src/lib.rs", &library(1, 2, ""));
    let before = digests(&project);
    assert_eq!(before.len(), 3);
    assert_eq!(before, digests(&project), "the same program has the same digest");
    // Another function, in the place of the one that one test calls.
    project.write("src/lib.rs", &library(1, 3, ""));
    let changed = |after: &BTreeMap<String, String>| {
        before
            .iter()
            .filter(|(name, digest)| after[*name] != **digest)
            .map(|(name, _)| name.clone())
            .collect::<Vec<_>>()
    };
    assert_eq!(changed(&digests(&project)), ["tests::on_the_right"]);
    // More functions, texts and statics, which come before those of other tests or between them.
    let more = "println!(\\\"{:?}\\\", std::collections::BTreeMap::from([(1.5f32.to_bits(), vec![\\\"new\\\"])]));"
        .replace("\\\"", "\"");
    project.write("src/lib.rs", &library(1, 2, &more));
    assert_eq!(changed(&digests(&project)), ["tests::on_the_right"]);
    project.write("src/lib.rs", &library(1, 2, ""));
    assert_eq!(changed(&digests(&project)), Vec::<String>::new());
}

#[test]
fn what_is_not_a_program_is_refused() {
    let project = Project::package("artifact_refused", "").file("src/lib.rs", &library(1, 2, ""));
    project.run("build -o some.dpor").expect_code(2).expect_stderr(&["3 tests match", "--exact NAME"]);
    project.run("build -o some.dpor nothing").expect_code(2).expect_stderr(&["no test matches"]);
    project.run("build -o left.dpor --exact tests::on_the_left").expect_code(0);
    let bytes = fs::read(project.path("left.dpor")).unwrap();
    let refused = |bytes: &[u8], why: &str| {
        fs::write(project.path("other.dpor"), bytes).unwrap();
        project.run("run other.dpor").expect_code(2).expect_stderr(&["error: other.dpor ", why]);
    };
    refused(b"#!/bin/sh", "is not a program of a test");
    refused(&bytes[..bytes.len() / 2], "is damaged");
    let mut other = bytes.clone();
    other[bytes.len() / 2] ^= 1;
    refused(&other, "is damaged");
    other[8] = 99;
    refused(&other, "another version");
    project.run("run nowhere.dpor").expect_code(2).expect_stderr(&["cannot read nowhere.dpor"]);
}
