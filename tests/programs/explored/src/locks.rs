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

#[dpor::test]
fn parked_for_ever() {
    let thread = thread::spawn(thread::park);
    thread.join().unwrap(); // ERROR: deadlock
}

#[dpor::test]
fn parked_and_unparked() {
    let thread = thread::spawn(thread::park);
    thread.thread().unpark();
    thread.join().unwrap();
}
