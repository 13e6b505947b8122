//! A mutex: a word that is 1 while somebody holds it.

use crate::sync::atomic::Atomic;
use crate::sync::atomic::Ordering::{Acquire, Relaxed, Release};
use crate::sys::sync::checker::{dpor_await, test, then, wait};

const FREE: u32 = 0;
const HELD: u32 = 1;

pub struct Mutex {
    word: Atomic<u32>,
}

impl Mutex {
    #[inline]
    pub const fn new() -> Self {
        Mutex { word: Atomic::<u32>::new(FREE) }
    }

    #[inline]
    pub fn lock(&self) {
        dpor_await(&self.word, wait::MUTEX, test::IS, FREE, then::SET, HELD, 0);
    }

    #[inline]
    pub fn try_lock(&self) -> bool {
        self.word.compare_exchange(FREE, HELD, Acquire, Relaxed).is_ok()
    }

    #[inline]
    /// # Safety
    ///
    /// The calling thread must hold the mutex.
    pub unsafe fn unlock(&self) {
        self.word.swap(FREE, Release);
    }
}
