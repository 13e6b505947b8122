//! Waiting as crates do it: `Backoff` of crossbeam-utils, and the locks of spin, unmodified.

use std::hint;
use std::sync::atomic::{AtomicBool, Ordering::*};

use crossbeam_utils::Backoff;
use spin::mutex::{SpinMutex, TicketMutex};

use crate::support::{Lock, count_up, threads, two};

// A backoff counts its steps, but nobody asks: 1.
#[dpor::test]
fn snooze() {
    // COUNT: rc11 1 sc 1 tso 1 pso 1
    let flag = AtomicBool::new(false);
    let wait = || {
        let backoff = Backoff::new();
        while !flag.load(Acquire) {
            backoff.snooze();
        }
    };
    two(|| flag.store(true, Release), wait);
}

// Where somebody asks, it counts up to 11, and is the same from then on; but when the loop ends, nothing is left of
// that: 1. Below the full level the thread may see the flag unset from 0 to 11 times in a row, being in another state
// each time.
#[dpor::test]
fn snooze_until_completed() {
    // COUNT: rc11 1 sc 1 tso 1 pso 1
    // LEVELS: off 12+1 stale 12 in-place 12 full 1
    let flag = AtomicBool::new(false);
    let wait = || {
        let backoff = Backoff::new();
        while !flag.load(Acquire) {
            if backoff.is_completed() {
                std::thread::yield_now();
            } else {
                backoff.snooze();
            }
        }
    };
    two(|| flag.store(true, Release), wait);
}

// A counter of one's own that only slows the spinning down: 1.
#[dpor::test]
fn backoff_by_hand() {
    // COUNT: rc11 1 sc 1 tso 1 pso 1
    // LEVELS: off 1.. stale 1.. in-place 1.. full 1
    let flag = AtomicBool::new(false);
    let wait = || {
        let mut step = 0;
        while !flag.load(Acquire) {
            (0..1 << step).for_each(|_| hint::spin_loop());
            if step < 4 {
                step += 1;
            }
        }
    };
    two(|| flag.store(true, Release), wait);
}

// The same where the number of steps is the result: from 0 to 4.
#[dpor::test]
fn backoff_that_tells() {
    // COUNT: rc11 5 sc 5 tso 5 pso 5
    let flag = AtomicBool::new(false);
    let wait = || {
        let mut step = 0;
        while !flag.load(Acquire) {
            if step < 4 {
                step += 1;
            }
        }
        step
    };
    let ((), steps) = two(|| flag.store(true, Release), wait);
    assert!(steps <= 4);
}

/// Backs off by spinning.
#[derive(Default)]
struct BackoffLock(AtomicBool);

impl Lock for BackoffLock {
    fn lock(&self) {
        let backoff = Backoff::new();
        while self.0.swap(true, Acquire) {
            backoff.spin();
        }
    }

    fn unlock(&self) {
        self.0.store(false, Release);
    }
}

// As any lock: n!.
#[dpor::test]
fn backoff_in_a_lock() {
    // COUNT: rc11 6 sc 6 tso 6 pso 6
    count_up(3, &BackoffLock::default());
}

// A backoff that is made anew for each attempt has no state that lasts: n!.
#[dpor::test]
fn backoff_of_one_step() {
    // COUNT: rc11 6 sc 6 tso 6 pso 6
    struct Lock_(AtomicBool);
    impl Lock for Lock_ {
        fn lock(&self) {
            while self.0.compare_exchange_weak(false, true, Acquire, Relaxed).is_err() {
                Backoff::new().snooze();
            }
        }
        fn unlock(&self) {
            self.0.store(false, Release);
        }
    }
    count_up(3, &Lock_(AtomicBool::new(false)));
}

/// n threads add one each under a lock, which they have in any order: n!.
fn add_under<G>(n: usize, lock: impl Fn() -> G + Sync, add: impl Fn(&mut G) + Sync) {
    threads(n, |_| add(&mut lock()));
}

#[dpor::test]
fn spin_mutex() {
    // COUNT: rc11 24 sc 24 tso 24 pso 24
    let counter = spin::Mutex::<_>::new(0);
    add_under(4, || counter.lock(), |guard| **guard += 1);
    assert_eq!(counter.into_inner(), 4);
}

#[dpor::test]
fn spin_mutex_twice() {
    // COUNT: rc11 6 sc 6 tso 6 pso 6
    let counter: SpinMutex<u32> = SpinMutex::new(0);
    threads(2, |_| (0..2).for_each(|_| *counter.lock() += 1));
    assert_eq!(counter.into_inner(), 4);
}

#[dpor::test]
fn spin_ticket_mutex() {
    // COUNT: rc11 24 sc 24 tso 24 pso 24
    let counter: TicketMutex<u32> = TicketMutex::new(0);
    add_under(4, || counter.lock(), |guard| **guard += 1);
    assert_eq!(counter.into_inner(), 4);
}

// A thread takes the lock only if nobody has it: both do, or one.
#[dpor::test]
fn spin_try_lock() {
    // COUNT: rc11 4 sc 4 tso 4 pso 4
    let counter = spin::Mutex::<_>::new(0);
    let add = || counter.try_lock().map(|mut guard| *guard += 1).is_some();
    let (first, second) = two(add, add);
    assert!(first || second);
    assert_eq!(counter.into_inner(), u32::from(first) + u32::from(second));
}

// Two threads that write: 2. Its readers announce themselves before they look whether somebody writes, and take that
// back: an attempt that fails leaves the lock as it was.
#[dpor::test]
fn spin_rw_lock_with_writers() {
    // COUNT: rc11 6 sc 6 tso 6 pso 6
    let counter = spin::RwLock::<_>::new(0);
    add_under(3, || counter.write(), |guard| **guard += 1);
    assert_eq!(counter.into_inner(), 3);
}

#[dpor::test]
fn spin_rw_lock_with_one_of_each() {
    // COUNT: rc11 2 sc 2 tso 2 pso 2
    let pair = spin::RwLock::<_>::new([0, 0]);
    two(|| *pair.write() = [1, 1], || assert!([[0, 0], [1, 1]].contains(&*pair.read())));
}

// Guards assert something about the lock when they are dropped, by loading it: a reader may then see its own
// announcement or what other readers did after that. 34 by running all interleavings of what happens to the lock; there
// is one location.
#[dpor::test]
fn spin_rw_lock_with_two_readers() {
    // COUNT: rc11 34 sc 34 tso 34 pso 34
    let pair = spin::RwLock::<_>::new([0, 0]);
    threads(3, |i| match i {
        0 => *pair.write() = [1, 1],
        _ => assert!([[0, 0], [1, 1]].contains(&*pair.read())),
    });
}

// One of n threads is first. Each of the others first looks without waiting, and sees that it is done, that it is
// running, or neither; in the latter cases it then finds it running, and waits, or done: 5 possibilities, n·5^(n − 1).
#[dpor::test]
fn spin_once() {
    // COUNT: rc11 75 sc 75 tso 75 pso 75
    let once = spin::Once::<_>::new();
    threads(3, |i| assert!(*once.call_once(|| i) < 3));
}

#[dpor::test]
fn spin_once_waited_for() {
    // COUNT: rc11 1 sc 1 tso 1 pso 1
    let once = spin::Once::<_>::new();
    two(|| _ = once.call_once(|| 7), || assert_eq!(*once.wait(), 7));
}

// Threads arrive in any order, and all but the last then take the lock of the barrier once more, in any order, to see
// that it is open: n!·(n − 1)! at least. Looking before that leaves the lock as it was, but reads a counter that others
// write, so that one look of each thread is explored.
#[dpor::test]
fn spin_barrier_of_two() {
    // COUNT: rc11 2.. sc 2.. tso 2.. pso 2..
    // LEVELS: off 2.. stale 2.. in-place 2.. full 2..
    let barrier: spin::Barrier = spin::Barrier::new(2);
    let leads = || barrier.wait().is_leader();
    let (first, second) = two(leads, leads);
    assert!(first != second);
}

#[dpor::test]
fn spin_barrier_of_three() {
    // COUNT: rc11 12.. sc 12.. tso 12.. pso 12..
    let barrier: spin::Barrier = spin::Barrier::new(3);
    threads(3, |_| _ = barrier.wait());
}
