//@ arguments: --suggest
//! Orderings with which a failing test passes.

use std::cell::UnsafeCell;
use std::sync::atomic::{fence, AtomicBool, AtomicUsize, Ordering, Ordering::*};
use std::thread;

struct Cell(UnsafeCell<u32>);
unsafe impl Sync for Cell {}

#[dpor::test]
fn one_is_enough() {
    static DATA: Cell = Cell(UnsafeCell::new(0));
    static READY: AtomicBool = AtomicBool::new(false);
    let thread = thread::spawn(|| {
        unsafe { *DATA.0.get() = 1 };
        READY.store(true, Ordering::Release);
    });
    if READY.load(Ordering::Relaxed) {
        unsafe { *DATA.0.get() += 1 };
    }
    thread.join().unwrap();
}

#[dpor::test]
fn two_are_needed() {
    static DATA: Cell = Cell(UnsafeCell::new(0));
    static COUNT: AtomicUsize = AtomicUsize::new(0);
    let finish = || {
        if COUNT.fetch_add(
            1,
            Relaxed,
        ) == 1
        {
            unsafe { *DATA.0.get() += 1 };
        }
    };
    let thread = thread::spawn(move || {
        unsafe { *DATA.0.get() = 1 };
        finish();
    });
    finish();
    thread.join().unwrap();
}

#[dpor::test]
fn fences() {
    static X: AtomicBool = AtomicBool::new(false);
    static Y: AtomicBool = AtomicBool::new(false);
    let thread = thread::spawn(|| {
        X.store(true, Relaxed);
        fence(AcqRel);
        Y.load(Relaxed)
    });
    Y.store(true, Relaxed);
    fence(SeqCst);
    assert!(X.load(Relaxed) || thread.join().unwrap());
}

#[dpor::test]
fn none_would_help() {
    static COUNT: AtomicUsize = AtomicUsize::new(0);
    let increment = || COUNT.store(COUNT.load(Relaxed) + 1, Relaxed);
    let thread = thread::spawn(increment);
    increment();
    thread.join().unwrap();
    assert_eq!(COUNT.load(Relaxed), 2);
}

/// Stronger orderings mend the race, and not what is wrong besides.
#[dpor::test]
fn another_error_is_left() {
    static DATA: Cell = Cell(UnsafeCell::new(0));
    static READY: AtomicBool = AtomicBool::new(false);
    let thread = thread::spawn(|| {
        unsafe { *DATA.0.get() = 1 };
        READY.store(true, Relaxed);
    });
    if READY.load(Relaxed) {
        assert_eq!(unsafe { *DATA.0.get() }, 2);
    }
    thread.join().unwrap();
}
