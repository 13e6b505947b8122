//! `membarrier`, called directly.

use std::sync::atomic::{AtomicU32, Ordering::Relaxed, Ordering::SeqCst, compiler_fence};
use std::thread;

unsafe extern "C" {
    fn syscall(number: i64, ...) -> i64;
}

const SYS_MEMBARRIER: i64 = 324;
const PRIVATE_EXPEDITED: i32 = 1 << 3;
const REGISTER_PRIVATE_EXPEDITED: i32 = 1 << 4;

fn membarrier(command: i32) {
    assert_eq!(unsafe { syscall(SYS_MEMBARRIER, command, 0) }, 0);
}

/// Two threads store, and load what the other one stores: whether both have loaded zeros.
fn store_and_load(barriers: [fn(); 2]) -> bool {
    membarrier(REGISTER_PRIVATE_EXPEDITED);
    let [x, y] = [AtomicU32::new(0), AtomicU32::new(0)];
    let [first, second] = barriers;
    thread::scope(|scope| {
        let thread = scope.spawn(|| {
            x.store(1, Relaxed);
            first();
            y.load(Relaxed)
        });
        y.store(1, Relaxed);
        second();
        let loaded = x.load(Relaxed);
        thread.join().unwrap() == 0 && loaded == 0
    })
}

// Either barrier is first. The thread with the other one loads 1 then, and the first one 0 or 1: 2 · 2.
#[dpor::test(model = "rc11,sc")]
fn only_one_pays() {
    // COUNT: rc11 4 sc 4
    assert!(!store_and_load([|| compiler_fence(SeqCst), || membarrier(PRIVATE_EXPEDITED)]));
}

#[dpor::test(model = "rc11", expect = "panic")]
fn nobody_pays() {
    assert!(!store_and_load([|| compiler_fence(SeqCst), || compiler_fence(SeqCst)])); // ERROR: panic
}

#[dpor::test(model = "rc11,sc")]
fn both_pay() {
    assert!(!store_and_load([|| membarrier(PRIVATE_EXPEDITED), || membarrier(PRIVATE_EXPEDITED)]));
}

#[dpor::test(model = "rc11", expect = "panic")]
fn the_compiler_is_not_told() {
    assert!(!store_and_load([|| (), || membarrier(PRIVATE_EXPEDITED)])); // ERROR: panic
}
