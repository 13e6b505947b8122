//! rayon's latches (rayon#768): a latch lives on the stack of the thread that waits for it. Once it is set, that thread may
//! go on and the latch may be gone, while `set` still looks at it to find out whom to wake.

use crate::sync::atomic::{AtomicBool, AtomicUsize, Ordering::*};
use crate::thread;
use std::ptr;

#[dpor::test]
fn fixed() {
    wait_on_the_stack(Latch::set_last).join().unwrap();
}

#[dpor::test]
fn fixed_on_the_heap() {
    wait_on_the_heap(Latch::set_last);
}

#[dpor::test(expect = "use-after-free")]
fn broken_on_the_heap() {
    wait_on_the_heap(Latch::set);
}

#[dpor::test(expect = "use-after-free")]
fn broken_with_an_atomic() {
    wait_on_the_stack(Latch::set_and_count).join().unwrap();
}

#[dpor::test(expect = "use-after-free")]
fn broken_with_an_atomic_on_the_heap() {
    wait_on_the_heap(Latch::set_and_count);
}

#[dpor::test]
fn broken() {
    wait_on_the_stack(Latch::set).join().unwrap();
}

/// How often each worker was woken.
static WOKEN: [AtomicUsize; 2] = [AtomicUsize::new(0), AtomicUsize::new(0)];

struct Latch {
    set: AtomicBool,
    /// The worker that waits.
    worker: usize,
    /// How often it was set.
    times: AtomicUsize,
}

impl Latch {
    fn new() -> Latch {
        Latch { set: AtomicBool::new(false), worker: 1, times: AtomicUsize::new(0) }
    }

    /// Sets the latch, then looks whom to wake.
    fn set(&self) {
        self.set.store(true, Release);
        let worker = self.worker; // ERROR: use-after-free
        WOKEN[worker].fetch_add(1, Relaxed);
    }

    /// Looks whom to wake while the latch must be there.
    fn set_last(&self) {
        let worker = self.worker;
        self.set.store(true, Release);
        WOKEN[worker].fetch_add(1, Relaxed);
    }

    /// Sets the latch, then counts.
    fn set_and_count(&self) {
        self.set.store(true, Release);
        self.times.load(Relaxed);
    }
}

/// Waits for a latch of its own frame, and returns.
fn wait_on_the_stack(set: fn(&Latch)) -> thread::JoinHandle<()> {
    let latch = Latch::new();
    let address = (&raw const latch).expose_provenance();
    let thread = thread::spawn(move || set(unsafe { &*ptr::with_exposed_provenance::<Latch>(address) }));
    // Else it would wait.
    dpor::assume(latch.set.load(Acquire));
    thread
}

/// The same with a latch on the heap.
fn wait_on_the_heap(set: fn(&Latch)) {
    let latch = Box::new(Latch::new());
    let address = (&raw const *latch).expose_provenance();
    let thread = thread::spawn(move || set(unsafe { &*ptr::with_exposed_provenance::<Latch>(address) }));
    dpor::assume(latch.set.load(Acquire));
    drop(latch);
    thread.join().unwrap();
}
