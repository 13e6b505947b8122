//@ then: test --quiet --test cover --show-cover seen a_label
//@ then: test --quiet --test cover --format json a_label

//! Places that some execution must reach.

use std::sync::atomic::{AtomicBool, Ordering::Relaxed};
use std::sync::Mutex;
use std::thread;

// The load reads either of two writes: one execution in two.
#[dpor::test]
fn a_label_is_reached() {
    static FLAG: AtomicBool = AtomicBool::new(false);
    let thread = thread::spawn(|| FLAG.store(true, Relaxed));
    if FLAG.load(Relaxed) {
        dpor::cover!("seen");
    }
    thread.join().unwrap();
}

// Nobody else has the mutex.
#[dpor::test]
fn a_label_is_never_reached() {
    let mutex = Mutex::new(0);
    if mutex.try_lock().is_err() {
        dpor::cover!("the mutex is locked");
    }
}

// Iterations that wait are left out, but the first one is not: it is the first to come to the label.
#[dpor::test]
fn a_label_in_a_loop_that_waits() {
    static FLAG: AtomicBool = AtomicBool::new(false);
    let thread = thread::spawn(|| FLAG.store(true, Relaxed));
    while !FLAG.load(Relaxed) {
        dpor::cover!("waited");
    }
    thread.join().unwrap();
}

// What is never reached matters where everything was explored, and not where the expected error came first.
#[dpor::test(expect = "panic")]
fn an_expected_error_comes_first() {
    if dpor::choose(2) == 0 {
        panic!("expected");
    }
    dpor::cover!("after it");
}
