use std::ptr;
use std::sync::atomic::AtomicPtr;
use std::sync::atomic::Ordering::{AcqRel, Acquire};

use seize::{Collector, Guard, reclaim};

use crate::both;

/// A thread replaces a value and retires the old one while another reads: what it reads is alive.
#[dpor::test]
fn retire_while_reading() {
    let collector = Collector::new().batch_size(1);
    let value = AtomicPtr::new(Box::into_raw(Box::new(1)));
    let (_, seen) = both(
        || {
            let guard = collector.enter();
            let old = guard.swap(&value, Box::into_raw(Box::new(2)), AcqRel);
            // SAFETY: nobody can reach the old value any more, except who has entered.
            unsafe { guard.defer_retire(old, reclaim::boxed) };
        },
        || {
            let guard = collector.enter();
            // SAFETY: what is read is not freed while this thread is inside.
            unsafe { *guard.protect(&value, Acquire) }
        },
    );
    assert!(seen == 1 || seen == 2);
    // SAFETY: nobody else has the value.
    drop(unsafe { Box::from_raw(value.swap(ptr::null_mut(), AcqRel)) });
}
