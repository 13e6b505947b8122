//! A lock for readers and writers: a word that counts the readers, or says that a writer has it.

use crate::sync::atomic::Atomic;
use crate::sync::atomic::Ordering::{Relaxed, Release};
use crate::sys::sync::checker::{dpor_ask, dpor_asked, dpor_await, dpor_try_add, order, question, test, then, wait};

const FREE: u32 = 0;
/// More readers than this there cannot be.
const MAX_READERS: u32 = WRITER - 1;
const WRITER: u32 = (1 << 30) - 1;

pub struct RwLock {
    word: Atomic<u32>,
    /// How many writers are waiting; counted only if some thread tries to read without waiting.
    writers: Atomic<u32>,
}

impl RwLock {
    #[inline]
    pub const fn new() -> Self {
        RwLock { word: Atomic::<u32>::new(FREE), writers: Atomic::<u32>::new(0) }
    }

    #[inline]
    pub fn read(&self) {
        dpor_await(&self.word, wait::READ_LOCK, test::BELOW, MAX_READERS, then::ADD, 1, 0);
    }

    /// Fails while a writer has the lock, or waits for it.
    #[inline]
    pub fn try_read(&self) -> bool {
        dpor_ask(question::WRITERS);
        self.writers.load(Relaxed) == 0
            && dpor_try_add(&self.word, order::ACQUIRE, test::BELOW, MAX_READERS, 1) < MAX_READERS
    }

    #[inline]
    /// # Safety
    ///
    /// The calling thread must hold a read lock.
    pub unsafe fn read_unlock(&self) {
        self.word.fetch_sub(1, Release);
    }

    #[inline]
    pub fn write(&self) {
        if dpor_asked(question::WRITERS) {
            self.write_in_sight();
        } else {
            self.wait_to_write();
        }
    }

    #[inline]
    fn wait_to_write(&self) {
        dpor_await(&self.word, wait::WRITE_LOCK, test::IS, FREE, then::SET, WRITER, 0);
    }

    /// Takes the lock; if it has to wait, those who try to read see that.
    fn write_in_sight(&self) {
        if self.try_write() {
            return;
        }
        self.writers.fetch_add(1, Relaxed);
        self.wait_to_write();
        self.writers.fetch_sub(1, Relaxed);
    }

    #[inline]
    pub fn try_write(&self) -> bool {
        dpor_try_add(&self.word, order::ACQUIRE, test::IS, FREE, WRITER) == FREE
    }

    #[inline]
    /// # Safety
    ///
    /// The calling thread must hold the write lock.
    pub unsafe fn write_unlock(&self) {
        self.word.swap(FREE, Release);
    }

    /// The writer becomes a reader, with nobody in between.
    #[inline]
    /// # Safety
    ///
    /// The calling thread must hold the write lock.
    pub unsafe fn downgrade(&self) {
        self.word.swap(1, Release);
    }
}
