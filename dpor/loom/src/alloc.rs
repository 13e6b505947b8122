//! Memory, and values that must be dropped before a model ends.

#[doc(no_inline)]
pub use std::alloc::{alloc, alloc_zeroed, dealloc, Layout};

/// A value that must be dropped before the model ends: it is a memory leak otherwise.
#[derive(Debug)]
pub struct Track<T> {
    value: T,
    // A block of the heap, which cannot get lost unnoticed.
    _block: Box<u8>,
}

impl<T> Track<T> {
    /// Tracks a value.
    #[track_caller]
    pub fn new(value: T) -> Track<T> {
        Track { value, _block: Box::new(0) }
    }

    /// The value.
    pub fn get_ref(&self) -> &T {
        &self.value
    }

    /// The value.
    pub fn get_mut(&mut self) -> &mut T {
        &mut self.value
    }

    /// The value, which is not tracked any more.
    pub fn into_inner(self) -> T {
        self.value
    }
}
