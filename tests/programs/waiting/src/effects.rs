//! Loops that do more than wait, or no more than a number of times: every iteration counts.

use std::hint;
use std::sync::Once;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering::*};
use std::thread;

use crate::support::{Plain, two};

// A flag that is looked at three times: it is seen at the first to the third, or never.
#[dpor::test]
fn three_looks() {
    // COUNT: rc11 4 sc 4 tso 4 pso 4
    let flag = AtomicBool::new(false);
    let look = || (0..3).any(|_| flag.load(Acquire));
    two(|| flag.store(true, Release), look);
}

// The same, with a look counted in shared memory.
#[dpor::test]
fn three_looks_that_count() {
    // COUNT: rc11 4 sc 4 tso 4 pso 4
    let (flag, looks) = (AtomicBool::new(false), AtomicUsize::new(0));
    let look = || {
        for _ in 0..3 {
            looks.fetch_add(1, Relaxed);
            if flag.load(Acquire) {
                return true;
            }
        }
        false
    };
    let ((), seen) = two(|| flag.store(true, Release), look);
    assert!(seen || looks.into_inner() == 3);
}

// Somebody does give up.
#[dpor::test]
fn gives_up_after_three() {
    let (flag, value) = (AtomicBool::new(false), Plain::new(0));
    let send = || {
        value.write(1);
        flag.store(true, Release);
    };
    let receive = || {
        for _ in 0..3 {
            if flag.load(Acquire) {
                return value.read();
            }
            hint::spin_loop();
        }
        0
    };
    let ((), received) = two(send, receive);
    assert_eq!(received, 1); // ERROR: panic
}

// Three attempts to have a lock, by two threads. The first to have it, which is one of two, has not failed before. The
// second fails f < 3 times while the lock is taken, and then has it; or it fails three times.
#[dpor::test]
fn three_attempts() {
    // COUNT: rc11 8 sc 8 tso 8 pso 8
    let (taken, counter) = (AtomicBool::new(false), Plain::new(0));
    let attempt = || {
        for _ in 0..3 {
            if taken.compare_exchange(false, true, Acquire, Relaxed).is_ok() {
                counter.write(counter.read() + 1);
                taken.store(false, Release);
                return 1;
            }
        }
        0
    };
    let (first, second) = two(attempt, attempt);
    assert_eq!(counter.into_inner(), first + second);
}

// How often it had to wait is what the test is about: any number is possible.
#[dpor::test]
fn waits_are_counted() {
    let flag = AtomicBool::new(false);
    let wait = || {
        let mut waits = 0;
        while !flag.load(Acquire) {
            waits += 1;
        }
        waits
    };
    let ((), waits) = two(|| flag.store(true, Release), wait);
    assert!(waits < 4); // ERROR: panic
}

// The same, where the thread that waits comes first: nothing but a limit ends its waiting.
#[dpor::test(unroll = 8)]
fn waits_are_counted_before_anything_else() {
    let flag = AtomicBool::new(false);
    let wait = || {
        let mut waits = 0;
        while !flag.load(Acquire) {
            waits += 1;
        }
        waits
    };
    let (waits, ()) = two(wait, || flag.store(true, Release));
    assert!(waits < 4); // ERROR: panic
}

// The same, with a counter in memory that others could see.
#[dpor::test]
fn waits_are_counted_in_shared_memory() {
    let (flag, waits) = (AtomicBool::new(false), AtomicUsize::new(0));
    let wait = || {
        while !flag.load(Acquire) {
            waits.fetch_add(1, Relaxed);
        }
    };
    two(|| flag.store(true, Release), wait);
    assert!(waits.into_inner() < 4); // ERROR: panic
}

// The number of attempts goes into what is written.
#[dpor::test]
fn attempts_are_counted() {
    let counter = AtomicUsize::new(0);
    let add = || {
        let mut attempts = 0;
        loop {
            attempts += 1;
            let current = counter.load(Relaxed);
            if counter.compare_exchange(current, current + attempts, Relaxed, Relaxed).is_ok() {
                break;
            }
        }
    };
    two(add, add);
    assert_eq!(counter.into_inner(), 2); // ERROR: panic
}

// A loop that waits for an answer, and asks again each time. The one that answers may have been asked once, or more often.
#[dpor::test(unroll = 5)]
fn asks_again() {
    let (question, answer) = (AtomicUsize::new(0), AtomicUsize::new(0));
    let ask = || {
        while answer.load(Acquire) == 0 {
            question.fetch_add(1, Release);
        }
    };
    let reply = || {
        while question.load(Acquire) == 0 {
            hint::spin_loop();
        }
        let asked = question.load(Acquire);
        answer.store(1, Release);
        asked
    };
    let (asked, ()) = two(reply, ask);
    assert!(asked < 3); // ERROR: panic
}

// Work that is done while waiting: another thread's work is helped with. Each of three pieces is done by one of the two. The
// number is for interleavings: all of them were run, and those counted that differ in rf or co.
#[dpor::test]
fn helps_while_it_waits() {
    // COUNT: sc 82
    let (next, done) = (AtomicUsize::new(0), AtomicUsize::new(0));
    let work = || {
        while done.load(Acquire) < 3 {
            let piece = next.fetch_add(1, Relaxed);
            if piece < 3 {
                done.fetch_add(1, Release);
            } else {
                while done.load(Acquire) < 3 {
                    hint::spin_loop();
                }
            }
        }
    };
    two(work, work);
    assert_eq!(done.into_inner(), 3);
}

// A loop without end, in which there is nothing to wait for: it is in the same state again, and nobody can change that.
#[dpor::test]
fn without_end() {
    dpor::assume(dpor::checking());
    loop {
        hint::spin_loop(); // ERROR: non-termination
    }
}

#[dpor::test(unroll = 10)]
fn counts_without_end() {
    // OUTCOME: incomplete
    dpor::assume(dpor::checking());
    let counter = AtomicUsize::new(0);
    two(
        || {
            loop {
                counter.fetch_add(1, Relaxed);
            }
        },
        || counter.load(Relaxed),
    );
}

// A number that goes up for ever, waited for to be at the end.
#[dpor::test(model = "rc11", unroll = 10)]
fn computes_without_end() {
    // OUTCOME: incomplete
    dpor::assume(dpor::checking());
    let mut number = 1_u64;
    while number != 0 {
        number = number.wrapping_mul(3);
    }
    unreachable!("powers of three are odd");
}

// Where the limit is reached, the thread is about to look whether something is initialized: it is not blocked there.
#[dpor::test(unroll = 2)]
fn initialized_again_and_again() {
    // OUTCOME: incomplete
    let (once, flag) = (Once::new(), AtomicBool::new(false));
    let look = || {
        for _ in 0..10 {
            once.call_once(|| {});
            flag.load(Relaxed);
        }
    };
    two(look, || once.call_once(|| {}));
}

// A limit that is never reached is none.
#[dpor::test(unroll = 10)]
fn ends_before_the_limit() {
    // COUNT: rc11 1 sc 1 tso 1 pso 1
    let flag = AtomicBool::new(false);
    let wait = || {
        while !flag.load(Acquire) {
            hint::spin_loop();
        }
    };
    two(|| flag.store(true, Release), wait);
    assert_eq!((0..8).sum::<u32>(), 28);
}

// Waiting for memory that is not atomic.
#[dpor::test]
fn spins_on_plain_memory() {
    dpor::assume(dpor::checking());
    let flag = Plain::new(false);
    thread::scope(|scope| {
        scope.spawn(|| {
            // ERROR: data-race
            while !unsafe { *flag.get() } {
                hint::spin_loop();
            }
        });
        scope.spawn(|| unsafe { *flag.get() = true }); // ERROR: data-race
    });
}

// The same, where it is also looked at what is atomic.
#[dpor::test]
fn spins_on_plain_memory_too() {
    dpor::assume(dpor::checking());
    let (flag, plain) = (AtomicBool::new(false), Plain::new(false));
    thread::scope(|scope| {
        scope.spawn(|| {
            // ERROR: data-race
            while !flag.load(Acquire) && !unsafe { *plain.get() } {
                hint::spin_loop();
            }
        });
        scope.spawn(|| {
            unsafe { *plain.get() = true }; // ERROR: data-race
            flag.store(true, Release);
        });
    });
}
