use crate::both;

/// A thread sends while another receives: the message arrives.
#[dpor::test]
fn send_while_receiving() {
    let (mut sender, receiver) = spmc::channel();
    let (sent, received) = both(|| sender.send(Box::new(1)), || receiver.recv());
    assert!(sent.is_ok());
    assert_eq!(received, Ok(Box::new(1)));
}

/// Two threads receive from a channel with one message: exactly one gets it.
#[dpor::test]
fn two_receivers() {
    let (mut sender, receiver) = spmc::channel();
    sender.send(Box::new(1)).unwrap();
    let other = receiver.clone();
    let (one, two) = both(move || other.try_recv().ok(), || receiver.try_recv().ok());
    assert!(one.is_some() != two.is_some());
}
