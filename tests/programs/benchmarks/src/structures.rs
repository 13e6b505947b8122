//! Locks and data structures with nodes on the heap.

use std::cell::UnsafeCell;
use std::hint;
use std::ptr;
use std::sync::atomic::{AtomicBool, AtomicPtr, AtomicUsize, Ordering::*};
use std::thread;

/// `n` threads that share a value. (Clones of an `Arc` would be dropped in any order: n! times as many executions.)
fn shared<T: Sync>(n: usize, value: T, body: fn(&T, usize)) -> T {
    thread::scope(|scope| {
        for i in 0..n {
            let value = &value;
            scope.spawn(move || body(value, i));
        }
    });
    value
}

#[derive(Default)]
struct TicketLock {
    next: AtomicUsize,
    served: AtomicUsize,
    count: UnsafeCell<usize>,
}

unsafe impl Sync for TicketLock {}

impl TicketLock {
    fn increment(&self) {
        let ticket = self.next.fetch_add(1, Relaxed);
        while self.served.load(Acquire) != ticket {
            hint::spin_loop();
        }
        // SAFETY: only the thread that is served is here.
        unsafe { *self.count.get() += 1 };
        self.served.store(ticket + 1, Release);
    }
}

#[dpor::test]
fn ticket_lock_7() {
    let lock = shared(7, TicketLock::default(), |lock, _| lock.increment());
    assert_eq!(lock.count.into_inner(), 7);
}

#[derive(Default)]
struct SpinLock {
    locked: AtomicBool,
    count: UnsafeCell<usize>,
}

unsafe impl Sync for SpinLock {}

impl SpinLock {
    fn increment(&self) {
        while self.locked.compare_exchange(false, true, Acquire, Relaxed).is_err() {
            hint::spin_loop();
        }
        // SAFETY: only the thread that has the lock is here.
        unsafe { *self.count.get() += 1 };
        self.locked.store(false, Release);
    }
}

#[dpor::test]
fn spin_lock_7() {
    let lock = shared(7, SpinLock::default(), |lock, _| lock.increment());
    assert_eq!(lock.count.into_inner(), 7);
}

struct Node {
    value: usize,
    next: *mut Node,
}

#[derive(Default)]
struct Stack {
    head: AtomicPtr<Node>,
}

impl Stack {
    fn push(&self, value: usize) {
        let node = Box::into_raw(Box::new(Node { value, next: ptr::null_mut() }));
        loop {
            let head = self.head.load(Relaxed);
            // SAFETY: nobody else has the node yet.
            unsafe { (*node).next = head };
            if self.head.compare_exchange(head, node, Release, Relaxed).is_ok() {
                return;
            }
        }
    }
}

impl Drop for Stack {
    fn drop(&mut self) {
        let mut node = *self.head.get_mut();
        let mut sum = 0;
        while !node.is_null() {
            // SAFETY: nobody else has the stack any more.
            let owned = unsafe { Box::from_raw(node) };
            sum += owned.value;
            node = owned.next;
        }
        assert_eq!(sum, 28);
    }
}

#[dpor::test]
fn treiber_push_7() {
    drop(shared(7, Stack::default(), |stack, i| stack.push(i + 1)));
}
