use async_lock::{Mutex, OnceCell, RwLock, Semaphore};

use crate::both;

/// Two threads add one under the mutex: both count.
#[dpor::test]
fn mutex() {
    let number = Mutex::new(0);
    both(|| *number.lock_blocking() += 1, || *number.lock_blocking() += 1);
    assert_eq!(number.into_inner(), 2);
}

/// A thread writes two numbers under the lock while another reads both: they agree.
#[dpor::test]
fn rwlock() {
    let pair = RwLock::new((0, 0));
    let (_, seen) = both(|| *pair.write_blocking() = (1, 1), || *pair.read_blocking());
    assert!(seen == (0, 0) || seen == (1, 1));
}

/// One permit, two threads: never both at a time.
#[dpor::test]
fn semaphore() {
    let (semaphore, inside) = (Semaphore::new(1), Mutex::new(()));
    let enter = || {
        let _permit = semaphore.acquire_blocking();
        assert!(inside.try_lock().is_some());
    };
    both(enter, enter);
}

/// Two threads initialize a cell: one value, and both see it.
#[dpor::test]
fn once_cell() {
    let cell = OnceCell::new();
    let (one, two) =
        both(|| **cell.get_or_init_blocking(|| Box::new(1)), || **cell.get_or_init_blocking(|| Box::new(2)));
    assert_eq!(one, two);
}
