//! Types of loom's own.

use loom::cell::UnsafeCell;
use loom::future::{AtomicWaker, block_on};
use loom::sync::atomic::{AtomicBool, AtomicUsize, Ordering::*};
use loom::sync::{Arc, Notify};
use loom::thread;
use std::future::poll_fn;
use std::task::Poll;

#[dpor::test]
fn a_cell_that_races() {
    loom::model(|| publish(Relaxed));
}

struct Shared {
    value: UnsafeCell<u32>,
    flag: AtomicBool,
}

unsafe impl Sync for Shared {}

fn publish(order: std::sync::atomic::Ordering) {
    let shared = Arc::new(Shared { value: UnsafeCell::new(0), flag: AtomicBool::new(false) });
    let thread = thread::spawn({
        let shared = shared.clone();
        move || {
            shared.value.with_mut(|value| unsafe { *value = 1 }); // ERROR: data-race
            shared.flag.store(true, order);
        }
    });
    if shared.flag.load(Acquire) {
        assert_eq!(shared.value.with(|value| unsafe { *value }), 1); // ERROR: data-race
    }
    thread.join().unwrap();
}

#[dpor::test]
fn a_cell_that_is_published() {
    // COUNT: rc11 2 sc 2 tso 2 pso 2
    loom::model(|| publish(Release));
}

#[dpor::test]
fn an_unsynchronized_load_that_races() {
    loom::model(|| {
        let x = Arc::new(AtomicUsize::new(0));
        let other = x.clone();
        let thread = thread::spawn(move || other.store(1, SeqCst)); // ERROR: data-race
        unsafe { x.unsync_load() }; // ERROR: data-race
        thread.join().unwrap();
    });
}

#[dpor::test]
fn a_notification_is_kept() {
    loom::model(|| {
        let notify = Arc::new(Notify::new());
        let other = notify.clone();
        let thread = thread::spawn(move || other.notify());
        notify.wait();
        thread.join().unwrap();
    });
}

#[dpor::test]
fn a_wake_up_that_is_lost() {
    loom::model(|| wait_for_flag(false));
}

fn wait_for_flag(register_first: bool) {
    let shared = Arc::new((AtomicBool::new(false), AtomicWaker::new()));
    let thread = thread::spawn({
        let shared = shared.clone();
        move || {
            shared.0.store(true, SeqCst);
            shared.1.wake();
        }
    });
    // ERROR: deadlock
    block_on(poll_fn(|context| {
        if register_first {
            shared.1.register_by_ref(context.waker());
        }
        if shared.0.load(SeqCst) {
            return Poll::Ready(());
        }
        shared.1.register_by_ref(context.waker());
        Poll::Pending
    }));
    thread.join().unwrap();
}

#[dpor::test]
fn no_wake_up_is_lost() {
    loom::model(|| wait_for_flag(true));
}
