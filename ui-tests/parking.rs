//! Threads that park.

use std::sync::atomic::{AtomicBool, Ordering::*};
use std::thread;

/// The flag is looked at before the thread parks, and set after it is unparked.
#[dpor::test]
fn unparked_too_early() {
    static READY: AtomicBool = AtomicBool::new(false);
    let main = thread::current();
    let thread = thread::spawn(move || {
        main.unpark();
        READY.store(true, Release);
    });
    while !READY.load(Acquire) {
        thread::park();
    }
    thread.join().unwrap();
}
