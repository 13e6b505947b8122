//! `Mutex`: waiting blocks, and adds no executions.

use std::panic::{self, AssertUnwindSafe};
use std::sync::atomic::{AtomicBool, Ordering::*};
use std::sync::{Mutex, MutexGuard, PoisonError, TryLockError};
use std::thread;

use crate::support::{Plain, two};

// Two critical sections each, of two mutexes one after the other: either order for either, 2!².
#[dpor::test]
fn one_lock_after_the_other() {
    // COUNT: rc11 4 sc 4 tso 4 pso 4
    let locks = [Mutex::new(0), Mutex::new(0)];
    let increment = || {
        *locks[0].lock().unwrap() += 1;
        *locks[1].lock().unwrap() += 1;
    };
    two(increment, increment);
    assert_eq!(locks.map(|lock| lock.into_inner().unwrap()), [2, 2]);
}

// One within the other, always in the same order: the outer ones decide.
#[dpor::test]
fn nested_locks() {
    // COUNT: rc11 6 sc 6 tso 6 pso 6
    let (outer, inner) = (Mutex::new(0), Mutex::new(0));
    let increment = || {
        let mut outer = outer.lock().unwrap();
        *inner.lock().unwrap() += 1;
        *outer += 1;
    };
    thread::scope(|scope| {
        for _ in 0..3 {
            scope.spawn(increment);
        }
    });
    assert_eq!((outer.into_inner().unwrap(), inner.into_inner().unwrap()), (3, 3));
}

// Two critical sections of each of two threads: the order of four, of which each thread's two are given, 4!/(2!·2!).
#[dpor::test]
fn two_critical_sections_each() {
    // COUNT: rc11 6 sc 6 tso 6 pso 6
    let log = Mutex::new(Vec::new());
    let add_twice = |name| {
        for _ in 0..2 {
            log.lock().unwrap().push(name);
        }
    };
    two(|| add_twice('a'), || add_twice('b'));
    assert_eq!(log.into_inner().unwrap().len(), 4);
}

// Before, while, or after the other thread holds the lock.
#[dpor::test]
fn try_lock() {
    // COUNT: rc11 3 sc 3 tso 3 pso 3
    let number = Mutex::new(0);
    let (_, seen) = two(
        || *number.lock().unwrap() += 1,
        || match number.try_lock() {
            Ok(number) => Some(*number),
            Err(TryLockError::WouldBlock) => None,
            Err(TryLockError::Poisoned(_)) => unreachable!(),
        },
    );
    assert!([Some(0), Some(1), None].contains(&seen));
}

#[dpor::test]
fn try_lock_that_must_not_fail() {
    let number = Mutex::new(0);
    thread::scope(|scope| {
        scope.spawn(|| *number.lock().unwrap() += 1);
        *number.try_lock().unwrap() += 1; // ERROR: panic
    });
}

// Two that only try: both succeed, in either order, or one fails, of either thread.
#[dpor::test]
fn two_try_locks() {
    // COUNT: rc11 4 sc 4 tso 4 pso 4
    let number = Mutex::new(0);
    let attempt = || number.try_lock().map(|mut number| *number += 1).is_ok();
    let (first, second) = two(attempt, attempt);
    assert_eq!(number.into_inner().unwrap(), u32::from(first) + u32::from(second));
}

// What the lock protects is plain data: `get_mut` and `into_inner` see it after the threads have ended.
#[dpor::test]
fn exclusive_access() {
    // COUNT: rc11 2 sc 2 tso 2 pso 2
    let mut text = Mutex::new(String::new());
    two(|| text.lock().unwrap().push('a'), || text.lock().unwrap().push('b'));
    text.get_mut().unwrap().push('c');
    assert!(["abc", "bac"].contains(&&*text.into_inner().unwrap()));
}

// The thread panics while it holds the lock: who locks it afterwards is told, who did before is not.
#[dpor::test]
fn poisoned() {
    // COUNT: rc11 2 sc 2 tso 2 pso 2
    let number = Mutex::new(0);
    thread::scope(|scope| {
        let thread = scope.spawn(|| {
            let mut number = number.lock().unwrap();
            *number += 1;
            panic!("with the lock");
        });
        let (was_poisoned, seen) = match number.lock() {
            Ok(number) => (false, *number),
            Err(poisoned) => (true, *poisoned.into_inner()),
        };
        assert_eq!(seen, u32::from(was_poisoned));
        assert!(thread.join().is_err());
        assert!(number.is_poisoned());
        number.clear_poison();
        assert_eq!(*number.lock().unwrap(), 1);
    });
}

#[dpor::test]
fn poison_not_expected() {
    let number = Mutex::new(0);
    thread::scope(|scope| {
        let thread = scope.spawn(|| {
            let _guard = number.lock().unwrap();
            panic!("with the lock");
        });
        drop(number.lock().unwrap()); // ERROR: panic
        _ = thread.join();
    });
}

// A panic that is caught before the guard is dropped poisons nothing; one that drops the guard does.
#[dpor::test]
fn panics_caught() {
    // COUNT: rc11 2 sc 2 tso 2 pso 2
    let number = Mutex::new(0);
    let panic_inside = || {
        let mut guard = number.lock().unwrap();
        assert!(panic::catch_unwind(|| panic!("caught")).is_err());
        *guard += 1;
    };
    two(panic_inside, panic_inside);
    assert_eq!(*number.lock().unwrap(), 2);
    let result = panic::catch_unwind(AssertUnwindSafe(|| {
        let _guard = number.lock().unwrap();
        panic!("not caught in time");
    }));
    assert!(result.is_err());
    assert_eq!(*number.lock().unwrap_or_else(PoisonError::into_inner), 2);
}

// A guard that is passed on to another function, and one that lives in a temporary until the end of the statement.
#[dpor::test]
fn guards_that_move() {
    // COUNT: rc11 2 sc 2 tso 2 pso 2
    fn add(mut guard: MutexGuard<u32>) {
        *guard += 1;
    }
    let number = Mutex::new(0);
    let add_twice = || {
        let guard = number.lock().unwrap();
        add(guard);
    };
    two(add_twice, || add(number.lock().unwrap()));
    assert_eq!(number.into_inner().unwrap(), 2);
}

// A mutex orders what was done before unlocking with what comes after locking, also for data that it does not hold.
#[dpor::test]
fn data_beside_the_lock() {
    // COUNT: rc11 2 sc 2 tso 2 pso 2
    let (lock, data) = (Mutex::new(false), Plain::new(0));
    let write = || {
        unsafe { *data.get() = 1 };
        *lock.lock().unwrap() = true;
    };
    let read = || {
        let written = *lock.lock().unwrap();
        if written {
            assert_eq!(unsafe { *data.get() }, 1);
        }
    };
    two(write, read);
}

// The check and the act are in different critical sections.
#[dpor::test]
fn check_then_act() {
    let balance = Mutex::new(10_i32);
    let withdraw = || {
        let enough = *balance.lock().unwrap() >= 10;
        if enough {
            *balance.lock().unwrap() -= 10;
        }
    };
    two(withdraw, withdraw);
    assert!(balance.into_inner().unwrap() >= 0); // ERROR: panic
}

// Both in one: one withdraws, the other does not.
#[dpor::test]
fn check_and_act() {
    // COUNT: rc11 2 sc 2 tso 2 pso 2
    let balance = Mutex::new(10_i32);
    let withdraw = || {
        let mut balance = balance.lock().unwrap();
        if *balance >= 10 {
            *balance -= 10;
        }
    };
    two(withdraw, withdraw);
    assert_eq!(balance.into_inner().unwrap(), 0);
}

// The flag is set outside of the critical section: it may be seen too early.
#[dpor::test]
fn flag_outside_the_lock() {
    let (done, number) = (AtomicBool::new(false), Mutex::new(0));
    let (_, consistent) = two(
        || {
            done.store(true, SeqCst);
            *number.lock().unwrap() = 1;
        },
        || {
            let number = number.lock().unwrap();
            !done.load(SeqCst) || *number == 1
        },
    );
    assert!(consistent); // ERROR: panic
}
