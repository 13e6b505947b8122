//! parking_lot's `WordLock` (parking_lot#292): the compare-exchange that takes the lock had release ordering only, where
//! it must acquire what the last holder released.

use crate::sync::atomic::{AtomicUsize, Ordering, Ordering::*};

use crate::plain::{Plain, two};

#[dpor::test]
fn fixed() {
    increment_twice(Acquire);
}

#[dpor::test]
fn broken() {
    increment_twice(Release);
}

const LOCKED: usize = 1;

fn increment_twice(lock: Ordering) {
    let (state, data) = (AtomicUsize::new(0), Plain::new(0));
    let attempt = || {
        let taken = state.compare_exchange(0, LOCKED, lock, Relaxed).is_ok();
        if taken {
            unsafe { *data.get() += 1 }; // ERROR: data-race
            state.fetch_and(!LOCKED, Release);
        }
        taken
    };
    let (first, second) = two(attempt, attempt);
    assert_eq!(unsafe { *data.get() }, u32::from(first) + u32::from(second));
}
