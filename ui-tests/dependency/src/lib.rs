//! A package that programs under test depend on.

use std::cell::UnsafeCell;
use std::sync::atomic::{AtomicBool, Ordering};

/// A lock that forgets to acquire.
#[derive(Default)]
pub struct SpinLock<T> {
    locked: AtomicBool,
    value: UnsafeCell<T>,
}

unsafe impl<T: Send> Sync for SpinLock<T> {}

impl<T> SpinLock<T> {
    pub const fn new(value: T) -> SpinLock<T> {
        SpinLock { locked: AtomicBool::new(false), value: UnsafeCell::new(value) }
    }

    /// Has exclusive access, or is told so if somebody else has.
    pub fn with<R>(&self, access: impl FnOnce(&mut T) -> R) -> Option<R> {
        if self.locked.swap(true, Ordering::Relaxed) {
            return None;
        }
        let result = access(unsafe { &mut *self.value.get() });
        self.locked.store(false, Ordering::Release);
        Some(result)
    }
}

/// Panics if the numbers are not equal.
pub fn assert_same(a: u32, b: u32) {
    assert_eq!(a, b, "not the same");
}
