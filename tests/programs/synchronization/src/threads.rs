//! Barriers, parking, and the end of threads.

use std::cell::UnsafeCell;
use std::sync::Barrier;
use std::sync::atomic::{AtomicBool, AtomicU32, Ordering::Relaxed};
use std::thread;
use std::time::Duration;

// Who comes when: n!
#[dpor::test]
fn barrier() {
    // COUNT: rc11 6 sc 6 tso 6 pso 6
    let (barrier, leaders) = (Barrier::new(3), AtomicU32::new(0));
    thread::scope(|scope| {
        for _ in 0..3 {
            scope.spawn(|| {
                if barrier.wait().is_leader() {
                    leaders.fetch_add(1, Relaxed);
                }
            });
        }
    });
    assert_eq!(leaders.into_inner(), 1);
}

// In each of the two rounds: (n!)²
#[dpor::test]
fn barrier_of_two_rounds() {
    // COUNT: rc11 4 sc 4 tso 4 pso 4
    let barrier = Barrier::new(2);
    thread::scope(|scope| {
        for _ in 0..2 {
            scope.spawn(|| {
                barrier.wait();
                barrier.wait();
            });
        }
    });
}

#[dpor::test]
fn barrier_for_one() {
    // COUNT: rc11 1
    assert!(Barrier::new(1).wait().is_leader());
    assert!(Barrier::new(0).wait().is_leader());
}

struct Shared(UnsafeCell<u32>);

unsafe impl Sync for Shared {}

// What was done before the barrier happens before what is done after it.
#[dpor::test]
fn barrier_orders() {
    // COUNT: rc11 2 sc 2 tso 2 pso 2
    let (barrier, data) = (Barrier::new(2), Shared(UnsafeCell::new(0)));
    let data = &data;
    thread::scope(|scope| {
        scope.spawn(|| {
            unsafe { *data.0.get() = 5 };
            barrier.wait();
        });
        barrier.wait();
        assert_eq!(unsafe { *data.0.get() }, 5);
    });
}

#[dpor::test]
fn barrier_that_nobody_else_comes_to() {
    Barrier::new(2).wait(); // ERROR: deadlock
}

#[dpor::test]
fn unparked() {
    // COUNT: rc11 1 sc 1 tso 1 pso 1
    let thread = thread::spawn(thread::park);
    thread.thread().unpark();
    thread.join().unwrap();
}

#[dpor::test]
fn parked_for_ever() {
    let thread = thread::spawn(thread::park);
    thread.join().unwrap(); // ERROR: deadlock
}

// The token is taken between the two that bring one, or after both, who come in either order.
#[dpor::test]
fn unparked_twice() {
    // COUNT: rc11 4 sc 4 tso 4 pso 4
    let parked = thread::current();
    thread::scope(|scope| {
        for _ in 0..2 {
            scope.spawn(|| parked.unpark());
        }
        thread::park();
    });
}

// The token comes in time, or it does not.
#[dpor::test]
fn parked_for_some_time() {
    // COUNT: rc11 2 sc 2 tso 2 pso 2
    let parked = thread::current();
    thread::scope(|scope| {
        scope.spawn(|| parked.unpark());
        thread::park_timeout(Duration::from_millis(1));
    });
}

// With a token, or without reason.
#[dpor::test(spurious = true)]
fn parked_with_spurious_wake_ups() {
    // COUNT: rc11 2 sc 2 tso 2 pso 2
    let parked = thread::current();
    thread::scope(|scope| {
        scope.spawn(|| parked.unpark());
        thread::park();
    });
}

#[dpor::test]
fn parked_after_the_token_is_used_up() {
    thread::current().unpark();
    thread::current().unpark();
    thread::park();
    thread::park(); // ERROR: deadlock
}

// The thread has ended, and what it did is visible; or it has not.
#[dpor::test]
fn finished() {
    // COUNT: rc11 2 sc 2 tso 2 pso 2
    let data = Shared(UnsafeCell::new(0));
    let data = &data;
    thread::scope(|scope| {
        let thread = scope.spawn(move || unsafe { *data.0.get() = 5 });
        if thread.is_finished() {
            assert_eq!(unsafe { *data.0.get() }, 5);
        }
        thread.join().unwrap();
    });
}

// A loop that asks again and again ends in one way.
#[dpor::test]
fn asked_until_it_is_finished() {
    // COUNT: rc11 1 sc 1 tso 1 pso 1
    let data = Shared(UnsafeCell::new(0));
    let data = &data;
    thread::scope(|scope| {
        let thread = scope.spawn(move || unsafe { *data.0.get() = 5 });
        while !thread.is_finished() {
            thread::yield_now();
        }
        assert_eq!(unsafe { *data.0.get() }, 5);
    });
}

#[dpor::test(expect = "data-race")]
fn not_finished() {
    let data = Shared(UnsafeCell::new(0));
    let data = &data;
    thread::scope(|scope| {
        let thread = scope.spawn(move || unsafe { *data.0.get() = 5 });
        if !thread.is_finished() {
            unsafe { *data.0.get() = 6 };
        }
    });
}

// Who sleeps that long does not wake: the other thread finds the value that was there, and the execution is over, though a
// thread is left.
#[dpor::test]
fn a_thread_that_sleeps_for_ever() {
    // COUNT: rc11 0+1 sc 0+1 tso 0+1 pso 0+1
    static AWAKE: AtomicBool = AtomicBool::new(false);
    thread::spawn(|| {
        thread::sleep(Duration::MAX);
        AWAKE.store(true, Relaxed);
    });
    assert!(!AWAKE.load(Relaxed));
}

// Nobody else can wake it: a timeout of centuries is none.
#[dpor::test]
fn parked_for_centuries() {
    thread::park_timeout(Duration::from_secs(1 << 40)); // ERROR: deadlock
}

// The token comes first, or while the thread waits: that is the same execution.
#[dpor::test]
fn unparked_within_centuries() {
    // COUNT: rc11 1 sc 1 tso 1 pso 1
    let main = thread::current();
    let other = thread::spawn(move || main.unpark());
    thread::park_timeout(Duration::MAX);
    other.join().unwrap();
}
