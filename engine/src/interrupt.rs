//! A wish to stop, from another thread: what is explored then ends soon, with what is known so far.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

/// Copies of it are one and the same.
#[derive(Clone, Debug, Default)]
pub struct Interrupt(Arc<AtomicBool>);

impl Interrupt {
    /// Whoever has a copy should stop.
    pub fn request(&self) {
        self.0.store(true, Ordering::Relaxed);
    }

    /// Whether to stop.
    #[inline]
    pub fn is_requested(&self) -> bool {
        self.0.load(Ordering::Relaxed)
    }
}
