use heapless::mpmc;
use heapless::spsc::Queue;

use crate::both;

/// A thread enqueues while another dequeues: nothing or the whole value.
#[dpor::test]
fn enqueue_while_dequeuing() {
    let mut queue: Queue<Box<u32>, 2> = Queue::new();
    let (mut producer, mut consumer) = queue.split();
    let (_, seen) = both(|| producer.enqueue(Box::new(1)).unwrap(), || consumer.dequeue());
    assert!(seen.is_none_or(|number| *number == 1));
}

/// A thread enqueues while another peeks: nothing or the whole value.
#[dpor::test]
fn enqueue_while_peeking() {
    let mut queue: Queue<Box<u32>, 2> = Queue::new();
    let (mut producer, consumer) = queue.split();
    let (_, seen) = both(|| producer.enqueue(Box::new(1)).unwrap(), || consumer.peek().map(|number| **number));
    assert!(seen.is_none_or(|number| number == 1));
}

/// A thread enqueues into a full queue while another dequeues: no value is written where another is read.
#[dpor::test]
fn enqueue_into_full() {
    let mut queue: Queue<Box<u32>, 2> = Queue::new();
    let (mut producer, mut consumer) = queue.split();
    producer.enqueue(Box::new(1)).unwrap();
    let (_, seen) = both(|| producer.enqueue(Box::new(2)), || consumer.dequeue());
    assert_eq!(seen, Some(Box::new(1)));
}

/// Two threads dequeue from a queue with one value: exactly one gets it.
#[dpor::test]
#[expect(deprecated, reason = "it may fail to make progress, which is no concern here")]
fn two_dequeues() {
    let queue: mpmc::Queue<Box<u32>, 2> = mpmc::Queue::new();
    queue.enqueue(Box::new(1)).unwrap();
    let (one, two) = both(|| queue.dequeue(), || queue.dequeue());
    assert!(one.is_some() != two.is_some());
}
