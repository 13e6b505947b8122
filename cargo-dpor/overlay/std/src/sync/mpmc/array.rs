//! Channels with a positive capacity.

/// The kind of these channels.
pub(crate) struct Bounded;

pub(crate) type Channel<T> = super::channel::Channel<T, Bounded>;

impl<T> Channel<T> {
    pub(crate) fn with_capacity(capacity: usize) -> Self {
        Self::with(Some(capacity))
    }
}
