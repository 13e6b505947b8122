//! arc-swap (arc-swap#195): a list that nodes are pushed to. The compare-exchange had a relaxed failure ordering, though
//! the pointer that it returns is followed.

use crate::sync::atomic::{AtomicPtr, Ordering, Ordering::*};
use std::ptr;

use crate::plain::two;

#[dpor::test]
fn fixed() {
    push_by_two(Acquire);
}

#[dpor::test]
fn broken() {
    push_by_two(Relaxed);
}

struct Node {
    /// How many nodes are below it.
    depth: u32,
    next: *mut Node,
}

/// Pushes a node. Tries twice: there are two threads.
fn push(head: &AtomicPtr<Node>, failure: Ordering) {
    let node = Box::into_raw(Box::new(Node { depth: 0, next: ptr::null_mut() }));
    let mut next = head.load(Acquire);
    for _ in 0..2 {
        let depth = unsafe { next.as_ref() }.map_or(0, |next| next.depth + 1); // ERROR: data-race
        unsafe { *node = Node { depth, next } }; // ERROR: data-race
        match head.compare_exchange(next, node, AcqRel, failure) {
            Ok(_) => return,
            Err(other) => next = other,
        }
    }
    unreachable!("the other thread pushes once");
}

fn push_by_two(failure: Ordering) {
    let head = AtomicPtr::default();
    two(|| push(&head, failure), || push(&head, failure));
    let mut next = head.into_inner();
    for depth in [1, 0] {
        let node = unsafe { Box::from_raw(next) };
        assert_eq!(node.depth, depth);
        next = node.next;
    }
}
