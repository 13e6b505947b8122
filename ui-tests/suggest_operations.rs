//@ arguments: --suggest --spurious
//! Fences and other operations with which a failing test passes.

use std::cell::UnsafeCell;
use std::sync::atomic::{AtomicBool, AtomicU32, Ordering};
use std::thread;

struct Cell(UnsafeCell<u32>);
unsafe impl Sync for Cell {}

/// Raises a flag, and looks whether another one is down.
fn enter(own: &AtomicBool, other: &AtomicBool) -> bool {
    own.store(true, Ordering::Relaxed);
    !other.load(Ordering::Relaxed)
}

#[dpor::test]
fn a_fence() {
    static FLAGS: [AtomicBool; 2] = [AtomicBool::new(false), AtomicBool::new(false)];
    let thread = thread::spawn(|| enter(&FLAGS[0], &FLAGS[1]));
    let entered = enter(&FLAGS[1], &FLAGS[0]);
    assert!(!(entered && thread.join().unwrap()));
}

/// The last one to leave sees what the others did before: a store in between cuts them off.
fn leave(count: &AtomicU32) -> bool {
    match count.load(Ordering::Relaxed) {
        0 => count.store(1, Ordering::Release),
        _ => return true,
    }
    false
}

#[dpor::test]
fn a_swap() {
    static DATA: Cell = Cell(UnsafeCell::new(0));
    static STATE: AtomicU32 = AtomicU32::new(0);
    static SEEN: AtomicBool = AtomicBool::new(false);
    let thread = thread::spawn(|| {
        unsafe { *DATA.0.get() = 1 };
        SEEN.store(STATE.swap(2, Ordering::Release) == 0, Ordering::Relaxed);
    });
    if !leave(&STATE) && SEEN.load(Ordering::Relaxed) && STATE.load(Ordering::Relaxed) == 1 {
        unsafe { *DATA.0.get() += 1 };
    }
    thread.join().unwrap();
}

#[dpor::test]
fn a_strong_exchange() {
    static TAKEN: AtomicBool = AtomicBool::new(false);
    let take = || TAKEN.compare_exchange_weak(false, true, Ordering::Relaxed, Ordering::Relaxed).is_ok();
    let thread = thread::spawn(take);
    let taken = take();
    assert!(taken != thread.join().unwrap());
}

struct Slot {
    full: AtomicBool,
    value: UnsafeCell<u32>,
}
unsafe impl Sync for Slot {}

impl Slot {
    fn put(&self, value: u32) {
        unsafe { *self.value.get() = value };
        self.full.store(true, Ordering::Relaxed);
    }

    fn take(&self) -> Option<u32> {
        self.full.load(Ordering::Relaxed).then(|| unsafe { *self.value.get() })
    }
}

#[dpor::test]
fn a_flag_of_the_test() {
    static SLOT: Slot = Slot { full: AtomicBool::new(false), value: UnsafeCell::new(0) };
    static DONE: AtomicBool = AtomicBool::new(false);
    let thread = thread::spawn(|| {
        SLOT.put(5);
        DONE.store(true, Ordering::Release);
    });
    if DONE.load(Ordering::Relaxed) {
        SLOT.take();
    }
    thread.join().unwrap();
}
