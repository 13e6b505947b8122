//! A failing execution with all kinds of steps.

use std::sync::atomic::{fence, AtomicI32, AtomicPtr, AtomicUsize, Ordering::*};
use std::sync::{Arc, Mutex};
use std::{ptr, thread};

#[dpor::test]
fn all_kinds() {
    static NUMBER: AtomicI32 = AtomicI32::new(-1);
    static POINTERS: [AtomicPtr<u8>; 2] = [const { AtomicPtr::new(ptr::null_mut()) }; 2];
    let shared = Arc::new((AtomicUsize::new(0), Mutex::new(0u8)));
    let thread = thread::spawn({
        let shared = shared.clone();
        move || {
            shared.0.fetch_add(70_000, AcqRel);
            fence(SeqCst);
            let _ = NUMBER.compare_exchange(-1, 1, AcqRel, Acquire);
            let _ = NUMBER.compare_exchange_weak(-1, 2, SeqCst, Relaxed);
            *shared.1.lock().unwrap() += 1;
            POINTERS[1].store(ptr::null_mut(), Release);
            thread::park();
        }
    });
    let mut local = AtomicUsize::new(dpor::choose(3));
    thread::scope(|scope| {
        scope.spawn(|| local.swap(9, Relaxed));
    });
    *local.get_mut() += 1;
    thread.thread().unpark();
    thread.join().unwrap();
    let free = shared.1.try_lock().is_ok();
    assert!(!free, "{}", local.load(SeqCst));
}

/// Of many steps, the last are shown.
#[dpor::test]
fn very_many() {
    let number = AtomicUsize::new(0);
    thread::scope(|scope| {
        scope.spawn(|| {
            for i in 1..=60 {
                number.store(i, Relaxed);
            }
        });
    });
    assert_ne!(number.into_inner(), 60);
}
