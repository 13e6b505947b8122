use concurrent_queue::ConcurrentQueue;

use crate::both;

/// Two threads pop from a queue with one value: exactly one gets it.
#[dpor::test]
fn two_pops_unbounded() {
    let queue = ConcurrentQueue::unbounded();
    queue.push(Box::new(1)).unwrap();
    let (one, two) = both(|| queue.pop(), || queue.pop());
    assert!(one.is_ok() != two.is_ok());
}

/// A thread pushes two values while another pops: nothing or the first.
#[dpor::test]
fn push_while_popping_bounded() {
    let queue = ConcurrentQueue::bounded(2);
    let (_, seen) = both(|| (1..=2).for_each(|number| queue.push(Box::new(number)).unwrap()), || queue.pop());
    assert!(seen.is_err() || seen == Ok(Box::new(1)));
}

/// A queue with room for one: what does not fit comes back.
#[dpor::test]
fn two_pushes_single() {
    let queue = ConcurrentQueue::bounded(1);
    let (one, two) = both(|| queue.push(Box::new(1)), || queue.push(Box::new(2)));
    assert!(one.is_ok() != two.is_ok());
    assert_eq!(*queue.pop().unwrap(), if one.is_ok() { 1 } else { 2 });
}
