//! Updates that commute: `// COMMUTE: …` says how many executions a test has if those that differ only in the order of such
//! updates count as one, `// COUNT: …` how many it has otherwise.

use std::cell::UnsafeCell;
use std::sync::atomic::{AtomicUsize, Ordering::*, fence};
use std::sync::{Arc, Mutex, RwLock};
use std::thread;

/// Four threads count in any of 4! orders, and nothing tells these apart.
#[dpor::test]
fn counted_and_never_looked_at() {
    // COUNT: rc11 24 sc 24 tso 24 pso 24
    // COMMUTE: rc11 1 sc 1 tso 1 pso 1
    let counter = AtomicUsize::new(0);
    thread::scope(|scope| {
        for _ in 0..4 {
            scope.spawn(|| {
                counter.fetch_add(1, Relaxed);
            });
        }
    });
    assert_eq!(counter.load(Relaxed), 4);
}

/// Two threads count in any of 2 orders, and a third looks before, between or after: 6 executions. It sees none, both or
/// either of them: 4.
#[dpor::test]
fn looked_at_in_between() {
    // COUNT: rc11 6 sc 6 tso 6 pso 6
    // COMMUTE: rc11 4 sc 4 tso 4 pso 4
    let counter = AtomicUsize::new(0);
    thread::scope(|scope| {
        scope.spawn(|| {
            counter.fetch_add(1, Release);
        });
        scope.spawn(|| {
            counter.fetch_add(1, Relaxed);
        });
        scope.spawn(|| counter.load(Acquire));
    });
}

/// Of a reference count all that matters is who is last: one of four.
#[dpor::test]
fn last_of_four() {
    // COUNT: rc11 24 sc 24 tso 24 pso 24
    // COMMUTE: rc11 4 sc 4 tso 4 pso 4
    let (count, last) = (AtomicUsize::new(4), AtomicUsize::new(0));
    thread::scope(|scope| {
        for _ in 0..4 {
            scope.spawn(|| {
                if count.fetch_sub(1, Release) == 1 {
                    fence(Acquire);
                    last.store(1, Relaxed);
                }
            });
        }
    });
    assert_eq!(last.load(Relaxed), 1);
}

struct Shared {
    count: AtomicUsize,
    data: UnsafeCell<usize>,
}

// SAFETY: whether that is right is what the tests below are about.
unsafe impl Sync for Shared {}

impl Shared {
    fn of_three() -> Shared {
        Shared { count: AtomicUsize::new(3), data: UnsafeCell::new(0) }
    }

    /// Looks at the data, and says whether this was the last one to do so.
    fn leave(&self) -> bool {
        // SAFETY: nobody writes before all have left.
        assert!(unsafe { *self.data.get() } < 2);
        self.count.fetch_sub(1, Release) == 1
    }
}

/// The last one must acquire what the others have released. Whoever is last, the race is found.
#[dpor::test]
fn last_of_three_does_not_acquire() {
    let shared = Shared::of_three();
    thread::scope(|scope| {
        for _ in 0..3 {
            scope.spawn(|| {
                if shared.leave() {
                    // SAFETY: wrong, nothing was acquired.
                    unsafe { *shared.data.get() = 1 }; // ERROR: data-race
                }
            });
        }
    });
}

/// The same with a fence is fine.
#[dpor::test]
fn last_of_three_acquires() {
    // COMMUTE: rc11 3 sc 3 tso 3 pso 3
    let shared = Shared::of_three();
    thread::scope(|scope| {
        for _ in 0..3 {
            scope.spawn(|| {
                if shared.leave() {
                    fence(Acquire);
                    // SAFETY: all others have left, and that was acquired.
                    unsafe { *shared.data.get() = 1 };
                }
            });
        }
    });
}

/// Who drops the last of three handles.
#[dpor::test]
fn last_handle() {
    // COMMUTE: rc11 3 sc 3 tso 3 pso 3
    let first = Arc::new(7);
    let (second, third) = (Arc::clone(&first), Arc::clone(&first));
    let threads = [thread::spawn(move || drop(second)), thread::spawn(move || drop(third))];
    drop(first);
    threads.into_iter().for_each(|thread| thread.join().unwrap());
}

/// Who drops the last of six handles, the main thread's own among them.
#[dpor::test]
fn last_of_six_handles() {
    // COMMUTE: rc11 6 sc 6 tso 6 pso 6
    let first = Arc::new(7);
    let drop_one = |_| {
        let other = Arc::clone(&first);
        thread::spawn(move || drop(other))
    };
    let threads = [(); 5].map(drop_one);
    drop(first);
    threads.into_iter().for_each(|thread| thread.join().unwrap());
}

/// Handles come and go, but the main thread keeps one: only the order of locking matters.
#[dpor::test]
fn lock_behind_handles() {
    // COMMUTE: rc11 6 sc 6 tso 6 pso 6
    let sum = Arc::new(Mutex::new(0));
    let add = |n| {
        let sum = Arc::clone(&sum);
        thread::spawn(move || *sum.lock().unwrap() += n)
    };
    let threads = [add(1), add(2), add(3)];
    threads.into_iter().for_each(|thread| thread.join().unwrap());
    assert_eq!(*sum.lock().unwrap(), 6);
}

/// A result that is used: each order is another execution.
#[dpor::test]
fn results_that_are_used() {
    // COUNT: rc11 6 sc 6 tso 6 pso 6
    // COMMUTE: rc11 6 sc 6 tso 6 pso 6
    let ticket = AtomicUsize::new(0);
    thread::scope(|scope| {
        for _ in 0..3 {
            scope.spawn(|| ticket.fetch_add(1, Relaxed));
        }
    });
}

/// Somebody is told how many there are: what is wrong with only one of the values is found.
#[dpor::test]
fn a_value_that_is_wrong() {
    let counter = AtomicUsize::new(0);
    thread::scope(|scope| {
        for n in [1, 2, 4] {
            let counter = &counter;
            scope.spawn(move || {
                counter.fetch_add(n, Relaxed);
            });
        }
        scope.spawn(|| assert_ne!(counter.load(Relaxed), 5)); // ERROR: panic
    });
}

/// Three readers come and go in any of 6!/2³ orders, and nothing tells these apart.
#[dpor::test]
fn readers_of_a_lock() {
    // COUNT: rc11 90 sc 90 tso 90 pso 90
    // COMMUTE: rc11 1 sc 1 tso 1 pso 1
    let lock = RwLock::new(7);
    thread::scope(|scope| {
        for _ in 0..3 {
            scope.spawn(|| assert_eq!(*lock.read().unwrap(), 7));
        }
    });
}

/// Each of three readers comes before or after the writer.
#[dpor::test]
fn readers_and_a_writer() {
    // COMMUTE: rc11 8 sc 8 tso 8 pso 8
    let lock = RwLock::new(7);
    thread::scope(|scope| {
        for _ in 0..3 {
            scope.spawn(|| assert!([7, 8].contains(&lock.read().unwrap())));
        }
        scope.spawn(|| *lock.write().unwrap() = 8);
    });
}

/// Of two threads that read twice, one has left before the other comes back: that one sees what the first did before.
#[dpor::test]
fn readers_that_come_back() {
    let lock = RwLock::new(());
    let flags = [AtomicUsize::new(0), AtomicUsize::new(0)];
    let seen = thread::scope(|scope| {
        let handles = [0, 1].map(|index| {
            let (lock, flags) = (&lock, &flags);
            scope.spawn(move || {
                flags[index].store(1, Relaxed);
                drop(lock.read().unwrap());
                drop(lock.read().unwrap());
                flags[1 - index].load(Relaxed)
            })
        });
        handles.map(|handle| handle.join().unwrap())
    });
    assert_ne!(seen, [0, 0]);
}
