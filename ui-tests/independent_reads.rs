//! Two threads see two stores in opposite orders.

use std::sync::atomic::{AtomicBool, Ordering::*};
use std::thread;

static X: AtomicBool = AtomicBool::new(false);
static Y: AtomicBool = AtomicBool::new(false);

#[dpor::test]
fn opposite_orders() {
    let (a, b) = thread::scope(|scope| {
        scope.spawn(|| X.store(true, Release));
        scope.spawn(|| Y.store(true, Release));
        let a = scope.spawn(|| (X.load(Acquire), Y.load(Acquire)));
        let b = scope.spawn(|| (Y.load(Acquire), X.load(Acquire)));
        (a.join().unwrap(), b.join().unwrap())
    });
    assert!(a != (true, false) || b != (true, false), "they do not agree");
}
