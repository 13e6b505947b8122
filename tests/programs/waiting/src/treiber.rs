//! Treiber's stack. What is popped is freed when all threads are done.

use std::ptr;
use std::sync::atomic::{AtomicPtr, Ordering, Ordering::*};
use std::thread;

use crate::support::{Pointer, two};

struct Node {
    value: u32,
    next: *mut Node,
}

/// The orderings with which the head is published and looked at.
#[derive(Clone, Copy)]
struct Orders {
    push: Ordering,
    pop: Ordering,
}

const RIGHT: Orders = Orders { push: Release, pop: Acquire };

struct Stack {
    head: AtomicPtr<Node>,
    orders: Orders,
}

/// A node that was popped, and that others may still look at.
struct Popped(Pointer<Node>);

impl Popped {
    fn value(&self) -> u32 {
        unsafe { (*self.0.0).value }
    }

    fn free(self) -> u32 {
        unsafe { Box::from_raw(self.0.0) }.value
    }
}

fn node(value: u32) -> *mut Node {
    Box::into_raw(Box::new(Node { value, next: ptr::null_mut() }))
}

impl Stack {
    fn new(orders: Orders) -> Stack {
        Stack { head: AtomicPtr::new(ptr::null_mut()), orders }
    }

    fn push(&self, value: u32) {
        let node = node(value);
        loop {
            let first = self.head.load(Relaxed);
            unsafe { (*node).next = first };
            if self.head.compare_exchange(first, node, self.orders.push, Relaxed).is_ok() {
                break;
            }
        }
    }

    fn pop(&self) -> Option<Popped> {
        loop {
            let first = self.head.load(self.orders.pop);
            let next = unsafe { first.as_ref() }?.next;
            if self.head.compare_exchange(first, next, Relaxed, Relaxed).is_ok() {
                return Some(Popped(Pointer(first)));
            }
        }
    }

    /// The values of all nodes that are left.
    fn drain(&self) -> Vec<u32> {
        std::iter::from_fn(|| self.pop().map(Popped::free)).collect()
    }
}

impl Drop for Stack {
    fn drop(&mut self) {
        self.drain();
    }
}

/// All values, sorted, of what was popped and of what is left.
fn all(stack: &Stack, popped: impl IntoIterator<Item = Popped>) -> Vec<u32> {
    let mut values: Vec<_> = popped.into_iter().map(Popped::free).collect();
    values.extend(stack.drain());
    values.sort();
    values
}

// There is one location, so that the numbers follow from all interleavings of what happens to it, under every model:
// which of them differ in rf or co, loops being reduced to their last iteration. Two pushes and a pop, for example: 2
// orders of the pushes, and the pop comes before both, after both, or in between; then the later push has loaded that
// the stack is empty before anything was pushed or after the pop: 2·(1 + 1 + 2).
#[dpor::test]
fn pushes_and_a_pop() {
    // COUNT: rc11 8 sc 8 tso 8 pso 8
    // READS-FROM: rc11 8.. sc 8.. tso 8.. pso 8..
    // LEVELS: off 8.. stale 8.. in-place 8.. full 8
    let stack = Stack::new(RIGHT);
    let popped = thread::scope(|scope| {
        scope.spawn(|| stack.push(1));
        scope.spawn(|| stack.push(2));
        scope.spawn(|| stack.pop()).join().unwrap()
    });
    assert_eq!(all(&stack, popped), [1, 2]);
}

// Two pushes and two pops, each in program order, in any order of the four: 6.
#[dpor::test]
fn pushes_of_one_and_pops_of_another() {
    // COUNT: rc11 6 sc 6 tso 6 pso 6
    // LEVELS: off 6.. stale 6.. in-place 6.. full 6..
    let stack = Stack::new(RIGHT);
    let push = || [1, 2].map(|value| stack.push(value));
    let (_, popped) = two(push, || [stack.pop(), stack.pop()]);
    let values = popped.each_ref().map(|popped| popped.as_ref().map(Popped::value));
    let possible =
        [[None, None], [None, Some(1)], [None, Some(2)], [Some(1), None], [Some(1), Some(2)], [Some(2), Some(1)]];
    assert!(possible.contains(&values), "{values:?}");
    assert_eq!(all(&stack, popped.into_iter().flatten()), [1, 2]);
}

#[dpor::test]
fn push_and_pop_by_two() {
    // COUNT: rc11 10 sc 10 tso 10 pso 10
    // LEVELS: off 10.. stale 10.. in-place 10.. full 10
    let stack = Stack::new(RIGHT);
    let push_and_pop = |value| {
        stack.push(value);
        stack.pop()
    };
    let (first, second) = two(|| push_and_pop(1), || push_and_pop(2));
    assert_eq!(all(&stack, [first, second].map(Option::unwrap)), [1, 2]);
    assert!(stack.pop().is_none());
}

#[dpor::test]
fn push_and_pop_by_three() {
    // COUNT: rc11 270.. sc 270.. tso 270.. pso 270..
    // LEVELS: off 270.. stale 270.. in-place 270.. full 270..
    let stack = Stack::new(RIGHT);
    let popped: Vec<_> = thread::scope(|scope| {
        let push_and_pop = |value| {
            stack.push(value);
            stack.pop()
        };
        let threads = [1, 2, 3].map(|value| scope.spawn(move || push_and_pop(value)));
        threads.into_iter().filter_map(|thread| thread.join().unwrap()).collect()
    });
    assert_eq!(all(&stack, popped), [1, 2, 3]);
}

// Four nodes are popped in any order of threads, and nothing else is possible: 4!.
#[dpor::test]
fn pops_by_four() {
    // COUNT: rc11 24 sc 24 tso 24 pso 24
    let stack = Stack::new(RIGHT);
    (1..=4).for_each(|value| stack.push(value));
    let popped: Vec<_> = thread::scope(|scope| {
        let threads: Vec<_> = (0..4).map(|_| scope.spawn(|| stack.pop())).collect();
        threads.into_iter().filter_map(|thread| thread.join().unwrap()).collect()
    });
    assert_eq!(all(&stack, popped), [1, 2, 3, 4]);
}

#[dpor::test(expect = "data-race")]
fn pushed_relaxed() {
    let stack = Stack::new(Orders { push: Relaxed, ..RIGHT });
    let ((), popped) = two(|| stack.push(1), || stack.pop());
    all(&stack, popped);
}

#[dpor::test(expect = "data-race")]
fn popped_relaxed() {
    let stack = Stack::new(Orders { pop: Relaxed, ..RIGHT });
    let ((), popped) = two(|| stack.push(1), || stack.pop());
    all(&stack, popped);
}

// A push that stores what it should have exchanged.
#[dpor::test]
fn pushed_with_a_store() {
    let stack = Stack::new(RIGHT);
    let nodes = [node(1), node(2)].map(Pointer);
    let push = |Pointer(node): Pointer<Node>| {
        unsafe { (*node).next = stack.head.load(Acquire) };
        stack.head.store(node, Release);
    };
    let [first, second] = nodes;
    two(move || push(first), move || push(second));
    let mut left = 0;
    let mut next = stack.head.swap(ptr::null_mut(), Relaxed);
    while let Some(node) = unsafe { next.as_ref() } {
        left += 1;
        next = node.next;
    }
    nodes.into_iter().for_each(|node| _ = Popped(node).free());
    assert_eq!(left, 2); // ERROR: panic
}

// A pop that writes what is below its node without making sure that the node is still the first.
#[dpor::test]
fn popped_with_a_swap() {
    let stack = Stack::new(RIGHT);
    let nodes = [node(1), node(2)];
    unsafe { (*nodes[1]).next = nodes[0] };
    stack.head.store(nodes[1], Relaxed);
    let pop = || {
        let first = stack.head.load(Acquire);
        let next = unsafe { (*first).next };
        stack.head.swap(next, AcqRel);
        unsafe { (*first).value }
    };
    let (first, second) = two(pop, pop);
    stack.head.store(ptr::null_mut(), Relaxed);
    for node in nodes {
        drop(unsafe { Box::from_raw(node) });
    }
    assert_ne!(first, second); // ERROR: panic
}

// A node that is freed as soon as it is popped.
#[dpor::test]
fn freed_too_early() {
    dpor::assume(dpor::checking());
    let stack = Stack::new(RIGHT);
    stack.push(1);
    let pop = || {
        loop {
            let first = stack.head.load(Acquire);
            let Some(node) = (unsafe { first.as_ref() }) else { return };
            let next = node.next; // ERROR: use-after-free
            if stack.head.compare_exchange(first, next, AcqRel, Relaxed).is_ok() {
                drop(unsafe { Box::from_raw(first) }); // ERROR: use-after-free
                return;
            }
        }
    };
    two(pop, pop);
}
