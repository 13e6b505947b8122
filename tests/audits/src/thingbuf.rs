use thingbuf::{StaticThingBuf, ThingBuf, mpsc};

use crate::both;

/// Two threads push into a buffer with room for both: both values come out.
#[dpor::test]
fn two_pushes() {
    let buffer = ThingBuf::new(2);
    both(|| buffer.push(Box::new(1)).unwrap(), || buffer.push(Box::new(2)).unwrap());
    let mut all = [buffer.pop(), buffer.pop()].map(|number| *number.unwrap());
    all.sort();
    assert_eq!(all, [1, 2]);
}

/// A thread pushes while another pops: nothing or the whole value.
#[dpor::test]
fn push_while_popping() {
    let buffer: StaticThingBuf<Box<u32>, 2> = StaticThingBuf::new();
    let (_, seen) = both(|| buffer.push(Box::new(1)).unwrap(), || buffer.pop());
    assert!(seen.is_none_or(|number| *number == 1));
}

/// A thread sends and drops the sender while another receives: the message, then the end.
#[dpor::test]
fn send_and_close() {
    let (sender, receiver) = mpsc::blocking::channel(1);
    both(
        move || sender.send(1).unwrap(),
        || {
            assert_eq!(receiver.recv(), Some(1));
            assert_eq!(receiver.recv(), None);
        },
    );
}
