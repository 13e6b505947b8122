//! Small lock-free structures, used without waiting.

use std::mem::MaybeUninit;
use std::ptr;
use std::sync::atomic::{AtomicPtr, AtomicUsize, Ordering, Ordering::*};
use std::thread;

use crate::support::{Plain, two};

/// A queue for one sender and one receiver, with room for two.
struct Ring {
    slots: [Plain<MaybeUninit<Box<u32>>>; 2],
    head: AtomicUsize,
    tail: AtomicUsize,
    publish: Ordering,
}

impl Ring {
    fn new(publish: Ordering) -> Ring {
        let slots = [const { Plain::new(MaybeUninit::uninit()) }; 2];
        Ring { slots, head: AtomicUsize::new(0), tail: AtomicUsize::new(0), publish }
    }

    fn push(&self, value: u32) -> bool {
        let tail = self.tail.load(Relaxed);
        if tail - self.head.load(Acquire) == 2 {
            return false;
        }
        unsafe { (*self.slots[tail % 2].get()).write(Box::new(value)) };
        self.tail.store(tail + 1, self.publish);
        true
    }

    fn pop(&self) -> Option<u32> {
        let head = self.head.load(Relaxed);
        if head == self.tail.load(Acquire) {
            return None;
        }
        let value = unsafe { (*self.slots[head % 2].get()).assume_init_read() };
        self.head.store(head + 1, Release);
        Some(*value)
    }
}

impl Drop for Ring {
    fn drop(&mut self) {
        while self.pop().is_some() {}
    }
}

// Two pops while three are pushed: what comes out is a prefix, in order.
#[dpor::test]
fn ring() {
    let ring = Ring::new(Release);
    let (pushed, popped) = two(|| [1, 2, 3].map(|value| ring.push(value)), || [ring.pop(), ring.pop()]);
    assert!(pushed[0] && pushed[1]);
    assert!([[None, None], [None, Some(1)], [Some(1), None], [Some(1), Some(2)]].contains(&popped));
}

#[dpor::test(expect = "data-race")]
fn ring_published_relaxed() {
    let ring = Ring::new(Relaxed);
    two(|| ring.push(1), || ring.pop());
}

struct Node {
    value: u32,
    next: *mut Node,
}

/// A stack that threads push to, and that is emptied at once.
struct Stack {
    head: AtomicPtr<Node>,
}

impl Stack {
    /// Tries once; the value again where another thread was quicker.
    fn push(&self, value: u32, order: Ordering) -> Result<(), u32> {
        let next = self.head.load(Relaxed);
        let node = Box::into_raw(Box::new(Node { value, next }));
        match self.head.compare_exchange(next, node, order, Relaxed) {
            Ok(_) => Ok(()),
            Err(_) => Err(unsafe { Box::from_raw(node) }.value),
        }
    }

    fn take_all(&self) -> Vec<u32> {
        let mut node = self.head.swap(ptr::null_mut(), Acquire);
        let mut values = Vec::new();
        while !node.is_null() {
            let taken = unsafe { Box::from_raw(node) };
            values.push(taken.value);
            node = taken.next;
        }
        values
    }
}

impl Drop for Stack {
    fn drop(&mut self) {
        self.take_all();
    }
}

#[dpor::test]
fn stack() {
    let stack = Stack { head: AtomicPtr::default() };
    thread::scope(|scope| {
        let first = scope.spawn(|| stack.push(1, Release));
        let second = scope.spawn(|| stack.push(2, Release));
        let taken = stack.take_all();
        let results = [first.join().unwrap(), second.join().unwrap()];
        let pushed = results.into_iter().filter(Result::is_ok).count();
        assert_eq!(taken.len() + stack.take_all().len(), pushed);
        assert!(pushed > 0);
    });
}

#[dpor::test(expect = "data-race")]
fn stack_published_relaxed() {
    let stack = Stack { head: AtomicPtr::default() };
    _ = two(|| stack.push(1, Relaxed), || stack.take_all());
}

// The head is freed by another thread between the look at it and the look at its successor.
#[dpor::test]
fn pop_without_protection() {
    let last = Box::into_raw(Box::new(Node { value: 1, next: ptr::null_mut() }));
    let head = AtomicPtr::new(last);
    let pop = || {
        let node = head.load(Acquire);
        if node.is_null() {
            return;
        }
        let next = unsafe { (*node).next }; // ERROR: use-after-free
        if head.compare_exchange(node, next, AcqRel, Relaxed).is_ok() {
            drop(unsafe { Box::from_raw(node) }); // ERROR: use-after-free
        }
    };
    two(pop, pop);
}

// Read, copied, and installed again: an update by copying. The old copy is kept until all are done.
#[dpor::test]
fn copy_on_write() {
    let current = AtomicPtr::new(Box::into_raw(Box::new([0, 0])));
    let write = || {
        let old = current.load(Acquire);
        let mut copy = Box::new(unsafe { *old });
        copy[0] += 1;
        copy[1] += 1;
        current.store(Box::into_raw(copy), Release);
        old
    };
    let read = || {
        let pair = unsafe { *current.load(Acquire) };
        pair[0] == pair[1]
    };
    let (old, consistent) = two(|| write().addr(), read);
    assert!(consistent);
    drop(unsafe { Box::from_raw(ptr::with_exposed_provenance_mut::<[u32; 2]>(old)) });
    drop(unsafe { Box::from_raw(current.into_inner()) });
}

// A flag for each of two threads, and a turn (Dekker); one attempt each.
#[dpor::test]
fn both_or_neither() {
    // COUNT: rc11 3 sc 3 tso 3 pso 3
    let wants = [AtomicUsize::new(0), AtomicUsize::new(0)];
    let attempt = |me: usize| {
        wants[me].store(1, SeqCst);
        wants[1 - me].load(SeqCst) == 0
    };
    let (first, second) = two(|| attempt(0), || attempt(1));
    assert!(!(first && second));
}
