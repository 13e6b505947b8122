//! The standard library's `thread::scope` (rust-lang/rust#98498): the last thread of a scope counts itself out and then wakes
//! the owner; but the owner may have seen the count, returned, and freed what the thread still needs to wake it.

use crate::sync::Arc;
use crate::sync::atomic::{AtomicBool, AtomicUsize, Ordering::*};
use crate::thread;

// The data belong to all who use them.
#[dpor::test]
fn fixed() {
    let data = Arc::new(ScopeData { running: AtomicUsize::new(1), woken: AtomicBool::new(false) });
    let thread = thread::spawn({
        let data = data.clone();
        move || data.leave()
    });
    dpor::assume(data.running.load(Acquire) == 0);
    drop(data);
    thread.join().unwrap();
}

#[dpor::test]
fn broken() {
    let data = Box::into_raw(Box::new(ScopeData { running: AtomicUsize::new(1), woken: AtomicBool::new(false) }));
    let address = data.expose_provenance();
    let thread = thread::spawn(move || {
        let data = unsafe { &*std::ptr::with_exposed_provenance::<ScopeData>(address) };
        data.leave();
    });
    // Else it would wait until it is woken, and look again.
    dpor::assume(unsafe { (*data).running.load(Acquire) } == 0);
    drop(unsafe { Box::from_raw(data) }); // ERROR: use-after-free
    thread.join().unwrap();
}

/// What the threads of a scope share with its owner.
struct ScopeData {
    running: AtomicUsize,
    woken: AtomicBool,
}

impl ScopeData {
    /// The thread is done.
    fn leave(&self) {
        if self.running.fetch_sub(1, Release) == 1 {
            self.woken.store(true, Release); // ERROR: use-after-free
        }
    }
}
