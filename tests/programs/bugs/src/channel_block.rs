//! The list flavor of `std::sync::mpsc` and crossbeam-channel (RUSTSEC-2025-0024): a receiver that disconnects frees the
//! first block. It reads the block on two paths, and took it out on one of them only: on the other, the channel frees it
//! again when it is dropped.

use crate::sync::atomic::{AtomicPtr, AtomicUsize, Ordering::*};
use std::ptr;
use std::thread;

#[dpor::test]
fn fixed() {
    send_and_disconnect(|head| head.swap(ptr::null_mut(), AcqRel));
}

#[dpor::test]
fn broken() {
    send_and_disconnect(|head| head.load(Acquire));
}

/// Room for two messages.
#[derive(Default)]
struct Block {
    slots: [AtomicUsize; 2],
}

/// A channel, with the first of its blocks: the senders' and the receiver's view of it.
#[derive(Default)]
struct Channel {
    head: AtomicPtr<Block>,
    tail: AtomicPtr<Block>,
    /// How many messages were sent.
    sent: AtomicUsize,
}

impl Channel {
    /// Sends a message; the first one to do so allocates the block.
    fn send(&self, message: usize) {
        let mut block = self.tail.load(Acquire);
        if block.is_null() {
            let new = Box::into_raw(Box::<Block>::default());
            match self.tail.compare_exchange(ptr::null_mut(), new, AcqRel, Acquire) {
                Ok(_) => {
                    self.head.store(new, Release);
                    block = new;
                }
                Err(other) => {
                    drop(unsafe { Box::from_raw(new) });
                    block = other;
                }
            }
        }
        let at = self.sent.fetch_add(1, AcqRel);
        unsafe { (*block).slots[at].store(message, Release) };
    }

    /// The receiver is gone: frees the block. `again` reads it once more where a sender is about to set it.
    fn disconnect(&self, again: fn(&AtomicPtr<Block>) -> *mut Block) {
        let any = self.sent.load(Acquire) > 0;
        let mut block = self.head.swap(ptr::null_mut(), AcqRel);
        if any && block.is_null() {
            block = again(&self.head);
            // Else it would try again.
            dpor::assume(!block.is_null());
        }
        // What is being sent still needs it.
        dpor::assume(self.sent.load(Acquire) == 2 || block.is_null());
        if !block.is_null() {
            unsafe { dpor::assume((*block).slots.iter().all(|slot| slot.load(Acquire) > 0)) };
            drop(unsafe { Box::from_raw(block) });
        }
    }
}

impl Drop for Channel {
    fn drop(&mut self) {
        let block = *self.head.get_mut();
        if !block.is_null() {
            drop(unsafe { Box::from_raw(block) }); // ERROR: double-free
        }
    }
}

fn send_and_disconnect(again: fn(&AtomicPtr<Block>) -> *mut Block) {
    let channel = Channel::default();
    thread::scope(|scope| {
        scope.spawn(|| channel.send(1));
        scope.spawn(|| channel.send(2));
        channel.disconnect(again);
    });
}
