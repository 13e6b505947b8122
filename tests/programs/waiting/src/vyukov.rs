//! Vyukov's bounded queue for many producers and many consumers, who wait while it is full and while it is empty.
//!
//! A position that is taken decides everything else, since a slot's turn comes once: what is counted is in which order
//! producers and consumers take theirs, where attempts that fail are left out.

use std::hint;
use std::sync::atomic::{AtomicUsize, Ordering, Ordering::*};

use crate::support::{Plain, threads, two};

struct Slot {
    turn: AtomicUsize,
    value: Plain<usize>,
}

/// A queue with room for two.
struct Queue {
    slots: [Slot; 2],
    head: AtomicUsize,
    tail: AtomicUsize,
    /// The ordering with which a slot is handed over.
    release: Ordering,
    /// After how many positions a slot is used again.
    lap: usize,
}

impl Queue {
    fn new() -> Queue {
        let slots = [0, 1].map(|turn| Slot { turn: AtomicUsize::new(turn), value: Plain::new(0) });
        Queue { slots, head: AtomicUsize::new(0), tail: AtomicUsize::new(0), release: Release, lap: 2 }
    }

    /// Takes a position when the turn of its slot has come, which is so many later.
    fn take(&self, counter: &AtomicUsize, later: usize) -> (usize, &Slot) {
        loop {
            let position = counter.load(Relaxed);
            let slot = &self.slots[position % 2];
            if slot.turn.load(Acquire) == position + later
                && counter.compare_exchange_weak(position, position + 1, Relaxed, Relaxed).is_ok()
            {
                return (position, slot);
            }
            hint::spin_loop();
        }
    }

    fn push(&self, value: usize) {
        let (position, slot) = self.take(&self.tail, 0);
        slot.value.write(value);
        slot.turn.store(position + 1, self.release);
    }

    fn pop(&self) -> usize {
        let (position, slot) = self.take(&self.head, 1);
        let value = slot.value.read();
        slot.turn.store(position + self.lap, self.release);
        value
    }
}

#[dpor::test]
fn one_of_each() {
    // COUNT: rc11 1 sc 1 tso 1 pso 1
    let queue = Queue::new();
    let ((), popped) = two(|| (1..=3).for_each(|value| queue.push(value)), || [queue.pop(), queue.pop(), queue.pop()]);
    assert_eq!(popped, [1, 2, 3]);
}

#[dpor::test]
fn two_producers() {
    // COUNT: rc11 2 sc 2 tso 2 pso 2
    let queue = Queue::new();
    threads(3, |i| match i {
        0 => assert_eq!(queue.pop() + queue.pop(), 3),
        _ => queue.push(i),
    });
}

#[dpor::test]
fn two_of_each() {
    // COUNT: rc11 4 sc 4 tso 4 pso 4
    let (queue, popped) = (Queue::new(), [const { Plain::new(0) }; 2]);
    threads(4, |i| match popped.get(i) {
        Some(popped) => popped.write(queue.pop()),
        None => queue.push(i),
    });
    assert_eq!(popped.map(Plain::into_inner).iter().sum::<usize>(), 2 + 3);
}

// Two producers push two each, in any order that keeps those of either in sequence, C(4, 2), through room for two.
#[dpor::test]
fn two_producers_of_two() {
    // COUNT: rc11 6 sc 6 tso 6 pso 6
    let queue = Queue::new();
    threads(3, |i| match i {
        0 => {
            let popped = [queue.pop(), queue.pop(), queue.pop(), queue.pop()];
            assert_eq!(popped.iter().sum::<usize>(), 1 + 2 + 10 + 20);
        }
        1 => [1, 2].into_iter().for_each(|value| queue.push(value)),
        _ => [10, 20].into_iter().for_each(|value| queue.push(value)),
    });
}

#[dpor::test(expect = "data-race")]
fn handed_over_relaxed() {
    let queue = Queue { release: Relaxed, ..Queue::new() };
    two(|| queue.push(1), || queue.pop());
}

// A consumer makes it the turn of a position that has been: the producer waits for ever.
#[dpor::test(expect = "non-termination")]
fn wrong_turn() {
    dpor::assume(dpor::checking());
    let queue = Queue { lap: 1, ..Queue::new() };
    two(|| [1, 2, 3].map(|value| queue.push(value)), || [queue.pop(), queue.pop(), queue.pop()]);
}

// A position that is taken without making sure that nobody else does.
#[dpor::test]
fn taken_with_a_store() {
    let queue = Queue::new();
    let push = |value| {
        let (position, slot) = loop {
            let position = queue.tail.load(Relaxed);
            let slot = &queue.slots[position % 2];
            if slot.turn.load(Acquire) == position {
                break (position, slot);
            }
            hint::spin_loop();
        };
        queue.tail.store(position + 1, Relaxed);
        unsafe { *slot.value.get() = value }; // ERROR: data-race
        slot.turn.store(position + 1, Release);
    };
    two(|| push(1), || push(2));
}
