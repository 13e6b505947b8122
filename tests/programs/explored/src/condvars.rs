//! `Condvar`: waiting for what another thread does.

use std::sync::atomic::{AtomicUsize, Ordering::*};
use std::sync::{Condvar, Mutex};
use std::thread;
use std::time::Duration;

use crate::support::{Plain, two};

#[dpor::test]
fn handover() {
    let (slot, filled) = (Mutex::new(None), Condvar::new());
    let fill = || {
        *slot.lock().unwrap() = Some(5);
        filled.notify_one();
    };
    let take = || filled.wait_while(slot.lock().unwrap(), |slot| slot.is_none()).unwrap().take();
    assert_eq!(two(fill, take).1, Some(5));
}

// There and back again, over the same condition variable.
#[dpor::test]
fn ping_pong() {
    let (turn, changed) = (Mutex::new(0), Condvar::new());
    let play = |mine: u32| {
        let mut turn = changed.wait_while(turn.lock().unwrap(), |turn| *turn != mine).unwrap();
        *turn += 1;
        changed.notify_all();
    };
    two(|| play(0), || play(1));
    assert_eq!(turn.into_inner().unwrap(), 2);
}

// Woken, but the condition is not looked at again: another thread may have been quicker.
#[dpor::test]
fn condition_not_checked_again() {
    let (items, added) = (Mutex::new(0_u32), Condvar::new());
    let take = || {
        let mut items = items.lock().unwrap();
        if *items == 0 {
            items = added.wait(items).unwrap();
        }
        items.checked_sub(1).map(|left| *items = left)
    };
    let (first, second) = thread::scope(|scope| {
        let first = scope.spawn(take);
        let second = scope.spawn(take);
        for _ in 0..2 {
            *items.lock().unwrap() += 1;
            added.notify_all();
        }
        (first.join().unwrap(), second.join().unwrap())
    });
    assert!(first.is_some() && second.is_some()); // ERROR: panic
}

// The wait ends by itself, whether or not somebody notifies.
#[dpor::test]
fn timeout() {
    let (ready, changed) = (Mutex::new(false), Condvar::new());
    let guard = ready.lock().unwrap();
    let (guard, result) = changed.wait_timeout(guard, Duration::from_millis(10)).unwrap();
    assert!(result.timed_out() && !*guard);
}

#[dpor::test]
fn timeout_or_notification() {
    let (ready, changed) = (Mutex::new(false), Condvar::new());
    thread::scope(|scope| {
        scope.spawn(|| {
            *ready.lock().unwrap() = true;
            changed.notify_one();
        });
        let wait = changed.wait_timeout_while(ready.lock().unwrap(), Duration::from_secs(1), |ready| !*ready);
        let (guard, result) = wait.unwrap();
        assert_ne!(*guard, result.timed_out());
    });
}

// No time is long enough.
#[dpor::test]
fn timeout_thought_impossible() {
    let (ready, changed) = (Mutex::new(false), Condvar::new());
    thread::scope(|scope| {
        scope.spawn(|| {
            *ready.lock().unwrap() = true;
            changed.notify_one();
        });
        let wait = changed.wait_timeout_while(ready.lock().unwrap(), Duration::from_secs(3600), |ready| !*ready);
        assert!(!wait.unwrap().1.timed_out()); // ERROR: panic
    });
}

// What was done before the notification, under no lock, is ordered by the lock of the flag.
#[dpor::test]
fn data_beside_the_lock() {
    let (data, ready, changed) = (Plain::new(0), Mutex::new(false), Condvar::new());
    let write = || {
        unsafe { *data.get() = 1 };
        *ready.lock().unwrap() = true;
        changed.notify_one();
    };
    let read = || {
        drop(changed.wait_while(ready.lock().unwrap(), |ready| !*ready).unwrap());
        assert_eq!(unsafe { *data.get() }, 1);
    };
    two(write, read);
}

// A semaphore with one permit: never two in the critical section.
#[dpor::test]
fn semaphore() {
    let (permits, returned) = (Mutex::new(1), Condvar::new());
    let inside = AtomicUsize::new(0);
    let enter = || {
        *returned.wait_while(permits.lock().unwrap(), |permits| *permits == 0).unwrap() -= 1;
        let others = inside.fetch_add(1, Relaxed);
        inside.fetch_sub(1, Relaxed);
        *permits.lock().unwrap() += 1;
        returned.notify_one();
        others
    };
    assert_eq!(two(enter, enter), (0, 0));
}

// With two permits there may be.
#[dpor::test]
fn semaphore_with_two_permits() {
    let (permits, returned) = (Mutex::new(2), Condvar::new());
    let inside = AtomicUsize::new(0);
    let enter = || {
        *returned.wait_while(permits.lock().unwrap(), |permits| *permits == 0).unwrap() -= 1;
        let others = inside.fetch_add(1, Relaxed);
        inside.fetch_sub(1, Relaxed);
        *permits.lock().unwrap() += 1;
        returned.notify_one();
        others
    };
    assert_eq!(two(enter, enter), (0, 0)); // ERROR: panic
}
