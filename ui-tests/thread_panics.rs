//! A panic in a thread is the error, not that of the thread that joins it.

use std::sync::atomic::{AtomicU32, Ordering::Relaxed};
use std::thread;

static NUMBER: AtomicU32 = AtomicU32::new(0);

fn check_number() {
    assert_eq!(NUMBER.load(Relaxed), 0, "somebody was faster");
}

#[dpor::test]
fn joined() {
    let thread = thread::spawn(check_number);
    NUMBER.store(1, Relaxed);
    thread.join().unwrap();
}

#[dpor::test]
fn in_a_scope() {
    thread::scope(|scope| {
        scope.spawn(check_number);
        NUMBER.store(1, Relaxed);
    });
}

/// The panic of the thread is expected; the assertion after it is the error.
#[dpor::test]
fn expected() {
    let thread = thread::spawn(check_number);
    NUMBER.store(1, Relaxed);
    let result = thread.join();
    assert!(result.is_ok() || NUMBER.load(Relaxed) == 0);
}

/// The panic is passed on twice.
#[dpor::test]
fn through_another_thread() {
    let thread = thread::spawn(|| thread::spawn(check_number).join().unwrap());
    NUMBER.store(1, Relaxed);
    thread.join().unwrap();
}

#[dpor::test]
#[should_panic(expected = "somebody was slower")]
fn resumed() {
    let thread = thread::spawn(check_number);
    NUMBER.store(1, Relaxed);
    if let Err(payload) = thread.join() {
        std::panic::resume_unwind(payload);
    }
}

/// What counts is what the test itself panics with, as in `cargo test`.
#[dpor::test]
#[should_panic(expected = "called `Result::unwrap()` on an `Err` value")]
fn panics_when_it_joins() {
    thread::spawn(|| panic!("in the thread")).join().unwrap();
}

#[dpor::test]
#[should_panic(expected = "in the thread")]
fn panics_with_another_message() {
    thread::spawn(|| panic!("in the thread")).join().unwrap();
}
