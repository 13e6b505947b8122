//@ arguments: --model sc,tso,pso,rc11 --no-fail-fast

//! Each test under each model: what one forbids, another allows.

use std::sync::atomic::{fence, AtomicBool, Ordering::*};
use std::thread;

/// Store buffering: of 4 executions, the one in which both threads read `false` is not there under SC.
#[dpor::test]
fn dekker() {
    let (a, b) = (AtomicBool::new(false), AtomicBool::new(false));
    let (first, second) = thread::scope(|scope| {
        let first = scope.spawn(|| {
            a.store(true, Relaxed);
            b.load(Relaxed)
        });
        let second = scope.spawn(|| {
            b.store(true, Relaxed);
            a.load(Relaxed)
        });
        (first.join().unwrap(), second.join().unwrap())
    });
    assert!(first || second, "both may enter");
}

/// With a fence in each thread, 3 executions are left under every model.
#[dpor::test]
fn dekker_with_fences() {
    let (a, b) = (AtomicBool::new(false), AtomicBool::new(false));
    let enter = |mine: &AtomicBool, other: &AtomicBool| {
        mine.store(true, Relaxed);
        fence(SeqCst);
        other.load(Relaxed)
    };
    thread::scope(|scope| {
        let first = scope.spawn(|| enter(&a, &b));
        let second = enter(&b, &a);
        assert!(first.join().unwrap() || second);
    });
}

/// The attribute wins: 3 executions, those of SC.
#[dpor::test(model = "tso", buffer_bound = 0)]
fn dekker_without_buffers() {
    let (a, b) = (AtomicBool::new(false), AtomicBool::new(false));
    thread::scope(|scope| {
        scope.spawn(|| {
            a.store(true, Relaxed);
            b.load(Relaxed)
        });
        b.store(true, Relaxed);
        a.load(Relaxed);
    });
}
