//! Mutexes: waiting blocks, and adds no executions.

use std::sync::{Arc, Mutex};
use std::thread;

// mutex(n): the critical sections come in any order: n!
#[dpor::test]
fn mutex() {
    // COUNT: rc11 24 sc 24 tso 24
    let counter = Mutex::new(0);
    thread::scope(|scope| {
        for _ in 0..4 {
            scope.spawn(|| *counter.lock().unwrap() += 1);
        }
    });
    assert_eq!(counter.into_inner().unwrap(), 4);
}

#[dpor::test]
fn opposite_orders() {
    let locks = Arc::new((Mutex::new(0), Mutex::new(0)));
    let other = locks.clone();
    let thread = thread::spawn(move || {
        let first = other.0.lock().unwrap();
        let second = other.1.lock().unwrap();
        drop((first, second));
    });
    let second = locks.1.lock().unwrap();
    let first = locks.0.lock().unwrap(); // ERROR: deadlock
    drop((first, second));
    thread.join().unwrap();
}

// Before the other thread, after it, or in vain while it is there.
#[dpor::test]
fn attempt_to_lock() {
    // COUNT: rc11 3 sc 3 tso 3 pso 3
    let counter = Mutex::new(0);
    thread::scope(|scope| {
        scope.spawn(|| *counter.lock().unwrap() += 1);
        if let Ok(mut guard) = counter.try_lock() {
            *guard += 1;
        }
    });
}

// The second thread comes before the first, and finds nothing wrong; or after it.
#[dpor::test]
fn poisoned() {
    // COUNT: rc11 2 sc 2 tso 2 pso 2
    let counter = Mutex::new(0);
    thread::scope(|scope| {
        let thread = scope.spawn(|| {
            let mut guard = counter.lock().unwrap();
            *guard += 1;
            panic!("while holding the lock");
        });
        match counter.lock() {
            Ok(guard) => assert_eq!(*guard, 0),
            Err(error) => assert_eq!(*error.into_inner(), 1),
        }
        assert!(thread.join().is_err());
    });
    assert!(counter.is_poisoned());
}

#[dpor::test]
fn locked_twice() {
    let lock = Mutex::new(());
    let first = lock.lock();
    let second = lock.lock(); // ERROR: deadlock
    drop((first, second));
}
