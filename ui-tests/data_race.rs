//! Data races, with both places.

use std::cell::UnsafeCell;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::Arc;
use std::thread;

#[derive(Default)]
struct Message {
    text: UnsafeCell<String>,
    ready: AtomicBool,
}

unsafe impl Sync for Message {}

/// The flag is stored with `Relaxed`: whoever sees it need not see the text.
#[dpor::test]
fn published_too_early() {
    let message = Arc::new(Message::default());
    let writer = thread::spawn({
        let message = message.clone();
        move || {
            unsafe { (*message.text.get()).push_str("hello") };
            message.ready.store(true, Ordering::Relaxed);
        }
    });
    if message.ready.load(Ordering::Acquire) {
        println!("{}", unsafe { &*message.text.get() });
    }
    writer.join().unwrap();
}

/// A counter that is atomic in one thread only.
#[dpor::test]
fn not_atomic_in_one_thread() {
    static COUNTER: AtomicUsize = AtomicUsize::new(0);
    let thread = thread::spawn(|| COUNTER.fetch_add(1, Ordering::SeqCst));
    unsafe { *COUNTER.as_ptr() += 1 };
    thread.join().unwrap();
}

/// The same, where the other thread has seen that it is an atomic.
#[dpor::test]
fn overwritten_while_it_is_read() {
    let number = AtomicUsize::new(1);
    thread::scope(|scope| {
        let reader = scope.spawn(|| number.load(Ordering::Acquire));
        number.store(2, Ordering::Release);
        unsafe { *number.as_ptr() = 3 };
        reader.join().unwrap();
    });
}
