//! Threads that are alike: how many executions there are up to permutations follows from a formula.

use std::hint;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering::*};
use std::sync::{Arc, Mutex, RwLock};
use std::thread;

static X: AtomicUsize = AtomicUsize::new(0);
static Y: AtomicUsize = AtomicUsize::new(0);

fn join_all(count: usize, body: impl Fn() + Send + Copy + 'static) {
    let threads: Vec<_> = (0..count).map(|_| thread::spawn(body)).collect();
    threads.into_iter().for_each(|thread| thread.join().unwrap());
}

// 7! orders, and which thread is which does not matter.
#[dpor::test]
fn ainc() {
    // SYMMETRY: rc11 1 sc 1 tso 1 pso 1
    // COUNT: rc11 5040 sc 5040 tso 5040 pso 5040
    join_all(7, || {
        X.fetch_add(1, Relaxed);
    });
    assert_eq!(X.load(Relaxed), 7);
}

#[dpor::test]
fn scoped() {
    // SYMMETRY: rc11 1 sc 1 tso 1 pso 1
    // COUNT: rc11 720 sc 720 tso 720 pso 720
    let x = AtomicUsize::new(0);
    thread::scope(|scope| {
        for _ in 0..6 {
            scope.spawn(|| {
                x.fetch_add(1, Relaxed);
            });
        }
    });
    assert_eq!(x.load(Relaxed), 6);
}

#[dpor::test]
fn detached() {
    // SYMMETRY: rc11 1 sc 1 tso 1 pso 1
    // COUNT: rc11 24 sc 24 tso 24 pso 24
    for _ in 0..4 {
        thread::spawn(|| X.fetch_add(1, Relaxed));
    }
}

// Each reads one of two values: how many read the new one.
#[dpor::test]
fn readers() {
    // SYMMETRY: rc11 6 sc 6 tso 6 pso 6
    // COUNT: rc11 32 sc 32 tso 32 pso 32
    thread::scope(|scope| {
        for _ in 0..5 {
            scope.spawn(|| {
                X.load(Relaxed);
            });
        }
        scope.spawn(|| X.store(1, Relaxed));
    });
}

#[dpor::test]
fn writers_of_the_same() {
    // SYMMETRY: rc11 1 sc 1 tso 1 pso 1
    // COUNT: rc11 120 sc 120 tso 120 pso 120
    join_all(5, || X.store(1, Relaxed));
}

// Each does so in one piece.
#[dpor::test]
fn mutex() {
    // SYMMETRY: rc11 1 sc 1 tso 1 pso 1
    // COUNT: rc11 24 sc 24 tso 24 pso 24
    let count = Mutex::new(0);
    thread::scope(|scope| {
        for _ in 0..4 {
            scope.spawn(|| *count.lock().unwrap() += 1);
        }
    });
    assert_eq!(*count.lock().unwrap(), 4);
}

#[dpor::test]
fn spin_lock() {
    // SYMMETRY: rc11 1 sc 1 tso 1 pso 1
    // COUNT: rc11 6 sc 6 tso 6 pso 6
    let locked = AtomicBool::new(false);
    thread::scope(|scope| {
        for _ in 0..3 {
            scope.spawn(|| {
                while locked.compare_exchange(false, true, Acquire, Relaxed).is_err() {
                    hint::spin_loop();
                }
                locked.store(false, Release);
            });
        }
    });
}

// Two classes: the additions come in one order, and the loads see 0 to 3 of them each, in no order: 4 * 5 / 2. Without
// the reduction, 3! orders and 4 * 4 for the loads.
#[dpor::test]
fn two_classes() {
    // SYMMETRY: rc11 10 sc 10 tso 10 pso 10
    // COUNT: rc11 96 sc 96 tso 96 pso 96
    thread::scope(|scope| {
        for _ in 0..3 {
            scope.spawn(|| {
                X.fetch_add(1, Relaxed);
            });
        }
        for _ in 0..2 {
            scope.spawn(|| {
                X.load(Relaxed);
            });
        }
    });
}

// Clones of an `Arc` that were made before are the same pointer.
#[dpor::test]
fn clones() {
    // SYMMETRY: rc11 1.. sc 1.. tso 1.. pso 1..
    let count = Arc::new(Mutex::new(0));
    let clones: Vec<_> = (0..2).map(|_| Arc::clone(&count)).collect();
    let threads: Vec<_> = clones.into_iter().map(|count| thread::spawn(move || *count.lock().unwrap() += 1)).collect();
    threads.into_iter().for_each(|thread| thread.join().unwrap());
}

#[dpor::test]
fn lock_for_reading() {
    // SYMMETRY: rc11 1.. sc 1.. tso 1.. pso 1..
    let lock = RwLock::new(0);
    thread::scope(|scope| {
        for _ in 0..2 {
            scope.spawn(|| assert_eq!(*lock.read().unwrap(), 0));
        }
    });
}

// They return the same, whoever comes first.
#[dpor::test]
fn same_results() {
    // SYMMETRY: rc11 1 sc 1 tso 1 pso 1
    // COUNT: rc11 6 sc 6 tso 6 pso 6
    let body = || {
        X.fetch_add(1, Relaxed);
        7
    };
    let threads: Vec<_> = (0..3).map(|_| thread::spawn(body)).collect();
    assert!(threads.into_iter().all(|thread| thread.join().unwrap() == 7));
}

// Which of the threads comes second does not matter, but that one does is seen.
#[dpor::test]
fn error_of_the_second() {
    join_all(2, || {
        if X.fetch_add(1, Relaxed) == 1 && Y.load(Relaxed) == 0 {
            // ERROR: abort
            std::process::abort();
        }
    });
}
