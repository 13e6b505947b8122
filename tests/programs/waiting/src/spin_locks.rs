//! Locks that are one atomic, or two. With none of them do threads see more than in which order they had it, unless said
//! otherwise: n! executions.

use std::hint;
use std::sync::atomic::{AtomicBool, AtomicU8, AtomicU32, AtomicUsize, Ordering, Ordering::*};
use std::thread;
use std::time::Duration;

use crate::support::{Lock, Plain, count_up, two};

/// Taken with a compare-exchange.
#[derive(Default)]
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

#[dpor::test]
fn cas_by_two() {
    // COUNT: rc11 2 sc 2 tso 2 pso 2
    count_up(2, &CasLock::default());
}

#[dpor::test]
fn cas_by_five() {
    // COUNT: rc11 120 sc 120 tso 120 pso 120
    count_up(5, &CasLock::default());
}

/// Taken with a weak compare-exchange.
#[derive(Default)]
struct WeakCasLock(AtomicU32);

impl Lock for WeakCasLock {
    fn lock(&self) {
        loop {
            match self.0.compare_exchange_weak(0, 1, Acquire, Relaxed) {
                Ok(_) => break,
                Err(_) => hint::spin_loop(),
            }
        }
    }

    fn unlock(&self) {
        self.0.store(0, Release);
    }
}

#[dpor::test]
fn weak_cas() {
    // COUNT: rc11 24 sc 24 tso 24 pso 24
    count_up(4, &WeakCasLock::default());
}

// A failure without a reason is an iteration without effect, too; and not one after which a thread waits for ever.
#[dpor::test(spurious = true)]
fn weak_cas_that_fails_spuriously() {
    // COUNT: rc11 6 sc 6 tso 6 pso 6
    count_up(3, &WeakCasLock::default());
}

/// Taken with a swap, which writes what is there already as long as the lock is taken.
#[derive(Default)]
struct SwapLock(AtomicBool);

impl Lock for SwapLock {
    fn lock(&self) {
        while self.0.swap(true, Acquire) {
            hint::spin_loop();
        }
    }

    fn unlock(&self) {
        self.0.store(false, Release);
    }
}

#[dpor::test]
fn test_and_set() {
    // COUNT: rc11 24 sc 24 tso 24 pso 24
    count_up(4, &SwapLock::default());
}

#[dpor::test]
fn test_and_set_by_five() {
    // COUNT: rc11 120 sc 120 tso 120 pso 120
    count_up(5, &SwapLock::default());
}

/// One bit of a byte, the others of which say something else.
struct BitLock(AtomicU8);

impl BitLock {
    const BIT: u8 = 1 << 3;
}

impl Lock for BitLock {
    fn lock(&self) {
        while self.0.fetch_or(Self::BIT, Acquire) & Self::BIT != 0 {
            hint::spin_loop();
        }
    }

    fn unlock(&self) {
        self.0.fetch_and(!Self::BIT, Release);
    }
}

#[dpor::test]
fn one_bit() {
    // COUNT: rc11 24 sc 24 tso 24 pso 24
    let lock = BitLock(AtomicU8::new(0b101));
    count_up(4, &lock);
    assert_eq!(lock.0.into_inner(), 0b101);
}

/// Waits by loading before it tries.
#[derive(Default)]
struct TestFirst(AtomicBool);

impl Lock for TestFirst {
    fn lock(&self) {
        loop {
            while self.0.load(Relaxed) {
                hint::spin_loop();
            }
            if !self.0.swap(true, Acquire) {
                break;
            }
        }
    }

    fn unlock(&self) {
        self.0.store(false, Release);
    }
}

// The load that comes before the swap of the p-th thread may have seen the lock free at any time before: p possibilities,
// and n! more for each order.
#[dpor::test]
fn test_and_test_and_set() {
    // COUNT: rc11 36 sc 36 tso 36 pso 36
    count_up(3, &TestFirst::default());
}

#[dpor::test]
fn test_and_test_and_set_by_four() {
    // COUNT: rc11 576 sc 576 tso 576 pso 576
    count_up(4, &TestFirst::default());
}

/// Tries before it waits by loading.
#[derive(Default)]
struct SetFirst(AtomicBool);

impl Lock for SetFirst {
    fn lock(&self) {
        while self.0.compare_exchange_weak(false, true, Acquire, Relaxed).is_err() {
            while self.0.load(Relaxed) {
                hint::spin_loop();
            }
        }
    }

    fn unlock(&self) {
        self.0.store(false, Release);
    }
}

// The last iteration is the attempt that succeeds alone.
#[dpor::test]
fn set_before_testing() {
    // COUNT: rc11 24 sc 24 tso 24 pso 24
    count_up(4, &SetFirst::default());
}

/// Threads take a ticket and wait for their turn.
#[derive(Default)]
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
        self.serving.fetch_add(1, Release);
    }
}

#[dpor::test]
fn ticket() {
    // COUNT: rc11 6 sc 6 tso 6 pso 6
    count_up(3, &TicketLock::default());
}

#[dpor::test]
fn ticket_by_five() {
    // COUNT: rc11 120 sc 120 tso 120 pso 120
    count_up(5, &TicketLock::default());
}

/// A flag for each of two threads and a turn (Peterson), with these orderings for stores and loads.
struct Peterson {
    wants: [AtomicBool; 2],
    turn: AtomicUsize,
    store: Ordering,
    load: Ordering,
}

impl Peterson {
    fn new(store: Ordering, load: Ordering) -> Peterson {
        Peterson { wants: [const { AtomicBool::new(false) }; 2], turn: AtomicUsize::new(0), store, load }
    }

    fn lock(&self, me: usize) {
        let other = 1 - me;
        self.wants[me].store(true, self.store);
        self.turn.store(other, self.store);
        while self.wants[other].load(self.load) && self.turn.load(self.load) == other {
            hint::spin_loop();
        }
    }

    fn unlock(&self, me: usize) {
        self.wants[me].store(false, Release);
    }
}

// One thread is first: it sees that the other does not want to, or that it has the turn since the other stored that later.
// The second then sees that the first is done. 4, as running all interleavings gives, too.
#[dpor::test]
fn peterson() {
    // COUNT: rc11 4 sc 4 tso 4 pso 4
    count_up_by_two(&Peterson::new(SeqCst, SeqCst));
}

// Both may miss the other's flag.
#[dpor::test]
fn peterson_without_seq_cst() {
    // MODELS: rc11 tso pso
    count_up_by_two(&Peterson::new(Release, Acquire));
}

fn count_up_by_two(lock: &Peterson) {
    let counter = Plain::new(0);
    let add = |me| {
        lock.lock(me);
        unsafe { *counter.get() += 1 }; // ERROR: data-race
        lock.unlock(me);
    };
    two(|| add(0), || add(1));
    assert_eq!(counter.into_inner(), 2);
}

/// Lets other threads run while it waits.
#[derive(Default)]
struct YieldingLock(AtomicBool);

impl Lock for YieldingLock {
    fn lock(&self) {
        while self.0.compare_exchange(false, true, Acquire, Relaxed).is_err() {
            thread::yield_now();
        }
    }

    fn unlock(&self) {
        self.0.store(false, Release);
    }
}

#[dpor::test]
fn with_yield() {
    // COUNT: rc11 24 sc 24 tso 24 pso 24
    count_up(4, &YieldingLock::default());
}

/// Sleeps while it waits.
#[derive(Default)]
struct SleepingLock(AtomicBool);

impl Lock for SleepingLock {
    fn lock(&self) {
        while self.0.swap(true, Acquire) {
            thread::sleep(Duration::from_micros(10));
        }
    }

    fn unlock(&self) {
        self.0.store(false, Release);
    }
}

#[dpor::test]
fn with_sleep() {
    // COUNT: rc11 24 sc 24 tso 24 pso 24
    count_up(4, &SleepingLock::default());
}

/// A guard that unlocks when it is dropped.
struct Guard<'a, L: Lock>(&'a L);

impl<'a, L: Lock> Guard<'a, L> {
    fn new(lock: &'a L) -> Guard<'a, L> {
        lock.lock();
        Guard(lock)
    }
}

impl<L: Lock> Drop for Guard<'_, L> {
    fn drop(&mut self) {
        self.0.unlock();
    }
}

// Two critical sections each: the threads come in any order that keeps both of either in sequence, C(4, 2).
#[dpor::test]
fn twice_with_guards() {
    // COUNT: rc11 6 sc 6 tso 6 pso 6
    let (lock, counter) = (CasLock::default(), Plain::new(0));
    let add_twice = || {
        for _ in 0..2 {
            let _guard = Guard::new(&lock);
            counter.write(counter.read() + 1);
        }
    };
    two(add_twice, add_twice);
    assert_eq!(counter.into_inner(), 4);
}

// Two locks, always in the same order: the first of them decides, n!.
#[dpor::test]
fn two_locks_in_order() {
    // COUNT: rc11 6 sc 6 tso 6 pso 6
    struct Both(SwapLock, CasLock);
    impl Lock for Both {
        fn lock(&self) {
            self.0.lock();
            self.1.lock();
        }
        fn unlock(&self) {
            self.1.unlock();
            self.0.unlock();
        }
    }
    count_up(3, &Both(SwapLock::default(), CasLock::default()));
}

/// Locks that are wrong: the orderings for taking it and for leaving it.
struct Weak {
    taken: AtomicBool,
    lock: Ordering,
    unlock: Ordering,
}

impl Lock for Weak {
    fn lock(&self) {
        while self.taken.swap(true, self.lock) {
            hint::spin_loop();
        }
    }

    fn unlock(&self) {
        self.taken.store(false, self.unlock);
    }
}

#[dpor::test(expect = "data-race")]
fn taken_relaxed() {
    count_up(2, &Weak { taken: AtomicBool::new(false), lock: Relaxed, unlock: Release });
}

#[dpor::test(expect = "data-race")]
fn left_relaxed() {
    count_up(2, &Weak { taken: AtomicBool::new(false), lock: Acquire, unlock: Relaxed });
}

/// Looks, then sets: not in one step.
#[derive(Default)]
struct LookThenSet(AtomicBool);

impl Lock for LookThenSet {
    fn lock(&self) {
        while self.0.load(Acquire) {
            hint::spin_loop();
        }
        self.0.store(true, Relaxed);
    }

    fn unlock(&self) {
        self.0.store(false, Release);
    }
}

#[dpor::test(expect = "data-race")]
fn taken_by_two_at_once() {
    count_up(2, &LookThenSet::default());
}
