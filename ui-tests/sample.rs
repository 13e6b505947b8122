//@ arguments: --sample 200 --seed 7
//@ then: test --quiet --test sample --sample 200 --seed 7 --format json no_error

//! Random executions instead of all.

use std::sync::atomic::{AtomicUsize, Ordering::*};
use std::thread;

const TIMES: usize = 3;

// Two threads that increment in two steps lose increments in nearly every execution with a context switch.
#[dpor::test]
fn loses_increments() {
    static COUNTER: AtomicUsize = AtomicUsize::new(0);
    let increment = || {
        for _ in 0..TIMES {
            COUNTER.store(COUNTER.load(SeqCst) + 1, SeqCst);
        }
    };
    let thread = thread::spawn(increment);
    increment();
    thread.join().unwrap();
    assert_eq!(COUNTER.load(SeqCst), 2 * TIMES);
}

#[dpor::test]
fn no_error() {
    static COUNTER: AtomicUsize = AtomicUsize::new(0);
    let increment = || (0..TIMES).for_each(|_| drop(COUNTER.fetch_add(1, SeqCst)));
    let thread = thread::spawn(increment);
    increment();
    thread.join().unwrap();
    assert_eq!(COUNTER.load(SeqCst), 2 * TIMES);
}
