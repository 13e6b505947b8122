//! `Once`, `OnceLock` and `LazyLock`: initialized once, and seen by all.

use std::panic;
use std::sync::atomic::{AtomicUsize, Ordering::*};
use std::sync::{LazyLock, Once, OnceLock};
use std::thread;

use crate::support::{Plain, two};

#[dpor::test]
fn called_once() {
    static ONCE: Once = Once::new();
    static CALLS: AtomicUsize = AtomicUsize::new(0);
    static DATA: Plain<u32> = Plain::new(0);
    let get = || {
        ONCE.call_once(|| {
            CALLS.fetch_add(1, Relaxed);
            unsafe { *DATA.get() = 5 };
        });
        unsafe { *DATA.get() }
    };
    assert_eq!(two(get, get), (5, 5));
    assert!(ONCE.is_completed() && CALLS.load(Relaxed) == 1);
}

// Who sees that it is completed sees what it did.
#[dpor::test]
fn completed_or_not() {
    static ONCE: Once = Once::new();
    static DATA: Plain<u32> = Plain::new(0);
    let initialize = || ONCE.call_once(|| unsafe { *DATA.get() = 5 });
    let look = || {
        if ONCE.is_completed() {
            assert_eq!(unsafe { *DATA.get() }, 5);
        }
    };
    two(initialize, look);
}

// The data are looked at without asking.
#[dpor::test]
fn looked_at_without_asking() {
    static ONCE: Once = Once::new();
    static DATA: Plain<u32> = Plain::new(0);
    thread::scope(|scope| {
        scope.spawn(|| {
            ONCE.call_once(|| unsafe {
                *DATA.get() = 5; // ERROR: data-race
            });
        });
        let data = unsafe { *DATA.get() }; // ERROR: data-race
        assert_ne!(data, 7);
    });
}

#[dpor::test]
fn once_lock() {
    static CELL: OnceLock<String> = OnceLock::new();
    let get = |text: &'static str| CELL.get_or_init(|| text.to_owned()).as_str();
    let (first, second) = two(|| get("first"), || get("second"));
    assert!(first == second && (first == "first" || first == "second"));
}

// One of two sets it, the other gets its value back.
#[dpor::test]
fn once_lock_set_by_two() {
    let cell = OnceLock::new();
    let (first, second) = two(|| cell.set(1), || cell.set(2));
    assert!([(Ok(()), Err(2)), (Err(1), Ok(()))].contains(&(first, second)));
    assert_eq!(cell.into_inner(), Some(if first.is_ok() { 1 } else { 2 }));
}

#[dpor::test]
fn once_lock_seen_or_not() {
    let cell = OnceLock::new();
    let ((), seen) = two(|| cell.set(vec![1, 2]).unwrap(), || cell.get().cloned());
    assert!(seen.is_none_or(|seen| seen == [1, 2]));
}

#[dpor::test]
fn once_lock_not_set_in_time() {
    let cell = OnceLock::new();
    thread::scope(|scope| {
        scope.spawn(|| cell.set(1));
        assert_eq!(cell.get(), Some(&1)); // ERROR: panic
    });
}

#[dpor::test]
fn once_lock_waited_for() {
    let cell = OnceLock::new();
    let ((), seen) = two(|| cell.set(7).unwrap(), || *cell.wait());
    assert_eq!(seen, 7);
}

#[dpor::test]
fn lazy_lock() {
    static CALLS: AtomicUsize = AtomicUsize::new(0);
    static NUMBERS: LazyLock<Vec<u32>> = LazyLock::new(|| {
        CALLS.fetch_add(1, Relaxed);
        vec![1, 2, 3]
    });
    let sum = || NUMBERS.iter().sum::<u32>();
    assert_eq!(two(sum, sum), (6, 6));
    assert_eq!(CALLS.load(Relaxed), 1);
}

// A call that panics poisons it: who comes afterwards panics too, unless it forces the call.
#[dpor::test]
fn poisoned() {
    static ONCE: Once = Once::new();
    let thread = thread::spawn(|| ONCE.call_once(|| panic!("not today")));
    assert!(thread.join().is_err());
    assert!(panic::catch_unwind(|| ONCE.call_once(|| ())).is_err());
    ONCE.call_once_force(|state| assert!(state.is_poisoned()));
    ONCE.call_once(|| unreachable!("it has been called"));
}

// An initialization of a `OnceLock` that panics is made up for by the next one.
#[dpor::test]
fn initialized_at_the_second_attempt() {
    static CELL: OnceLock<u32> = OnceLock::new();
    let thread = thread::spawn(|| CELL.get_or_init(|| panic!("not today")));
    let value = *CELL.get_or_init(|| 5);
    assert!(value == 5);
    _ = thread.join();
}

// `take` writes the state by a plain write, and then asks for the value: the write must not get lost.
#[dpor::test]
fn initialized_again() {
    // COUNT: rc11 1 sc 1 tso 1 pso 1
    let mut once = OnceLock::new();
    for _ in 0..2 {
        let count = || once.get_or_init(|| AtomicUsize::new(0)).fetch_add(1, Relaxed);
        thread::scope(|scope| {
            scope.spawn(count).join().unwrap();
            scope.spawn(count).join().unwrap();
        });
        assert_eq!(once.take().unwrap().into_inner(), 2);
    }
}
