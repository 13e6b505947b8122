//! What lets a thread go on that waits for a future.

use std::sync::atomic::{AtomicU32, Ordering};

const NONE: u32 = 0;
const TOKEN: u32 = 1;

/// A token that one thread takes, and others give.
pub(super) struct Token {
    word: AtomicU32,
    /// The thread that takes it.
    #[cfg(not(dpor))]
    thread: std::thread::Thread,
}

impl Token {
    /// Nobody has given it yet to this thread.
    pub fn of_current_thread() -> Token {
        Token {
            word: AtomicU32::new(NONE),
            #[cfg(not(dpor))]
            thread: std::thread::current(),
        }
    }

    /// Gives it, unless it was given and not taken yet.
    pub fn give(&self) {
        self.word.swap(TOKEN, Ordering::Release);
        #[cfg(not(dpor))]
        self.thread.unpark();
    }

    /// Waits for it, and takes it.
    #[cfg(dpor)]
    pub fn take(&self) {
        extern "C" {
            /// Waits until the word passes a test and then, in the same step, writes something: see
            /// `cargo-dpor/overlay/std/src/sys/sync/checker.rs`.
            fn dpor_await(
                word: *const AtomicU32,
                wait: u32,
                test: u32,
                value: u32,
                then: u32,
                operand: u32,
                limit: u32,
            ) -> u32;
        }
        /// To be woken, as by `unpark`.
        const WAIT: u32 = 5;
        const IS: u32 = 0;
        const SET: u32 = 1;
        // SAFETY: `cargo dpor` knows the function by its name; the word is an atomic that is only updated.
        unsafe { dpor_await(&self.word, WAIT, IS, TOKEN, SET, NONE, 0) };
    }

    /// Waits for it, and takes it.
    #[cfg(not(dpor))]
    pub fn take(&self) {
        while self.word.swap(NONE, Ordering::Acquire) == NONE {
            std::thread::park();
        }
    }
}
