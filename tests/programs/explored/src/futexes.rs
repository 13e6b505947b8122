//! The futex of the operating system, called directly.

use std::sync::atomic::{AtomicU32, Ordering::*};
use std::thread;
use std::time::Duration;

use crate::support::{Plain, two};

unsafe extern "C" {
    fn syscall(number: i64, ...) -> i64;
}

const SYS_FUTEX: i64 = 202;
const FUTEX_WAIT_PRIVATE: i32 = 128;
const FUTEX_WAKE_PRIVATE: i32 = 129;

/// Waits while the word is `expected`, for some time or for ever; false if it did not wait, or too long.
fn wait(word: &AtomicU32, expected: u32, timeout: Option<Duration>) -> bool {
    let timeout = timeout.map(|time| [time.as_secs() as i64, i64::from(time.subsec_nanos())]);
    let pointer = timeout.as_ref().map_or(std::ptr::null(), |time| time.as_ptr());
    unsafe { syscall(SYS_FUTEX, word.as_ptr(), FUTEX_WAIT_PRIVATE, expected, pointer) == 0 }
}

/// Wakes so many that wait; how many there were.
fn wake(word: &AtomicU32, count: i32) -> i64 {
    unsafe { syscall(SYS_FUTEX, word.as_ptr(), FUTEX_WAKE_PRIVATE, count) }
}

#[dpor::test]
fn woken() {
    let (word, data) = (AtomicU32::new(0), Plain::new(0));
    let write = || {
        unsafe { *data.get() = 1 };
        word.store(1, Release);
        wake(&word, 1);
    };
    let read = || {
        if word.load(Acquire) == 0 {
            wait(&word, 0, None);
            assert_eq!(word.load(Acquire), 1);
        }
        assert_eq!(unsafe { *data.get() }, 1);
    };
    two(write, read);
}

// The word has another value: nobody waits.
#[dpor::test]
fn not_waited() {
    // COUNT: rc11 1 sc 1 tso 1 pso 1
    let word = AtomicU32::new(1);
    assert!(!wait(&word, 0, None));
    assert_eq!(wake(&word, 1), 0);
}

#[dpor::test]
fn time_is_over() {
    // COUNT: rc11 1 sc 1 tso 1 pso 1
    let word = AtomicU32::new(1);
    assert!(!wait(&word, 1, Some(Duration::from_millis(5))));
}

#[dpor::test(expect = "deadlock")]
fn never_woken() {
    let word = AtomicU32::new(0);
    wait(&word, 0, None);
}

// The word changes, but nobody wakes the one that waits for that.
#[dpor::test(expect = "deadlock")]
fn changed_without_waking() {
    let word = AtomicU32::new(0);
    thread::scope(|scope| {
        scope.spawn(|| word.store(1, Release));
        wait(&word, 0, None);
    });
}

// Woken, but the word has not changed yet: it waits again, and nobody wakes it.
#[dpor::test(expect = "deadlock")]
fn woken_too_early() {
    let word = AtomicU32::new(0);
    thread::scope(|scope| {
        scope.spawn(|| {
            wake(&word, 1);
            word.store(1, Release);
        });
        if word.load(Acquire) == 0 {
            wait(&word, 0, None);
        }
    });
}

// Two wait, one is woken.
#[dpor::test]
fn one_of_two_woken() {
    let word = AtomicU32::new(0);
    // ERROR: deadlock
    thread::scope(|scope| {
        scope.spawn(|| wait(&word, 0, None));
        scope.spawn(|| wait(&word, 0, None));
        word.store(1, Release);
        wake(&word, 1);
    });
}

#[dpor::test]
fn both_woken() {
    let word = AtomicU32::new(0);
    thread::scope(|scope| {
        scope.spawn(|| wait(&word, 0, None));
        scope.spawn(|| wait(&word, 0, None));
        word.store(1, Release);
        wake(&word, i32::MAX);
    });
}

/// A mutex of three states: free, locked, locked with somebody waiting. It tries again at most once.
struct Lock {
    state: AtomicU32,
}

impl Lock {
    fn lock(&self) {
        if self.state.compare_exchange(0, 1, Acquire, Relaxed).is_err() {
            while self.state.swap(2, Acquire) != 0 {
                wait(&self.state, 2, None);
            }
        }
    }

    fn unlock(&self) {
        if self.state.swap(0, Release) == 2 {
            wake(&self.state, 1);
        }
    }

    /// Forgets to wake the one that waits.
    fn unlock_silently(&self) {
        self.state.store(0, Release);
    }
}

#[dpor::test]
fn lock_of_three_states() {
    let (lock, data) = (Lock { state: AtomicU32::new(0) }, Plain::new(0));
    let increment = || {
        lock.lock();
        unsafe { *data.get() += 1 };
        lock.unlock();
    };
    two(increment, increment);
    assert_eq!(data.into_inner(), 2);
}

#[dpor::test]
fn lock_that_wakes_nobody() {
    let lock = Lock { state: AtomicU32::new(0) };
    let enter = || {
        lock.lock();
        lock.unlock_silently();
    };
    // ERROR: deadlock
    thread::scope(|scope| {
        scope.spawn(enter);
        scope.spawn(enter);
    });
}
