//! event-listener (event-listener#138): `notify` returns early if there is no listener. A listener that is being added at
//! the time is missed, and waits for ever, unless the look at the list comes after the event for sure.

use crate::sync::atomic::{AtomicBool, AtomicUsize, Ordering::*, fence};
use crate::thread;

#[dpor::test]
fn fixed() {
    notify_and_listen(|| fence(SeqCst));
}

// Under SC the look at the list comes after the event anyway.
#[dpor::test]
fn broken() {
    // MODELS: rc11 tso pso
    notify_and_listen(|| ());
}

#[derive(Default)]
struct Event {
    listeners: AtomicUsize,
}

impl Event {
    /// Whether there is somebody to wake; `before` comes before the look at the list.
    fn must_wake(&self, before: fn()) -> bool {
        before();
        self.listeners.load(Acquire) > 0
    }

    fn listen(&self) {
        self.listeners.fetch_add(1, Release);
        fence(SeqCst);
    }
}

fn notify_and_listen(before: fn()) {
    let (event, ready) = (Event::default(), AtomicBool::new(false));
    let listener = thread::current();
    std::thread::scope(|scope| {
        scope.spawn(|| {
            ready.store(true, Relaxed);
            if event.must_wake(before) {
                listener.unpark();
            }
        });
        event.listen();
        if !ready.load(Relaxed) {
            thread::park(); // ERROR: deadlock
        }
    });
}
