use crossfire::{mpmc, mpsc};

use crate::both;

/// A thread sends into a full channel while another receives: both messages arrive, in order.
#[dpor::test]
fn bounded_in_order() {
    let (sender, receiver) = mpsc::bounded_blocking(1);
    sender.send(1).unwrap();
    let (_, seen) = both(|| sender.send(2).unwrap(), || receiver.recv());
    assert_eq!((seen, receiver.try_recv()), (Ok(1), Ok(2)));
}

/// A thread sends while another looks: nothing or the whole message.
#[dpor::test]
fn try_receive() {
    let (sender, receiver) = mpmc::bounded_blocking(1);
    let (sent, seen) = both(|| sender.try_send(Box::new(1)), || receiver.try_recv().ok());
    assert!(sent.is_ok());
    assert!(seen.is_none_or(|number| *number == 1));
}

/// A thread drops the sender while another receives: it is told.
#[dpor::test]
fn close_while_receiving() {
    let (sender, receiver) = mpmc::unbounded_blocking::<u32>();
    let (_, seen) = both(move || drop(sender), || receiver.recv());
    assert!(seen.is_err());
}

/// A thread sends while another receives: the message arrives.
#[dpor::test]
fn send_while_receiving() {
    let (sender, receiver) = mpmc::unbounded_blocking();
    let (_, seen) = both(|| sender.send(Box::new(1)).unwrap(), || receiver.recv());
    assert_eq!(seen, Ok(Box::new(1)));
}
