//! Loops that do nothing but look at memory which is not atomic, until another thread changes it: nobody may.

use std::hint;
use std::sync::atomic::{AtomicBool, AtomicU32, Ordering::*};
use std::thread;

use crate::support::Plain;

#[dpor::test]
fn nothing_but_looking() {
    static FLAG: Plain<bool> = Plain::new(false);
    thread::scope(|scope| {
        scope.spawn(|| {
            unsafe { *FLAG.get() = true }; // ERROR: data-race
        });
        while unsafe { !*FLAG.get() } {} // ERROR: data-race
    });
}

// The thread that writes comes first.
#[dpor::test]
fn written_at_once() {
    static FLAG: Plain<bool> = Plain::new(false);
    thread::scope(|scope| {
        scope.spawn(|| {
            while unsafe { !*FLAG.get() } {} // ERROR: data-race
        });
        unsafe { *FLAG.get() = true }; // ERROR: data-race
    });
}

#[dpor::test]
fn with_a_hint() {
    static FLAG: Plain<bool> = Plain::new(false);
    thread::scope(|scope| {
        scope.spawn(|| {
            unsafe { *FLAG.get() = true }; // ERROR: data-race
        });
        loop {
            let set = unsafe { *FLAG.get() }; // ERROR: data-race
            if set {
                break;
            }
            hint::spin_loop();
        }
    });
}

// Functions are called, with locals of their own.
#[dpor::test]
fn yielding() {
    static NUMBER: Plain<u32> = Plain::new(0);
    fn look(copy: &mut u32) {
        *copy = unsafe { *NUMBER.get() }; // ERROR: data-race
        thread::yield_now();
    }
    fn is_set() -> bool {
        let mut copy = 0;
        look(&mut copy);
        copy != 0
    }
    thread::scope(|scope| {
        scope.spawn(|| {
            unsafe { *NUMBER.get() = 1 }; // ERROR: data-race
        });
        while !is_set() {}
    });
}

// The flag is set by a thread that knows that the loop is about to begin.
#[dpor::test]
fn told_to_write() {
    static FLAG: Plain<bool> = Plain::new(false);
    static BEGUN: AtomicBool = AtomicBool::new(false);
    thread::scope(|scope| {
        scope.spawn(|| {
            dpor::assume(BEGUN.load(Acquire));
            unsafe { *FLAG.get() = true }; // ERROR: data-race
        });
        BEGUN.store(true, Release);
        while unsafe { !*FLAG.get() } {} // ERROR: data-race
    });
}

#[dpor::test]
fn never_written() {
    static FLAG: Plain<bool> = Plain::new(false);
    thread::scope(|scope| {
        scope.spawn(|| {
            while unsafe { !*FLAG.get() } {} // ERROR: non-termination
        });
    });
}

// The other thread ends.
#[dpor::test]
fn of_its_own() {
    let (flag, ready) = (Plain::new(false), AtomicBool::new(false));
    thread::scope(|scope| {
        scope.spawn(|| ready.store(true, Release));
        while unsafe { !*flag.get() } {} // ERROR: non-termination
        ready.load(Acquire);
    });
}

#[dpor::test]
fn without_other_threads() {
    let flag = Plain::new(false);
    while unsafe { !*flag.get() } {} // ERROR: non-termination
}

// Each iteration changes something: the loop ends, though it takes some time. Of the `i % 3` up to 49,999, there are 16,666
// times 0, 1 and 2, then 0 and 1: 49,999 in all.
#[dpor::test]
fn loop_that_counts() {
    // COUNT: rc11 2 sc 2 tso 2 pso 2
    let number = AtomicU32::new(0);
    thread::scope(|scope| {
        scope.spawn(|| {
            let sum = Plain::new(0);
            for i in 0..50_000 {
                unsafe { *sum.get() += i % 3 };
            }
            number.store(sum.into_inner(), Relaxed);
        });
        let seen = number.load(Relaxed);
        assert!(seen == 0 || seen == 49_999);
    });
}

// What changes comes back to what it was, but only after many iterations; then the loop ends.
#[dpor::test]
fn loop_that_wraps() {
    // COUNT: rc11 1 sc 1 tso 1 pso 1
    thread::scope(|scope| {
        scope.spawn(|| {
            let (small, rounds) = (Plain::new(0_u8), Plain::new(0));
            while unsafe { *rounds.get() } < 200 {
                unsafe { *small.get() = (*small.get()).wrapping_add(1) };
                if unsafe { *small.get() } == 0 {
                    unsafe { *rounds.get() += 1 };
                }
            }
        });
    });
}
