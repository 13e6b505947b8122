//! The deque of Chase and Lev, from which other threads steal, with the orderings of Lê, Pop, Cohen and Nardelli (Correct
//! and Efficient Work-Stealing for Weak Memory Models, PPoPP 2013). It does not grow.

use std::hint;
use std::sync::atomic::{AtomicIsize, AtomicPtr, Ordering::*, fence};
use std::thread;

use crate::support::{Pointer, two};

const ROOM: usize = 4;

/// What may be left out of it.
#[derive(Clone, Copy)]
struct Parts {
    /// The fence between a push and what it publishes.
    fence_in_push: bool,
    /// The fence between the pop of an element and the look at what is stolen.
    fence_in_pop: bool,
    /// The compare-exchange for the last element.
    exchange_in_pop: bool,
    /// The compare-exchange of a thief.
    exchange_in_steal: bool,
}

const RIGHT: Parts = Parts { fence_in_push: true, fence_in_pop: true, exchange_in_pop: true, exchange_in_steal: true };

struct Deque {
    top: AtomicIsize,
    bottom: AtomicIsize,
    slots: [AtomicPtr<u32>; ROOM],
    parts: Parts,
}

impl Deque {
    fn new(parts: Parts) -> Deque {
        let slots = [const { AtomicPtr::new(std::ptr::null_mut()) }; ROOM];
        Deque { top: AtomicIsize::new(0), bottom: AtomicIsize::new(0), slots, parts }
    }

    fn slot(&self, index: isize) -> &AtomicPtr<u32> {
        &self.slots[index as usize % ROOM]
    }

    /// By the owner.
    fn push(&self, value: *mut u32) {
        let bottom = self.bottom.load(Relaxed);
        assert!(bottom - self.top.load(Acquire) < ROOM as isize);
        self.slot(bottom).store(value, Relaxed);
        if self.parts.fence_in_push {
            fence(Release);
        }
        self.bottom.store(bottom + 1, Relaxed);
    }

    /// By the owner.
    fn pop(&self) -> Option<u32> {
        let bottom = self.bottom.load(Relaxed) - 1;
        self.bottom.store(bottom, Relaxed);
        if self.parts.fence_in_pop {
            fence(SeqCst);
        }
        let top = self.top.load(Relaxed);
        if top > bottom {
            self.bottom.store(bottom + 1, Relaxed);
            return None;
        }
        let value = self.slot(bottom).load(Relaxed);
        if top == bottom {
            let taken = match self.parts.exchange_in_pop {
                true => self.top.compare_exchange(top, top + 1, SeqCst, Relaxed).is_ok(),
                false => {
                    self.top.store(top + 1, SeqCst);
                    true
                }
            };
            self.bottom.store(bottom + 1, Relaxed);
            if !taken {
                return None;
            }
        }
        Some(unsafe { *value })
    }

    /// By others.
    fn steal(&self) -> Option<u32> {
        loop {
            let top = self.top.load(Acquire);
            fence(SeqCst);
            let bottom = self.bottom.load(Acquire);
            if top >= bottom {
                return None;
            }
            let value = self.slot(top).load(Relaxed);
            if !self.parts.exchange_in_steal {
                self.top.store(top + 1, SeqCst);
                return Some(unsafe { *value });
            }
            if self.top.compare_exchange(top, top + 1, SeqCst, Relaxed).is_ok() {
                return Some(unsafe { *value });
            }
            hint::spin_loop();
        }
    }
}

/// Values to put into a deque: 1 to n.
fn values<const N: usize>() -> [u32; N] {
    std::array::from_fn(|i| i as u32 + 1)
}

/// The owner pushes n and pops some; thieves steal some each. Whether nothing was taken twice.
fn is_exact<const N: usize>(parts: Parts, pops: usize, thieves: usize, steals: usize) -> bool {
    let (deque, mut values) = (Deque::new(parts), values::<N>());
    let pointers = values.each_mut().map(|value| AtomicPtr::new(value));
    let mut taken = thread::scope(|scope| {
        let steal = || (0..steals).filter_map(|_| deque.steal()).collect::<Vec<_>>();
        let own = || {
            pointers.iter().for_each(|pointer| deque.push(pointer.load(Relaxed)));
            (0..pops).filter_map(|_| deque.pop()).collect::<Vec<_>>()
        };
        let mut threads = vec![scope.spawn(own)];
        threads.extend((0..thieves).map(|_| scope.spawn(steal)));
        threads.into_iter().flat_map(|thread| thread.join().unwrap()).collect::<Vec<_>>()
    });
    taken.extend(std::iter::from_fn(|| deque.pop()));
    taken.sort();
    taken == (1..=N as u32).collect::<Vec<_>>()
}

#[dpor::test]
fn one_element() {
    assert!(is_exact::<1>(RIGHT, 1, 1, 1));
}

#[dpor::test]
fn two_elements() {
    assert!(is_exact::<2>(RIGHT, 1, 1, 2));
}

#[dpor::test]
fn two_elements_and_two_thieves() {
    assert!(is_exact::<2>(RIGHT, 1, 2, 1));
}

#[dpor::test]
fn three_elements() {
    assert!(is_exact::<3>(RIGHT, 2, 1, 2));
}

// The owner does not see that a thief has been there, who does not see that the owner has.
#[dpor::test]
fn no_fence_in_pop() {
    // MODELS: rc11 tso pso
    assert!(is_exact::<2>(Parts { fence_in_pop: false, ..RIGHT }, 1, 1, 2)); // ERROR: panic
}

// The last element is taken by the owner and by a thief.
#[dpor::test]
fn no_exchange_in_pop() {
    assert!(is_exact::<1>(Parts { exchange_in_pop: false, ..RIGHT }, 1, 1, 1)); // ERROR: panic
}

#[dpor::test]
fn no_exchange_in_steal() {
    assert!(is_exact::<1>(Parts { exchange_in_steal: false, ..RIGHT }, 0, 2, 1)); // ERROR: panic
}

// What a thief finds was not published.
#[dpor::test]
fn no_fence_in_push() {
    // MODELS: rc11 pso
    let deque = Deque::new(Parts { fence_in_push: false, ..RIGHT });
    let own = || {
        let value = Box::into_raw(Box::new(1));
        deque.push(value);
        Pointer(value)
    };
    let steal = || {
        while deque.bottom.load(Acquire) == 0 {
            hint::spin_loop();
        }
        deque.slot(0).load(Relaxed).is_null()
    };
    let (Pointer(value), missed) = two(own, steal);
    drop(unsafe { Box::from_raw(value) });
    assert!(!missed); // ERROR: panic
}
