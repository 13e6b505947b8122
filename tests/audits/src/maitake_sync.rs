use maitake_sync::{Mutex, WaitCell, WaitQueue};
use pollster::block_on;

use crate::both;

/// A thread wakes a cell while another waits: no wake-up is lost.
#[dpor::test]
fn wait_cell() {
    let cell = WaitCell::new();
    let (_, woken) = both(|| cell.wake(), || block_on(cell.wait()));
    assert!(woken.is_ok());
}

/// A thread wakes a queue while another waits: no wake-up is lost.
#[dpor::test]
fn wait_queue() {
    let queue = WaitQueue::new();
    let (_, woken) = both(|| queue.wake(), || block_on(queue.wait()));
    assert!(woken.is_ok());
}

/// Two threads add one under the mutex: both count.
#[dpor::test]
fn mutex() {
    let number = Mutex::new(0);
    both(|| *block_on(number.lock()) += 1, || *block_on(number.lock()) += 1);
    assert_eq!(number.into_inner(), 2);
}
