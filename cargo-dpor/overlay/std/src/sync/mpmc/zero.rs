//! Channels without capacity: sender and receiver meet.

/// The kind of these channels.
pub(crate) struct Rendezvous;

pub(crate) type Channel<T> = super::channel::Channel<T, Rendezvous>;

impl<T> Channel<T> {
    pub(crate) fn new() -> Self {
        Self::with(Some(0))
    }

    /// The last end on one side is gone. There are no messages in the channel.
    pub(crate) fn disconnect(&self) -> bool {
        self.disconnect_receivers()
    }
}
