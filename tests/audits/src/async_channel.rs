use async_channel::{bounded, unbounded};

use crate::both;

/// A thread sends and drops the sender while another receives: the message, then the end.
#[dpor::test]
fn send_and_close() {
    let (sender, receiver) = unbounded();
    both(
        move || sender.send_blocking(Box::new(1)).unwrap(),
        || {
            assert_eq!(receiver.recv_blocking(), Ok(Box::new(1)));
            assert!(receiver.recv_blocking().is_err());
        },
    );
}

/// A thread sends into a full channel while another receives: it has room now or not, and messages arrive in order.
#[dpor::test]
fn bounded_in_order() {
    let (sender, receiver) = bounded(1);
    sender.try_send(1).unwrap();
    let (_, seen) = both(|| sender.send_blocking(2).unwrap(), || receiver.recv_blocking());
    assert_eq!((seen, receiver.try_recv()), (Ok(1), Ok(2)));
}
