//! Errors in what a careless checker would leave out of loops: in iterations that wait, attempts that fail, writes that
//! are taken back. `docs/waiting.md` has the rule that each of them would break.

use std::hint::{black_box, spin_loop};
use std::sync::Mutex;
use std::sync::atomic::{AtomicBool, AtomicU32, Ordering::*};
use std::thread::{self, JoinHandle};

use crate::support::Plain;

fn read(data: &Plain<u32>) {
    black_box(unsafe { *data.get() });
}

fn write(data: &Plain<u32>) {
    unsafe { *data.get() = 1 };
}

fn join<const N: usize>(threads: [JoinHandle<()>; N]) {
    threads.into_iter().for_each(|thread| thread.join().unwrap());
}

// A reader announces itself and withdraws; the writer unlocks with a store, which may come between the two.
#[dpor::test]
fn store_between_an_addition_and_what_takes_it_back() {
    static LOCK: AtomicU32 = AtomicU32::new(0);
    let reader = thread::spawn(|| {
        while LOCK.fetch_add(2, Acquire) & 1 == 1 {
            LOCK.fetch_sub(2, Release);
        }
        LOCK.fetch_sub(2, Release);
    });
    let writer = thread::spawn(|| {
        while LOCK.compare_exchange(0, 1, Acquire, Relaxed).is_err() {
            while LOCK.load(Relaxed) == 1 {
                spin_loop();
            }
        }
        LOCK.store(0, Release);
    });
    join([reader, writer]);
    // It is -2 then.
    while LOCK.compare_exchange(0, 1, Acquire, Relaxed).is_err() {} // ERROR: non-termination
}

// Two threads announce themselves and withdraw: both may be there at once.
#[dpor::test]
fn two_announcements_at_once() {
    static COUNT: AtomicU32 = AtomicU32::new(0);
    static DONE: AtomicBool = AtomicBool::new(false);
    fn poll() {
        while !DONE.load(Acquire) {
            COUNT.fetch_add(1, AcqRel);
            COUNT.fetch_sub(1, AcqRel);
        }
    }
    let threads = [thread::spawn(poll), thread::spawn(poll)];
    let both = COUNT.load(Acquire) >= 2;
    DONE.store(true, Release);
    join(threads);
    assert!(!both); // ERROR: panic
}

// Whoever only looks unlocks with a relaxed store: that ends the release sequence of the thread that had the lock
// before.
#[dpor::test]
fn relaxed_unlocking_after_a_look() {
    static LOCK: AtomicBool = AtomicBool::new(false);
    static READY: AtomicBool = AtomicBool::new(false);
    static DATA: Plain<u32> = Plain::new(0);
    fn locked(f: impl FnOnce()) {
        while LOCK.swap(true, Acquire) {}
        f();
        LOCK.store(false, Release);
    }
    let ready = thread::spawn(|| READY.store(true, Relaxed));
    let one = thread::spawn(|| locked(|| unsafe { *DATA.get() = 1 })); // ERROR: data-race
    let looks = thread::spawn(|| {
        while !READY.load(Relaxed) {
            if !LOCK.swap(true, Acquire) {
                LOCK.store(false, Relaxed);
            }
        }
    });
    let other = thread::spawn(|| locked(|| unsafe { *DATA.get() = 2 })); // ERROR: data-race
    join([ready, one, looks, other]);
}

// The failure that the thread goes on with is weaker than the load, which is part of the order of all SeqCst accesses.
#[dpor::test]
fn failure_that_is_weaker_than_the_load() {
    // MODELS: rc11
    static X: AtomicU32 = AtomicU32::new(0);
    static Y: AtomicU32 = AtomicU32::new(0);
    let one = thread::spawn(|| X.store(1, SeqCst));
    let five = thread::spawn(|| {
        Y.store(1, SeqCst);
        X.store(5, SeqCst);
    });
    let attempt = thread::spawn(|| {
        let mut found = X.load(SeqCst);
        while let Err(now) = X.compare_exchange(found, found + 10, Relaxed, Acquire) {
            found = now;
        }
        (found, Y.load(SeqCst))
    });
    join([one, five]);
    let found = attempt.join().unwrap();
    assert!(!(found == (1, 0) && X.load(Relaxed) == 11)); // ERROR: panic
}

// A failed attempt counts, but only as long as a flag is not set.
#[dpor::test]
fn failures_that_count_at_times() {
    // MODELS: rc11
    static X: AtomicU32 = AtomicU32::new(0);
    static Y: AtomicU32 = AtomicU32::new(0);
    static FLAG: AtomicU32 = AtomicU32::new(0);
    let adds = thread::spawn(|| {
        X.fetch_add(1, Relaxed);
        Y.store(1, Relaxed);
    });
    let attempts = thread::spawn(|| {
        let y = Y.load(Relaxed);
        let mut failures = 0;
        loop {
            let flag = FLAG.load(Relaxed);
            let x = X.load(Relaxed);
            if X.compare_exchange(x, x + 10, Relaxed, Relaxed).is_ok() {
                break (y, failures);
            }
            failures += u32::from(flag == 0);
        }
    });
    let sets = thread::spawn(|| FLAG.store(1, Relaxed));
    join([adds, sets]);
    assert_ne!(attempts.join().unwrap(), (1, 1)); // ERROR: panic
}

// At most three attempts: it matters which of them succeeds.
#[dpor::test]
fn third_attempt() {
    static X: AtomicU32 = AtomicU32::new(0);
    fn attempts() -> u32 {
        let succeeds = |_: &u32| {
            let x = X.load(Relaxed);
            X.compare_exchange(x, x + 1, Relaxed, Relaxed).is_ok()
        };
        (0..3).find(succeeds).unwrap_or(3)
    }
    let adds = thread::spawn(|| {
        X.fetch_add(1, Relaxed);
        X.fetch_add(1, Relaxed);
    });
    let looks = thread::spawn(|| X.load(Relaxed));
    let attempts = thread::spawn(attempts);
    adds.join().unwrap();
    assert!(!(looks.join().unwrap() == 0 && attempts.join().unwrap() == 2)); // ERROR: panic
}

// The counter of a loop that backs off is of no use to anybody, unless the thread reads 2.
#[dpor::test]
fn counter_that_matters_for_one_value() {
    static X: AtomicU32 = AtomicU32::new(0);
    let waits = thread::spawn(|| {
        let mut step = 0;
        loop {
            match X.load(Relaxed) {
                0 => {
                    step = (step + 1).min(5);
                    (0..step).for_each(|_| spin_loop());
                }
                1 => return 100,
                _ => return step,
            }
        }
    });
    join([thread::spawn(|| X.store(1, Relaxed)), thread::spawn(|| X.store(2, Relaxed))]);
    assert_ne!(waits.join().unwrap(), 1); // ERROR: panic
}

// An iteration that has read something old reads what another thread writes later.
#[dpor::test]
fn race_with_an_old_iteration() {
    static FLAG: AtomicU32 = AtomicU32::new(0);
    static GATE: AtomicU32 = AtomicU32::new(0);
    static DATA: Plain<u32> = Plain::new(0);
    let sets = thread::spawn(|| FLAG.store(1, Relaxed));
    let waits = thread::spawn(|| {
        while FLAG.load(Relaxed) == 0 {
            black_box(unsafe { *DATA.get() }); // ERROR: data-race
        }
    });
    let writes = thread::spawn(|| {
        if GATE.load(Relaxed) == 1 {
            unsafe { *DATA.get() = 1 } // ERROR: data-race
        }
    });
    let opens = thread::spawn(|| GATE.store(1, Relaxed));
    join([sets, waits, writes, opens]);
}

// The other thread writes only after the loop has ended, but nothing orders the two.
#[dpor::test]
fn race_with_an_iteration_of_a_loop_that_has_ended() {
    static FLAG: AtomicU32 = AtomicU32::new(0);
    static ENDED: AtomicU32 = AtomicU32::new(0);
    static DATA: Plain<u32> = Plain::new(0);
    let sets = thread::spawn(|| FLAG.store(1, Relaxed));
    let waits = thread::spawn(|| {
        while FLAG.load(Relaxed) == 0 {
            black_box(unsafe { *DATA.get() }); // ERROR: data-race
        }
        ENDED.store(1, Relaxed);
    });
    let writes = thread::spawn(|| {
        if ENDED.load(Relaxed) == 1 {
            unsafe { *DATA.get() = 1 } // ERROR: data-race
        }
    });
    join([sets, waits, writes]);
}

// The same, with orderings that do order them.
#[dpor::test]
fn no_race_with_an_iteration_of_a_loop_that_has_ended() {
    static FLAG: AtomicU32 = AtomicU32::new(0);
    static ENDED: AtomicU32 = AtomicU32::new(0);
    static DATA: Plain<u32> = Plain::new(0);
    let sets = thread::spawn(|| FLAG.store(1, Relaxed));
    let waits = thread::spawn(|| {
        while FLAG.load(Relaxed) == 0 {
            read(&DATA);
        }
        ENDED.store(1, Release);
    });
    let writes = thread::spawn(|| {
        if ENDED.load(Acquire) == 1 {
            write(&DATA);
        }
    });
    join([sets, waits, writes]);
}

// What was read before the loop is released before the loop. What is read in the loop is not.
#[dpor::test]
fn race_with_what_was_released_before_the_loop() {
    static FLAG: AtomicU32 = AtomicU32::new(0);
    static RELEASED: AtomicU32 = AtomicU32::new(0);
    static DATA: Plain<u32> = Plain::new(0);
    let sets = thread::spawn(|| FLAG.store(1, Relaxed));
    let waits = thread::spawn(|| {
        read(&DATA);
        RELEASED.store(1, Release);
        while FLAG.load(Relaxed) == 0 {
            black_box(unsafe { *DATA.get() }); // ERROR: data-race
        }
    });
    let writes = thread::spawn(|| {
        if RELEASED.load(Acquire) == 1 {
            unsafe { *DATA.get() = 1 } // ERROR: data-race
        }
    });
    join([sets, waits, writes]);
}

// The same, released by unlocking a mutex, after another loop.
#[dpor::test]
fn race_with_what_was_unlocked_before_the_loop() {
    static FLAG: AtomicU32 = AtomicU32::new(0);
    static LOCKED: Mutex<u32> = Mutex::new(0);
    static DATA: Plain<u32> = Plain::new(0);
    let sets = thread::spawn(|| {
        FLAG.store(1, Relaxed);
        FLAG.store(2, Relaxed);
    });
    let waits = thread::spawn(|| {
        while FLAG.load(Relaxed) == 0 {
            spin_loop();
        }
        read(&DATA);
        *LOCKED.lock().unwrap() = 1;
        while FLAG.load(Relaxed) != 2 {
            black_box(unsafe { *DATA.get() }); // ERROR: data-race
        }
    });
    let writes = thread::spawn(|| {
        if *LOCKED.lock().unwrap() == 1 {
            unsafe { *DATA.get() = 1 } // ERROR: data-race
        }
    });
    join([sets, waits, writes]);
}

// A thread polls a block that another one frees.
#[dpor::test]
fn freed_while_it_is_polled() {
    static STOP: AtomicBool = AtomicBool::new(false);
    static GO: AtomicBool = AtomicBool::new(false);
    let block = Box::into_raw(Box::new(5u32)) as usize;
    let stops = thread::spawn(|| STOP.store(true, Relaxed));
    let polls = thread::spawn(move || {
        while !STOP.load(Relaxed) {
            black_box(unsafe { *(block as *const u32) }); // ERROR: use-after-free
        }
    });
    let frees = thread::spawn(move || {
        while !GO.load(Relaxed) {
            spin_loop();
        }
        drop(unsafe { Box::from_raw(block as *mut u32) });
    });
    let goes = thread::spawn(|| GO.store(true, Relaxed));
    join([stops, polls, frees, goes]);
}

// What a thread reads after its attempt has failed is written later.
#[dpor::test]
fn race_with_a_failed_attempt() {
    static X: AtomicU32 = AtomicU32::new(0);
    static GATE: AtomicU32 = AtomicU32::new(0);
    static DATA: Plain<u32> = Plain::new(0);
    let attempts = thread::spawn(|| {
        loop {
            let x = X.load(Relaxed);
            if X.compare_exchange(x, x + 10, Relaxed, Relaxed).is_ok() {
                break;
            }
            black_box(unsafe { *DATA.get() }); // ERROR: data-race
        }
    });
    let adds = thread::spawn(|| _ = X.fetch_add(1, Relaxed));
    let writes = thread::spawn(|| {
        if GATE.load(Relaxed) == 1 {
            unsafe { *DATA.get() = 1 } // ERROR: data-race
        }
    });
    let opens = thread::spawn(|| GATE.store(1, Relaxed));
    join([attempts, adds, writes, opens]);
}

// One of two cases never ends: both threads then wait for the other to give the lock back.
#[dpor::test]
fn one_of_two_cases_never_ends() {
    static LOCK: AtomicU32 = AtomicU32::new(0);
    static DONE: AtomicU32 = AtomicU32::new(0);
    let case = dpor::choose(2);
    let one = thread::spawn(move || {
        if case == 0 {
            DONE.store(3, Relaxed);
        } else {
            LOCK.store(2, Relaxed);
            while LOCK.compare_exchange(0, 1, Relaxed, Relaxed).is_err() {} // ERROR: non-termination
        }
    });
    let other = thread::spawn(|| {
        loop {
            let free = LOCK.swap(1, Relaxed) == 0; // ERROR: non-termination
            if free {
                let done = DONE.load(Relaxed) == 3;
                LOCK.store(0, Relaxed);
                if done {
                    break;
                }
            }
        }
    });
    join([one, other]);
}

// Two threads meet by counting themselves, looking, and withdrawing: one of them stays.
#[dpor::test]
fn seen_by_one_that_withdraws() {
    static COUNT: AtomicU32 = AtomicU32::new(0);
    let meets = thread::spawn(|| {
        loop {
            COUNT.fetch_add(1, SeqCst);
            if COUNT.load(SeqCst) >= 2 {
                break;
            }
            COUNT.fetch_sub(1, SeqCst);
        }
    });
    let stays = thread::spawn(|| _ = COUNT.fetch_add(1, SeqCst));
    join([meets, stays]);
    assert!(COUNT.load(SeqCst) != 2); // ERROR: panic
}

// Somebody comes while a thread has the lock that it is about to give back.
#[dpor::test]
fn wanted_while_it_is_held() {
    static LOCK: AtomicU32 = AtomicU32::new(0);
    static STOP: AtomicBool = AtomicBool::new(false);
    let holds = thread::spawn(|| {
        while !STOP.load(Relaxed) {
            if LOCK.compare_exchange(0, 1, SeqCst, SeqCst).is_ok() {
                if LOCK.load(SeqCst) == 3 {
                    return true;
                }
                LOCK.fetch_sub(1, SeqCst);
            }
        }
        false
    });
    let wants = thread::spawn(|| _ = LOCK.fetch_add(2, SeqCst));
    let stops = thread::spawn(|| STOP.store(true, Relaxed));
    join([wants, stops]);
    assert!(!holds.join().unwrap()); // ERROR: panic
}

// A thread counts the attempts that another one's look at the lock has made fail.
#[dpor::test]
fn counts_while_another_one_looks() {
    static LOCK: AtomicU32 = AtomicU32::new(0);
    static DONE: AtomicBool = AtomicBool::new(false);
    let looks = thread::spawn(|| {
        while !DONE.load(Relaxed) {
            LOCK.swap(1, Relaxed);
            LOCK.swap(0, Relaxed);
        }
    });
    let mut failed = false;
    while LOCK.compare_exchange(0, 2, Relaxed, Relaxed).is_err() {
        failed = true;
    }
    DONE.store(true, Relaxed);
    looks.join().unwrap();
    assert!(!failed); // ERROR: panic
}

// At most three attempts, and the number of the one that succeeds matters. One that another thread's addition makes fail
// matters only if a third thread has added, too, before the next load: the loop ends at 2.
#[dpor::test]
fn counts_attempts_of_which_there_are_few() {
    static READY: AtomicBool = AtomicBool::new(false);
    static COUNT: AtomicU32 = AtomicU32::new(0);
    let first = thread::spawn(|| if READY.load(Acquire) { COUNT.fetch_add(1, Release) } else { 9 });
    let tries = thread::spawn(|| {
        COUNT.fetch_add(1, Relaxed);
        for attempt in 0..3 {
            let count = COUNT.load(Relaxed);
            if count == 2 {
                break;
            }
            if COUNT.compare_exchange(count, count + 1, Release, Relaxed).is_ok() {
                return attempt;
            }
        }
        0
    });
    let second = thread::spawn(|| {
        READY.store(true, Relaxed);
        COUNT.fetch_add(1, Relaxed)
    });
    let counts = [first, tries, second].map(|thread| thread.join().unwrap());
    assert_ne!(counts, [1, 1, 2]); // ERROR: panic
}
