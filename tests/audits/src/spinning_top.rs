use spinning_top::{RwSpinlock, Spinlock};

use crate::both;

/// Two threads add one under the lock: both count.
#[dpor::test]
fn mutex() {
    let number = Spinlock::new(0);
    both(|| *number.lock() += 1, || *number.lock() += 1);
    assert_eq!(number.into_inner(), 2);
}

/// A thread writes two numbers under the lock while another reads both: they agree.
#[dpor::test]
fn rwlock() {
    let pair = RwSpinlock::new((0, 0));
    let (_, seen) = both(|| *pair.write() = (1, 1), || *pair.read());
    assert!(seen == (0, 0) || seen == (1, 1));
}
