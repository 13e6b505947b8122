//@ arguments: --relax
//! Orderings that could be weaker.

use std::cell::UnsafeCell;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering::*};
use std::thread;

struct Cell(UnsafeCell<u32>);
unsafe impl Sync for Cell {}

#[dpor::test]
fn stronger_than_needed() {
    static DATA: Cell = Cell(UnsafeCell::new(0));
    static READY: AtomicBool = AtomicBool::new(false);
    static LOOKS: AtomicUsize = AtomicUsize::new(0);
    let thread = thread::spawn(|| {
        unsafe { *DATA.0.get() = 1 };
        READY.store(true, SeqCst);
    });
    LOOKS.fetch_add(1, SeqCst);
    if READY.load(SeqCst) {
        assert_eq!(unsafe { *DATA.0.get() }, 1);
    }
    thread.join().unwrap();
    if LOOKS.load(Relaxed) == 7 {
        LOOKS.store(0, SeqCst);
    }
}

#[dpor::test]
fn as_weak_as_can_be() {
    static DATA: Cell = Cell(UnsafeCell::new(0));
    static READY: AtomicBool = AtomicBool::new(false);
    let thread = thread::spawn(|| {
        unsafe { *DATA.0.get() = 1 };
        READY.store(true, Release);
    });
    if READY.load(Acquire) {
        assert_eq!(unsafe { *DATA.0.get() }, 1);
    }
    thread.join().unwrap();
}

#[dpor::test]
fn all_of_them_are_relaxed() {
    static COUNT: AtomicUsize = AtomicUsize::new(0);
    let thread = thread::spawn(|| COUNT.fetch_add(1, Relaxed));
    COUNT.fetch_add(1, Relaxed);
    thread.join().unwrap();
    assert_eq!(COUNT.load(Relaxed), 2);
}
