//! Errors that are accepted, and `cfg(dpor)`.

mod support;

use support::Project;

const LIBRARY: &str = r#"
#![cfg(test)]
use std::sync::atomic::{AtomicUsize, Ordering::Relaxed};
use std::thread;

static mut DATA: u32 = 0;
static SEEN: AtomicUsize = AtomicUsize::new(0);

mod seqlock {
    pub fn read() -> u32 {
        unsafe { std::ptr::read(&raw const super::DATA) }
    }

    pub fn write() {
        unsafe { std::ptr::write(&raw mut super::DATA, 1) }
    }
}

// There are two executions: main sees the flag, and reads, which races; or it does not.
fn race() {
    let thread = thread::spawn(|| {
        seqlock::write();
        SEEN.store(1, Relaxed);
    });
    if SEEN.load(Relaxed) == 1 {
        seqlock::read();
    }
    thread.join().unwrap();
}

#[dpor::test]
fn races() {
    race();
}

#[dpor::test(allow = "memory-leak, data-race in seqlock::")]
fn races_as_it_may() {
    race();
}

#[dpor::test(allow = "data-race in other::")]
fn races_elsewhere() {
    race();
}

#[dpor::test]
fn leaks() {
    if dpor::choose(3) > 0 {
        std::mem::forget(Box::new(1));
    }
}

#[dpor::test(allow = "memory-leak in src/lib.rs")]
fn an_error_that_is_not_allowed() {
    std::mem::forget(Box::new(1));
    assert_ne!(dpor::choose(2), 1);
}

// In the execution that is explored first, the writes race, and the flag is not yet set where it is looked at. That it may be set
// comes of that execution.
#[dpor::test(allow = "data-race in seqlock::")]
fn an_error_behind_one_that_is_allowed() {
    static FLAG: AtomicUsize = AtomicUsize::new(0);
    let looks = || {
        if FLAG.load(Relaxed) == 0 {
            seqlock::write();
        } else {
            FLAG.store(2, Relaxed);
        }
    };
    let threads = [thread::spawn(looks), thread::spawn(seqlock::write), thread::spawn(|| FLAG.store(1, Relaxed))];
    threads.into_iter().for_each(|thread| thread.join().unwrap());
    assert_ne!(FLAG.load(Relaxed), 2);
}

#[dpor::test]
fn knows_that_it_is_checked() {
    assert!(cfg!(dpor));
}
"#;

fn project(name: &str, manifest: &str) -> Project {
    Project::package(name, manifest).file("src/lib.rs", LIBRARY)
}

#[test]
fn what_is_allowed_is_counted_and_what_is_not_fails() {
    let project = project("allow", "");
    project.run("test --no-fail-fast").expect_code(1).expect_stdout(&[
        "tests run: 2 passed, 5 failed",
        "races_as_it_may (2 executions, 1 error allowed)",
        "FAIL allow an_error_behind_one_that_is_allowed",
        "error[data-race]",
        "error[memory-leak]",
        "error[panic]",
    ]);
}

#[test]
fn the_command_line_allows_for_all_tests() {
    let project = project("allow_all", "");
    let run = project.run("test --allow data-race=seqlock:: --allow-leaks --format json");
    let run = run.expect_code(1).expect_stdout(&[r#""name":"races","package":"allow_all""#]);
    let line = |name: &str| {
        let name = format!(r#""name":"{name}""#);
        run.stdout.lines().find(|line| line.contains(&name)).unwrap_or_else(|| panic!("{}", run.stdout)).to_owned()
    };
    assert!(
        line("races").contains(r#""outcome":"passed","executions":2,"blocked":0,"allowed":1"#),
        "{}",
        line("races")
    );
    // Two of three executions leak.
    assert!(
        line("leaks").contains(r#""outcome":"passed","executions":3,"blocked":0,"allowed":2"#),
        "{}",
        line("leaks")
    );
    assert!(line("an_error_that_is_not_allowed").contains(r#""outcome":"failed""#));
    assert!(line("races_elsewhere").contains(r#""outcome":"passed""#));
}

#[test]
fn the_manifest_allows_for_all_tests() {
    let project = project("allow_manifest", "[package.metadata.dpor]\nallow = \"data-race in seqlock::, memory-leak\"");
    project.run("test races leaks").expect_code(0).expect_stdout(&["tests run: 4 passed"]);
}

#[test]
fn a_mistake_is_told() {
    let project = project("allow_mistake", "");
    project.run("test --allow leak").expect_code(2).expect_stderr(&["`leak` names no errors"]);
}
