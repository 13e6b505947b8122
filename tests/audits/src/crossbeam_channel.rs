use crossbeam_channel::{bounded, unbounded};

use crate::both;

/// A thread drops the sender while another receives: it is told.
#[dpor::test]
fn close_while_receiving() {
    let (sender, receiver) = unbounded::<u32>();
    let (_, seen) = both(move || drop(sender), || receiver.recv());
    assert!(seen.is_err());
}

/// A thread sends while another receives: the message arrives.
#[dpor::test]
fn send_while_receiving() {
    let (sender, receiver) = unbounded();
    let (_, seen) = both(|| sender.send(Box::new(1)).unwrap(), || receiver.recv());
    assert_eq!(seen, Ok(Box::new(1)));
}

/// A thread sends into a full channel while another receives: both messages arrive, in order.
#[dpor::test]
fn bounded_in_order() {
    let (sender, receiver) = bounded(1);
    sender.send(1).unwrap();
    let (_, seen) = both(|| sender.send(2).unwrap(), || receiver.recv());
    assert_eq!((seen, receiver.try_recv()), (Ok(1), Ok(2)));
}

/// A channel without room: the two threads meet.
#[dpor::test]
fn rendezvous() {
    let (sender, receiver) = bounded(0);
    let (sent, received) = both(|| sender.send(Box::new(1)), || receiver.recv());
    assert!(sent.is_ok());
    assert_eq!(received, Ok(Box::new(1)));
}

/// A thread sends while another drops the receiver: the message comes back or is freed.
#[dpor::test]
fn send_while_dropping() {
    let (sender, receiver) = unbounded();
    both(move || drop(sender.send(Box::new(1))), move || drop(receiver));
}
