//@ arguments: --max-executions 5 --symmetry off

//! Not everything is explored: that is no pass.

use std::sync::atomic::{AtomicUsize, Ordering};
use std::thread;

fn increments(n: usize) {
    let counter = AtomicUsize::new(0);
    thread::scope(|scope| {
        for _ in 0..n {
            scope.spawn(|| counter.fetch_add(1, Ordering::Relaxed));
        }
    });
}

/// 3! = 6 executions
#[dpor::test]
fn one_too_many() {
    increments(3);
}

/// 2! = 2 executions
#[dpor::test]
fn few_enough() {
    increments(2);
}

/// The attribute wins: 4! = 24 executions.
#[dpor::test(max_executions = 24)]
fn exactly_as_many() {
    increments(4);
}

/// What is expected is found before the limit.
#[dpor::test(expect = "panic")]
fn fails_in_time() {
    assert_ne!(dpor::choose(9), 3);
}
