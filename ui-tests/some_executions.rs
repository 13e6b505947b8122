//! Assertions that only some executions violate.

use std::sync::atomic::{AtomicUsize, Ordering};
use std::thread;

/// Both threads may read 0: then one increment is lost.
#[dpor::test]
fn lost_update() {
    let counter = AtomicUsize::new(0);
    let increment = || {
        let seen = counter.load(Ordering::SeqCst);
        counter.store(seen + 1, Ordering::SeqCst);
    };
    thread::scope(|scope| {
        scope.spawn(increment);
        scope.spawn(increment);
    });
    println!("counted to {counter:?}");
    assert_eq!(counter.into_inner(), 2);
}

/// 2 executions: the increments come in either order.
#[dpor::test]
fn no_update_is_lost() {
    let counter = AtomicUsize::new(0);
    thread::scope(|scope| {
        scope.spawn(|| counter.fetch_add(1, Ordering::Relaxed));
        counter.fetch_add(1, Ordering::Relaxed);
    });
    assert_eq!(counter.into_inner(), 2);
}

/// Only the last of the choices is bad.
#[dpor::test]
fn an_unlucky_choice() {
    let index = dpor::choose(4);
    assert_ne!([1, 2, 3, 0][index], 0, "the choice was {index}");
}
