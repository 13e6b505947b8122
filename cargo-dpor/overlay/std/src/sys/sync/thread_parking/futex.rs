//! Parking: a word that is 1 if the thread has a token to go on.

use crate::pin::Pin;
use crate::sync::atomic::Atomic;
use crate::sync::atomic::Ordering::{Acquire, Release};
use crate::sys::sync::checker::{dpor_ask, dpor_await, dpor_elapse, dpor_spurious, finite, question, test, then, wait};
use crate::time::Duration;

const NONE: u32 = 0;
const TOKEN: u32 = 1;

pub struct Parker {
    word: Atomic<u32>,
}

impl Parker {
    /// # Safety
    ///
    /// The pointer must be valid for writes.
    pub unsafe fn new_in_place(parker: *mut Parker) {
        // SAFETY: the caller passes a pointer that is valid for writes.
        unsafe { parker.write(Parker { word: Atomic::<u32>::new(NONE) }) };
    }

    /// # Safety
    ///
    /// Only the thread that the parker belongs to may call this.
    pub unsafe fn park(self: Pin<&Self>) {
        dpor_ask(question::TOKEN);
        if dpor_spurious() {
            return;
        }
        dpor_await(&self.word, wait::TOKEN, test::IS, TOKEN, then::SET, NONE, 0);
    }

    /// # Safety
    ///
    /// Only the thread that the parker belongs to may call this.
    pub unsafe fn park_timeout(self: Pin<&Self>, timeout: Duration) {
        let Some(timeout) = finite(timeout) else {
            // SAFETY: the caller is the thread that the parker belongs to.
            return unsafe { self.park() };
        };
        dpor_ask(question::TOKEN);
        if self.word.swap(NONE, Acquire) == NONE {
            dpor_elapse(timeout);
        }
    }

    #[inline]
    pub fn unpark(self: Pin<&Self>) {
        self.word.swap(TOKEN, Release);
    }
}
