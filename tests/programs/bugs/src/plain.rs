//! What the programs share.

use std::cell::UnsafeCell;
use std::thread;

/// Memory that all threads may access, without synchronization.
#[derive(Default)]
pub struct Plain<T>(UnsafeCell<T>);

unsafe impl<T> Sync for Plain<T> {}

impl<T> Plain<T> {
    pub const fn new(value: T) -> Plain<T> {
        Plain(UnsafeCell::new(value))
    }

    pub const fn get(&self) -> *mut T {
        self.0.get()
    }
}

/// What two threads return.
pub fn two<A: Send, B: Send>(first: impl FnOnce() -> A + Send, second: impl FnOnce() -> B + Send) -> (A, B) {
    thread::scope(|scope| {
        let (first, second) = (scope.spawn(first), scope.spawn(second));
        (first.join().unwrap(), second.join().unwrap())
    })
}
