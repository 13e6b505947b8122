//! `RwLock`: several readers, or one writer.

use std::sync::{PoisonError, RwLock, RwLockWriteGuard, TryLockError};
use std::thread;

use crate::support::{Plain, two};

#[dpor::test]
fn readers_and_a_writer() {
    let pair = RwLock::new((0, 0));
    let write = || {
        let mut pair = pair.write().unwrap();
        pair.0 += 1;
        pair.1 += 1;
    };
    let read = || {
        let pair = pair.read().unwrap();
        assert_eq!(pair.0, pair.1);
    };
    thread::scope(|scope| {
        scope.spawn(write);
        scope.spawn(read);
        read();
    });
    assert_eq!(pair.into_inner().unwrap(), (1, 1));
}

#[dpor::test]
fn two_writers() {
    let number = RwLock::new(0);
    let increment = || *number.write().unwrap() += 1;
    two(increment, increment);
    assert_eq!(number.into_inner().unwrap(), 2);
}

// The reader keeps the lock while it waits for another reader: readers do not exclude each other.
#[dpor::test]
fn readers_at_the_same_time() {
    let number = RwLock::new(7);
    let outer = number.read().unwrap();
    thread::scope(|scope| {
        let seen = scope.spawn(|| *number.read().unwrap()).join().unwrap();
        assert_eq!(seen, *outer);
    });
}

#[dpor::test]
fn attempts_while_it_is_read() {
    let number = RwLock::new(7);
    let outer = number.read().unwrap();
    thread::scope(|scope| {
        scope.spawn(|| {
            assert_eq!(*number.try_read().unwrap(), 7);
            assert!(matches!(number.try_write(), Err(TryLockError::WouldBlock)));
        });
    });
    drop(outer);
    *number.try_write().unwrap() = 8;
    assert_eq!(number.into_inner().unwrap(), 8);
}

#[dpor::test]
fn attempt_while_it_may_be_written() {
    let number = RwLock::new(7);
    thread::scope(|scope| {
        scope.spawn(|| *number.write().unwrap() = 8);
        assert!(number.try_read().is_ok()); // ERROR: panic
    });
}

// Read, then written under another lock: somebody else may have written in between.
#[dpor::test]
fn update_in_two_steps() {
    let number = RwLock::new(0);
    let increment = || {
        let seen = *number.read().unwrap();
        *number.write().unwrap() = seen + 1;
    };
    two(increment, increment);
    assert_eq!(number.into_inner().unwrap(), 2); // ERROR: panic
}

#[dpor::test]
fn downgraded() {
    let number = RwLock::new(0);
    let increment_and_read = || {
        let mut guard = number.write().unwrap();
        *guard += 1;
        let written = *guard;
        let guard = RwLockWriteGuard::downgrade(guard);
        assert_eq!(*guard, written);
    };
    two(increment_and_read, increment_and_read);
    assert_eq!(number.into_inner().unwrap(), 2);
}

#[dpor::test]
fn poisoned_by_a_writer() {
    let number = RwLock::new(0);
    thread::scope(|scope| {
        let thread = scope.spawn(|| {
            let _guard = number.write().unwrap();
            panic!("with the lock");
        });
        assert!(thread.join().is_err());
    });
    assert!(number.is_poisoned() && number.read().is_err());
    assert_eq!(*number.write().unwrap_or_else(PoisonError::into_inner), 0);
}

// A panic of a reader poisons nothing.
#[dpor::test]
fn not_poisoned_by_a_reader() {
    let number = RwLock::new(5);
    thread::scope(|scope| {
        let thread = scope.spawn(|| {
            let _guard = number.read().unwrap();
            panic!("with the lock");
        });
        assert!(thread.join().is_err());
    });
    assert_eq!(*number.read().unwrap(), 5);
}

// The writer's data beside the lock are seen by the reader that comes after it.
#[dpor::test]
fn data_beside_the_lock() {
    let (lock, data) = (RwLock::new(false), Plain::new(0));
    let write = || {
        unsafe { *data.get() = 1 };
        *lock.write().unwrap() = true;
    };
    let read = || {
        if *lock.read().unwrap() {
            assert_eq!(unsafe { *data.get() }, 1);
        }
    };
    two(write, read);
}

// Reading is not enough to write what the lock protects only by convention.
#[dpor::test]
fn writer_beside_a_reader() {
    let (lock, data) = (RwLock::new(()), Plain::new(0));
    thread::scope(|scope| {
        scope.spawn(|| {
            let _guard = lock.read().unwrap();
            unsafe { *data.get() = 1 }; // ERROR: data-race
        });
        scope.spawn(|| {
            let _guard = lock.read().unwrap();
            assert_ne!(unsafe { *data.get() }, 2); // ERROR: data-race
        });
    });
}
