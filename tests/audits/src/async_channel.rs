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

/// Two messages through a channel with room for one arrive in order.
#[dpor::test]
fn bounded_in_order() {
    let (sender, receiver) = bounded(1);
    both(
        || (1..=2).for_each(|number| sender.send_blocking(number).unwrap()),
        || assert_eq!((receiver.recv_blocking(), receiver.recv_blocking()), (Ok(1), Ok(2))),
    );
}
