//! Accesses a static like other memory once a loop has ended that has accessed it as an atomic in each iteration; nothing orders
//! the two.

use std::hint::{black_box, spin_loop};
use std::sync::atomic::{AtomicBool, AtomicU16, AtomicU32, Ordering::*};
use std::thread;

use crate::support::Plain;

static X: AtomicU32 = AtomicU32::new(0);
static ENDED: AtomicBool = AtomicBool::new(false);
static WORD: Plain<AtomicU32> = Plain::new(AtomicU32::new(0));

fn race_with(look: impl Fn() + Send + 'static, access: impl FnOnce() + Send + 'static) {
    let goes_round = move || {
        while X.load(Relaxed) == 0 {
            look();
        }
        ENDED.store(true, Relaxed);
    };
    let late = || {
        if ENDED.load(Relaxed) {
            access();
        }
    };
    let threads = [thread::spawn(|| X.store(1, Relaxed)), thread::spawn(goes_round), thread::spawn(late)];
    threads.into_iter().for_each(|thread| thread.join().unwrap());
}

fn word() -> &'static AtomicU32 {
    unsafe { &*WORD.get() }
}

fn write() {
    unsafe { *WORD.get().cast() = 1_u32 }
}

#[dpor::test(expect = "data-race")]
fn a_load_and_a_write() {
    race_with(|| _ = word().load(Relaxed), write);
}

#[dpor::test(expect = "data-race")]
fn an_update_that_changes_nothing_and_a_read() {
    race_with(|| _ = word().fetch_or(0, Relaxed), || _ = black_box(unsafe { *WORD.get().cast::<u32>() }));
}

#[dpor::test(expect = "mixed-size-race")]
fn atomics_of_two_sizes() {
    let half = || unsafe { &*WORD.get().cast::<AtomicU16>() };
    race_with(move || _ = half().load(Relaxed), || word().store(1, Relaxed));
}

// Everything else is in order.
#[dpor::test]
fn ordered_by_the_flag() {
    let waits = || {
        while X.load(Acquire) == 0 {
            spin_loop();
        }
    };
    let looks = || {
        word().load(Relaxed);
        X.store(1, Release);
    };
    let writes = move || {
        waits();
        write();
    };
    [thread::spawn(looks), thread::spawn(writes)].into_iter().for_each(|thread| thread.join().unwrap());
}
