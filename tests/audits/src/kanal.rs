use crate::both;

/// A thread sends while another looks: nothing or the whole message.
#[dpor::test]
fn try_receive() {
    let (sender, receiver) = kanal::bounded(1);
    let (sent, seen) = both(|| sender.try_send(Box::new(1)), || receiver.try_recv());
    assert_eq!(sent, Ok(true));
    assert!(seen.unwrap().is_none_or(|number| *number == 1));
}

/// A channel without room: the two threads meet.
#[dpor::test]
fn rendezvous() {
    let (sender, receiver) = kanal::bounded(0);
    let (sent, received) = both(|| sender.send([1_u64; 3]), || receiver.recv());
    assert!(sent.is_ok());
    assert_eq!(received, Ok([1; 3]));
}
