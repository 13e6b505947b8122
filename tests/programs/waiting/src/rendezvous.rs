//! Threads that wait for each other: barriers, and what is to be done once.

use std::hint;
use std::panic;
use std::sync::atomic::{AtomicBool, AtomicU8, AtomicUsize, Ordering::*};

use crate::support::{Plain, threads, two};

/// A barrier that can be used again at once: its sense is the other one each time.
struct Barrier {
    threads: usize,
    left: AtomicUsize,
    sense: AtomicBool,
}

impl Barrier {
    fn new(threads: usize) -> Barrier {
        Barrier { threads, left: AtomicUsize::new(threads), sense: AtomicBool::new(false) }
    }

    /// Waits for the others; `sense` is this thread's own.
    fn wait(&self, sense: &mut bool) {
        *sense = !*sense;
        if self.left.fetch_sub(1, AcqRel) == 1 {
            self.left.store(self.threads, Relaxed);
            self.sense.store(*sense, Release);
        } else {
            while self.sense.load(Acquire) != *sense {
                hint::spin_loop();
            }
        }
    }

    /// Lets threads meet some times; each then sees what all have written.
    fn meet(&self, times: usize) {
        let steps: Vec<_> = (0..self.threads).map(|_| Plain::new(0)).collect();
        threads(self.threads, |i| {
            let mut sense = false;
            for time in 1..=times {
                // The others may read the one of before still.
                if time % 2 == 1 {
                    steps[i].write(time);
                }
                self.wait(&mut sense);
                if time % 2 == 1 {
                    assert!(steps.iter().all(|step| step.read() == time));
                }
            }
        });
    }
}

// Threads arrive in any order, n! for each time.
#[dpor::test]
fn barrier() {
    // COUNT: rc11 24 sc 24 tso 24 pso 24
    Barrier::new(4).meet(1);
}

#[dpor::test]
fn barrier_used_twice() {
    // COUNT: rc11 36 sc 36 tso 36 pso 36
    Barrier::new(3).meet(2);
}

#[dpor::test]
fn barrier_used_three_times() {
    // COUNT: rc11 8 sc 8 tso 8 pso 8
    Barrier::new(2).meet(3);
}

// The threads go on before their number is set again: one that is quick is counted and forgotten.
#[dpor::test]
fn barrier_reset_too_late() {
    dpor::assume(dpor::checking());
    let (left, sense) = (AtomicUsize::new(2), AtomicBool::new(false));
    let meet_twice = || {
        for mine in [true, false] {
            if left.fetch_sub(1, AcqRel) == 1 {
                sense.store(mine, Release);
                left.store(2, Relaxed);
            } else {
                // ERROR: non-termination
                while sense.load(Acquire) != mine {
                    hint::spin_loop();
                }
            }
        }
    };
    two(meet_twice, meet_twice);
}

// Without a sense of its own, a thread that is slow to wake up misses that the barrier was open.
#[dpor::test]
fn barrier_without_sense() {
    dpor::assume(dpor::checking());
    let arrived = AtomicUsize::new(0);
    let meet_twice = || {
        for _ in 0..2 {
            if arrived.fetch_add(1, AcqRel) == 1 {
                arrived.store(0, Release);
            } else {
                // ERROR: non-termination
                while arrived.load(Acquire) != 0 {
                    hint::spin_loop();
                }
            }
        }
    };
    two(meet_twice, meet_twice);
}

/// Runs a function once, however many threads want that; all then see what it has done.
#[derive(Default)]
struct Once(AtomicU8);

const NEW: u8 = 0;
const RUNNING: u8 = 1;
const DONE: u8 = 2;

impl Once {
    fn call(&self, function: impl FnOnce()) {
        match self.0.compare_exchange(NEW, RUNNING, Acquire, Acquire) {
            Ok(_) => {
                function();
                self.0.store(DONE, Release);
            }
            Err(DONE) => {}
            Err(_) => {
                while self.0.load(Acquire) != DONE {
                    hint::spin_loop();
                }
            }
        }
    }
}

// One of n threads is first; each of the others sees that it is running, and then that it is done, or the latter at once:
// n·2^(n − 1).
#[dpor::test]
fn once_by_two() {
    // COUNT: rc11 4 sc 4 tso 4 pso 4
    initialize_by(2);
}

#[dpor::test]
fn once_by_four() {
    // COUNT: rc11 32 sc 32 tso 32 pso 32
    initialize_by(4);
}

fn initialize_by(n: usize) {
    let (once, value) = (Once::default(), Plain::new(0));
    threads(n, |_| {
        once.call(|| value.write(value.read() + 1));
        assert_eq!(value.read(), 1);
    });
}

// Whoever comes while it is running does not wait.
#[dpor::test]
fn once_without_waiting() {
    let (once, value) = (AtomicU8::new(NEW), Plain::new(0));
    let initialize = || {
        if once.compare_exchange(NEW, RUNNING, Acquire, Acquire).is_ok() {
            unsafe { *value.get() = 1 }; // ERROR: data-race
            once.store(DONE, Release);
        }
        unsafe { *value.get() } // ERROR: data-race
    };
    assert_eq!(two(initialize, initialize), (1, 1));
}

// A function that panics while it runs: nobody else is ever done.
#[dpor::test(expect = "non-termination")]
fn once_that_panics() {
    dpor::assume(dpor::checking());
    let once = Once::default();
    let panics = || panic::catch_unwind(|| once.call(|| panic!("not today"))).is_err();
    two(panics, || once.call(|| ()));
}

// Several flags that threads raise when they are ready, and one that starts them.
#[dpor::test]
fn start_together() {
    // COUNT: rc11 1 sc 1 tso 1 pso 1
    let (ready, start) = ([const { AtomicBool::new(false) }; 3], AtomicBool::new(false));
    let value = Plain::new(0);
    threads(4, |i| match ready.get(i) {
        Some(ready) => {
            ready.store(true, Release);
            while !start.load(Acquire) {
                hint::spin_loop();
            }
            assert_eq!(value.read(), 1);
        }
        None => {
            for ready in &ready {
                while !ready.load(Acquire) {
                    hint::spin_loop();
                }
            }
            value.write(1);
            start.store(true, Release);
        }
    });
}
