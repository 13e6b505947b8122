//! Memory that goes while another thread may still use it: the use is not before the end, and need not be after it.

use std::ptr;
use std::sync::atomic::{AtomicBool, AtomicU32, Ordering::*};
use std::thread::{self, JoinHandle};

struct Latch {
    set: AtomicBool,
    /// How often it was used.
    uses: AtomicU32,
    owner: u32,
}

impl Latch {
    fn new() -> Latch {
        Latch { set: AtomicBool::new(false), uses: AtomicU32::new(0), owner: 7 }
    }

    /// Whoever waits for the latch may go on before this returns.
    fn set(&self) {
        self.set.store(true, Release);
        assert_eq!(self.owner, 7);
    }

    fn set_and_count(&self) {
        self.set.store(true, Release);
        self.uses.fetch_add(1, Relaxed);
    }
}

fn set_in_a_thread(latch: *const Latch, set: fn(&Latch)) -> JoinHandle<()> {
    let address = latch.expose_provenance();
    thread::spawn(move || set(unsafe { &*ptr::with_exposed_provenance::<Latch>(address) }))
}

fn wait_for_a_local() -> JoinHandle<()> {
    let latch = Latch::new();
    let thread = set_in_a_thread(&latch, Latch::set);
    dpor::assume(latch.set.load(Acquire));
    thread
}

#[dpor::test]
fn of_a_local() {
    wait_for_a_local().join().unwrap();
}

#[dpor::test]
fn of_a_block() {
    let latch = Box::new(Latch::new());
    let thread = set_in_a_thread(&*latch, Latch::set_and_count);
    dpor::assume(latch.set.load(Acquire));
    drop(latch);
    thread.join().unwrap();
}
