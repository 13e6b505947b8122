//! Memory errors that need two threads.

use std::sync::atomic::{AtomicPtr, Ordering};
use std::{ptr, thread};

/// The reader may still use the value when it is freed.
#[dpor::test]
fn use_after_free() {
    static SLOT: AtomicPtr<String> = AtomicPtr::new(ptr::null_mut());
    SLOT.store(Box::into_raw(Box::new("shared".to_owned())), Ordering::Release);
    let reader = thread::spawn(|| {
        let value = SLOT.load(Ordering::Acquire);
        if !value.is_null() {
            println!("{}", unsafe { &*value });
        }
    });
    let value = SLOT.swap(ptr::null_mut(), Ordering::AcqRel);
    drop(unsafe { Box::from_raw(value) });
    reader.join().unwrap();
}

/// Both threads may take the value.
#[dpor::test]
fn double_free() {
    static SLOT: AtomicPtr<u64> = AtomicPtr::new(ptr::null_mut());
    fn take() {
        let value = SLOT.load(Ordering::Acquire);
        if !value.is_null() {
            SLOT.store(ptr::null_mut(), Ordering::Release);
            drop(unsafe { Box::from_raw(value) });
        }
    }
    SLOT.store(Box::into_raw(Box::new(7)), Ordering::Release);
    let thread = thread::spawn(take);
    take();
    thread.join().unwrap();
}

/// The value that loses the race is forgotten.
#[dpor::test]
fn leak() {
    static SLOT: AtomicPtr<u64> = AtomicPtr::new(ptr::null_mut());
    let publish = |value: u64| SLOT.store(Box::into_raw(Box::new(value)), Ordering::Release);
    let thread = thread::spawn(move || publish(1));
    publish(2);
    thread.join().unwrap();
}
