//@ arguments: --model tso --buffer-bound 0
//@ then: test --quiet --test buffer_bound --model tso --buffer-bound 1
//! With no room in its buffer, a thread cannot delay a store.

use std::sync::atomic::{AtomicU32, Ordering::*};
use std::thread;

#[dpor::test]
fn both_read_zero() {
    static X: AtomicU32 = AtomicU32::new(0);
    static Y: AtomicU32 = AtomicU32::new(0);
    let thread = thread::spawn(|| {
        X.store(1, Relaxed);
        Y.load(Relaxed)
    });
    Y.store(1, Relaxed);
    assert!(X.load(Relaxed) == 1 || thread.join().unwrap() == 1);
}
