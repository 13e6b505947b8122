use crossfire::mpmc;

use crate::both;

/// A thread sends while another looks: nothing or the whole message.
#[dpor::test]
fn try_receive() {
    let (sender, receiver) = mpmc::bounded_blocking(1);
    let (sent, seen) = both(|| sender.try_send(Box::new(1)), || receiver.try_recv().ok());
    assert!(sent.is_ok());
    assert!(seen.is_none_or(|number| *number == 1));
}

/// A thread sends while another receives: the message arrives.
#[dpor::test]
fn send_while_receiving() {
    let (sender, receiver) = mpmc::unbounded_blocking();
    let (_, seen) = both(|| sender.send(Box::new(1)).unwrap(), || receiver.recv());
    assert_eq!(seen, Ok(Box::new(1)));
}
