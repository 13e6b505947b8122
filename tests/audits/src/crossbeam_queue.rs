use crossbeam_queue::{ArrayQueue, SegQueue};

use crate::both;

/// Two threads pop from a queue with one value: exactly one gets it.
#[dpor::test]
fn two_pops() {
    let queue = SegQueue::new();
    queue.push(Box::new(1));
    let (one, two) = both(|| queue.pop(), || queue.pop());
    assert!(one.is_some() != two.is_some());
}

/// A thread pushes two values while another pops: nothing or the first.
#[dpor::test]
fn push_while_popping() {
    let queue = ArrayQueue::new(2);
    let (_, seen) = both(|| (1..=2).for_each(|number| queue.push(Box::new(number)).unwrap()), || queue.pop());
    assert!(seen.is_none_or(|number| *number == 1));
}

/// Two threads push into a full ring: each forces one value out.
#[dpor::test]
fn two_forced_pushes() {
    let queue = ArrayQueue::new(1);
    queue.push(Box::new(0)).unwrap();
    let (one, two) = both(|| queue.force_push(Box::new(1)), || queue.force_push(Box::new(2)));
    let mut all = [one, two, queue.pop()].map(|number| *number.unwrap());
    all.sort();
    assert_eq!(all, [0, 1, 2]);
}
