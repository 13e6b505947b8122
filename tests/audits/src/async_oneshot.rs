use async_oneshot::oneshot;
use pollster::block_on;

use crate::both;

/// A thread sends while another waits: the value arrives.
#[dpor::test]
fn send_while_receiving() {
    let (mut sender, receiver) = oneshot();
    let (sent, received) = both(move || sender.send(Box::new(1)).is_ok(), || block_on(receiver));
    assert!(sent);
    assert_eq!(received.ok(), Some(Box::new(1)));
}

/// A thread sends while another drops the receiver: the value is freed, by whoever is last.
#[dpor::test]
fn send_while_dropping() {
    let (mut sender, receiver) = oneshot();
    both(move || sender.send(Box::new(1)).is_ok(), move || drop(receiver));
}
