//! What several programs need: threads, memory that they share, and locks to be tried.

use std::cell::UnsafeCell;
use std::thread;

/// Runs `body(0)` to `body(n - 1)` in threads of their own, the first preferred, and joins them.
pub fn threads(n: usize, body: impl Fn(usize) + Sync) {
    thread::scope(|scope| {
        for i in 0..n {
            let body = &body;
            scope.spawn(move || body(i));
        }
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

impl<T: Copy> Plain<T> {
    pub fn read(&self) -> T {
        unsafe { *self.get() }
    }

    pub fn write(&self, value: T) {
        unsafe { *self.get() = value };
    }
}

/// A pointer that may go to other threads.
pub struct Pointer<T>(pub *mut T);

unsafe impl<T> Send for Pointer<T> {}

impl<T> Copy for Pointer<T> {}

impl<T> Clone for Pointer<T> {
    fn clone(&self) -> Pointer<T> {
        *self
    }
}

/// A lock without data.
pub trait Lock: Sync {
    fn lock(&self);
    fn unlock(&self);
}

/// n threads add one to a plain counter, each once and under the lock.
///
/// Where the threads exclude each other there is no data race and nothing is lost; and where a lock says in which order
/// threads have it and nothing else, there are n! executions.
pub fn count_up(n: usize, lock: &impl Lock) {
    let counter = Plain::new(0);
    threads(n, |_| {
        lock.lock();
        counter.write(counter.read() + 1);
        lock.unlock();
    });
    assert_eq!(counter.into_inner(), n);
}
