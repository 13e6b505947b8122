//! Futexes, called directly.

use std::sync::atomic::{AtomicU32, Ordering::Relaxed};
use std::{ptr, thread};

unsafe extern "C" {
    fn syscall(number: i64, ...) -> i64;
}

const SYS_FUTEX: i64 = 202;
const FUTEX_WAIT: i32 = 0;
const FUTEX_WAKE: i32 = 1;

fn wait(word: &AtomicU32, expected: u32) {
    unsafe { syscall(SYS_FUTEX, ptr::from_ref(word), FUTEX_WAIT, expected, ptr::null::<u8>()) };
}

fn wake(word: &AtomicU32) {
    unsafe { syscall(SYS_FUTEX, ptr::from_ref(word), FUTEX_WAKE, 1) };
}

// The word has changed when the thread looks, 1 way. Or it has not, and the call comes after the wake and sees that it has;
// or before it, and sees that it has, or sleeps and is woken: 3 ways.
#[dpor::test]
fn woken() {
    // COUNT: rc11 4 sc 4 tso 4 pso 4
    let word = AtomicU32::new(0);
    thread::scope(|scope| {
        scope.spawn(|| {
            word.store(1, Relaxed);
            wake(&word);
        });
        while word.load(Relaxed) == 0 {
            wait(&word, 0);
        }
    });
}

#[dpor::test(expect = "deadlock")]
fn never_woken() {
    let word = AtomicU32::new(0);
    wait(&word, 0);
}
