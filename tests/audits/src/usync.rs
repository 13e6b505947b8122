use usync::{Condvar, Mutex, RwLock};

use crate::both;

/// Two threads add one under the mutex: both count.
#[dpor::test]
fn mutex() {
    let number = Mutex::new(0);
    both(|| *number.lock() += 1, || *number.lock() += 1);
    assert_eq!(number.into_inner(), 2);
}

/// A thread writes two numbers under the lock while another reads both: they agree.
#[dpor::test]
fn rwlock() {
    let pair = RwLock::new((0, 0));
    let (_, seen) = both(|| *pair.write() = (1, 1), || *pair.read());
    assert!(seen == (0, 0) || seen == (1, 1));
}

/// A thread sets a flag and notifies while another waits for the flag: no wake-up is lost.
#[dpor::test]
fn condvar() {
    let (flag, condvar) = (Mutex::new(false), Condvar::new());
    both(
        || {
            *flag.lock() = true;
            condvar.notify_one();
        },
        || {
            let mut flag = flag.lock();
            while !*flag {
                condvar.wait(&mut flag);
            }
        },
    );
}
