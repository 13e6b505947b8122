use ringbuf::HeapRb;
use ringbuf::traits::{Consumer, Producer, Split};

use crate::both;

/// A thread pushes while another pops: nothing or the whole value.
#[dpor::test]
fn push_while_popping() {
    let (mut producer, mut consumer) = HeapRb::new(1).split();
    let (_, seen) = both(|| producer.try_push(Box::new(1)).unwrap(), || consumer.try_pop());
    assert!(seen.is_none_or(|number| *number == 1));
}

/// A thread pushes while another peeks: nothing or the whole value.
#[dpor::test]
fn push_while_peeking() {
    let (mut producer, consumer) = HeapRb::new(1).split();
    let (_, seen) = both(|| producer.try_push(Box::new(1)).unwrap(), || consumer.try_peek().map(|number| **number));
    assert!(seen.is_none_or(|number| number == 1));
}

/// A thread pushes into a full buffer while another pops: no value is written where another is read.
#[dpor::test]
fn push_into_full() {
    let (mut producer, mut consumer) = HeapRb::new(1).split();
    producer.try_push(Box::new(1)).unwrap();
    let (_, seen) = both(|| producer.try_push(Box::new(2)), || consumer.try_pop());
    assert_eq!(seen, Some(Box::new(1)));
}
