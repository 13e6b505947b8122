use crate::both;

/// A thread sends and drops the sender while another receives: the message, then the end.
#[dpor::test]
fn send_and_close_unbounded() {
    let (sender, receiver) = flume::unbounded();
    both(
        move || sender.send(Box::new(1)).unwrap(),
        || {
            assert_eq!(receiver.recv(), Ok(Box::new(1)));
            assert!(receiver.recv().is_err());
        },
    );
}

/// A thread sends into a full channel while another receives: both messages arrive, in order.
#[dpor::test]
fn bounded_in_order() {
    let (sender, receiver) = flume::bounded(1);
    sender.send(1).unwrap();
    let (_, seen) = both(|| sender.send(2).unwrap(), || receiver.recv());
    assert_eq!((seen, receiver.try_recv()), (Ok(1), Ok(2)));
}

/// A channel without room: the two threads meet.
#[dpor::test]
fn rendezvous() {
    let (sender, receiver) = flume::bounded(0);
    let (sent, received) = both(|| sender.send(Box::new(1)), || receiver.recv());
    assert!(sent.is_ok());
    assert_eq!(received, Ok(Box::new(1)));
}
