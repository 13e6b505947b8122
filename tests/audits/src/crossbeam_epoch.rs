use std::sync::atomic::Ordering::{AcqRel, Acquire};

use crossbeam_epoch::{Atomic, Collector, Owned};

use crate::both;

/// A thread replaces a value and retires the old one while another reads: what it reads is alive.
#[dpor::test]
fn retire_while_reading() {
    let collector = Collector::new();
    let value = Atomic::new(1);
    let (_, seen) = both(
        || {
            let handle = collector.register();
            let guard = handle.pin();
            let old = value.swap(Owned::new(2), AcqRel, &guard);
            // SAFETY: nobody can reach the old value any more, except who is pinned.
            unsafe { guard.defer_destroy(old) };
        },
        || {
            let handle = collector.register();
            let guard = handle.pin();
            // SAFETY: what is read is not freed while this thread is pinned.
            unsafe { *value.load(Acquire, &guard).deref() }
        },
    );
    assert!(seen == 1 || seen == 2);
    // SAFETY: nobody else has the value.
    drop(unsafe { value.into_owned() });
}
