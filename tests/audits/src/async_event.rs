use std::sync::atomic::AtomicBool;
use std::sync::atomic::Ordering::Relaxed;

use async_event::Event;
use pollster::block_on;

use crate::both;

/// A thread sets a flag and notifies while another waits for the flag: no wake-up is lost.
#[dpor::test]
fn notify_while_waiting() {
    let (event, flag) = (Event::new(), AtomicBool::new(false));
    both(
        || {
            flag.store(true, Relaxed);
            event.notify_one();
        },
        || block_on(event.wait_until(|| flag.load(Relaxed).then_some(()))),
    );
}
