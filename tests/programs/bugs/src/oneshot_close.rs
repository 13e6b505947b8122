//! tokio's oneshot channel (RUSTSEC-2021-0124): a sender that finds the channel closed takes its value back. It had said
//! that there is a value all the same, so that a receiver that asks once more after closing takes it too.

use crate::sync::atomic::{AtomicUsize, Ordering::*};
use std::thread;

use crate::plain::Plain;

// Says that there is a value unless the channel is closed: for one that is open that is a compare-exchange of 0, which
// fails if it is closed.
#[dpor::test]
fn fixed() {
    send_and_close(|state| match state.compare_exchange(0, SENT, AcqRel, Acquire) {
        Ok(before) | Err(before) => before,
    });
}

#[dpor::test]
fn broken() {
    send_and_close(|state| state.fetch_or(SENT, AcqRel));
}

const SENT: usize = 1;
const CLOSED: usize = 2;

#[derive(Default)]
struct Oneshot {
    state: AtomicUsize,
    slot: Plain<Option<Box<u32>>>,
}

impl Oneshot {
    fn take(&self) -> Option<Box<u32>> {
        unsafe { (*self.slot.get()).take() } // ERROR: data-race
    }

    /// Sends a value; gives it back where the receiver has closed the channel. `complete` says what was there before.
    fn send(&self, value: u32, complete: fn(&AtomicUsize) -> usize) -> Option<Box<u32>> {
        unsafe { *self.slot.get() = Some(Box::new(value)) };
        if complete(&self.state) & CLOSED != 0 { self.take() } else { None }
    }

    fn close(&self) {
        self.state.fetch_or(CLOSED, Acquire);
    }

    fn try_receive(&self) -> Option<Box<u32>> {
        if self.state.load(Acquire) & SENT != 0 { self.take() } else { None }
    }
}

fn send_and_close(complete: fn(&AtomicUsize) -> usize) {
    let channel = Oneshot::default();
    thread::scope(|scope| {
        let returned = scope.spawn(|| channel.send(5, complete));
        channel.close();
        let received = channel.try_receive();
        assert_eq!(received.xor(returned.join().unwrap()).as_deref().copied().unwrap_or(5), 5);
    });
}
