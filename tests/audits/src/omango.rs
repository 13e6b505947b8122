use omango::queue::{mpmc, spsc};

use crate::both;

/// A thread sends while another looks: nothing or the whole message, and it is freed once.
#[dpor::test]
fn try_receive() {
    let (sender, receiver) = spsc::bounded(1);
    let (sent, seen) = both(|| sender.try_send(Box::new(1)), || receiver.try_recv().ok());
    assert!(sent.is_ok());
    assert!(seen.is_none_or(|number| *number == 1));
}

/// A thread sends while another waits: no wake-up is lost.
#[dpor::test]
fn spsc_bounded() {
    let (sender, receiver) = spsc::bounded(1);
    let (sent, received) = both(|| sender.send(1), || receiver.recv());
    assert!(sent.is_ok());
    assert_eq!(received.ok(), Some(1));
}

/// The same with a channel for many.
#[dpor::test]
fn mpmc_bounded() {
    let (sender, receiver) = mpmc::bounded(1);
    let (sent, received) = both(|| sender.send(1), || receiver.recv());
    assert!(sent.is_ok());
    assert_eq!(received.ok(), Some(1));
}
