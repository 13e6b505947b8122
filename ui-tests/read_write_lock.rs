//! Readers and writers.

use std::sync::RwLock;
use std::thread;

#[dpor::test]
fn upgrade_in_place() {
    static LOCK: RwLock<u32> = RwLock::new(0);
    let thread = thread::spawn(|| {
        let value = *LOCK.read().unwrap();
        *LOCK.write().unwrap() = value + 1;
    });
    let reading = LOCK.read().unwrap();
    *LOCK.write().unwrap() = *reading + 1;
    drop(reading);
    thread.join().unwrap();
}

#[dpor::test]
fn read_and_write_apart() {
    static LOCK: RwLock<u32> = RwLock::new(0);
    let increment = || {
        let value = *LOCK.read().unwrap();
        *LOCK.write().unwrap() = value + 1;
    };
    let thread = thread::spawn(increment);
    increment();
    thread.join().unwrap();
    assert_eq!(*LOCK.read().unwrap(), 2);
}
