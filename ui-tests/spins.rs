//! A loop that waits: in one execution it never sees that the flag is set.

use std::sync::atomic::{AtomicBool, Ordering::*};
use std::thread;

#[dpor::test]
fn spins() {
    static READY: AtomicBool = AtomicBool::new(false);
    let thread = thread::spawn(|| READY.store(true, Release));
    while !READY.load(Acquire) {}
    thread.join().unwrap();
}
