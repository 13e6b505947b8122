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

/// Two messages through a channel with room for one arrive in order.
#[dpor::test]
fn bounded_in_order() {
    let (sender, receiver) = loole::bounded(1);
    both(
        || (1..=2).for_each(|number| sender.send(number).unwrap()),
        || assert_eq!((receiver.recv(), receiver.recv()), (Ok(1), Ok(2))),
    );
}
