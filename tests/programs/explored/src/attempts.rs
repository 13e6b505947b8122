//! Attempts that fail, some of which have an effect: it depends on the value that makes them fail.
//!
//! The other thread changes that value twice, with updates: the first makes the attempt fail without an effect, and takes the
//! place of the attempt in coherence order, and the second comes after it.

use std::hint::black_box;
use std::sync::atomic::{AtomicU32, Ordering::*, fence};

use crate::support::two;

static X: AtomicU32 = AtomicU32::new(0);
static Y: AtomicU32 = AtomicU32::new(0);

fn add_twice() {
    X.fetch_add(1, Relaxed);
    X.fetch_add(1, Relaxed);
}

/// Whether an attempt succeeds before it has found the location changed twice.
fn adds_in_time(load: impl Fn() -> u32) -> bool {
    loop {
        let current = load();
        match X.compare_exchange(current, current + 10, Relaxed, Relaxed) {
            Ok(_) => return true,
            Err(now) if now == current + 2 => return false,
            Err(_) => {}
        }
    }
}

#[dpor::test]
fn one_failure_has_an_effect() {
    let (in_time, ()) = two(|| adds_in_time(|| X.load(Relaxed)), add_twice);
    assert!(in_time); // ERROR: panic
}

#[dpor::test]
fn behind_another_load() {
    let load = || (X.load(Relaxed), Y.load(Relaxed)).0;
    let (in_time, ()) = two(|| adds_in_time(load), add_twice);
    assert!(in_time); // ERROR: panic
}

#[dpor::test]
fn behind_a_fence() {
    let load = || {
        let current = X.load(Relaxed);
        fence(SeqCst);
        current
    };
    let (in_time, ()) = two(|| adds_in_time(load), add_twice);
    assert!(in_time); // ERROR: panic
}

#[dpor::test]
fn by_two_loops() {
    let add = |_: u32| {
        let mut current = X.load(Relaxed);
        while let Err(now) = X.compare_exchange(current, current + 1, Relaxed, Relaxed) {
            current = now;
        }
    };
    let (in_time, ()) = two(|| adds_in_time(|| X.load(Relaxed)), || (0..2).for_each(add));
    assert!(in_time); // ERROR: panic
}

// The load is not in the loop, and is made only once.
#[dpor::test]
fn after_one_load() {
    two(
        || {
            let mut current = X.load(Relaxed);
            while let Err(now) = X.compare_exchange(current, current + 10, Relaxed, Relaxed) {
                black_box([0; 2][(now - current) as usize]); // ERROR: panic
                current = now;
            }
        },
        add_twice,
    );
}

// A thread that does not begin the loop has loaded the same.
#[dpor::test]
fn after_a_load_that_may_be_all() {
    let (failed, ()) = two(
        || {
            let mut current = X.load(Relaxed);
            if current == 2 {
                return false;
            }
            while let Err(now) = X.compare_exchange(current, current + 10, Relaxed, Relaxed) {
                if now == 2 && current == 0 {
                    return true;
                }
                current = now;
            }
            false
        },
        add_twice,
    );
    assert!(!failed); // ERROR: panic
}

// The failure leads back to the attempt, and not to the load: it expects what will not come again.
#[dpor::test]
fn the_same_again() {
    two(
        || {
            let current = X.load(Relaxed);
            // ERROR: non-termination
            while X.compare_exchange(current, current + 10, Relaxed, Relaxed).is_err() {}
        },
        || _ = X.fetch_add(1, Relaxed),
    );
}

#[dpor::test]
fn the_same_again_behind_a_fence() {
    two(
        || {
            let current = X.load(Relaxed);
            // ERROR: non-termination
            while X.compare_exchange(current, current + 10, Relaxed, Relaxed).is_err() {
                fence(SeqCst);
            }
        },
        || _ = X.fetch_add(1, Relaxed),
    );
}

// Each of four attempts may fail spuriously: the third may be the first that succeeds.
#[dpor::test(spurious = true)]
fn failures_without_a_reason_are_counted() {
    let attempt = |_: &u32| X.compare_exchange_weak(0, 10, Relaxed, Relaxed).is_ok();
    let (first, ()) = two(|| (0..4).find(attempt), || ());
    assert_ne!(first, Some(2)); // ERROR: panic
}
