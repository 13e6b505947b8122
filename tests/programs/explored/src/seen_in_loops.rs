//! Values that are there only while a loop goes round, and that others see, or change: an error follows from each.

use std::sync::atomic::{AtomicBool, AtomicU32, Ordering::*, fence};
use std::sync::{Mutex, RwLock};
use std::thread;

use crate::support::two;

static X: AtomicU32 = AtomicU32::new(0);
static Y: AtomicU32 = AtomicU32::new(0);
static DONE: AtomicBool = AtomicBool::new(false);

/// Does something again and again, until what another thread does meanwhile is done; gives what came of that.
fn beside<T>(again: fn(), meanwhile: impl FnOnce() -> T) -> T {
    let goes_round = thread::spawn(move || {
        while !DONE.load(Relaxed) {
            again();
        }
    });
    let result = meanwhile();
    DONE.store(true, Relaxed);
    goes_round.join().unwrap();
    result
}

/// Announces itself and withdraws.
fn announce() {
    X.fetch_add(2, Relaxed);
    X.fetch_sub(2, Relaxed);
}

#[dpor::test(expect = "panic")]
fn announced_when_somebody_swaps() {
    assert_eq!(beside(announce, || X.swap(10, Relaxed)), 0);
}

// What is withdrawn is taken from what was swapped in.
#[dpor::test(expect = "panic")]
fn withdrawn_after_a_swap() {
    beside(announce, || X.swap(10, Relaxed));
    assert_eq!(X.load(Relaxed), 10);
}

#[dpor::test(expect = "panic")]
fn maximum_of_what_is_announced() {
    beside(announce, || X.fetch_max(1, Relaxed));
    assert_eq!(X.load(Relaxed), 1);
}

#[dpor::test(expect = "panic")]
fn announced_when_somebody_compares() {
    assert_eq!(beside(announce, || X.compare_exchange(0, 1, Relaxed, Relaxed)), Ok(0));
}

#[dpor::test(expect = "panic")]
fn expected_only_while_announced() {
    assert_eq!(beside(announce, || X.compare_exchange(2, 9, Relaxed, Relaxed)), Err(0));
}

// Nothing is lost if everybody only adds.
#[dpor::test]
fn added_to_what_is_announced() {
    beside(announce, || _ = X.fetch_add(1, Relaxed));
    assert_eq!(X.load(Relaxed), 1);
}

#[dpor::test(expect = "panic")]
fn bit_that_is_flipped_twice() {
    let flip = || {
        X.fetch_xor(1, Relaxed);
        X.fetch_xor(1, Relaxed);
    };
    assert_eq!(beside(flip, || X.fetch_and(2, Relaxed)), 0);
}

// One is withdrawn before the other.
#[dpor::test(expect = "panic")]
fn one_of_two_announcements() {
    let announce_both = || {
        X.fetch_add(1, SeqCst);
        Y.fetch_add(1, SeqCst);
        X.fetch_sub(1, SeqCst);
        Y.fetch_sub(1, SeqCst);
    };
    assert_ne!(beside(announce_both, || (Y.load(SeqCst), X.load(SeqCst))), (1, 0));
}

/// Takes something out and puts it back.
fn borrow() {
    let value = X.swap(9, AcqRel);
    X.store(value, Release);
}

#[dpor::test(expect = "panic")]
fn stored_while_it_is_borrowed() {
    beside(borrow, || X.store(3, Relaxed));
    assert_eq!(X.load(Relaxed), 3);
}

#[dpor::test(expect = "panic")]
fn added_while_it_is_borrowed() {
    beside(borrow, || X.fetch_add(1, Relaxed));
    assert_eq!(X.load(Relaxed), 1);
}

#[dpor::test(expect = "panic")]
fn locked_when_somebody_tries() {
    static LOCK: Mutex<()> = Mutex::new(());
    assert!(beside(|| drop(LOCK.lock().unwrap()), || LOCK.try_lock().is_ok()));
}

#[dpor::test(expect = "panic")]
fn read_when_somebody_tries_to_write() {
    static LOCK: RwLock<()> = RwLock::new(());
    assert!(beside(|| drop(LOCK.read().unwrap()), || LOCK.try_write().is_ok()));
}

// The thread leaves when it sees the other one, which leaves then, too.
#[dpor::test(expect = "panic")]
fn seen_by_whom_it_waits_for() {
    let waits = || {
        while {
            X.fetch_add(1, SeqCst);
            Y.load(SeqCst) == 0
        } {
            X.fetch_sub(1, SeqCst);
        }
    };
    let looks = || {
        let seen = X.load(SeqCst);
        Y.store(1, SeqCst);
        seen
    };
    assert_eq!(two(waits, looks).1, 0);
}

/// Makes two stores, one after the other.
fn store_1_and_2() {
    X.store(1, Relaxed);
    X.store(2, Relaxed);
}

#[dpor::test(expect = "panic")]
fn all_values_in_turn() {
    let watches = || {
        let mut seen = Vec::new();
        while X.load(Relaxed) != 2 {
            let x = X.load(Relaxed);
            if !seen.contains(&x) {
                seen.push(x);
            }
        }
        seen
    };
    assert_ne!(two(watches, store_1_and_2).0, [0, 1]);
}

#[dpor::test(expect = "panic")]
fn last_of_another_location() {
    let waits = || {
        let mut last = 9;
        while Y.load(Acquire) == 0 {
            last = X.load(Relaxed);
        }
        last
    };
    let stores = || {
        store_1_and_2();
        Y.store(1, Relaxed);
    };
    assert_ne!(two(waits, stores).0, 1);
}

#[dpor::test(expect = "panic")]
fn counts_and_begins_again() {
    let waits = || {
        let mut count = 0;
        while X.load(Relaxed) == 0 {
            count = (count + 1) % 4;
        }
        count
    };
    assert_ne!(two(waits, || X.store(1, Relaxed)).0, 3);
}

#[dpor::test(expect = "panic")]
fn failures_that_it_goes_on_with() {
    let attempts = || {
        let (mut x, mut seen) = (X.load(Relaxed), 0);
        while let Err(now) = X.compare_exchange(x, 100, Relaxed, Relaxed) {
            seen = seen * 10 + now;
            x = now;
        }
        seen
    };
    assert_ne!(two(attempts, store_1_and_2).0, 12);
}

// Only the failure that finds 1, where 0 was expected, leaves anything.
#[dpor::test(expect = "panic")]
fn failure_that_matters_for_one_value() {
    let attempts = || {
        let (mut x, mut seen) = (X.load(Relaxed), false);
        while let Err(now) = X.compare_exchange(x, x + 10, Relaxed, Relaxed) {
            seen |= (x, now) == (0, 1);
            x = now;
        }
        (x, seen)
    };
    assert_ne!(two(attempts, store_1_and_2).0, (2, true));
}

#[dpor::test(expect = "panic")]
fn called_twice_and_gives_up() {
    let updates = || {
        let mut calls = 0;
        let update = |x| {
            calls += 1;
            (x != 2).then_some(x + 10)
        };
        (X.try_update(Relaxed, Relaxed, update).is_err(), calls)
    };
    assert_ne!(two(updates, || X.store(2, Relaxed)).0, (true, 2));
}

// The value comes back, so that the attempt succeeds though something has happened in between.
#[dpor::test(expect = "panic")]
fn value_that_comes_back() {
    let attempts = || loop {
        let (x, y) = (X.load(Acquire), Y.load(Relaxed));
        if X.compare_exchange(x, x + 5, AcqRel, Acquire).is_ok() {
            return (x, y);
        }
    };
    let comes_back = || {
        X.store(1, SeqCst);
        Y.store(1, SeqCst);
        X.store(0, SeqCst);
    };
    let (found, ()) = two(attempts, comes_back);
    assert_ne!((found, X.load(Relaxed)), ((0, 0), 5));
}

// The fence is passed only if the loop goes round.
#[dpor::test]
fn fence_in_a_loop_that_need_not_go_round() {
    // MODELS: rc11
    static FLAG: AtomicU32 = AtomicU32::new(0);
    let waits = || {
        X.store(1, Relaxed);
        while FLAG.load(Relaxed) == 0 {
            fence(SeqCst);
        }
        Y.load(Relaxed)
    };
    let looks = || {
        Y.store(1, Relaxed);
        fence(SeqCst);
        let x = X.load(Relaxed);
        FLAG.store(1, Relaxed);
        x
    };
    assert_ne!(two(waits, looks), (0, 0)); // ERROR: panic
}
