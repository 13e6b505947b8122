//! What loops do while they wait that makes no difference: fences that are assembly, and counters that nobody reads.
//!
//! Of a loop that waits for a flag only the last iteration counts, which sees it: one execution. Attempts that fail are
//! left out, so that n threads succeed in any order: n!.

use std::arch::asm;
use std::cell::UnsafeCell;
use std::hint;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering::*};

use crate::support::{threads, two};

/// A full fence, as `concurrent-queue` and `event-listener` write it.
fn full_fence() {
    let own = UnsafeCell::new(0_usize);
    unsafe { asm!("lock not qword ptr [{0}]", in(reg) own.get(), options(nostack)) };
}

fn memory_fence() {
    unsafe { asm!("mfence", options(nostack)) };
}

/// One thread waits for another, doing this in between.
fn wait_for_flag(pause: impl Fn() + Sync) {
    let (flag, value) = (AtomicBool::new(false), AtomicUsize::new(0));
    two(
        || {
            value.store(1, Relaxed);
            flag.store(true, Release);
        },
        || {
            while !flag.load(Acquire) {
                pause();
            }
            assert_eq!(value.load(Relaxed), 1);
        },
    );
}

/// Three threads add one each, doing this between the load and the attempt.
fn count_to_three(pause: impl Fn() + Sync) {
    let counter = AtomicUsize::new(0);
    threads(3, |_| {
        loop {
            let current = counter.load(Relaxed);
            pause();
            if counter.compare_exchange(current, current + 1, Relaxed, Relaxed).is_ok() {
                break;
            }
        }
    });
    assert_eq!(counter.into_inner(), 3);
}

#[dpor::test]
fn wait_with_a_locked_instruction() {
    // COUNT: rc11 1 sc 1 tso 1 pso 1
    wait_for_flag(full_fence);
}

#[dpor::test]
fn wait_with_a_memory_fence() {
    // COUNT: rc11 1 sc 1 tso 1 pso 1
    wait_for_flag(memory_fence);
}

#[dpor::test]
fn attempts_with_a_locked_instruction() {
    // COUNT: rc11 6 sc 6 tso 6 pso 6
    count_to_three(full_fence);
}

#[dpor::test]
fn attempts_with_a_memory_fence() {
    // COUNT: rc11 6 sc 6 tso 6 pso 6
    count_to_three(memory_fence);
}

// The locked instruction inverts what others see: each of two values that one thread leaves there may be read, or what
// was there before.
#[dpor::test]
fn a_locked_instruction_on_shared_memory() {
    // COUNT: rc11 3 sc 3 tso 3 pso 3
    let shared = AtomicUsize::new(0);
    two(
        || {
            for _ in 0..2 {
                unsafe { asm!("lock not qword ptr [{0}]", in(reg) shared.as_ptr(), options(nostack)) };
            }
        },
        || assert!([0, !0].contains(&shared.load(Relaxed))),
    );
}

#[dpor::test]
fn a_counter_that_nobody_reads() {
    // COUNT: rc11 1 sc 1 tso 1 pso 1
    let flag = AtomicBool::new(false);
    two(
        || flag.store(true, Release),
        || {
            let mut spins = 0_usize;
            while !flag.load(Acquire) {
                spins = spins.wrapping_add(1);
                hint::spin_loop();
            }
        },
    );
}

// Each is needed for the next of the other only.
#[dpor::test]
fn two_counters_that_nobody_reads() {
    // COUNT: rc11 1 sc 1 tso 1 pso 1
    let flag = AtomicBool::new(false);
    two(
        || flag.store(true, Release),
        || {
            let (mut one, mut other) = (0_u32, 1_u32);
            while !flag.load(Acquire) {
                (one, other) = (other.wrapping_mul(3), one.wrapping_sub(1));
            }
        },
    );
}

// The counter is looked at in the end: there is an execution in which the flag was not there at first.
#[dpor::test]
fn a_counter_that_is_read() {
    let flag = AtomicBool::new(false);
    let (_, spins) = two(
        || flag.store(true, Release),
        || {
            let mut spins = 0_usize;
            while spins < 2 && !flag.load(Acquire) {
                spins = spins.wrapping_add(1);
            }
            spins
        },
    );
    assert_ne!(spins, 1); // ERROR: panic
}
