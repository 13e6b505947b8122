//! Data races, and synchronization that prevents them.

use std::cell::UnsafeCell;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering, Ordering::*};
use std::thread;

#[derive(Default)]
struct Shared {
    data: UnsafeCell<u32>,
    ready: AtomicBool,
}

unsafe impl Sync for Shared {}

fn publish(store: Ordering) {
    let shared = Arc::new(Shared::default());
    let other = shared.clone();
    let thread = thread::spawn(move || {
        unsafe { *other.data.get() = 1 };
        other.ready.store(true, store);
    });
    if shared.ready.load(Acquire) {
        let data = unsafe { *shared.data.get() };
        assert_eq!(data, 1);
    }
    thread.join().unwrap();
    assert_eq!(unsafe { *shared.data.get() }, 1);
}

#[dpor::test]
fn published() {
    publish(Release);
}

#[dpor::test(expect = "data-race")]
fn published_relaxed() {
    publish(Relaxed);
}

#[dpor::test]
fn two_writes() {
    let shared = Arc::new(Shared::default());
    let other = shared.clone();
    let thread = thread::spawn(move || {
        unsafe { *other.data.get() = 1 }; // ERROR: data-race
    });
    unsafe { *shared.data.get() = 2 };
    thread.join().unwrap();
}

#[dpor::test]
fn borrowed_from_the_stack() {
    let shared = Shared::default();
    let shared = &shared;
    thread::scope(|scope| {
        scope.spawn(move || {
            unsafe { *shared.data.get() += 1 }; // ERROR: data-race
        });
        unsafe { *shared.data.get() += 1 };
    });
}

#[dpor::test]
fn handed_over_and_back() {
    let numbers = vec![1, 2, 3];
    let thread = thread::spawn(move || {
        let mut numbers = numbers;
        numbers.push(4);
        numbers
    });
    assert_eq!(thread.join().unwrap(), [1, 2, 3, 4]);
}

// The last store in coherence order is what plain code sees after the threads have ended, whichever it is; what plain
// code writes is what atomics see then. Of the two orders of the stores, one is assumed.
#[dpor::test]
fn plain_accesses_to_an_atomic() {
    // COUNT: rc11 1+1 sc 1+1 tso 1+1 pso 1+1
    let mut number = AtomicUsize::new(0);
    thread::scope(|scope| {
        scope.spawn(|| number.store(1, Relaxed));
        scope.spawn(|| number.store(2, Relaxed));
    });
    let last = *number.get_mut();
    assert!(last == 1 || last == 2);
    dpor::assume(last == 1);
    *number.get_mut() = 7;
    thread::scope(|scope| {
        scope.spawn(|| assert_eq!(number.load(Relaxed), 7));
    });
    assert_eq!(number.into_inner(), 7);
}

#[dpor::test]
fn freed_while_it_is_read() {
    let address = Box::into_raw(Box::new(5)) as usize;
    let thread = thread::spawn(move || {
        unsafe { *(address as *const i32) } // ERROR: use-after-free
    });
    drop(unsafe { Box::from_raw(address as *mut i32) });
    thread.join().unwrap();
}
