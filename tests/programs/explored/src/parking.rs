//! `park` and `unpark`.

use std::sync::atomic::{AtomicBool, Ordering::*};
use std::thread;
use std::time::Duration;

use crate::support::Plain;

#[dpor::test]
fn parked_and_unparked() {
    let thread = thread::spawn(thread::park);
    thread.thread().unpark();
    thread.join().unwrap();
}

// The token waits for whoever parks.
#[dpor::test]
fn unparked_before() {
    thread::current().unpark();
    thread::current().unpark();
    thread::park();
}

// What was done before unparking is seen after parking.
#[dpor::test]
fn data_beside_the_token() {
    static DATA: Plain<u32> = Plain::new(0);
    let thread = thread::spawn(|| {
        thread::park();
        unsafe { *DATA.get() }
    });
    unsafe { *DATA.get() = 1 };
    thread.thread().unpark();
    assert_eq!(thread.join().unwrap(), 1);
}

#[dpor::test]
fn data_written_too_late() {
    static DATA: Plain<u32> = Plain::new(0);
    let thread = thread::spawn(|| {
        thread::park();
        unsafe { *DATA.get() } // ERROR: data-race
    });
    thread.thread().unpark();
    unsafe { *DATA.get() = 1 }; // ERROR: data-race
    thread.join().unwrap();
}

// The flag decides, not the token.
#[dpor::test]
fn flag_and_token() {
    static READY: AtomicBool = AtomicBool::new(false);
    let thread = thread::spawn(|| {
        if !READY.load(Acquire) {
            thread::park();
        }
        READY.load(Acquire)
    });
    READY.store(true, Release);
    thread.thread().unpark();
    assert!(thread.join().unwrap());
}

// The token is there for another reason.
#[dpor::test]
fn token_of_somebody_else() {
    static READY: AtomicBool = AtomicBool::new(false);
    let thread = thread::spawn(|| {
        thread::park();
        READY.load(Acquire)
    });
    let handle = thread.thread().clone();
    let other = thread::spawn(move || handle.unpark());
    READY.store(true, Release);
    thread.thread().unpark();
    assert!(thread.join().unwrap()); // ERROR: panic
    other.join().unwrap();
}

#[dpor::test]
fn time_is_over() {
    thread::park_timeout(Duration::from_millis(5));
    thread::current().unpark();
    thread::park_timeout(Duration::from_millis(5));
}

// Parked for some time: the flag may be set by then, or not.
#[dpor::test]
fn unparked_in_time_as_was_thought() {
    static READY: AtomicBool = AtomicBool::new(false);
    let main = thread::current();
    let thread = thread::spawn(move || {
        READY.store(true, Release);
        main.unpark();
    });
    thread::park_timeout(Duration::from_secs(3600));
    assert!(READY.load(Acquire)); // ERROR: panic
    thread.join().unwrap();
}

// Two threads that take turns.
#[dpor::test]
fn turns() {
    static DATA: Plain<u32> = Plain::new(0);
    let main = thread::current();
    let thread = thread::spawn(move || {
        thread::park();
        unsafe { *DATA.get() += 1 };
        main.unpark();
    });
    unsafe { *DATA.get() += 1 };
    thread.thread().unpark();
    thread::park();
    assert_eq!(unsafe { *DATA.get() }, 2);
    thread.join().unwrap();
}
