//! The hook for panics, which threads share.

use std::cell::UnsafeCell;
use std::panic;
use std::sync::Mutex;
use std::sync::atomic::{AtomicU32, Ordering::Relaxed};
use std::thread;

/// Panics, and goes on.
fn panics() {
    assert!(panic::catch_unwind(|| panic!("on purpose")).is_err());
}

// The hook is behind a lock: it is set before the panic, or after it.
#[dpor::test]
fn hook_set_while_another_thread_panics() {
    // COUNT: rc11 2 sc 2 tso 2 pso 2
    static CALLS: AtomicU32 = AtomicU32::new(0);
    let sets = thread::spawn(|| panic::set_hook(Box::new(|_| _ = CALLS.fetch_add(1, Relaxed))));
    let panics = thread::spawn(panics);
    sets.join().unwrap();
    panics.join().unwrap();
    drop(panic::take_hook());
    assert!(CALLS.load(Relaxed) < 2);
}

#[dpor::test]
fn hook_that_comes_too_late() {
    static CALLS: AtomicU32 = AtomicU32::new(0);
    let panics = thread::spawn(panics);
    panic::set_hook(Box::new(|_| _ = CALLS.fetch_add(1, Relaxed)));
    panics.join().unwrap();
    drop(panic::take_hook());
    assert_eq!(CALLS.load(Relaxed), 1); // ERROR: panic
}

#[dpor::test]
fn hook_that_comes_in_time() {
    static CALLS: AtomicU32 = AtomicU32::new(0);
    let panics = thread::spawn(panics);
    panic::set_hook(Box::new(|_| _ = CALLS.fetch_add(1, Relaxed)));
    panics.join().unwrap();
    drop(panic::take_hook());
    assert_eq!(CALLS.load(Relaxed), 0); // ERROR: panic
}

// Where nobody changes the hook while others run, panics have nothing to do with each other.
#[dpor::test]
fn panics_of_two_threads() {
    // COUNT: rc11 1 sc 1 tso 1 pso 1
    let threads = [thread::spawn(panics), thread::spawn(panics)];
    threads.into_iter().for_each(|thread| thread.join().unwrap());
}

#[dpor::test]
fn hook_set_before_and_taken_after() {
    // COUNT: rc11 1 sc 1 tso 1 pso 1
    panic::set_hook(Box::new(|_| ()));
    let threads = [thread::spawn(panics), thread::spawn(panics)];
    threads.into_iter().for_each(|thread| thread.join().unwrap());
    drop(panic::take_hook());
}

// The hook is taken before the panic, or after it.
#[dpor::test]
fn hook_taken_while_another_thread_panics() {
    // COUNT: rc11 2 sc 2 tso 2 pso 2
    panic::set_hook(Box::new(|_| ()));
    let panics = thread::spawn(panics);
    drop(panic::take_hook());
    panics.join().unwrap();
}

// Whoever replaces the hook waits until it does not run any more, and drops it only then.
#[dpor::test]
fn hook_that_is_dropped() {
    // COUNT: rc11 2 sc 2 tso 2 pso 2
    static DROPPED: AtomicU32 = AtomicU32::new(0);
    struct Drops;
    impl Drop for Drops {
        fn drop(&mut self) {
            DROPPED.store(1, Relaxed);
        }
    }
    let drops = Drops;
    panic::set_hook(Box::new(move |_| {
        let _drops = &drops;
        assert_eq!(DROPPED.load(Relaxed), 0);
    }));
    let panics = thread::spawn(panics);
    panic::set_hook(Box::new(|_| ()));
    panics.join().unwrap();
    drop(panic::take_hook());
}

// While the hook runs, which waits for a lock, its owner waits to replace the hook.
#[dpor::test(expect = "deadlock")]
fn hook_that_waits_for_whoever_replaces_it() {
    static LOCK: Mutex<()> = Mutex::new(());
    panic::set_hook(Box::new(|_| drop(LOCK.lock())));
    let panics = thread::spawn(panics);
    let guard = LOCK.lock();
    panic::set_hook(Box::new(|_| ()));
    drop(guard);
    panics.join().unwrap();
}

// Hooks of two threads may run at the same time.
#[dpor::test(expect = "data-race")]
fn hook_that_races_with_itself() {
    struct Shared(UnsafeCell<u32>);
    unsafe impl Sync for Shared {}
    static DATA: Shared = Shared(UnsafeCell::new(0));
    panic::set_hook(Box::new(|_| unsafe { *DATA.0.get() = 1 }));
    let threads = [thread::spawn(panics), thread::spawn(panics)];
    threads.into_iter().for_each(|thread| thread.join().unwrap());
}
