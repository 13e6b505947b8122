//! tokio's `AtomicWaker` (tokio#7450): a task that registers and is woken in the meantime gives the state back with a swap.
//! A store would do for the state, but not for what wakers did before: a wake-up that came after the look at the state is
//! overwritten, not acquired.

use crate::sync::atomic::{AtomicBool, AtomicUsize, Ordering::*};
use std::thread;

use crate::plain::Plain;

#[dpor::test]
fn fixed() {
    register_and_wake_twice(swap_waiting);
}

#[dpor::test]
fn broken() {
    register_and_wake_twice(store_waiting);
}

const WAITING: usize = 0;
const REGISTERING: usize = 1;
const WAKING: usize = 2;

fn swap_waiting(state: &AtomicUsize) {
    state.swap(WAITING, AcqRel);
}

fn store_waiting(state: &AtomicUsize) {
    state.store(WAITING, Release);
}

#[derive(Default)]
struct AtomicWaker {
    state: AtomicUsize,
    registered: Plain<bool>,
}

impl AtomicWaker {
    /// Registers; true where a wake-up came in the meantime. `leave` gives the state back then.
    fn register(&self, leave: fn(&AtomicUsize)) -> bool {
        if self.state.compare_exchange(WAITING, REGISTERING, Acquire, Acquire).is_err() {
            // Somebody is waking: as good as woken.
            return false;
        }
        unsafe { *self.registered.get() = true };
        match self.state.compare_exchange(REGISTERING, WAITING, AcqRel, Acquire) {
            Ok(_) => false,
            Err(_) => {
                unsafe { *self.registered.get() = false };
                leave(&self.state);
                true
            }
        }
    }

    /// Wakes whoever is registered; true where somebody is registering, who then wakes itself.
    fn wake(&self) -> bool {
        match self.state.fetch_or(WAKING, AcqRel) {
            WAITING => {
                unsafe { *self.registered.get() = false };
                self.state.fetch_and(!WAKING, Release);
                false
            }
            state => state & REGISTERING != 0,
        }
    }
}

fn register_and_wake_twice(leave: fn(&AtomicUsize)) {
    let (waker, data, handed_over) = (AtomicWaker::default(), Plain::new(0), AtomicBool::new(false));
    thread::scope(|scope| {
        scope.spawn(|| waker.wake());
        scope.spawn(|| {
            unsafe { *data.get() = 1 }; // ERROR: data-race
            handed_over.store(waker.wake(), Relaxed);
        });
        let woken = waker.register(leave);
        if handed_over.load(Relaxed) {
            assert!(woken);
            unsafe { *data.get() += 1 }; // ERROR: data-race
        }
    });
}
