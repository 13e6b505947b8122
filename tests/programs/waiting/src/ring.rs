//! A ring buffer for one producer and one consumer, who wait while it is full and while it is empty.

use std::hint;
use std::mem::MaybeUninit;
use std::sync::atomic::{AtomicUsize, Ordering, Ordering::*};

use crate::support::{Plain, two};

/// The orderings with which either side tells the other how far it is.
#[derive(Clone, Copy)]
struct Orders {
    pushed: Ordering,
    popped: Ordering,
}

const RIGHT: Orders = Orders { pushed: Release, popped: Release };

struct Ring<const N: usize> {
    slots: [Plain<MaybeUninit<Box<u32>>>; N],
    head: AtomicUsize,
    tail: AtomicUsize,
    orders: Orders,
    /// How many the producer thinks there is room for.
    capacity: usize,
}

impl<const N: usize> Ring<N> {
    fn new(orders: Orders, capacity: usize) -> Ring<N> {
        let slots = [const { Plain::new(MaybeUninit::uninit()) }; N];
        Ring { slots, head: AtomicUsize::new(0), tail: AtomicUsize::new(0), orders, capacity }
    }

    fn push(&self, value: u32) {
        let tail = self.tail.load(Relaxed);
        while tail - self.head.load(Acquire) >= self.capacity {
            hint::spin_loop();
        }
        unsafe { (*self.slots[tail % N].get()).write(Box::new(value)) };
        self.tail.store(tail + 1, self.orders.pushed);
    }

    fn pop(&self) -> u32 {
        let head = self.head.load(Relaxed);
        while self.tail.load(Acquire) == head {
            hint::spin_loop();
        }
        let value = unsafe { (*self.slots[head % N].get()).assume_init_read() };
        self.head.store(head + 1, self.orders.popped);
        *value
    }

    /// Sends 0 to n − 1, and says what comes.
    fn send(&self, n: u32) -> Vec<u32> {
        two(|| (0..n).for_each(|value| self.push(value)), || (0..n).map(|_| self.pop()).collect()).1
    }
}

// Where there is room for one, the two take turns: 1.
#[dpor::test]
fn room_for_one() {
    // COUNT: rc11 1 sc 1 tso 1 pso 1
    assert_eq!(Ring::<1>::new(RIGHT, 1).send(3), [0, 1, 2]);
}

// Where there is room for two, the j-th pop sees j or j + 1 pushed, and the push after that one sees j − 1 or j popped; not
// both can have seen the other: 3 possibilities for each but the last, 3^(k − 1).
#[dpor::test]
fn room_for_two() {
    // COUNT: rc11 9 sc 9 tso 9 pso 9
    assert_eq!(Ring::<2>::new(RIGHT, 2).send(3), [0, 1, 2]);
}

#[dpor::test]
fn room_for_two_of_four() {
    // COUNT: rc11 27 sc 27 tso 27 pso 27
    assert_eq!(Ring::<2>::new(RIGHT, 2).send(4), [0, 1, 2, 3]);
}

#[dpor::test(expect = "data-race")]
fn pushed_relaxed() {
    Ring::<2>::new(Orders { pushed: Relaxed, ..RIGHT }, 2).send(1);
}

#[dpor::test(expect = "data-race")]
fn popped_relaxed() {
    Ring::<1>::new(Orders { popped: Relaxed, ..RIGHT }, 1).send(2);
}

// A producer that takes a full ring for one with room: what comes third is where the first was, and is popped twice.
#[dpor::test(expect = "use-after-free")]
fn pushed_when_full() {
    dpor::assume(dpor::checking());
    Ring::<2>::new(RIGHT, 3).send(3);
}
