//! Locks in which each thread spins on memory of its own or of its predecessor.

use std::hint;
use std::ptr;
use std::sync::atomic::{AtomicBool, AtomicPtr, Ordering, Ordering::*};

use crate::support::{Plain, threads};

/// The lock of Mellor-Crummey and Scott: threads queue up, and each hands the lock over to the next.
struct Mcs {
    tail: AtomicPtr<Waiter>,
    /// How the lock is handed over.
    release: Ordering,
}

struct Waiter {
    next: AtomicPtr<Waiter>,
    waits: AtomicBool,
}

impl Mcs {
    fn new(release: Ordering) -> Mcs {
        Mcs { tail: AtomicPtr::new(ptr::null_mut()), release }
    }

    fn with<R>(&self, section: impl FnOnce() -> R) -> R {
        let me = Waiter { next: AtomicPtr::new(ptr::null_mut()), waits: AtomicBool::new(true) };
        self.lock(&me);
        let result = section();
        self.unlock(&me);
        result
    }

    fn lock(&self, me: &Waiter) {
        let me = ptr::from_ref(me).cast_mut();
        let Some(before) = (unsafe { self.tail.swap(me, AcqRel).as_ref() }) else { return };
        before.next.store(me, Release);
        while unsafe { (*me).waits.load(Acquire) } {
            hint::spin_loop();
        }
    }

    fn unlock(&self, me: &Waiter) {
        let mut next = me.next.load(Acquire);
        if next.is_null() {
            let last = ptr::from_ref(me).cast_mut();
            if self.tail.compare_exchange(last, ptr::null_mut(), self.release, Relaxed).is_ok() {
                return;
            }
            // Somebody is about to say that it comes next.
            while next.is_null() {
                hint::spin_loop();
                next = me.next.load(Acquire);
            }
        }
        unsafe { (*next).waits.store(false, self.release) };
    }
}

// Threads come in any order, and each but the last either leaves before the next one comes or hands the lock over. In a run
// of m threads that hand it over, the j-th sees its successor at once, or sees none and then that one of the m − j later
// threads is the last: m! possibilities. n!·a(n), where a(n) is the sum of m!·a(n − m) for m from 1 to n: 1, 3, 11.
#[dpor::test]
fn mcs_by_two() {
    // COUNT: rc11 6 sc 6 tso 6 pso 6
    count_up_with_mcs(2, Release);
}

#[dpor::test]
fn mcs_by_three() {
    // COUNT: rc11 66 sc 66 tso 66 pso 66
    count_up_with_mcs(3, Release);
}

#[dpor::test]
fn mcs_handed_over_relaxed() {
    count_up_with_mcs(2, Relaxed);
}

fn count_up_with_mcs(n: usize, release: Ordering) {
    let (lock, counter) = (Mcs::new(release), Plain::new(0));
    threads(n, |_| lock.with(|| unsafe { *counter.get() += 1 })); // ERROR: data-race
    assert_eq!(counter.into_inner(), n);
}

// The successor is told to go on, though it has not said yet who it is.
#[dpor::test]
fn mcs_without_waiting_for_the_successor() {
    dpor::assume(dpor::checking());
    let lock = Mcs::new(Release);
    threads(2, |_| {
        let me = Waiter { next: AtomicPtr::new(ptr::null_mut()), waits: AtomicBool::new(true) };
        lock.lock(&me);
        let last = ptr::from_ref(&me).cast_mut();
        if lock.tail.compare_exchange(last, ptr::null_mut(), Release, Relaxed).is_err() {
            let next = me.next.load(Acquire);
            unsafe { (*next).waits.store(false, Release) }; // ERROR: null-pointer
        }
    });
}

/// The lock of Craig, Landin and Hagersten: each thread waits for its predecessor's node.
struct Clh {
    tail: AtomicPtr<AtomicBool>,
}

/// The right to be in the critical section: the node to be released.
struct Held(*mut AtomicBool);

impl Clh {
    fn new() -> Clh {
        Clh { tail: AtomicPtr::new(taken(false)) }
    }

    fn lock(&self) -> Held {
        let mine = taken(true);
        let before = self.tail.swap(mine, AcqRel);
        while unsafe { (*before).load(Acquire) } {
            hint::spin_loop();
        }
        // Nobody else knows it any more.
        drop(unsafe { Box::from_raw(before) });
        Held(mine)
    }

    fn unlock(&self, Held(mine): Held) {
        unsafe { (*mine).store(false, Release) };
    }
}

/// A node of its own.
fn taken(taken: bool) -> *mut AtomicBool {
    Box::into_raw(Box::new(AtomicBool::new(taken)))
}

impl Drop for Clh {
    fn drop(&mut self) {
        drop(unsafe { Box::from_raw(*self.tail.get_mut()) });
    }
}

// The order of the swaps decides everything else: n!.
#[dpor::test]
fn clh_by_two() {
    // COUNT: rc11 2 sc 2 tso 2 pso 2
    count_up_with_clh(2);
}

#[dpor::test]
fn clh_by_four() {
    // COUNT: rc11 24 sc 24 tso 24 pso 24
    count_up_with_clh(4);
}

fn count_up_with_clh(n: usize) {
    let (lock, counter) = (Clh::new(), Plain::new(0));
    threads(n, |_| {
        let held = lock.lock();
        counter.write(counter.read() + 1);
        lock.unlock(held);
    });
    assert_eq!(counter.into_inner(), n);
}

// Its own node is freed, which its successor still looks at, instead of the predecessor's.
#[dpor::test]
fn clh_that_frees_its_own_node() {
    dpor::assume(dpor::checking());
    let tail = AtomicPtr::new(taken(false));
    let first = tail.load(Relaxed);
    threads(2, |_| {
        let mine = taken(true);
        let before = tail.swap(mine, AcqRel);
        // ERROR: use-after-free
        while unsafe { (*before).load(Acquire) } {
            hint::spin_loop();
        }
        unsafe { (*mine).store(false, Release) };
        drop(unsafe { Box::from_raw(mine) });
    });
    drop(unsafe { Box::from_raw(first) });
}
