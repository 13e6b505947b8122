//! Attempts that store to atomics of a node which nobody else can have seen yet. Whatever failed attempts have stored
//! there is overwritten before the node is published, so they are left out, and there are as many executions as if
//! `next` was a plain field: a node's `next` is what its push has found, in every model.

use std::ptr;
use std::sync::atomic::{AtomicPtr, AtomicUsize, Ordering::*};
use std::thread;

use crate::support::{Pointer, threads, two};

#[derive(Default)]
struct Node {
    value: usize,
    next: AtomicPtr<Node>,
    /// How often it was tried to push it.
    attempts: AtomicUsize,
}

#[derive(Default)]
struct Stack {
    head: AtomicPtr<Node>,
}

impl Stack {
    fn push(&self, value: usize) {
        self.push_node(Box::into_raw(Box::new(Node { value, ..Node::default() })));
    }

    fn push_node(&self, node: *mut Node) {
        loop {
            let first = self.head.load(Relaxed);
            unsafe { &*node }.next.store(first, Relaxed);
            if self.head.compare_exchange(first, node, Release, Relaxed).is_ok() {
                break;
            }
        }
    }

    fn pop(&self) -> Option<Pointer<Node>> {
        loop {
            let first = self.head.load(Acquire);
            let next = unsafe { first.as_ref() }?.next.load(Relaxed);
            if self.head.compare_exchange(first, next, Relaxed, Relaxed).is_ok() {
                return Some(Pointer(first));
            }
        }
    }

    /// The values of all nodes that are left.
    fn drain(&self) -> Vec<usize> {
        std::iter::from_fn(|| self.pop().map(free)).collect()
    }
}

impl Drop for Stack {
    fn drop(&mut self) {
        self.drain();
    }
}

fn free(Pointer(node): Pointer<Node>) -> usize {
    unsafe { Box::from_raw(node) }.value
}

fn push_by(n: usize) {
    let stack = Stack::default();
    threads(n, |value| stack.push(value));
    let mut values = stack.drain();
    values.sort();
    assert_eq!(values, Vec::from_iter(0..n));
}

// In any order: n!. Lower levels explore what failed attempts leave in the node as well, and so does reads-from
// equivalence, where the order of writes is open.
#[dpor::test]
fn push_by_three() {
    // COUNT: rc11 6 sc 6 tso 6 pso 6
    // READS-FROM: rc11 6.. sc 6.. tso 6.. pso 6..
    // LEVELS: off 6.. stale 6.. in-place 6.. full 6
    push_by(3);
}

#[dpor::test]
fn push_by_four() {
    // COUNT: rc11 24 sc 24 tso 24 pso 24
    // READS-FROM: rc11 24.. sc 24.. tso 24.. pso 24..
    // LEVELS: off 24.. stale 24.. in-place 24.. full 24
    push_by(4);
}

#[dpor::test]
fn push_by_five() {
    // COUNT: rc11 120 sc 120 tso 120 pso 120
    // READS-FROM: rc11 120.. sc 120.. tso 120.. pso 120..
    // LEVELS: off 120.. stale 120.. in-place 120.. full 120
    push_by(5);
}

// Something is counted between the allocation and the attempts, which is no reason to think that others know the node.
// The counter and the stack have an order each, and any two of these go together: 2!·2!.
#[dpor::test]
fn push_after_counting() {
    // COUNT: rc11 4 sc 4 tso 4 pso 4
    let (stack, pushed) = (Stack::default(), AtomicUsize::new(0));
    threads(2, |value| {
        let node = Box::into_raw(Box::new(Node { value, ..Node::default() }));
        pushed.fetch_add(1, Relaxed);
        stack.push_node(node);
    });
    assert_eq!(stack.drain().len(), 2);
}

// As with a plain `next`: 10, and 270.
fn push_and_pop_by(n: usize) {
    let stack = Stack::default();
    let popped: Vec<_> = thread::scope(|scope| {
        let push_and_pop = |value| {
            stack.push(value);
            stack.pop()
        };
        let spawn = |value| scope.spawn(move || push_and_pop(value));
        let threads: Vec<_> = (0..n).map(spawn).collect();
        threads.into_iter().filter_map(|thread| thread.join().unwrap()).collect()
    });
    let mut values: Vec<_> = popped.into_iter().map(free).collect();
    values.sort();
    assert_eq!(values, Vec::from_iter(0..n));
}

#[dpor::test]
fn push_and_pop_by_two() {
    // COUNT: rc11 10 sc 10 tso 10 pso 10
    // LEVELS: off 10.. stale 10.. in-place 10.. full 10
    push_and_pop_by(2);
}

#[dpor::test]
fn push_and_pop_by_three() {
    // COUNT: rc11 270 sc 270 tso 270 pso 270
    // LEVELS: off 270.. stale 270.. in-place 270.. full 270
    push_and_pop_by(3);
}

// What an attempt leaves in the node is not overwritten: each failure makes a difference. The second push may have
// failed once, the first one not at all.
#[dpor::test]
fn attempts_that_are_counted_in_the_node() {
    // COUNT: rc11 4 sc 4 tso 4 pso 4
    let stack = Stack::default();
    let push = |value| {
        let node = Box::into_raw(Box::new(Node { value, ..Node::default() }));
        loop {
            let first = stack.head.load(Relaxed);
            let attempts = unsafe { &(*node).attempts };
            attempts.store(attempts.load(Relaxed) + 1, Relaxed);
            unsafe { &*node }.next.store(first, Relaxed);
            if stack.head.compare_exchange(first, node, Release, Relaxed).is_ok() {
                break;
            }
        }
    };
    two(|| push(1), || push(2));
    let attempts: usize = std::iter::from_fn(|| stack.pop())
        .map(|Pointer(node)| unsafe { Box::from_raw(node) }.attempts.into_inner())
        .sum();
    assert!(attempts == 2 || attempts == 3);
}

#[dpor::test]
fn an_assertion_on_the_attempts() {
    let stack = Stack::default();
    let push = |value| {
        let node = Box::into_raw(Box::new(Node { value, ..Node::default() }));
        loop {
            let first = stack.head.load(Relaxed);
            let attempts = unsafe { &(*node).attempts };
            attempts.store(attempts.load(Relaxed) + 1, Relaxed);
            unsafe { &*node }.next.store(first, Relaxed);
            if stack.head.compare_exchange(first, node, Release, Relaxed).is_ok() {
                break;
            }
        }
    };
    two(|| push(1), || push(2));
    let mut left = ptr::null_mut();
    let mut attempts = 0;
    while let Some(Pointer(node)) = stack.pop() {
        attempts += unsafe { Box::from_raw(node) }.attempts.into_inner();
        left = node;
    }
    assert!(left.is_null() || attempts == 2); // ERROR: panic
}
