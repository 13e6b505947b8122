//! The ends of a channel: how many there are, and what happens when the last one goes.
//!
//! That all senders are gone is of interest to a receiver that waits, and it does not matter which of them was the
//! last; so they leave without being ordered. Only if some thread asks, without waiting, whether a channel is
//! disconnected, the order becomes visible: then the last sender says so in the channel.

use super::queue::{self, Users};
use crate::ops;
use crate::sync::atomic::{Atomic, Ordering};
use crate::sys::sync::checker::{dpor_asked, dpor_leave, question};

/// A channel as the ends of it need it.
pub(crate) trait Ends {
    fn users(&self) -> &Users;
}

/// What all ends of a channel share.
struct Shared<C> {
    channel: C,
    /// How many senders have left in an order.
    left: Atomic<u32>,
    receivers: Atomic<u32>,
}

/// The two ends of a new channel.
pub(crate) fn new<C>(channel: C) -> (Sender<C>, Receiver<C>) {
    let shared = queue::allocate(Shared { channel, left: Atomic::<u32>::new(0), receivers: Atomic::<u32>::new(1) });
    (Sender { shared }, Receiver { shared })
}

/// The sending end.
pub(crate) struct Sender<C> {
    shared: *mut Shared<C>,
}

impl<C: Ends> Sender<C> {
    /// Another sender.
    pub(crate) fn acquire(&self) -> Sender<C> {
        self.users().add_sender();
        Sender { shared: self.shared }
    }

    /// The sender goes. `disconnect` is for the last one.
    ///
    /// # Safety
    ///
    /// The sender is not used afterwards.
    pub(crate) unsafe fn release(&self, disconnect: impl FnOnce(&C) -> bool) {
        let ordered = dpor_asked(question::DISCONNECTION);
        if ordered {
            // SAFETY: the channel is there as long as one of its ends.
            unsafe { (*self.shared).left.fetch_add(1, Ordering::AcqRel) };
        } else {
            dpor_leave(self.users().senders());
        }
        if !self.users().remove_sender() {
            return;
        }
        if ordered {
            disconnect(&**self);
        }
        if self.users().remove_half() {
            // SAFETY: all ends are gone.
            unsafe { queue::free(self.shared) };
        }
    }
}

impl<C> ops::Deref for Sender<C> {
    type Target = C;

    fn deref(&self) -> &C {
        // SAFETY: the channel is there as long as one of its ends.
        unsafe { &(*self.shared).channel }
    }
}

impl<C> PartialEq for Sender<C> {
    fn eq(&self, other: &Sender<C>) -> bool {
        self.shared == other.shared
    }
}

/// The receiving end.
pub(crate) struct Receiver<C> {
    shared: *mut Shared<C>,
}

impl<C: Ends> Receiver<C> {
    /// Another receiver.
    pub(crate) fn acquire(&self) -> Receiver<C> {
        // SAFETY: the channel is there as long as one of its ends.
        unsafe { (*self.shared).receivers.fetch_add(1, Ordering::Relaxed) };
        Receiver { shared: self.shared }
    }

    /// The receiver goes. `disconnect` is for the last one.
    ///
    /// # Safety
    ///
    /// The receiver is not used afterwards.
    pub(crate) unsafe fn release(&self, disconnect: impl FnOnce(&C) -> bool) {
        // SAFETY: the channel is there as long as one of its ends.
        if unsafe { (*self.shared).receivers.fetch_sub(1, Ordering::AcqRel) } != 1 {
            return;
        }
        disconnect(&**self);
        if self.users().remove_half() {
            // SAFETY: all ends are gone.
            unsafe { queue::free(self.shared) };
        }
    }
}

impl<C> ops::Deref for Receiver<C> {
    type Target = C;

    fn deref(&self) -> &C {
        // SAFETY: the channel is there as long as one of its ends.
        unsafe { &(*self.shared).channel }
    }
}

impl<C> PartialEq for Receiver<C> {
    fn eq(&self, other: &Receiver<C>) -> bool {
        self.shared == other.shared
    }
}
