//@ arguments: --format junit --model rc11,sc
//! JUnit's XML.

use std::sync::atomic::{AtomicBool, Ordering::*};
use std::thread;

#[dpor::test]
fn fails() {
    static A: AtomicBool = AtomicBool::new(false);
    let thread = thread::spawn(|| A.store(true, Relaxed));
    println!("a <tag> & more");
    assert!(!A.load(Relaxed), "it is \"there\" ]]>");
    thread.join().unwrap();
}

#[dpor::test]
#[ignore = "slow"]
fn is_ignored() {}

#[dpor::test(model = "tso")]
fn passes() {}

#[dpor::test(max_executions = 1)]
fn is_incomplete() {
    dpor::choose(2);
}

#[dpor::test]
fn is_unsupported() {
    let _ = std::process::Command::new("ls").status();
}
