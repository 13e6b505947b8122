//! What is waited for never comes, at least in some execution.

use std::hint;
use std::mem;
use std::panic;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering::*};
use std::sync::{Condvar, Mutex};
use std::thread;

use crate::support::{Plain, threads, two};

/// Ends the test at once where it would run for ever.
fn only_while_checking() {
    dpor::assume(dpor::checking());
}

/// A lock that is taken with a swap.
#[derive(Default)]
struct SpinLock(AtomicBool);

impl SpinLock {
    fn lock(&self) -> Guard<'_> {
        while self.0.swap(true, Acquire) {
            hint::spin_loop();
        }
        Guard(self)
    }
}

struct Guard<'a>(&'a SpinLock);

impl Drop for Guard<'_> {
    fn drop(&mut self) {
        self.0.0.store(false, Release);
    }
}

// Nobody sets it. There is one execution.
#[dpor::test]
fn flag_that_nobody_sets() {
    // LEVELS: off 1 stale 1 in-place 1 full 1
    only_while_checking();
    let flag = AtomicBool::new(false);
    // ERROR: non-termination
    while !flag.load(Acquire) {
        hint::spin_loop();
    }
}

#[dpor::test]
fn flag_that_nobody_sets_in_a_thread() {
    only_while_checking();
    let flag = AtomicBool::new(false);
    thread::scope(|scope| {
        scope.spawn(|| {
            // ERROR: non-termination
            while !flag.load(Acquire) {
                thread::yield_now();
            }
        });
    });
}

// Another flag is set.
#[dpor::test]
fn other_flag() {
    only_while_checking();
    let flags = [const { AtomicBool::new(false) }; 2];
    let wait = || {
        // ERROR: non-termination
        while !flags[0].load(Acquire) {
            hint::spin_loop();
        }
    };
    two(|| flags[1].store(true, Release), wait);
}

// Set by mistake before it is reset.
#[dpor::test]
fn reset_too_late() {
    only_while_checking();
    let flag = AtomicBool::new(true);
    let wait = || {
        flag.store(false, Relaxed);
        // ERROR: non-termination
        while !flag.load(Acquire) {
            hint::spin_loop();
        }
    };
    two(wait, || flag.store(true, Release));
}

// Set only if something was seen, which need not be.
#[dpor::test]
fn set_under_a_condition() {
    only_while_checking();
    let (flag, asked) = (AtomicBool::new(false), AtomicBool::new(false));
    let ask = || {
        asked.store(true, Release);
        // ERROR: non-termination
        while !flag.load(Acquire) {
            hint::spin_loop();
        }
    };
    let answer = || {
        if asked.load(Acquire) {
            flag.store(true, Release);
        }
    };
    two(ask, answer);
}

// Each thinks that the other will do it.
#[dpor::test]
fn both_wait() {
    only_while_checking();
    let arrived = AtomicUsize::new(0);
    let done = AtomicBool::new(false);
    let wait = || {
        let seen = arrived.load(Relaxed);
        arrived.store(seen + 1, Relaxed);
        if seen == 1 {
            done.store(true, Release);
        }
        // ERROR: non-termination
        while !done.load(Acquire) {
            hint::spin_loop();
        }
    };
    two(wait, wait);
}

#[dpor::test(expect = "non-termination")]
fn lock_that_is_never_released() {
    only_while_checking();
    let lock = SpinLock::default();
    two(|| mem::forget(lock.lock()), || drop(lock.lock()));
}

#[dpor::test(expect = "non-termination")]
fn lock_taken_twice() {
    only_while_checking();
    let lock = SpinLock::default();
    let _first = lock.lock();
    let _second = lock.lock();
}

#[dpor::test(expect = "non-termination")]
fn locks_taken_in_different_order() {
    only_while_checking();
    let (left, right) = (SpinLock::default(), SpinLock::default());
    let both = |first: &SpinLock, second: &SpinLock| {
        let _first = first.lock();
        let _second = second.lock();
    };
    two(|| both(&left, &right), || both(&right, &left));
}

// In the same order they never wait for each other.
#[dpor::test]
fn locks_taken_in_the_same_order() {
    // COUNT: rc11 2 sc 2 tso 2 pso 2
    let (left, right) = (SpinLock::default(), SpinLock::default());
    let both = || {
        let _first = left.lock();
        let _second = right.lock();
    };
    two(both, both);
}

// A thread that panics without a guard leaves the lock taken.
#[dpor::test(expect = "non-termination")]
fn lock_held_by_a_thread_that_panicked() {
    only_while_checking();
    let lock = SpinLock::default();
    let panics = || {
        let result = panic::catch_unwind(|| {
            mem::forget(lock.lock());
            panic!("holding the lock");
        });
        assert!(result.is_err());
    };
    two(panics, || drop(lock.lock()));
}

// With a guard it does not.
#[dpor::test]
fn guard_of_a_thread_that_panicked() {
    // COUNT: rc11 2 sc 2 tso 2 pso 2
    let lock = SpinLock::default();
    let panics = || {
        let result = panic::catch_unwind(|| {
            let _guard = lock.lock();
            panic!("holding the lock");
        });
        assert!(result.is_err());
    };
    two(panics, || drop(lock.lock()));
}

// A ticket that nobody serves: it was drawn and thrown away.
#[dpor::test]
fn ticket_that_is_not_used() {
    only_while_checking();
    let (next, serving) = (AtomicUsize::new(0), AtomicUsize::new(0));
    threads(3, |i| {
        let ticket = next.fetch_add(1, Relaxed);
        if i == 0 && ticket == 1 {
            return;
        }
        // ERROR: non-termination
        while serving.load(Acquire) != ticket {
            hint::spin_loop();
        }
        serving.store(ticket + 1, Release);
    });
}

// One thread spins for what another would do if it had the mutex that the first one holds.
#[dpor::test]
fn spins_while_it_holds_a_mutex() {
    only_while_checking();
    let (mutex, flag) = (Mutex::new(()), AtomicBool::new(false));
    let spin = || {
        let _guard = mutex.lock().unwrap();
        // ERROR: non-termination
        while !flag.load(Acquire) {
            hint::spin_loop();
        }
    };
    let set = || {
        let _guard = mutex.lock().unwrap();
        flag.store(true, Release);
    };
    two(spin, set);
}

// The same, where the flag is set before.
#[dpor::test]
fn spins_while_it_holds_a_mutex_that_nobody_needs() {
    // COUNT: rc11 2 sc 2 tso 2 pso 2
    let (mutex, flag) = (Mutex::new(()), AtomicBool::new(false));
    let spin = || {
        let _guard = mutex.lock().unwrap();
        while !flag.load(Acquire) {
            hint::spin_loop();
        }
    };
    let set = || {
        flag.store(true, Release);
        let _guard = mutex.lock().unwrap();
    };
    two(spin, set);
}

// One is asleep until it is notified, by one that spins until the first is awake.
#[dpor::test]
fn spins_for_one_that_sleeps() {
    only_while_checking();
    let (mutex, condvar, awake) = (Mutex::new(false), Condvar::new(), AtomicBool::new(false));
    let sleep = || {
        let mut ready = mutex.lock().unwrap();
        while !*ready {
            ready = condvar.wait(ready).unwrap();
        }
        awake.store(true, Release);
    };
    let wake = || {
        // ERROR: non-termination
        while !awake.load(Acquire) {
            hint::spin_loop();
        }
        *mutex.lock().unwrap() = true;
        condvar.notify_one();
    };
    two(sleep, wake);
}

// One spins for ever, and the test waits for another one only.
#[dpor::test]
fn one_of_three_spins() {
    only_while_checking();
    let (flag, value) = (AtomicUsize::new(0), Plain::new(0));
    threads(3, |i| match i {
        0 => value.write(1),
        1 => flag.store(1, Release),
        _ => {
            // ERROR: non-termination
            while flag.load(Acquire) != 2 {
                hint::spin_loop();
            }
        }
    });
}

// What is waited for is counted, and one is missing because two of them were lost in one.
#[dpor::test]
fn lost_update() {
    only_while_checking();
    let done = AtomicUsize::new(0);
    threads(3, |i| match i {
        2 => {
            // ERROR: non-termination
            while done.load(Acquire) < 2 {
                hint::spin_loop();
            }
        }
        _ => {
            let seen = done.load(Relaxed);
            done.store(seen + 1, Release);
        }
    });
}

// In the end the test fails for another reason, which is found first where it comes first.
#[dpor::test]
fn panics_in_every_execution_that_ends() {
    let flag = AtomicBool::new(false);
    let wait = || {
        while !flag.load(Acquire) {
            hint::spin_loop();
        }
    };
    two(|| flag.store(true, Release), wait);
    assert!(!flag.into_inner()); // ERROR: panic
}
