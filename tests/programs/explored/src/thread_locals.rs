//! Thread-locals: each thread has its own, and drops it when it ends.

use std::cell::{Cell, RefCell};
use std::sync::atomic::{AtomicPtr, AtomicUsize, Ordering::*};
use std::{ptr, thread};

use crate::support::{Plain, Pointer, two};

thread_local! {
    static COUNTER: Cell<u32> = const { Cell::new(10) };
    static NAMES: RefCell<Vec<&'static str>> = RefCell::new(vec!["first"]);
}

#[dpor::test]
fn one_for_each_thread() {
    // COUNT: rc11 1 sc 1 tso 1 pso 1
    let count = || {
        COUNTER.set(COUNTER.get() + 1);
        NAMES.with_borrow_mut(|names| names.push("second"));
        (COUNTER.get(), NAMES.with_borrow(Vec::len))
    };
    assert_eq!(two(count, count), ((11, 2), (11, 2)));
    assert_eq!((COUNTER.get(), NAMES.take()), (10, vec!["first"]));
}

static DROPPED: AtomicUsize = AtomicUsize::new(0);

struct Counted;

impl Drop for Counted {
    fn drop(&mut self) {
        DROPPED.fetch_add(1, Relaxed);
    }
}

// Destructors run before the thread is joined; those of two threads in either order.
#[dpor::test]
fn dropped_when_the_thread_ends() {
    // COUNT: rc11 2 sc 2 tso 2 pso 2
    thread_local!(static COUNTED: Counted = const { Counted });
    let threads = [(); 2].map(|()| thread::spawn(|| COUNTED.with(|_| ())));
    for thread in threads {
        thread.join().unwrap();
    }
    assert_eq!(DROPPED.load(Relaxed), 2);
}

// A thread that never asks for it has nothing to drop.
#[dpor::test]
fn not_dropped_where_nobody_asked() {
    // COUNT: rc11 1 sc 1 tso 1 pso 1
    thread_local!(static COUNTED: Counted = const { Counted });
    thread::spawn(|| ()).join().unwrap();
    assert_eq!(DROPPED.load(Relaxed), 0);
    thread::spawn(|| COUNTED.with(|_| ())).join().unwrap();
    assert_eq!(DROPPED.load(Relaxed), 1);
}

struct Writes(&'static Plain<u32>);

impl Drop for Writes {
    fn drop(&mut self) {
        unsafe { *self.0.get() += 1 };
    }
}

// The destructor is the thread's last deed: who joins comes after it.
#[dpor::test]
fn destructor_that_writes() {
    // COUNT: rc11 1 sc 1 tso 1 pso 1
    static DATA: Plain<u32> = Plain::new(0);
    thread_local!(static WRITES: Writes = const { Writes(&DATA) });
    thread::spawn(|| WRITES.with(|_| unsafe { *DATA.get() += 1 })).join().unwrap();
    assert_eq!(unsafe { *DATA.get() }, 2);
}

// Who does not join does not.
#[dpor::test]
fn destructor_that_races() {
    static DATA: Plain<u32> = Plain::new(0);
    struct Adds;
    impl Drop for Adds {
        fn drop(&mut self) {
            unsafe { *DATA.get() += 1 }; // ERROR: data-race
        }
    }
    thread_local!(static ADDS: Adds = const { Adds });
    let thread = thread::spawn(|| ADDS.with(|_| ()));
    unsafe { *DATA.get() += 1 }; // ERROR: data-race
    thread.join().unwrap();
}

// A pointer to the thread-local of a thread that has ended.
#[dpor::test]
fn used_after_the_thread_has_ended() {
    let pointer = thread::spawn(|| COUNTER.with(|counter| Pointer::new(counter.as_ptr()))).join().unwrap();
    assert_eq!(unsafe { *pointer.get() }, 10); // ERROR: use-after-free
}

// The thread may end at any time.
#[dpor::test]
fn used_while_the_thread_may_end() {
    static PLACE: AtomicPtr<u32> = AtomicPtr::new(ptr::null_mut());
    let thread = thread::spawn(|| PLACE.store(COUNTER.with(Cell::as_ptr), Release));
    let pointer = PLACE.load(Acquire);
    if !pointer.is_null() {
        assert_eq!(unsafe { *pointer }, 10); // ERROR: use-after-free
    }
    thread.join().unwrap();
}

// While the thread is there, another one may use it; not at the same time, though.
#[dpor::test]
fn used_by_another_thread() {
    let pointer = COUNTER.with(|counter| Pointer::new(counter.as_ptr()));
    thread::scope(|scope| {
        scope.spawn(move || unsafe {
            *pointer.get() += 1; // ERROR: data-race
        });
        COUNTER.set(7); // ERROR: data-race
    });
}

#[dpor::test]
fn lent_to_another_thread() {
    // COUNT: rc11 1 sc 1 tso 1 pso 1
    let pointer = COUNTER.with(|counter| Pointer::new(counter.as_ptr()));
    thread::scope(|scope| _ = scope.spawn(move || unsafe { *pointer.get() += 1 }));
    assert_eq!(COUNTER.get(), 11);
}
