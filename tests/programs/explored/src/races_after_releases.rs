//! A thread reads before a loop, does something that releases, and reads again in each iteration. Another thread that acquires
//! what was released, and then writes, does so after the first read, but not after those in the loop.

use std::hint::{black_box, spin_loop};
use std::sync::atomic::{AtomicBool, AtomicU32, Ordering::*};
use std::sync::{Mutex, RwLock};
use std::thread;

use crate::support::Plain;

static X: AtomicU32 = AtomicU32::new(0);
static DATA: Plain<u32> = Plain::new(0);
static ENDED: AtomicBool = AtomicBool::new(false);
static Z: AtomicU32 = AtomicU32::new(0);
static LOCK: Mutex<()> = Mutex::new(());
static RW_LOCK: RwLock<()> = RwLock::new(());

fn read() {
    black_box(unsafe { *DATA.get() });
}

fn race_after(releases: fn(), acquires: fn()) {
    let sets = || (1..=2).for_each(|value| X.store(value, Relaxed));
    let reads = move || {
        while X.load(Relaxed) == 0 {
            spin_loop();
        }
        read();
        releases();
        while X.load(Relaxed) != 2 {
            read();
        }
        ENDED.store(true, Relaxed);
    };
    let writes = move || {
        if ENDED.load(Relaxed) {
            acquires();
            unsafe { *DATA.get() = 1 }
        }
    };
    let threads = [thread::spawn(sets), thread::spawn(reads), thread::spawn(writes)];
    threads.into_iter().for_each(|thread| thread.join().unwrap());
}

fn acquire() {
    Z.fetch_add(4, Acquire);
}

fn lock() {
    drop(LOCK.lock().unwrap());
}

#[dpor::test(expect = "data-race")]
fn by_an_update_that_changes_nothing() {
    race_after(|| _ = Z.fetch_or(0, Release), acquire);
}

#[dpor::test(expect = "data-race")]
fn by_a_compare_and_swap_of_equal_values() {
    race_after(|| _ = Z.compare_exchange(0, 0, AcqRel, Relaxed), acquire);
}

#[dpor::test(expect = "data-race")]
fn by_an_update_that_is_taken_back() {
    let releases = || {
        Z.fetch_add(1, Release);
        Z.fetch_sub(1, Relaxed);
    };
    race_after(releases, acquire);
}

#[dpor::test(expect = "data-race")]
fn by_a_mutex() {
    race_after(lock, lock);
}

#[dpor::test(expect = "data-race")]
fn by_a_lock_of_a_writer() {
    let write = || drop(RW_LOCK.write().unwrap());
    race_after(write, write);
}
