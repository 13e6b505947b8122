//! The example of the tutorial, with the types of loom.

use loom::cell::UnsafeCell;
use loom::sync::Arc;
use loom::sync::atomic::{AtomicBool, Ordering, Ordering::*};
use loom::thread;

#[dpor::test]
fn unlocks_too_weakly() {
    loom::model(|| counts(Relaxed));
}

/// A lock for those who do not want to wait.
struct TryLock<T> {
    locked: AtomicBool,
    value: UnsafeCell<T>,
    unlock: Ordering,
}

unsafe impl<T: Send> Sync for TryLock<T> {}

impl<T> TryLock<T> {
    /// Calls a function with the value, unless somebody else has the lock.
    fn with<R>(&self, act: impl FnOnce(&mut T) -> R) -> Option<R> {
        if self.locked.swap(true, Acquire) {
            return None;
        }
        let result = self.value.with_mut(|value| act(unsafe { &mut *value }));
        self.locked.store(false, self.unlock);
        Some(result)
    }
}

fn counts(unlock: Ordering) {
    let lock = TryLock { locked: AtomicBool::new(false), value: UnsafeCell::new(0), unlock };
    let counter = Arc::new(lock);
    let increment = |counter: &TryLock<u32>| counter.with(|count| *count += 1).is_some() as u32; // ERROR: data-race
    let other = counter.clone();
    let thread = thread::spawn(move || increment(&other));
    let mine = increment(&counter);
    let theirs = thread.join().unwrap();
    assert_eq!(counter.with(|count| *count), Some(mine + theirs));
}

#[dpor::test]
fn unlocks() {
    loom::model(|| counts(Release));
}
