//! What is behind [`lazy_static!`](crate::lazy_static!).

use std::cell::UnsafeCell;
use std::fmt;
use std::sync::{Mutex, OnceLock, PoisonError};

#[doc(no_inline)]
pub use crate::thread::{panicking, yield_now, AccessError};

/// A value that is initialized when it is first used in an execution of a model, and dropped at its end.
pub struct Lazy<T> {
    init: fn() -> T,
    value: UnsafeCell<OnceLock<T>>,
}

// SAFETY: The value is only replaced by [`reset`](Reset::reset), where there is no other thread; otherwise this is a
// `OnceLock` and a pointer to a function.
unsafe impl<T: Send + Sync> Sync for Lazy<T> {}

impl<T> Lazy<T> {
    #[doc(hidden)]
    pub const fn __new(init: fn() -> T) -> Lazy<T> {
        Lazy { init, value: UnsafeCell::new(OnceLock::new()) }
    }
}

impl<T: Send + Sync + 'static> Lazy<T> {
    /// The value. It must not be used after the model has ended.
    pub fn get(&'static self) -> &'static T {
        // SAFETY: Nobody replaces it while threads of the model run.
        let value = unsafe { &*self.value.get() };
        value.get_or_init(|| {
            let value = (self.init)();
            note_use(self);
            value
        })
    }
}

impl<T> fmt::Debug for Lazy<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad("Lazy { .. }")
    }
}

trait Reset: Sync {
    /// Drops the value.
    ///
    /// # Safety
    ///
    /// Nobody uses the value, and there is no thread that could.
    unsafe fn reset(&self);
}

impl<T: Send + Sync> Reset for Lazy<T> {
    unsafe fn reset(&self) {
        // SAFETY: The caller says that nobody else has a reference.
        let value = unsafe { &mut *self.value.get() };
        drop(value.take());
    }
}

/// Those that were initialized since the last model.
struct Used(UnsafeCell<Mutex<Vec<&'static dyn Reset>>>);

// SAFETY: Threads use nothing but the mutex. Where it is borrowed mutably, there is no other thread.
unsafe impl Sync for Used {}

static USED: Used = Used(UnsafeCell::new(Mutex::new(Vec::new())));

fn note_use(lazy: &'static dyn Reset) {
    // SAFETY: It is not borrowed mutably while threads of the model run.
    let used = unsafe { &*USED.0.get() };
    used.lock().unwrap_or_else(PoisonError::into_inner).push(lazy);
}

/// Drops all values, the latest first.
///
/// # Safety
///
/// All threads that have used one have ended, and this one has no reference to any.
pub(crate) unsafe fn reset_all() {
    loop {
        // SAFETY: There is no other thread. Dropping a value may initialize another: nothing is borrowed meanwhile.
        let used = unsafe { &mut *USED.0.get() };
        let Some(lazy) = used.get_mut().unwrap_or_else(PoisonError::into_inner).pop() else { return };
        // SAFETY: The caller says so.
        unsafe { lazy.reset() };
    }
}
