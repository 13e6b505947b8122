use omango::queue::{mpmc, spsc};

use crate::both;

/// A thread sends while another receives: the message arrives.
#[dpor::test]
fn spsc_bounded() {
    let (sender, receiver) = spsc::bounded(1);
    let (sent, received) = both(|| sender.send(Box::new(1)), || receiver.recv());
    assert!(sent.is_ok());
    assert_eq!(received.ok(), Some(Box::new(1)));
}

/// The same with a channel for many.
#[dpor::test]
fn mpmc_bounded() {
    let (sender, receiver) = mpmc::bounded(1);
    let (sent, received) = both(|| sender.send(Box::new(1)), || receiver.recv());
    assert!(sent.is_ok());
    assert_eq!(received.ok(), Some(Box::new(1)));
}
