use std::sync::atomic::AtomicBool;
use std::sync::atomic::Ordering::Relaxed;

use async_event::Event;
use pollster::block_on;

use crate::both;

/// A thread sets a flag and notifies while another waits for the flag: no wake-up is lost.
#[dpor::test]
fn notify_while_waiting() {
    notify_and_wait();
}

/// The same on x86, where updates of an atomic are fences.
#[dpor::test(model = "tso")]
fn notify_while_waiting_tso() {
    notify_and_wait();
}

fn notify_and_wait() {
    let (event, flag) = (Event::new(), AtomicBool::new(false));
    both(
        || {
            flag.store(true, Relaxed);
            event.notify_one();
        },
        || block_on(event.wait_until(|| flag.load(Relaxed).then_some(()))),
    );
}
