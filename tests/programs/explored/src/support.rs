//! What several programs need: ways to run threads, and pointers that go from one to another.

use std::cell::UnsafeCell;
use std::thread;

/// Runs `body(0)` to `body(n - 1)` in threads of their own and `meanwhile` beside them, and joins them all.
pub type Run = fn(n: usize, body: fn(usize), meanwhile: fn());

/// With `thread::spawn`.
pub fn spawned(n: usize, body: fn(usize), meanwhile: fn()) {
    let threads: Vec<_> = (0..n).map(|i| thread::spawn(move || body(i))).collect();
    meanwhile();
    for thread in threads {
        thread.join().unwrap();
    }
}

/// With `thread::scope`.
pub fn scoped(n: usize, body: fn(usize), meanwhile: fn()) {
    thread::scope(|scope| {
        for i in 0..n {
            scope.spawn(move || body(i));
        }
        meanwhile();
    });
}

/// What two threads return.
pub fn two<A: Send, B: Send>(first: impl FnOnce() -> A + Send, second: impl FnOnce() -> B + Send) -> (A, B) {
    thread::scope(|scope| {
        let (first, second) = (scope.spawn(first), scope.spawn(second));
        (first.join().unwrap(), second.join().unwrap())
    })
}

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

    pub fn into_inner(self) -> T {
        self.0.into_inner()
    }
}

/// A pointer that may go to other threads.
pub struct Pointer<T>(*mut T);

unsafe impl<T> Send for Pointer<T> {}
unsafe impl<T> Sync for Pointer<T> {}

impl<T> Copy for Pointer<T> {}

impl<T> Clone for Pointer<T> {
    fn clone(&self) -> Pointer<T> {
        *self
    }
}

impl<T> Pointer<T> {
    pub fn new(pointer: *mut T) -> Pointer<T> {
        Pointer(pointer)
    }

    /// A pointer to a new box.
    pub fn boxed(value: T) -> Pointer<T> {
        Pointer(Box::into_raw(Box::new(value)))
    }

    pub fn get(self) -> *mut T {
        self.0
    }
}
