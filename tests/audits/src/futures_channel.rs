use futures_channel::{mpsc, oneshot};
use futures_util::StreamExt;
use pollster::block_on;

use crate::both;

/// A thread sends while another waits: the value arrives.
#[dpor::test]
fn oneshot_send() {
    let (sender, receiver) = oneshot::channel();
    let (sent, received) = both(move || sender.send(Box::new(1)), || block_on(receiver));
    assert!(sent.is_ok());
    assert_eq!(received, Ok(Box::new(1)));
}

/// A thread sends while another drops the receiver: the value comes back or is freed.
#[dpor::test]
fn oneshot_send_while_dropping() {
    let (sender, receiver) = oneshot::channel();
    both(move || drop(sender.send(Box::new(1))), move || drop(receiver));
}

/// A thread sends and drops the sender while another receives: the message, then the end.
#[dpor::test]
fn send_and_close() {
    let (sender, mut receiver) = mpsc::unbounded();
    both(
        move || sender.unbounded_send(Box::new(1)).unwrap(),
        || {
            assert_eq!(block_on(receiver.next()), Some(Box::new(1)));
            assert_eq!(block_on(receiver.next()), None);
        },
    );
}
