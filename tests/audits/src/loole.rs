use crate::both;

/// A thread sends and drops the sender while another receives: the message, then the end.
#[dpor::test]
fn send_and_close() {
    let (sender, receiver) = loole::unbounded();
    both(
        move || sender.send(Box::new(1)).unwrap(),
        || {
            assert_eq!(receiver.recv(), Ok(Box::new(1)));
            assert!(receiver.recv().is_err());
        },
    );
}

/// A thread sends while another looks: nothing or the whole message.
#[dpor::test]
fn try_receive() {
    let (sender, receiver) = loole::bounded(1);
    let (sent, seen) = both(|| sender.try_send(Box::new(1)), || receiver.try_recv().ok());
    assert!(sent.is_ok());
    assert!(seen.is_none_or(|number| *number == 1));
}

/// A thread sends into a full channel while another receives: both messages arrive, in order.
#[dpor::test]
fn bounded_in_order() {
    let (sender, receiver) = loole::bounded(1);
    sender.send(1).unwrap();
    let (_, seen) = both(|| sender.send(2).unwrap(), || receiver.recv());
    assert_eq!((seen, receiver.try_recv()), (Ok(1), Ok(2)));
}
