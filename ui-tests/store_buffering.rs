//@ arguments: --model rc11,sc,tso,pso
//! Each thread stores, and then does not see what the other one has stored.

use std::sync::atomic::{AtomicU32, Ordering::*};
use std::thread;

#[dpor::test]
fn both_read_zero() {
    static X: AtomicU32 = AtomicU32::new(0);
    static Y: AtomicU32 = AtomicU32::new(0);
    let thread = thread::spawn(|| {
        X.store(1, Release);
        Y.load(Acquire)
    });
    Y.store(1, Release);
    let x = X.load(Acquire);
    let y = thread.join().unwrap();
    assert!(x == 1 || y == 1, "neither was first");
}
