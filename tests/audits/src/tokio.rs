use pollster::block_on;
use tokio::sync::{Mutex, Notify, OnceCell, Semaphore, mpsc, oneshot, watch};

use crate::both;

/// A thread sends while another waits: the value arrives.
#[dpor::test]
fn oneshot_send() {
    let (sender, receiver) = oneshot::channel();
    let (sent, received) = both(move || sender.send(Box::new(1)).is_ok(), || block_on(receiver));
    assert!(sent);
    assert_eq!(received, Ok(Box::new(1)));
}

/// A thread sends while another closes: the value comes back, or it can be received.
#[dpor::test]
fn oneshot_close() {
    let (sender, mut receiver) = oneshot::channel();
    let (sent, received) = both(
        move || sender.send(Box::new(1)).is_ok(),
        || {
            receiver.close();
            receiver.try_recv()
        },
    );
    assert_eq!(sent, received.is_ok());
}

/// A thread sends and drops the sender while another receives: the message, then the end.
#[dpor::test]
fn mpsc_send_and_close() {
    let (sender, mut receiver) = mpsc::unbounded_channel();
    both(
        move || sender.send(Box::new(1)).unwrap(),
        || {
            assert_eq!(block_on(receiver.recv()), Some(Box::new(1)));
            assert_eq!(block_on(receiver.recv()), None);
        },
    );
}

/// A thread notifies while another waits: no wake-up is lost.
#[dpor::test]
fn notify() {
    let notify = Notify::new();
    both(|| notify.notify_one(), || block_on(notify.notified()));
}

/// Two threads add one under the mutex: both count.
#[dpor::test]
fn mutex() {
    let number = Mutex::new(0);
    both(|| *number.blocking_lock() += 1, || *number.blocking_lock() += 1);
    assert_eq!(number.into_inner(), 2);
}

/// One permit, two threads: it is there again at the end.
#[dpor::test]
fn semaphore() {
    let semaphore = Semaphore::new(1);
    let acquire = || drop(block_on(semaphore.acquire()).unwrap());
    both(acquire, acquire);
    assert_eq!(semaphore.available_permits(), 1);
}

/// Two threads initialize a cell: one value, and both see it.
#[dpor::test]
fn once_cell() {
    let cell = OnceCell::new();
    let (one, two) = both(
        || **block_on(cell.get_or_init(async || Box::new(1))),
        || **block_on(cell.get_or_init(async || Box::new(2))),
    );
    assert_eq!(one, two);
}

/// A thread sends a new value while another waits for a change: it sees the new value.
#[dpor::test]
fn watch() {
    let (sender, mut receiver) = watch::channel(Box::new(1));
    both(
        || sender.send(Box::new(2)).unwrap(),
        || {
            block_on(receiver.changed()).unwrap();
            assert_eq!(**receiver.borrow(), 2);
        },
    );
}
