//! The standard library's `park` and `unpark` (rust-lang/rust#53366): a thread that finds itself notified while it is about
//! to park stored EMPTY, where it should have swapped: the token of an unpark that came in between was lost, together with
//! what the unparking thread had done before.

use crate::sync::atomic::{AtomicBool, AtomicUsize, Ordering::*};
use crate::sync::{Condvar, Mutex};
use std::thread;

use crate::plain::Plain;

#[dpor::test]
fn fixed() {
    park_and_unpark_twice(swap_empty);
}

#[dpor::test]
fn broken() {
    park_and_unpark_twice(store_empty);
}

const EMPTY: usize = 0;
const PARKED: usize = 1;
const NOTIFIED: usize = 2;

fn swap_empty(state: &AtomicUsize) {
    state.swap(EMPTY, Acquire);
}

fn store_empty(state: &AtomicUsize) {
    state.store(EMPTY, Relaxed);
}

#[derive(Default)]
struct Parker {
    state: AtomicUsize,
    lock: Mutex<()>,
    changed: Condvar,
}

impl Parker {
    /// Takes the token, waiting for it; `take` empties a state that was seen to be notified.
    fn park(&self, take: fn(&AtomicUsize)) {
        if self.state.compare_exchange(NOTIFIED, EMPTY, Acquire, Relaxed).is_ok() {
            return;
        }
        let mut guard = self.lock.lock().unwrap();
        if self.state.compare_exchange(EMPTY, PARKED, Acquire, Acquire).is_err() {
            return take(&self.state);
        }
        while self.state.compare_exchange(NOTIFIED, EMPTY, Acquire, Relaxed).is_err() {
            guard = self.changed.wait(guard).unwrap();
        }
    }

    /// Gives the token; true where it was there already.
    fn unpark(&self) -> bool {
        let before = self.state.swap(NOTIFIED, Release);
        if before == PARKED {
            drop(self.lock.lock().unwrap());
            self.changed.notify_one();
        }
        before == NOTIFIED
    }
}

fn park_and_unpark_twice(take: fn(&AtomicUsize)) {
    let (parker, data, merged) = (Parker::default(), Plain::new(0), AtomicBool::new(false));
    thread::scope(|scope| {
        scope.spawn(|| {
            parker.unpark();
            unsafe { *data.get() = 1 }; // ERROR: data-race
            // The token was still there: whoever takes it takes it from this unpark too.
            merged.store(parker.unpark(), Relaxed);
        });
        parker.park(take);
        if merged.load(Relaxed) {
            unsafe { *data.get() += 1 }; // ERROR: data-race
        }
    });
}
