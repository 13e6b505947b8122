//! Locks for readers and writers: a word that readers count up and down, and that a writer sets and clears.

use std::sync::{RwLock, RwLockWriteGuard};
use std::thread;

/// So many threads that read, and so many that write. When all have ended, `into_inner` looks at the word.
fn readers_and_writers(readers: usize, writers: usize) {
    let number = RwLock::new(0);
    thread::scope(|scope| {
        for _ in 0..readers {
            scope.spawn(|| assert!(*number.read().unwrap() <= writers));
        }
        for _ in 0..writers {
            scope.spawn(|| *number.write().unwrap() += 1);
        }
    });
    assert_eq!(number.into_inner().unwrap(), writers);
}

// Each reader comes and goes, in any order with the other: 4! / (2! · 2!). Nothing tells these orders apart.
#[dpor::test]
fn two_readers() {
    // COUNT: rc11 6 sc 6 tso 6 pso 6
    // COMMUTE: rc11 1 sc 1 tso 1 pso 1
    readers_and_writers(2, 0);
}

#[dpor::test]
fn reader_and_writer() {
    // COUNT: rc11 2 sc 2 tso 2 pso 2
    readers_and_writers(1, 1);
}

// n writers exclude each other: n!
#[dpor::test]
fn three_writers() {
    // COUNT: rc11 6 sc 6 tso 6 pso 6
    readers_and_writers(0, 3);
}

// The writer comes before both readers or after both, who then come and go in 6 ways; or between them, in 2. What matters is
// which of the readers come before the writer: 2².
#[dpor::test]
fn two_readers_and_a_writer() {
    // COUNT: rc11 14 sc 14 tso 14 pso 14
    // COMMUTE: rc11 4 sc 4 tso 4 pso 4
    readers_and_writers(2, 1);
}

// Before the writer, which finds the lock free, or has to wait first; after it; or in vain while it is there.
#[dpor::test]
fn attempt_to_read() {
    // COUNT: rc11 4 sc 4 tso 4 pso 4
    let number = RwLock::new(0);
    thread::scope(|scope| {
        scope.spawn(|| *number.write().unwrap() = 1);
        if let Ok(guard) = number.try_read() {
            assert!(*guard < 2);
        }
    });
}

// In the library, an attempt to read fails while a writer waits, though nobody but a reader has the lock:
// `tests/tests/library.rs` has that natively.
#[dpor::test]
fn attempt_to_read_while_a_writer_waits() {
    let number = RwLock::new(0);
    thread::scope(|scope| {
        let _guard = number.read().unwrap();
        scope.spawn(|| *number.write().unwrap() = 1);
        assert!(number.try_read().is_ok()); // ERROR: panic
    });
}

// It fails: the writer was there before, and waits. It succeeds: the writer finds the lock as it was before, or with
// both readers, or with the first one again, or free.
#[dpor::test]
fn attempt_to_read_with_both_outcomes() {
    // COUNT: rc11 5 sc 5 tso 5 pso 5
    let number = RwLock::new(0);
    thread::scope(|scope| {
        let guard = number.read().unwrap();
        scope.spawn(|| *number.write().unwrap() = 1);
        let second = number.try_read();
        assert!(second.is_err() || *second.unwrap() == 0);
        drop(guard);
    });
}

// Once the writer is done, nobody waits any more.
#[dpor::test]
fn attempt_to_read_after_the_writer() {
    let number = RwLock::new(0);
    thread::scope(|scope| {
        let guard = number.read().unwrap();
        let writer = scope.spawn(|| *number.write().unwrap() = 1);
        drop(guard);
        writer.join().unwrap();
        assert_eq!(*number.try_read().unwrap(), 1);
    });
}

// Before the reader, after it, or in vain while it is there.
#[dpor::test]
fn attempt_to_write() {
    // COUNT: rc11 3 sc 3 tso 3 pso 3
    let number = RwLock::new(0);
    thread::scope(|scope| {
        scope.spawn(|| *number.read().unwrap());
        if let Ok(mut guard) = number.try_write() {
            *guard = 1;
        }
    });
}

// Two who try to read, while nobody writes: both succeed, as if they had waited.
#[dpor::test]
fn two_attempts_to_read() {
    // COUNT: rc11 6 sc 6 tso 6 pso 6
    let number = RwLock::new(7);
    thread::scope(|scope| {
        for _ in 0..2 {
            scope.spawn(|| assert_eq!(*number.try_read().unwrap(), 7));
        }
    });
}

// The reader comes and goes before the writer locks, 1 way; or after it has become a reader itself, and then it goes
// before, between or after the reader's coming and going, 3 ways.
#[dpor::test]
fn downgrade() {
    // COUNT: rc11 4 sc 4 tso 4 pso 4
    let number = RwLock::new(0);
    thread::scope(|scope| {
        scope.spawn(|| {
            let mut guard = number.write().unwrap();
            *guard = 1;
            let guard = RwLockWriteGuard::downgrade(guard);
            assert_eq!(*guard, 1);
        });
        scope.spawn(|| assert!(*number.read().unwrap() < 2));
    });
}

#[dpor::test]
fn poisoned() {
    // COUNT: rc11 1
    let number = RwLock::new(0);
    let result = thread::scope(|scope| {
        let thread = scope.spawn(|| {
            let _guard = number.write().unwrap();
            panic!("while writing");
        });
        thread.join()
    });
    assert!(result.is_err());
    assert!(number.is_poisoned() && number.read().is_err() && number.try_write().is_err());
    number.clear_poison();
    assert!(number.read().is_ok());
}

#[dpor::test]
fn write_while_reading() {
    let number = RwLock::new(0);
    let guard = number.read().unwrap();
    let _other = number.write().unwrap(); // ERROR: deadlock
    drop(guard);
}

// Nobody writes: whoever tries to read succeeds, whoever else does at that time.
#[dpor::test]
fn attempts_to_read_among_readers() {
    let number = RwLock::new(0);
    let _guard = number.read().unwrap();
    thread::scope(|scope| {
        scope.spawn(|| assert!(number.try_read().is_ok()));
        scope.spawn(|| drop(number.read().unwrap()));
        assert!(number.try_read().is_ok());
    });
}

// Who tries to write in vain does not wait, and turns no reader away.
#[dpor::test]
fn attempt_to_write_among_readers() {
    let number = RwLock::new(0);
    let _guard = number.read().unwrap();
    thread::scope(|scope| {
        scope.spawn(|| assert!(number.try_write().is_err()));
        assert!(number.try_read().is_ok());
    });
}
