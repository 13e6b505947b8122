//! crossbeam's `MsQueue` (RUSTSEC-2022-0029), a Michael–Scott queue: the orderings of push and pop were too weak for what
//! is in a node to be there when another thread sees the node.

use crate::sync::atomic::{AtomicPtr, Ordering, Ordering::*};
use std::ptr;
use std::thread;

#[dpor::test]
fn fixed() {
    let queue = Queue::new(Release);
    push_and_pop(queue);
}

#[dpor::test]
fn broken() {
    let queue = Queue::new(Relaxed);
    push_and_pop(queue);
}

#[derive(Default)]
struct Node {
    value: u32,
    next: AtomicPtr<Node>,
}

struct Queue {
    /// The node before the first one.
    head: AtomicPtr<Node>,
    tail: AtomicPtr<Node>,
    link: Ordering,
}

impl Queue {
    fn new(link: Ordering) -> Queue {
        let sentinel = Box::into_raw(Box::<Node>::default());
        Queue { head: AtomicPtr::new(sentinel), tail: AtomicPtr::new(sentinel), link }
    }

    /// With one thread that pushes, the tail is always the last node.
    fn push(&self, value: u32) {
        let node = Box::into_raw(Box::new(Node { value, next: AtomicPtr::default() })); // ERROR: data-race
        let last = self.tail.load(Acquire);
        let linked = unsafe { (*last).next.compare_exchange(ptr::null_mut(), node, self.link, Relaxed) };
        assert!(linked.is_ok());
        self.tail.store(node, Release);
    }

    /// The node that was the sentinel is left for the end: somebody may look at it.
    fn pop(&self) -> Option<u32> {
        let head = self.head.load(Acquire);
        let first = unsafe { (*head).next.load(Acquire) };
        if first.is_null() || self.head.compare_exchange(head, first, Release, Relaxed).is_err() {
            return None;
        }
        Some(unsafe { (*first).value }) // ERROR: data-race
    }

    /// Frees all nodes from the first sentinel on.
    fn free(self, sentinel: *mut Node) {
        let mut next = sentinel;
        while !next.is_null() {
            next = unsafe { *Box::from_raw(next) }.next.into_inner();
        }
    }
}

fn push_and_pop(queue: Queue) {
    let sentinel = queue.head.load(Relaxed);
    thread::scope(|scope| {
        scope.spawn(|| {
            queue.push(1);
            queue.push(2);
        });
        assert!([None, Some(1)].contains(&queue.pop()));
    });
    queue.free(sentinel);
}
