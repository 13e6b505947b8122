use scc::{Bag, HashMap, Queue, Stack};

use crate::both;

/// Two threads insert with the same key: the first stays.
#[dpor::test]
fn two_insertions() {
    let map: HashMap<u32, u32> = HashMap::new();
    let (one, two) = both(|| map.insert_sync(1, 1).is_ok(), || map.insert_sync(1, 2).is_ok());
    assert!(one != two);
    assert_eq!(map.read_sync(&1, |_, number| *number), Some(if one { 1 } else { 2 }));
}

/// Two threads pop from a stack with one value: exactly one gets it.
#[dpor::test]
fn two_pops() {
    let stack = Stack::default();
    stack.push(1);
    let (one, two) = both(|| stack.pop().is_some(), || stack.pop().is_some());
    assert!(one != two);
}

/// A thread pushes while another pops: nothing or the whole value.
#[dpor::test]
fn bag() {
    let bag = Bag::<Box<u32>>::default();
    let (_, seen) = both(|| bag.push(Box::new(1)), || bag.pop());
    assert!(seen.is_none_or(|number| *number == 1));
}

/// A thread pushes two values while another pops: nothing or the first.
#[dpor::test]
fn push_while_popping() {
    let queue = Queue::default();
    let (_, seen) = both(
        || {
            queue.push(1);
            queue.push(2);
        },
        || queue.pop().map(|entry| **entry),
    );
    assert!(seen.is_none_or(|number| number == 1));
}
