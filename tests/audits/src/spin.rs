use spin::{Mutex, Once, RwLock};

use crate::both;

/// Two threads add one under the mutex: both count.
#[dpor::test]
fn mutex() {
    let number = Mutex::new(0);
    both(|| *number.lock() += 1, || *number.lock() += 1);
    assert_eq!(number.into_inner(), 2);
}

/// The same with a lock that is fair.
#[dpor::test]
fn ticket_mutex() {
    let number = spin::mutex::TicketMutex::<_>::new(0);
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

/// Two threads initialize: one value, and both see it.
#[dpor::test]
fn once() {
    let cell = Once::new();
    let (one, two) = both(|| **cell.call_once(|| Box::new(1)), || **cell.call_once(|| Box::new(2)));
    assert_eq!(one, two);
}
