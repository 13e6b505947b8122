//! A stack without locks, and two tests of it for `cargo dpor test`: one passes, one fails.

use std::ptr;
use std::sync::atomic::{AtomicPtr, Ordering::*};

/// A stack that threads can share.
pub struct Stack<T> {
    head: AtomicPtr<Node<T>>,
}

struct Node<T> {
    value: T,
    next: *mut Node<T>,
}

impl<T> Stack<T> {
    pub const fn new() -> Stack<T> {
        Stack { head: AtomicPtr::new(ptr::null_mut()) }
    }

    /// Puts a value on top.
    pub fn push(&self, value: T) {
        let node = Box::into_raw(Box::new(Node { value, next: ptr::null_mut() }));
        let mut head = self.head.load(Relaxed);
        loop {
            // SAFETY: no other thread has seen the node yet.
            unsafe { (*node).next = head };
            match self.head.compare_exchange(head, node, Release, Relaxed) {
                Ok(_) => return,
                Err(current) => head = current,
            }
        }
    }

    /// Takes the value on top.
    pub fn pop(&mut self) -> Option<T> {
        let head = *self.head.get_mut();
        if head.is_null() {
            return None;
        }
        // SAFETY: the node came from `Box::into_raw`, and nobody else can reach it.
        let node = unsafe { Box::from_raw(head) };
        *self.head.get_mut() = node.next;
        Some(node.value)
    }

    /// The value on top. The bug: a value that is seen without `Acquire` may not be there yet.
    pub fn peek(&self) -> Option<T>
    where
        T: Copy,
    {
        // SAFETY: no node is freed as long as the stack is shared.
        unsafe { self.head.load(Relaxed).as_ref() }.map(|node| node.value)
    }
}

impl<T> Drop for Stack<T> {
    fn drop(&mut self) {
        while self.pop().is_some() {}
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::sync::Arc;
    use std::thread;

    /// Either value may be pushed first, and the other thread may have looked before or after: 4 executions.
    #[dpor::test]
    fn two_pushes() {
        let stack = Arc::new(Stack::new());
        let thread = thread::spawn({
            let stack = stack.clone();
            move || stack.push(1)
        });
        stack.push(2);
        thread.join().unwrap();

        let mut stack = Arc::into_inner(stack).unwrap();
        assert_eq!(stack.pop().unwrap() + stack.pop().unwrap(), 3);
        assert_eq!(stack.pop(), None);
    }

    #[dpor::test]
    fn peek_while_pushing() {
        let stack = Arc::new(Stack::new());
        let thread = thread::spawn({
            let stack = stack.clone();
            move || stack.push(7)
        });
        assert!(matches!(stack.peek(), None | Some(7)));
        thread.join().unwrap();
    }
}
