//! Channels without bound.

/// The kind of these channels.
pub(crate) struct Unbounded;

pub(crate) type Channel<T> = super::channel::Channel<T, Unbounded>;

impl<T> Channel<T> {
    pub(crate) fn new() -> Self {
        Self::with(None)
    }
}
