//! Loops that wait for another thread: they add no executions, and those that wait for ever are an error.
#![allow(clippy::missing_spin_loop, reason = "with and without, it is the same to the checker")]

use std::ptr;
use std::sync::atomic::{AtomicBool, AtomicPtr, AtomicU8, AtomicUsize, Ordering, Ordering::*, fence};
use std::sync::{Mutex, TryLockError};
use std::{hint, thread};

use crate::support::{Plain, Run, scoped, spawned, two};

static X: AtomicUsize = AtomicUsize::new(0);
static Y: AtomicUsize = AtomicUsize::new(0);

fn nothing() {}

// orch_run(n): n threads wait for a flag, which main sets: whatever they read before, in the end they read the flag.
#[dpor::test]
fn waiting_for_a_flag() {
    // COUNT: rc11 1 sc 1 tso 1 pso 1
    wait_for_a_flag(spawned);
}

#[dpor::test]
fn scoped_waiting_for_a_flag() {
    // COUNT: rc11 1 sc 1 tso 1 pso 1
    wait_for_a_flag(scoped);
}

fn wait_for_a_flag(run: Run) {
    let wait = |_| while X.load(Acquire) == 0 {};
    run(4, wait, || X.store(1, Release));
}

// With hints to the processor, with yields, and in a function of its own.
#[dpor::test]
fn waiting_politely() {
    // COUNT: rc11 1 sc 1 tso 1 pso 1
    fn wait(flag: &AtomicUsize) {
        while flag.load(Acquire) == 0 {
            hint::spin_loop();
        }
    }
    let wait = |i| match i {
        0 => wait(&X),
        _ => {
            while X.load(Acquire) == 0 {
                thread::yield_now();
            }
        }
    };
    spawned(2, wait, || X.store(1, Release));
}

// wait_workers(n): one thread waits until n workers have incremented a counter: n!, the orders of the workers.
#[dpor::test]
fn waiting_for_workers() {
    // COUNT: rc11 24 sc 24 tso 24 pso 24
    spawned(4, |_| _ = X.fetch_add(1, Release), || while X.load(Acquire) < 4 {});
}

// nr+nw(k, l): k readers wait until x > l, but the writer stores 1 to l only.
#[dpor::test]
fn waiting_for_more_than_comes() {
    thread::scope(|scope| {
        for _ in 0..3 {
            scope.spawn(|| while X.load(Relaxed) <= 2 {}); // ERROR: non-termination
        }
        for value in 1..=2 {
            X.store(value, Relaxed);
        }
    });
}

#[dpor::test]
fn waiting_for_nobody() {
    while X.load(Relaxed) == 0 {} // ERROR: non-termination
}

// The other thread sets the flag only if it finds the first one set.
#[dpor::test]
fn waiting_for_a_flag_that_may_not_come() {
    let thread = thread::spawn(|| {
        if X.load(Relaxed) == 1 {
            Y.store(1, Relaxed);
        }
    });
    X.store(1, Relaxed);
    while Y.load(Relaxed) == 0 {} // ERROR: non-termination
    thread.join().unwrap();
}

// Each waits for the other one's flag before it sets its own.
#[dpor::test]
fn waiting_for_each_other() {
    thread::scope(|scope| {
        scope.spawn(|| {
            while X.load(Acquire) == 0 {}
            Y.store(1, Release);
        });
        while Y.load(Acquire) == 0 {} // ERROR: non-termination
        X.store(1, Release);
    });
}

// Waits with a lock that the other thread needs to go on.
#[dpor::test]
fn waiting_with_a_lock() {
    static LOCK: Mutex<()> = Mutex::new(());
    let thread = thread::spawn(|| {
        drop(LOCK.lock().unwrap());
        X.store(1, Release);
    });
    let guard = LOCK.lock().unwrap();
    while X.load(Acquire) == 0 {} // ERROR: non-termination
    drop(guard);
    thread.join().unwrap();
}

// Looks at what a lock protects, again and again, and gives the lock back each time: the other thread can take it in
// between. Once a thread has looked at what another one writes, that place in the loop where it has the lock is the first
// to which it comes back.
#[dpor::test]
fn looking_with_a_lock() {
    static LOCK: Mutex<usize> = Mutex::new(0);
    let looks = || {
        while X.load(Acquire) == 0 {
            hint::black_box(*LOCK.lock().unwrap());
        }
    };
    let writes = || {
        *LOCK.lock().unwrap() = 1;
        X.store(1, Release);
    };
    two(looks, writes);
}

// Has the lock whenever it looks, and gives it back only for a moment.
#[dpor::test]
fn giving_a_lock_back_for_a_moment() {
    static LOCK: Mutex<bool> = Mutex::new(false);
    let looks = || {
        let mut ready = LOCK.lock().unwrap();
        while !*ready {
            drop(ready);
            ready = LOCK.lock().unwrap();
        }
    };
    two(looks, || *LOCK.lock().unwrap() = true);
}

#[dpor::test]
fn giving_a_lock_back_for_a_moment_while_waiting_for_a_flag() {
    static LOCK: Mutex<()> = Mutex::new(());
    let looks = || {
        let mut guard = LOCK.lock().unwrap();
        while X.load(Relaxed) == 0 {
            drop(guard);
            guard = LOCK.lock().unwrap();
        }
    };
    let sets = || {
        let _guard = LOCK.lock().unwrap();
        X.store(1, Relaxed);
    };
    two(looks, sets);
}

// A message, handed over by waiting for its flag: what comes after the loop sees what came before the flag.
#[dpor::test]
fn handed_over() {
    // COUNT: rc11 1 sc 1 tso 1 pso 1
    hand_over(Acquire);
}

#[dpor::test]
fn handed_over_relaxed() {
    hand_over(Relaxed);
}

fn hand_over(order: Ordering) {
    let (ready, data) = (AtomicBool::new(false), Plain::new(0));
    thread::scope(|scope| {
        scope.spawn(|| {
            unsafe { *data.get() = 5 }; // ERROR: data-race
            ready.store(true, Release);
        });
        while !ready.load(order) {}
        assert_eq!(unsafe { *data.get() }, 5); // ERROR: data-race
    });
}

// A fence after the loop does as well.
#[dpor::test]
fn handed_over_with_a_fence() {
    // COUNT: rc11 1 sc 1 tso 1 pso 1
    let (ready, data) = (AtomicBool::new(false), Plain::new(0));
    thread::scope(|scope| {
        scope.spawn(|| {
            unsafe { *data.get() = 5 };
            ready.store(true, Release);
        });
        while !ready.load(Relaxed) {}
        fence(Acquire);
        assert_eq!(unsafe { *data.get() }, 5);
    });
}

/// Locks with a compare-exchange or a swap; the unlock has this ordering.
struct SpinLock {
    locked: AtomicBool,
    count: Plain<usize>,
}

impl SpinLock {
    const fn new() -> SpinLock {
        SpinLock { locked: AtomicBool::new(false), count: Plain::new(0) }
    }

    fn increment(&self, lock: fn(&AtomicBool), unlock: Ordering) {
        lock(&self.locked);
        unsafe { *self.count.get() += 1 };
        self.locked.store(false, unlock);
    }
}

fn compare_exchange(locked: &AtomicBool) {
    while locked.compare_exchange(false, true, Acquire, Relaxed).is_err() {}
}

fn compare_exchange_weak(locked: &AtomicBool) {
    while locked.compare_exchange_weak(false, true, Acquire, Relaxed).is_err() {}
}

fn swap(locked: &AtomicBool) {
    while locked.swap(true, Acquire) {}
}

fn look_first(locked: &AtomicBool) {
    while locked.swap(true, Acquire) {
        while locked.load(Relaxed) {
            hint::spin_loop();
        }
    }
}

fn spin_locked(lock: fn(&AtomicBool), unlock: Ordering) {
    let spinlock = SpinLock::new();
    thread::scope(|scope| {
        for _ in 0..3 {
            scope.spawn(|| spinlock.increment(lock, unlock));
        }
    });
    assert_eq!(unsafe { *spinlock.count.get() }, 3);
}

// CAS spin lock(n): the critical sections come in any order, n!.
#[dpor::test]
fn spin_lock() {
    // COUNT: rc11 6 sc 6 tso 6 pso 6
    spin_locked(compare_exchange, Release);
}

#[dpor::test]
fn spin_lock_with_weak_exchanges() {
    // COUNT: rc11 6 sc 6 tso 6 pso 6
    spin_locked(compare_exchange_weak, Release);
}

#[dpor::test]
fn spin_lock_with_swaps() {
    spin_locked(swap, Release);
}

#[dpor::test]
fn spin_lock_that_looks_first() {
    spin_locked(look_first, Release);
}

#[dpor::test(expect = "data-race")]
fn spin_lock_unlocked_relaxed() {
    spin_locked(compare_exchange, Relaxed);
}

// The lock is taken and never given back.
#[dpor::test]
fn spin_lock_kept() {
    let locked = AtomicBool::new(false);
    let lock = || while locked.compare_exchange(false, true, Acquire, Relaxed).is_err() {}; // ERROR: non-termination
    thread::scope(|scope| {
        scope.spawn(lock);
        scope.spawn(lock);
    });
}

// ticket lock(n): the tickets are drawn in any order, n!.
#[dpor::test]
fn ticket_lock() {
    // COUNT: rc11 6 sc 6 tso 6 pso 6
    let (next, served, count) = (AtomicUsize::new(0), AtomicUsize::new(0), Plain::new(0));
    thread::scope(|scope| {
        for _ in 0..3 {
            scope.spawn(|| {
                let ticket = next.fetch_add(1, Relaxed);
                while served.load(Acquire) != ticket {}
                unsafe { *count.get() += 1 };
                served.store(ticket + 1, Release);
            });
        }
    });
    assert_eq!(count.into_inner(), 3);
}

// The number is not increased, but set to 1: the third waits for ever.
#[dpor::test]
fn ticket_lock_stuck() {
    let (next, served) = (AtomicUsize::new(0), AtomicUsize::new(0));
    thread::scope(|scope| {
        for _ in 0..3 {
            scope.spawn(|| {
                let ticket = next.fetch_add(1, Relaxed);
                while served.load(Acquire) != ticket {} // ERROR: non-termination
                served.store(1, Release);
            });
        }
    });
}

// conf_loop(n): n threads increment with a load and a compare-exchange until that succeeds: n!, the order of successes.
#[dpor::test]
fn confirmed_increments() {
    // COUNT: rc11 24 sc 24 tso 24 pso 24
    let increment = |_| {
        loop {
            let seen = X.load(Relaxed);
            if X.compare_exchange(seen, seen + 1, Relaxed, Relaxed).is_ok() {
                break;
            }
        }
    };
    spawned(4, increment, nothing);
    assert_eq!(X.load(Relaxed), 4);
}

// The same, going on with what the exchange has seen.
#[dpor::test]
fn confirmed_increments_that_go_on() {
    // COUNT: rc11 24 sc 24 tso 24 pso 24
    let increment = |_| {
        let mut seen = X.load(Relaxed);
        while let Err(now) = X.compare_exchange_weak(seen, seen + 1, Relaxed, Relaxed) {
            seen = now;
        }
    };
    spawned(4, increment, nothing);
    assert_eq!(X.load(Relaxed), 4);
}

// The same, as the standard library has it.
#[dpor::test]
fn updates() {
    // COUNT: rc11 24 sc 24 tso 24 pso 24
    spawned(4, |_| _ = X.update(Relaxed, Relaxed, |seen| seen + 1), nothing);
    assert_eq!(X.load(Relaxed), 4);
}

struct Node {
    value: usize,
    next: *mut Node,
}

/// A Treiber stack.
#[derive(Default)]
struct Stack {
    head: AtomicPtr<Node>,
}

impl Stack {
    fn push(&self, value: usize, order: Ordering) {
        let node = Box::into_raw(Box::new(Node { value, next: ptr::null_mut() }));
        loop {
            let next = self.head.load(Relaxed);
            unsafe { (*node).next = next };
            if self.head.compare_exchange(next, node, order, Relaxed).is_ok() {
                break;
            }
        }
    }

    fn take_all(&self) -> Vec<usize> {
        let mut values = Vec::new();
        let mut node = self.head.swap(ptr::null_mut(), Acquire);
        while !node.is_null() {
            let Node { value, next } = *unsafe { Box::from_raw(node) };
            values.push(value);
            node = next;
        }
        values
    }
}

impl Drop for Stack {
    fn drop(&mut self) {
        self.take_all();
    }
}

// treiber_push(n): the pushes succeed in any order, n!.
#[dpor::test]
fn stack() {
    // COUNT: rc11 6 sc 6 tso 6 pso 6
    let stack = Stack::default();
    thread::scope(|scope| {
        for i in 0..3 {
            let stack = &stack;
            scope.spawn(move || stack.push(i, Release));
        }
    });
    let mut values = stack.take_all();
    values.sort();
    assert_eq!(values, [0, 1, 2]);
}

// Taken while it is pushed to. The head is null again then, so that a push may have looked at it before and not notice.
#[dpor::test]
fn stack_pushed_and_taken() {
    let stack = Stack::default();
    let taken = thread::scope(|scope| {
        scope.spawn(|| stack.push(1, Release));
        scope.spawn(|| stack.push(2, Release));
        stack.take_all()
    });
    assert_eq!(taken.len() + stack.take_all().len(), 2);
}

#[dpor::test(expect = "data-race")]
fn stack_pushed_relaxed() {
    let stack = Stack::default();
    thread::scope(|scope| {
        scope.spawn(|| stack.push(1, Relaxed));
        stack.take_all();
    });
}

// Two threads meet, several times: the last to come turns the sense. Who comes last, in each of two rounds: 2².
#[dpor::test]
fn barrier_with_a_sense() {
    // COUNT: rc11 4 sc 4 tso 4 pso 4
    let (arrived, sense, data) = (AtomicU8::new(0), AtomicBool::new(false), [Plain::new(0), Plain::new(0)]);
    let work = |me: usize| {
        for round in 0..2 {
            let mine = round == 0;
            unsafe { *data[me].get() += 1 };
            if arrived.fetch_add(1, AcqRel) == 1 {
                arrived.store(0, Relaxed);
                sense.store(mine, Release);
            } else {
                while sense.load(Acquire) != mine {}
            }
            if round == 1 {
                assert!(unsafe { *data[1 - me].get() } == 2);
            }
        }
    };
    two(|| work(0), || work(1));
}

// A standard mutex, tried until it is free.
#[dpor::test]
fn mutex_tried_until_it_is_free() {
    let number = Mutex::new(0);
    let increment = || {
        loop {
            match number.try_lock() {
                Ok(mut number) => break *number += 1,
                Err(TryLockError::WouldBlock) => {}
                Err(TryLockError::Poisoned(_)) => unreachable!(),
            }
        }
    };
    two(increment, increment);
    assert_eq!(number.into_inner().unwrap(), 2);
}

// Waits until the thread is finished, without joining it.
#[dpor::test]
fn waiting_until_it_is_finished() {
    let thread = thread::spawn(|| X.store(1, Relaxed));
    while !thread.is_finished() {}
    thread.join().unwrap();
    assert_eq!(X.load(Relaxed), 1);
}

// Peterson's algorithm, with its loops.
#[dpor::test]
fn peterson() {
    enter_by_turns(SeqCst);
}

#[dpor::test]
fn peterson_release_acquire() {
    // MODELS: rc11 tso pso
    enter_by_turns(Release);
}

fn enter_by_turns(store: Ordering) {
    let load = if store == SeqCst { SeqCst } else { Acquire };
    let (wants, turn) = ([AtomicBool::new(false), AtomicBool::new(false)], AtomicUsize::new(0));
    let count = Plain::new(0);
    let enter = |me: usize| {
        wants[me].store(true, store);
        turn.store(1 - me, store);
        while wants[1 - me].load(load) && turn.load(load) == 1 - me {}
        unsafe { *count.get() += 1 }; // ERROR: data-race
        wants[me].store(false, Release);
    };
    two(|| enter(0), || enter(1));
    assert_eq!(unsafe { *count.get() }, 2);
}

// A loop that changes who counts as holding the handle of its thread, as wakers do: the library counts handles where other
// threads count, too, when they come to the end of the scope.
#[dpor::test]
fn handles_of_threads() {
    let (flag, lock) = (AtomicUsize::new(0), AtomicUsize::new(0));
    thread::scope(|scope| {
        scope.spawn(|| flag.fetch_or(8, Relaxed));
        let mut held = None;
        loop {
            flag.fetch_or(0, Relaxed);
            if flag.load(Relaxed) != 0 {
                break;
            }
            let _ = lock.compare_exchange(0, 1, Relaxed, Relaxed);
            let before = held.replace(thread::current());
            let _ = lock.compare_exchange(1, 0, Relaxed, Relaxed);
            drop(before);
        }
    });
}
