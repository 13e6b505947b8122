//! Loops that wait for other threads.

use std::sync::atomic::{AtomicBool, AtomicU32, Ordering::*};
use std::thread;

/// 1 execution: the loop ends when the flag is set, however often it looks before.
#[dpor::test]
fn for_what_comes() {
    static READY: AtomicBool = AtomicBool::new(false);
    let thread = thread::spawn(|| READY.store(true, Release));
    while !READY.load(Acquire) {}
    thread.join().unwrap();
}

/// In one of two orders, the other thread takes what this one waits for.
#[dpor::test]
fn for_what_may_not_come() {
    static TICKETS: AtomicU32 = AtomicU32::new(1);
    let thread = thread::spawn(|| TICKETS.swap(0, AcqRel));
    while TICKETS.load(Acquire) == 0 {
        thread::yield_now();
    }
    thread.join().unwrap();
}

#[dpor::test]
fn for_nobody() {
    static READY: AtomicBool = AtomicBool::new(false);
    while !READY.load(Acquire) {}
}
