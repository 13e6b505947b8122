//! Closures in closures, and functions that are passed on.

use std::sync::atomic::{AtomicI64, Ordering::*};
use std::thread;

fn twice(act: impl Fn(i64)) {
    act(1);
    act(-2);
}

#[dpor::test]
fn add_up() {
    let sum = AtomicI64::new(0);
    let add = |number: i64| {
        let old = sum.load(Acquire);
        let store = || sum.store(old + number, Release);
        store();
    };
    thread::scope(|scope| {
        scope.spawn(|| twice(add));
        twice(add);
    });
    assert_eq!(sum.into_inner(), -2);
}
