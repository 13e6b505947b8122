//! A wish to stop, from another thread: what is explored then ends soon, with what is known so far.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

/// Copies of it are one and the same.
#[derive(Clone, Debug, Default)]
pub struct Interrupt {
    own: Arc<AtomicBool>,
    /// That of the whole, where this is about a part.
    whole: Option<Arc<AtomicBool>>,
}

impl Interrupt {
    /// Whoever has a copy should stop.
    pub fn request(&self) {
        self.own.store(true, Ordering::Relaxed);
    }

    /// Whether to stop.
    #[inline]
    pub fn is_requested(&self) -> bool {
        self.own.load(Ordering::Relaxed) || self.whole.as_ref().is_some_and(|whole| whole.load(Ordering::Relaxed))
    }

    /// An interrupt for a part of what this one is for: it is requested for the part alone, or for the whole.
    pub fn of_part(&self) -> Interrupt {
        Interrupt { own: Arc::default(), whole: Some(Arc::clone(&self.own)) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_part_is_interrupted_by_itself_or_with_the_whole() {
        let whole = Interrupt::default();
        let (one, other) = (whole.of_part(), whole.of_part());
        one.request();
        assert!(one.is_requested() && !other.is_requested() && !whole.is_requested());
        whole.request();
        assert!(other.is_requested());
    }
}
