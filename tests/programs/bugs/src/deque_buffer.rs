//! crossbeam-deque (RUSTSEC-2021-0093): a stealer that takes several items reads them from the buffer that it found first.
//! When the owner has moved to a larger one in the meantime, the old buffer has other items at these places: one is taken
//! twice.

use crate::sync::atomic::{AtomicPtr, AtomicUsize, Ordering::*, fence};
use std::cell::RefCell;
use std::thread;

#[dpor::test]
fn fixed() {
    push_and_steal(true);
}

#[dpor::test]
fn broken() {
    push_and_steal(false);
}

/// Items by number, modulo the size.
struct Buffer {
    slots: Vec<AtomicPtr<u32>>,
}

impl Buffer {
    fn new(size: usize) -> *mut Buffer {
        Box::into_raw(Box::new(Buffer { slots: (0..size).map(|_| AtomicPtr::default()).collect() }))
    }

    fn slot(&self, at: usize) -> &AtomicPtr<u32> {
        &self.slots[at % self.slots.len()]
    }
}

/// A queue that its owner pushes to, and that others steal from.
struct Deque {
    front: AtomicUsize,
    back: AtomicUsize,
    buffer: AtomicPtr<Buffer>,
    /// Buffers that are no longer used, but perhaps read.
    old: RefCell<Vec<*mut Buffer>>,
}

unsafe impl Sync for Deque {}

impl Deque {
    fn new() -> Deque {
        let (front, back, old) = (AtomicUsize::new(0), AtomicUsize::new(0), RefCell::default());
        Deque { front, back, buffer: AtomicPtr::new(Buffer::new(1)), old }
    }

    /// By the owner only.
    fn push(&self, item: u32) {
        let (back, front) = (self.back.load(Relaxed), self.front.load(Acquire));
        let mut buffer = self.buffer.load(Relaxed);
        if back - front == unsafe { (*buffer).slots.len() } {
            buffer = self.grow(front, back);
        }
        unsafe { (*buffer).slot(back).store(Box::into_raw(Box::new(item)), Relaxed) };
        self.back.store(back + 1, Release);
    }

    fn grow(&self, front: usize, back: usize) -> *mut Buffer {
        let old = self.buffer.load(Relaxed);
        let new = Buffer::new(2);
        for at in front..back {
            unsafe { (*new).slot(at).store((*old).slot(at).load(Relaxed), Relaxed) };
        }
        self.buffer.store(new, Release);
        self.old.borrow_mut().push(old);
        new
    }

    /// Steals up to two items; `check` looks at the buffer again before it takes one.
    fn steal_two(&self, check: bool) -> [Option<Box<u32>>; 2] {
        let mut stolen = [None, None];
        let front = self.front.load(Acquire);
        fence(SeqCst);
        if self.back.load(Acquire) <= front {
            return stolen;
        }
        let buffer = self.buffer.load(Acquire);
        for at in front..front + 2 {
            fence(SeqCst);
            if self.back.load(Acquire) <= at {
                break;
            }
            let item = unsafe { (*buffer).slot(at).load(Relaxed) };
            let moved = check && self.buffer.load(Acquire) != buffer;
            if moved || self.front.compare_exchange(at, at + 1, SeqCst, Relaxed).is_err() {
                break;
            }
            stolen[at - front] = Some(unsafe { Box::from_raw(item) });
        }
        stolen
    }
}

impl Drop for Deque {
    fn drop(&mut self) {
        let buffer = unsafe { Box::from_raw(*self.buffer.get_mut()) };
        for at in *self.front.get_mut()..*self.back.get_mut() {
            drop(unsafe { Box::from_raw(buffer.slot(at).load(Relaxed)) });
        }
        self.old.get_mut().drain(..).for_each(|old| drop(unsafe { Box::from_raw(old) }));
    }
}

fn push_and_steal(check: bool) {
    let deque = Deque::new();
    deque.push(1);
    let stolen = thread::scope(|scope| {
        let stealer = scope.spawn(|| deque.steal_two(check));
        deque.push(2);
        stealer.join().unwrap()
    });
    drop(stolen); // ERROR: double-free
}
