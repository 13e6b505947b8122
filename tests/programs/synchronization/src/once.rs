//! Initialization that happens once: who comes first does it, the others wait for it.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::{LazyLock, Once, OnceLock};
use std::thread;

/// Runs a function in three threads.
fn three(body: impl Fn(usize) + Sync) {
    thread::scope(|scope| {
        for i in 0..3 {
            let body = &body;
            scope.spawn(move || body(i));
        }
    });
}

// n threads: one of them comes first: n
#[dpor::test]
fn once() {
    // COUNT: rc11 3 sc 3 tso 3 pso 3
    static mut NUMBER: i32 = 0;
    let once = Once::new();
    three(|_| {
        once.call_once(|| unsafe { NUMBER += 1 });
        assert_eq!(unsafe { NUMBER }, 1);
    });
    assert!(once.is_completed());
}

#[dpor::test]
fn once_lock() {
    // COUNT: rc11 3 sc 3 tso 3 pso 3
    let cell = OnceLock::new();
    three(|i| assert!(*cell.get_or_init(|| Box::new(i)) < Box::new(3)));
    assert!(cell.get().is_some());
}

#[dpor::test]
fn lazy_lock() {
    // COUNT: rc11 3 sc 3 tso 3 pso 3
    static TEXT: LazyLock<String> = LazyLock::new(|| "text".to_owned());
    three(|_| assert_eq!(*TEXT, "text"));
    assert_eq!(TEXT.len(), 4);
}

// One of the three values is set; the others come back.
#[dpor::test]
fn set_once() {
    // COUNT: rc11 3 sc 3 tso 3 pso 3
    let cell = OnceLock::new();
    three(|i| match cell.set(i) {
        Ok(()) => assert_eq!(cell.get(), Some(&i)),
        Err(value) => assert_eq!(value, i),
    });
}

// Whoever looks sees that it is not initialized, that it is being initialized (and gets nothing either), or the value.
#[dpor::test]
fn look() {
    // COUNT: rc11 3 sc 3 tso 3 pso 3
    let cell = OnceLock::new();
    thread::scope(|scope| {
        scope.spawn(|| cell.set(Box::new(5)).unwrap());
        assert!(cell.get().is_none_or(|value| **value == 5));
    });
}

// Waiting has one way to end.
#[dpor::test]
fn wait() {
    // COUNT: rc11 1 sc 1 tso 1 pso 1
    let (once, cell) = (Once::new(), OnceLock::new());
    thread::scope(|scope| {
        scope.spawn(|| once.call_once(|| cell.set(1).unwrap()));
        once.wait();
        assert_eq!(*cell.wait(), 1);
    });
}

// The one that panics comes first, and the other initializes the cell; or it comes second, and finds a value.
#[dpor::test]
fn poisoned() {
    // COUNT: rc11 2 sc 2 tso 2 pso 2
    let cell = OnceLock::new();
    thread::scope(|scope| {
        let thread = scope.spawn(|| *cell.get_or_init(|| panic!("no value")));
        let value = *cell.get_or_init(|| 2);
        assert_eq!(value, 2);
        assert!(thread.join().is_err() || value == 2);
    });
}

#[dpor::test]
fn poisoned_and_forced() {
    // COUNT: rc11 1
    let once = Once::new();
    let result = thread::scope(|scope| scope.spawn(|| once.call_once(|| panic!("once"))).join());
    assert!(result.is_err() && !once.is_completed());
    assert!(catch_unwind(AssertUnwindSafe(|| once.call_once(|| ()))).is_err());
    once.call_once_force(|state| assert!(state.is_poisoned()));
    assert!(once.is_completed());
}

#[dpor::test]
fn within_itself() {
    let once = Once::new();
    once.call_once(|| once.call_once(|| ())); // ERROR: deadlock
}
