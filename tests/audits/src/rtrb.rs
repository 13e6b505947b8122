use rtrb::RingBuffer;

use crate::both;

/// A thread pushes while another pops: nothing or the whole value.
#[dpor::test]
fn push_while_popping() {
    let (mut producer, mut consumer) = RingBuffer::new(1);
    let (_, seen) = both(|| producer.push(Box::new(1)).unwrap(), || consumer.pop().ok());
    assert!(seen.is_none_or(|number| *number == 1));
}

/// A thread pushes into a full buffer while another peeks and pops: no value is written where another is read.
#[dpor::test]
fn push_into_full() {
    let (mut producer, mut consumer) = RingBuffer::new(1);
    producer.push(Box::new(1)).unwrap();
    let (_, seen) = both(
        || drop(producer.push(Box::new(2))),
        || {
            assert_eq!(consumer.peek(), Ok(&Box::new(1)));
            consumer.pop()
        },
    );
    assert_eq!(seen, Ok(Box::new(1)));
}

/// The producer is dropped while the other thread reads what is left, and drops the consumer: all is freed once.
#[dpor::test]
fn two_drops() {
    let (mut producer, mut consumer) = RingBuffer::new(2);
    producer.push(Box::new(1)).unwrap();
    producer.push(Box::new(2)).unwrap();
    both(move || drop(producer), move || assert_eq!(consumer.pop(), Ok(Box::new(1))));
}
