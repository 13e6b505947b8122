use std::future::Future;
use std::task::{Context, Waker};

use pollster::block_on;

use crate::both;

/// A thread sends while another waits: the value arrives.
#[dpor::test]
fn send_while_receiving() {
    let (sender, receiver) = oneshot::channel();
    let (sent, received) = both(move || sender.send(Box::new(1)).is_ok(), || receiver.recv());
    assert!(sent);
    assert_eq!(received, Ok(Box::new(1)));
}

/// The same with a future.
#[dpor::test]
fn send_while_awaiting() {
    let (sender, receiver) = oneshot::async_channel();
    let (sent, received) = both(move || sender.send(Box::new(1)).is_ok(), || block_on(receiver));
    assert!(sent);
    assert_eq!(received, Ok(Box::new(1)));
}

/// A thread sends while another drops the receiver: the value comes back or is freed.
#[dpor::test]
fn send_while_dropping() {
    let (sender, receiver) = oneshot::channel();
    both(move || drop(sender.send(Box::new(1))), move || drop(receiver));
}

/// A thread sends while another drops a future that it has polled: the channel is freed once, by whoever is last.
#[dpor::test]
fn send_while_dropping_polled() {
    let (sender, receiver) = oneshot::async_channel();
    let mut receiver = Box::pin(receiver);
    assert!(receiver.as_mut().poll(&mut Context::from_waker(Waker::noop())).is_pending());
    both(move || drop(sender.send(Box::new(1))), move || drop(receiver));
}
