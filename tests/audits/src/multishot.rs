use pollster::block_on;

use crate::both;

/// A thread sends while another waits: the value arrives, and the channel can be used again.
#[dpor::test]
fn send_while_receiving() {
    let (sender, mut receiver) = multishot::channel();
    let (_, received) = both(move || sender.send(Box::new(1)), || block_on(receiver.recv()));
    assert_eq!(received, Ok(Box::new(1)));
    assert!(receiver.sender().is_some());
}

/// A thread sends while another drops the receiver: the value is freed, by whoever is last.
#[dpor::test]
fn send_while_dropping() {
    let (sender, receiver) = multishot::channel();
    both(move || sender.send(Box::new(1)), move || drop(receiver));
}
