//! event-listener 5.3.0: `notify` misses a listener that is being added, without a fence after that.
//@ arguments: --suggest --timeout 600

use event_listener::{Event, Listener};
use std::sync::atomic::{AtomicBool, Ordering::Relaxed};
use std::thread;

#[dpor::test]
fn listen_while_notifying() {
    let (event, ready) = (Event::new(), AtomicBool::new(false));
    thread::scope(|scope| {
        scope.spawn(|| {
            ready.store(true, Relaxed);
            event.notify(1);
        });
        let listener = event.listen();
        if !ready.load(Relaxed) {
            listener.wait();
        }
    });
}
