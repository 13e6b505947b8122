//! The messages of a channel, and who still uses it: the channel's bookkeeping.
//!
//! Nothing here is visible to the checker: a thread does it in one go with the visible action before, so that it needs
//! no synchronization. What a thread finds here must follow from that action; the order in which other threads got here
//! must not matter, which is why nothing is allocated that depends on it.

use crate::cell::UnsafeCell;
use crate::ptr;

/// Messages by ticket.
pub(super) struct Queue<T> {
    first: UnsafeCell<*mut Node<T>>,
}

struct Node<T> {
    ticket: u32,
    next: *mut Node<T>,
    message: T,
}

impl<T> Queue<T> {
    pub(super) fn new() -> Queue<T> {
        Queue { first: UnsafeCell::new(ptr::null_mut()) }
    }

    /// Puts a message there; its ticket is new.
    pub(super) fn put(&self, ticket: u32, message: T) {
        let node = Box::into_raw(Box::new(Node { ticket, next: ptr::null_mut(), message }));
        let mut place = self.first.get();
        // SAFETY: all nodes in the list were made above and are not freed yet, and nobody else is here.
        unsafe {
            while !(*place).is_null() {
                place = &raw mut (**place).next;
            }
            *place = node;
        }
    }

    /// Takes the message with this ticket, which is there.
    pub(super) fn take(&self, ticket: u32) -> T {
        let mut place = self.first.get();
        // SAFETY: as above; a node that is taken out of the list belongs to us.
        unsafe {
            while (**place).ticket != ticket {
                place = &raw mut (**place).next;
            }
            let node = Box::from_raw(*place);
            *place = node.next;
            node.message
        }
    }
}

/// Who uses a channel.
pub(super) struct Users {
    /// How many senders there are.
    senders: UnsafeCell<u32>,
    /// Whether all senders, or all receivers, are gone.
    half_gone: UnsafeCell<bool>,
}

impl Users {
    /// One sender and one receiver.
    pub(super) fn new() -> Users {
        Users { senders: UnsafeCell::new(1), half_gone: UnsafeCell::new(false) }
    }

    /// What counts the senders.
    pub(super) fn senders(&self) -> *const u32 {
        self.senders.get()
    }

    pub(super) fn add_sender(&self) {
        // SAFETY: nobody else is here.
        unsafe { *self.senders.get() += 1 };
    }

    /// Whether it was the last one.
    pub(super) fn remove_sender(&self) -> bool {
        // SAFETY: nobody else is here.
        unsafe {
            *self.senders.get() -= 1;
            *self.senders.get() == 0
        }
    }

    /// All senders, or all receivers, are gone. Whether the others are, too.
    pub(super) fn remove_half(&self) -> bool {
        // SAFETY: nobody else is here.
        unsafe { self.half_gone.get().replace(true) }
    }
}

/// Allocates what all users of a channel share.
pub(super) fn allocate<C>(shared: C) -> *mut C {
    Box::into_raw(Box::new(shared))
}

/// Frees it again.
///
/// # Safety
///
/// It was [allocated](allocate), and nobody uses it any more. There are no messages in it.
pub(super) unsafe fn free<C>(shared: *mut C) {
    // SAFETY: the caller's.
    drop(unsafe { Box::from_raw(shared) });
}
