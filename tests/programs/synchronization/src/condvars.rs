//! Condition variables: a word with a bit for each thread that waits.

use std::sync::atomic::{AtomicBool, Ordering::Relaxed};
use std::sync::{Condvar, Mutex};
use std::thread;
use std::time::Duration;

#[derive(Default)]
struct Shared {
    permits: Mutex<u32>,
    changed: Condvar,
}

impl Shared {
    fn take(&self) {
        let mut permits = self.permits.lock().unwrap();
        while *permits == 0 {
            permits = self.changed.wait(permits).unwrap();
        }
        *permits -= 1;
    }

    fn give(&self, count: u32) {
        *self.permits.lock().unwrap() += count;
    }
}

fn hand_over() {
    let shared = Shared::default();
    thread::scope(|scope| {
        scope.spawn(|| shared.take());
        shared.give(1);
        shared.changed.notify_one();
    });
}

// Who takes comes after who gives, and does not wait; or before, and is notified.
#[dpor::test]
fn handed_over() {
    // COUNT: rc11 2 sc 2 tso 2 pso 2
    hand_over();
}

// As above, without a spurious wake-up: 2. With one, who takes locks again before it is given, and waits a second time, 1
// way; or after, and then the notification comes before or after it has stopped waiting, 2 ways.
#[dpor::test(spurious = true)]
fn handed_over_with_spurious_wake_ups() {
    // COUNT: rc11 5 sc 5 tso 5 pso 5
    hand_over();
}

fn two_waiting(notify: fn(&Condvar)) {
    let shared = Shared::default();
    thread::scope(|scope| {
        scope.spawn(|| shared.take());
        scope.spawn(|| shared.take());
        shared.give(2);
        notify(&shared.changed);
    });
}

// How the critical sections are ordered: both threads come after the permits, 2 ways. One comes before and waits, the
// other does not: 2 ways to choose which, and 2 orders of what they do afterwards. Both come before: 2 orders, and 2
// orders of what they do afterwards.
#[dpor::test]
fn notify_all() {
    // COUNT: rc11 10 sc 10 tso 10 pso 10
    two_waiting(Condvar::notify_all);
}

// The same, but where both wait it matters whom the first notification wakes.
#[dpor::test]
fn notify_one_twice() {
    // COUNT: rc11 14 sc 14 tso 14 pso 14
    two_waiting(|changed| {
        changed.notify_one();
        changed.notify_one();
    });
}

#[dpor::test(expect = "deadlock")]
fn notify_one_of_two() {
    two_waiting(Condvar::notify_one);
}

// The flag is not changed under the lock: between looking at it and waiting, the notification may be lost.
#[dpor::test]
fn lost_wake_up() {
    let (ready, lock, changed) = (AtomicBool::new(false), Mutex::new(()), Condvar::new());
    thread::scope(|scope| {
        scope.spawn(|| {
            ready.store(true, Relaxed);
            changed.notify_one();
        });
        let mut guard = lock.lock().unwrap();
        while !ready.load(Relaxed) {
            guard = changed.wait(guard).unwrap(); // ERROR: deadlock
        }
    });
}

// The notification comes before the thread waits, while it does, or after its time is over.
#[dpor::test]
fn timed_wait() {
    // COUNT: rc11 3 sc 3 tso 3 pso 3
    let (lock, changed) = (Mutex::new(()), Condvar::new());
    thread::scope(|scope| {
        scope.spawn(|| changed.notify_one());
        let (_guard, result) = changed.wait_timeout(lock.lock().unwrap(), Duration::ZERO).unwrap();
        _ = result.timed_out();
    });
}

// The permit is there before the lock is taken, 1 way; after the time is over and the lock is taken again, 1 way; or
// between, and then the notification comes before or after the time is over, 2 ways.
#[dpor::test]
fn timed_wait_for_a_permit() {
    // COUNT: rc11 4 sc 4 tso 4 pso 4
    let shared = Shared::default();
    thread::scope(|scope| {
        scope.spawn(|| {
            shared.give(1);
            shared.changed.notify_one();
        });
        let permits = shared.permits.lock().unwrap();
        let time = Duration::from_millis(1);
        let (permits, result) = shared.changed.wait_timeout_while(permits, time, |permits| *permits == 0).unwrap();
        assert_eq!(result.timed_out(), *permits == 0);
    });
}
