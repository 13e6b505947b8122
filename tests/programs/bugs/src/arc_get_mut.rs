//! The standard library's `Arc::get_mut` (rust-lang/rust#51780): the check that nobody else has a handle did not synchronize
//! with the drop of the other handle, whose reads may still be under way as far as the language is concerned.

use crate::sync::atomic::{AtomicUsize, Ordering, Ordering::*, fence};
use crate::thread;
use std::ptr::NonNull;

#[dpor::test]
fn fixed() {
    write_if_unique(Acquire);
}

#[dpor::test]
fn broken() {
    write_if_unique(Relaxed);
}

struct Inner {
    references: AtomicUsize,
    data: u32,
}

/// A counted reference to a number.
struct Counted(NonNull<Inner>);

unsafe impl Send for Counted {}

impl Counted {
    fn new(data: u32) -> Counted {
        Counted(NonNull::from(Box::leak(Box::new(Inner { references: AtomicUsize::new(1), data }))))
    }

    fn inner(&self) -> &Inner {
        unsafe { self.0.as_ref() }
    }

    /// The data, if nobody else has a handle, as a load of this ordering tells.
    fn get_mut(&mut self, order: Ordering) -> Option<*mut u32> {
        let unique = self.inner().references.load(order) == 1;
        unique.then(|| unsafe { &raw mut (*self.0.as_ptr()).data })
    }
}

impl Clone for Counted {
    fn clone(&self) -> Counted {
        self.inner().references.fetch_add(1, Relaxed);
        Counted(self.0)
    }
}

impl Drop for Counted {
    fn drop(&mut self) {
        if self.inner().references.fetch_sub(1, Release) == 1 {
            fence(Acquire);
            drop(unsafe { Box::from_raw(self.0.as_ptr()) });
        }
    }
}

fn write_if_unique(order: Ordering) {
    let mut handle = Counted::new(5);
    let other = handle.clone();
    let thread = thread::spawn(move || {
        let seen = other.inner().data; // ERROR: data-race
        drop(other);
        seen
    });
    if let Some(data) = handle.get_mut(order) {
        unsafe { *data = 6 }; // ERROR: data-race
    }
    assert_eq!(thread.join().unwrap(), 5);
}
