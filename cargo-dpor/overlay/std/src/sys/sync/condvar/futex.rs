//! A condition variable: a word with one bit for each thread that waits.

use crate::sync::atomic::Atomic;
use crate::sync::atomic::Ordering::Relaxed;
use crate::sys::sync::Mutex;
use crate::sys::sync::checker::{
    dpor_elapse, dpor_pick, dpor_reach, dpor_spurious, dpor_thread_bit, finite, test, wait,
};
use crate::time::Duration;

pub struct Condvar {
    waiting: Atomic<u32>,
}

impl Condvar {
    #[inline]
    pub const fn new() -> Self {
        Condvar { waiting: Atomic::<u32>::new(0) }
    }

    pub fn notify_one(&self) {
        dpor_pick(&self.waiting);
    }

    pub fn notify_all(&self) {
        self.waiting.swap(0, Relaxed);
    }

    /// # Safety
    ///
    /// The calling thread must hold the mutex.
    pub unsafe fn wait(&self, mutex: &Mutex) {
        // SAFETY: the caller holds the mutex.
        let bit = unsafe { self.begin(mutex) };
        if dpor_spurious() {
            self.end(bit);
        } else {
            dpor_reach(&self.waiting, wait::NOTIFICATION, test::CLEAR, bit, false, core::ptr::null());
        }
        mutex.lock();
    }

    /// Whether it was notified: false if the time is over.
    ///
    /// # Safety
    ///
    /// The calling thread must hold the mutex.
    pub unsafe fn wait_timeout(&self, mutex: &Mutex, timeout: Duration) -> bool {
        let Some(timeout) = finite(timeout) else {
            // SAFETY: the caller holds the mutex.
            unsafe { self.wait(mutex) };
            return true;
        };
        // SAFETY: the caller holds the mutex.
        let bit = unsafe { self.begin(mutex) };
        let woken = self.end(bit) || dpor_spurious();
        if !woken {
            dpor_elapse(timeout);
        }
        mutex.lock();
        woken
    }

    /// The thread waits from now on.
    ///
    /// # Safety
    ///
    /// The calling thread must hold the mutex.
    unsafe fn begin(&self, mutex: &Mutex) -> u32 {
        let bit = dpor_thread_bit();
        self.waiting.fetch_or(bit, Relaxed);
        // SAFETY: the caller holds the mutex.
        unsafe { mutex.unlock() };
        bit
    }

    /// The thread waits no longer; whether it was notified before.
    fn end(&self, bit: u32) -> bool {
        self.waiting.fetch_and(!bit, Relaxed) & bit == 0
    }
}
