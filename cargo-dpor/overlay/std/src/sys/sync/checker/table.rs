//! Which file a descriptor stands for: bookkeeping that the checker does not see.
//!
//! A thread that knows a descriptor has it from whoever opened it, so that its file is there. Descriptors are counted by
//! each thread for itself and are not used again: what others open and close meanwhile must not matter.

use super::files::File;
use super::{dpor_thread_bit, unsupported};
use crate::cell::UnsafeCell;

/// A value that is kept here, where nobody sees who looks at it and who changes it.
pub(super) struct Kept<T>(UnsafeCell<T>);

// SAFETY: threads are here one at a time.
unsafe impl<T: Send> Sync for Kept<T> {}

impl<T: Copy> Kept<T> {
    pub(super) const fn new(value: T) -> Kept<T> {
        Kept(UnsafeCell::new(value))
    }

    #[inline(never)]
    pub(super) fn get(&self) -> T {
        // SAFETY: nobody else is here.
        unsafe { *self.0.get() }
    }

    #[inline(never)]
    pub(super) fn set(&self, value: T) {
        // SAFETY: nobody else is here.
        unsafe { *self.0.get() = value };
    }
}

/// After standard input, output and error.
const FIRST: i32 = 3;
const THREADS: usize = 32;
/// How many descriptors a thread may open.
const PER_THREAD: usize = 64;

struct Row {
    /// How many the thread has opened.
    opened: Kept<usize>,
    slots: [Slot; PER_THREAD],
}

struct Slot {
    /// Files are never freed: they are few, and others may still be about to find that one is closed.
    file: Kept<Option<&'static File>>,
    closed: Kept<bool>,
}

static TABLE: [Row; THREADS] = [const {
    Row {
        opened: Kept::new(0),
        slots: [const { Slot { file: Kept::new(None), closed: Kept::new(false) } }; PER_THREAD],
    }
}; THREADS];

/// Which of the threads this is.
#[inline(never)]
pub(super) fn own_index() -> u32 {
    dpor_thread_bit().trailing_zeros()
}

/// A new descriptor of a file.
#[inline(never)]
pub(super) fn open(file: &'static File) -> i32 {
    let thread = own_index() as usize;
    let row = &TABLE[thread];
    let number = row.opened.get();
    let Some(slot) = row.slots.get(number) else { unsupported("a thread that opens more than 64 file descriptors") };
    row.opened.set(number + 1);
    slot.file.set(Some(file));
    file.descriptors.set(file.descriptors.get() + 1);
    FIRST + (number * THREADS + thread) as i32
}

fn slot(descriptor: i32) -> Option<&'static Slot> {
    let index = usize::try_from(descriptor.checked_sub(FIRST)?).ok()?;
    TABLE[index % THREADS].slots.get(index / THREADS).filter(|slot| !slot.closed.get())
}

/// The file that an open descriptor stands for.
#[inline(never)]
pub(super) fn find(descriptor: i32) -> Option<&'static File> {
    slot(descriptor)?.file.get()
}

/// Closes a descriptor: the file that it stood for, if it was open.
#[inline(never)]
pub(super) fn close(descriptor: i32) -> Option<&'static File> {
    let slot = slot(descriptor)?;
    let file = slot.file.get()?;
    slot.closed.set(true);
    file.descriptors.set(file.descriptors.get() - 1);
    Some(file)
}
