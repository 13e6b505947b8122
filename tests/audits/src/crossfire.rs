use crossfire::{mpmc, mpsc};

use crate::both;

/// Two messages through a channel with room for one arrive in order.
#[dpor::test]
fn bounded_in_order() {
    let (sender, receiver) = mpsc::bounded_blocking(1);
    both(
        || (1..=2).for_each(|number| sender.send(number).unwrap()),
        || assert_eq!((receiver.recv(), receiver.recv()), (Ok(1), Ok(2))),
    );
}

/// A thread sends and drops the sender while another receives: the message, then the end.
#[dpor::test]
fn send_and_close() {
    let (sender, receiver) = mpmc::unbounded_blocking();
    both(
        move || sender.send(Box::new(1)).unwrap(),
        || {
            assert_eq!(receiver.recv(), Ok(Box::new(1)));
            assert!(receiver.recv().is_err());
        },
    );
}
