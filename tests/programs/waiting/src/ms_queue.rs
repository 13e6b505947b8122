//! The queue of Michael and Scott. What is dequeued is freed when all threads are done.

use std::ptr;
use std::sync::atomic::{AtomicPtr, Ordering, Ordering::*};
use std::thread;

use crate::support::{Plain, Pointer, two};

struct Node {
    value: Plain<u32>,
    next: AtomicPtr<Node>,
}

fn node(value: u32) -> *mut Node {
    Box::into_raw(Box::new(Node { value: Plain::new(value), next: AtomicPtr::new(ptr::null_mut()) }))
}

struct Queue {
    head: AtomicPtr<Node>,
    tail: AtomicPtr<Node>,
    /// How a node is linked.
    link: Link,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Link {
    Exchange(Ordering),
    /// Without making sure that nobody else has linked one.
    Store,
}

/// A value, and the node that was the first before and that others may still look at.
type Dequeued = (u32, Pointer<Node>);

impl Queue {
    fn new(link: Link) -> Queue {
        let first = node(0);
        Queue { head: AtomicPtr::new(first), tail: AtomicPtr::new(first), link }
    }

    fn enqueue(&self, value: u32) {
        let node = node(value);
        loop {
            let last = self.tail.load(Acquire);
            let link = unsafe { &(*last).next };
            let next = link.load(Acquire);
            if !next.is_null() {
                // Somebody has not come so far as to say that there is a new last one.
                _ = self.tail.compare_exchange(last, next, Release, Relaxed);
                continue;
            }
            let linked = match self.link {
                Link::Exchange(order) => link.compare_exchange(next, node, order, Relaxed).is_ok(),
                Link::Store => {
                    link.store(node, Release);
                    true
                }
            };
            if linked {
                _ = self.tail.compare_exchange(last, node, Release, Relaxed);
                break;
            }
        }
    }

    fn dequeue(&self) -> Option<Dequeued> {
        loop {
            let first = self.head.load(Acquire);
            let last = self.tail.load(Acquire);
            let next = unsafe { (*first).next.load(Acquire) };
            if next.is_null() {
                return None;
            }
            if first == last {
                _ = self.tail.compare_exchange(last, next, Release, Relaxed);
                continue;
            }
            if self.head.compare_exchange(first, next, Release, Relaxed).is_ok() {
                return Some((unsafe { (*next).value.read() }, Pointer(first)));
            }
        }
    }

    /// The values that are left.
    fn drain(&self) -> Vec<u32> {
        std::iter::from_fn(|| self.dequeue().map(free)).collect()
    }
}

impl Drop for Queue {
    fn drop(&mut self) {
        self.drain();
        drop(unsafe { Box::from_raw(*self.head.get_mut()) });
    }
}

fn free((value, Pointer(node)): Dequeued) -> u32 {
    drop(unsafe { Box::from_raw(node) });
    value
}

const RIGHT: Link = Link::Exchange(Release);

#[dpor::test]
fn enqueue_by_two() {
    let queue = Queue::new(RIGHT);
    two(|| queue.enqueue(1), || queue.enqueue(2));
    let left = queue.drain();
    assert!(left == [1, 2] || left == [2, 1], "{left:?}");
}

#[dpor::test]
fn enqueue_and_dequeue() {
    let queue = Queue::new(RIGHT);
    let ((), dequeued) = two(|| queue.enqueue(1), || queue.dequeue());
    let values: Vec<_> = dequeued.into_iter().map(free).chain(queue.drain()).collect();
    assert_eq!(values, [1]);
}

#[dpor::test]
fn in_order() {
    let queue = Queue::new(RIGHT);
    let enqueue = || [1, 2].map(|value| queue.enqueue(value));
    let (_, dequeued) = two(enqueue, || [queue.dequeue(), queue.dequeue()]);
    let values: Vec<_> = dequeued.into_iter().flatten().map(free).chain(queue.drain()).collect();
    assert_eq!(values, [1, 2]);
}

#[dpor::test]
fn dequeue_by_two() {
    let queue = Queue::new(RIGHT);
    (1..=2).for_each(|value| queue.enqueue(value));
    let (first, second) = two(|| queue.dequeue(), || queue.dequeue());
    let mut values = [first, second].map(|dequeued| free(dequeued.unwrap()));
    values.sort();
    assert_eq!(values, [1, 2]);
}

#[dpor::test]
fn two_enqueue_and_one_dequeues() {
    let queue = Queue::new(RIGHT);
    let dequeued = thread::scope(|scope| {
        scope.spawn(|| queue.enqueue(1));
        scope.spawn(|| queue.enqueue(2));
        scope.spawn(|| queue.dequeue()).join().unwrap()
    });
    let mut values: Vec<_> = dequeued.into_iter().map(free).chain(queue.drain()).collect();
    values.sort();
    assert_eq!(values, [1, 2]);
}

// Who waits until there is something never misses it.
#[dpor::test]
fn dequeue_until_there_is_something() {
    let queue = Queue::new(RIGHT);
    let dequeue = || {
        loop {
            if let Some(dequeued) = queue.dequeue() {
                break dequeued;
            }
            thread::yield_now();
        }
    };
    let ((), dequeued) = two(|| queue.enqueue(1), dequeue);
    assert_eq!(free(dequeued), 1);
}

#[dpor::test(expect = "data-race")]
fn linked_relaxed() {
    let queue = Queue::new(Link::Exchange(Relaxed));
    let ((), dequeued) = two(|| queue.enqueue(1), || queue.dequeue());
    dequeued.map(free);
}

// A node that is linked without making sure that the last one is still that: another one is lost, and never freed.
#[dpor::test(expect = "memory-leak")]
fn linked_with_a_store() {
    let queue = Queue::new(Link::Store);
    two(|| queue.enqueue(1), || queue.enqueue(2));
}

// Two dequeue the same value, since the head is stored and not exchanged.
#[dpor::test]
fn dequeued_twice() {
    let nodes = [node(0), node(1), node(2)];
    unsafe { (*nodes[0]).next.store(nodes[1], Relaxed) };
    unsafe { (*nodes[1]).next.store(nodes[2], Relaxed) };
    let head = AtomicPtr::new(nodes[0]);
    let dequeue = || {
        let first = head.load(Acquire);
        let next = unsafe { (*first).next.load(Acquire) };
        head.store(next, Release);
        unsafe { (*next).value.read() }
    };
    let (first, second) = two(dequeue, dequeue);
    for node in nodes {
        drop(unsafe { Box::from_raw(node) });
    }
    assert_ne!(first, second); // ERROR: panic
}

// The queue is empty where nothing comes after the first. That the first is not what the last was does not say so.
#[dpor::test]
fn not_looked_at_again() {
    dpor::assume(dpor::checking());
    let queue = Queue::new(RIGHT);
    let enqueue_and_dequeue = || {
        queue.enqueue(1);
        queue.dequeue()
    };
    let dequeue = || {
        let last = queue.tail.load(Acquire);
        let first = queue.head.load(Acquire);
        let next = unsafe { (*first).next.load(Acquire) };
        if first == last || queue.head.compare_exchange(first, next, Release, Relaxed).is_err() {
            return None;
        }
        Some((unsafe { *(*next).value.get() }, Pointer(first))) // ERROR: null-pointer
    };
    let (first, second) = two(enqueue_and_dequeue, dequeue);
    first.into_iter().chain(second).for_each(|dequeued| _ = free(dequeued));
}
