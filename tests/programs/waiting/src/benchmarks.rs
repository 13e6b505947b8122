//! The programs of the AWAMOCHE paper (Kokologiannakis, Marmanis, Vafeiadis: Unblocking Dynamic Partial Order Reduction,
//! CAV 2023), tables 1 and 2, and two locks. Threads are preferred in the order in which they are spawned, after the one
//! that spawns them: as in the paper, from left to right.
//!
//! Orderings are relaxed but for what is waited for, which changes no number.

use std::hint;
use std::ptr;
use std::sync::atomic::{AtomicBool, AtomicPtr, AtomicUsize, Ordering::*};
use std::thread;

use crate::support::{Lock, Plain, count_up, threads};

static X: AtomicUsize = AtomicUsize::new(0);

// Main spawns n threads that wait for a flag, then sets it: 1. A thread that sees the flag too early is blocked, 2^n − 1
// combinations; since main comes first, it then has read something old.
#[dpor::test]
fn orch_run() {
    // COUNT: rc11 1 sc 1 tso 1 pso 1
    // LEVELS: off 1+31 stale 1 in-place 1 full 1
    static GO: AtomicBool = AtomicBool::new(false);
    let wait = || {
        while !GO.load(Acquire) {
            hint::spin_loop();
        }
    };
    let waiting: Vec<_> = (0..5).map(|_| thread::spawn(wait)).collect();
    GO.store(true, Release);
    for thread in waiting {
        thread.join().unwrap();
    }
}

// One thread waits until n workers have counted up, in any order: n!. The one that waits may see n smaller numbers in each
// of them, and is blocked, n·n!; since it comes first, it is revisited and so has never read something old.
#[dpor::test]
fn wait_workers() {
    // COUNT: rc11 24 sc 24 tso 24 pso 24
    // LEVELS: off 24+96 stale 24+96 in-place 24 full 24
    let done = AtomicUsize::new(0);
    thread::scope(|scope| {
        scope.spawn(|| {
            while done.load(Acquire) < 4 {
                hint::spin_loop();
            }
        });
        for _ in 0..4 {
            scope.spawn(|| done.fetch_add(1, Relaxed));
        }
    });
}

// k readers wait for more than l, and one writer stores 1 to l: never satisfied. Each reader sees one of l + 1 values,
// (l + 1)^k; without those that were there already when a reader came, which all come before the writer, it is the
// non-decreasing sequences, C(k + l, k). In one execution every reader has seen the last value: this is the error, and
// counts as executed.
#[dpor::test]
fn nr_nw() {
    // LEVELS: off 1+26 stale 1+9 in-place 1 full 1
    dpor::assume(dpor::checking());
    thread::scope(|scope| {
        for _ in 0..3 {
            scope.spawn(|| {
                // ERROR: non-termination
                while X.load(Relaxed) <= 2 {
                    hint::spin_loop();
                }
            });
        }
        scope.spawn(|| {
            X.store(1, Relaxed);
            X.store(2, Relaxed);
        });
    });
}

// n increments by compare-exchange, of what was loaded before: n! orders. Of k that succeed, in any order, each of the
// others has loaded one of k + 1 values and then found a later one: the sum of n!/(n − k)!·C(k + 1, 2)^(n − k) over
// k < n. The numbers for the levels in between are the paper's.
#[dpor::test]
fn conf_loop() {
    // COUNT: rc11 24 sc 24 tso 24 pso 24
    // LEVELS: off 24+256 stale 24+176 in-place 24+124 full 24
    let counter = AtomicUsize::new(0);
    threads(4, |_| {
        loop {
            let seen = counter.load(Relaxed);
            if counter.compare_exchange(seen, seen + 1, Relaxed, Relaxed).is_ok() {
                break;
            }
        }
    });
    assert_eq!(counter.into_inner(), 4);
}

#[dpor::test]
fn conf_loop_of_five() {
    // COUNT: rc11 120 sc 120 tso 120 pso 120
    // LEVELS: off 120+3905 stale 120+2010 in-place 120+1185 full 120
    threads(5, |_| {
        loop {
            let seen = X.load(Relaxed);
            if X.compare_exchange(seen, seen + 1, Relaxed, Relaxed).is_ok() {
                break;
            }
        }
    });
    assert_eq!(X.load(Relaxed), 5);
}

struct Node {
    value: usize,
    next: *mut Node,
}

/// Frees a list of nodes, and gives the sum of their values.
fn free(mut node: *mut Node) -> usize {
    let mut sum = 0;
    while !node.is_null() {
        let freed = unsafe { Box::from_raw(node) };
        sum += freed.value;
        node = freed.next;
    }
    sum
}

// n threads push to a Treiber stack: load the head, make it the successor, exchange the head. As conf_loop, with an
// allocation before the loop and a write to it in each iteration; below the full level that counts as an effect, so that
// attempts which fail are not blocked.
#[dpor::test]
fn treiber_push() {
    // COUNT: rc11 24 sc 24 tso 24 pso 24
    // LEVELS: off 24.. stale 24.. in-place 24.. full 24
    let head = AtomicPtr::new(ptr::null_mut());
    threads(4, |i| {
        let node = Box::into_raw(Box::new(Node { value: i, next: ptr::null_mut() }));
        loop {
            let first = head.load(Relaxed);
            unsafe { (*node).next = first };
            if head.compare_exchange(first, node, Release, Relaxed).is_ok() {
                break;
            }
        }
    });
    assert_eq!(free(head.into_inner()), 6);
}

struct Link {
    value: usize,
    next: AtomicPtr<Link>,
}

// n threads enqueue in a Michael–Scott queue without tail pointer: each walks to the last node and links its own there: n!.
// Of k that succeed, in any order, each of the others has failed at one of k nodes, having seen it as the last: the sum of
// n!/(n − k)!·k^(n − k) over k < n, at every level but the full one.
#[dpor::test]
fn m_enq() {
    // COUNT: rc11 24 sc 24 tso 24 pso 24
    // LEVELS: off 24+124 stale 24+124 in-place 24+124 full 24
    let first = Link { value: 0, next: AtomicPtr::new(ptr::null_mut()) };
    threads(4, |i| {
        let link = Box::into_raw(Box::new(Link { value: i, next: AtomicPtr::new(ptr::null_mut()) }));
        loop {
            let mut last = &first;
            while let Some(next) = unsafe { last.next.load(Acquire).as_ref() } {
                last = next;
            }
            if last.next.compare_exchange(ptr::null_mut(), link, Release, Relaxed).is_ok() {
                break;
            }
        }
    });
    let (mut sum, mut next) = (first.value, first.next.into_inner());
    while !next.is_null() {
        let link = unsafe { Box::from_raw(next) };
        sum += link.value;
        next = link.next.into_inner();
    }
    assert_eq!(sum, 6);
}

struct Slot {
    turn: AtomicUsize,
    value: Plain<usize>,
}

// n threads enqueue in a bounded queue for many producers (Vyukov's), which has room: each takes a position, in any order,
// and nobody else looks at the slot there: n!. A slot that is seen to be taken already makes a producer look again, as
// does a position that it cannot take. Of k that succeed, each of the others has seen a position p < k, and either that
// its slot is taken or one of k − p later positions: the sum of n!/(n − k)!·(k + C(k + 1, 2))^(n − k) over k < n.
#[dpor::test]
fn mpmc_enq() {
    // COUNT: rc11 24 sc 24 tso 24 pso 24
    // LEVELS: off 24+548
    let slots = [0, 1, 2, 3].map(|i| Slot { turn: AtomicUsize::new(i), value: Plain::new(0) });
    let tail = AtomicUsize::new(0);
    threads(4, |i| {
        loop {
            let position = tail.load(Relaxed);
            let slot = &slots[position % slots.len()];
            if slot.turn.load(Acquire) == position
                && tail.compare_exchange(position, position + 1, Relaxed, Relaxed).is_ok()
            {
                slot.value.write(i + 1);
                slot.turn.store(position + 1, Release);
                break;
            }
        }
    });
    assert_eq!(slots.map(|slot| slot.value.into_inner()).iter().sum::<usize>(), 10);
}

struct TicketLock {
    next: AtomicUsize,
    serving: AtomicUsize,
}

impl Lock for TicketLock {
    fn lock(&self) {
        let ticket = self.next.fetch_add(1, Relaxed);
        while self.serving.load(Acquire) != ticket {
            hint::spin_loop();
        }
    }

    fn unlock(&self) {
        let ticket = self.serving.load(Relaxed);
        self.serving.store(ticket + 1, Release);
    }
}

// Tickets are drawn in any order, which decides everything else: n!.
#[dpor::test]
fn ticket_lock() {
    // COUNT: rc11 24 sc 24 tso 24 pso 24
    // LEVELS: off 24+? stale 24+? in-place 24 full 24
    count_up(4, &TicketLock { next: AtomicUsize::new(0), serving: AtomicUsize::new(0) });
}

struct CasLock(AtomicBool);

impl Lock for CasLock {
    fn lock(&self) {
        while self.0.compare_exchange(false, true, Acquire, Relaxed).is_err() {
            hint::spin_loop();
        }
    }

    fn unlock(&self) {
        self.0.store(false, Release);
    }
}

// Every value but the last is taken by one compare-exchange that succeeds, in any order: n!.
#[dpor::test]
fn cas_spin_lock() {
    // COUNT: rc11 24 sc 24 tso 24 pso 24
    // LEVELS: off 24+? stale 24+? in-place 24 full 24
    count_up(4, &CasLock(AtomicBool::new(false)));
}
