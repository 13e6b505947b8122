//! Atomics of several sizes in the same memory, and memory that is used for one atomic after the other. Accesses of different
//! sizes race if one of them writes, unless they are ordered; those of the same size are in any order, as ever.

use std::sync::atomic::{AtomicBool, AtomicU8, AtomicU16, AtomicU32, AtomicU64, Ordering::*};
use std::thread;

use crate::support::two;

fn half(word: &AtomicU64, at: usize) -> &AtomicU32 {
    unsafe { AtomicU32::from_ptr(word.as_ptr().cast::<u32>().add(at)) }
}

// Each half is another atomic, the whole is one that overlaps with both.
#[dpor::test]
fn whole_and_half() {
    let word = AtomicU64::new(0);
    thread::scope(|scope| {
        scope.spawn(|| {
            word.fetch_add(1, SeqCst); // ERROR: mixed-size-race
        });
        scope.spawn(|| {
            half(&word, 1).store(1, SeqCst); // ERROR: mixed-size-race
        });
    });
}

#[dpor::test]
fn halves() {
    // COUNT: rc11 1 sc 1 tso 1 pso 1
    let word = AtomicU64::new(0);
    two(|| half(&word, 0).store(1, Relaxed), || half(&word, 1).store(2, Relaxed));
    assert_eq!(word.into_inner(), 0x2_0000_0001);
}

// Both threads use the same half, after the whole was used: two orders.
#[dpor::test]
fn whole_then_same_half() {
    // COUNT: rc11 2 sc 2 tso 2 pso 2
    let word = AtomicU64::new(0);
    thread::scope(|scope| _ = scope.spawn(|| word.store(0x5_0000_0003, Relaxed)));
    let add = || half(&word, 0).fetch_add(1, Relaxed);
    let (a, b) = two(add, add);
    assert_eq!(a + b, 7);
    assert_eq!(word.load(Relaxed), 0x5_0000_0005);
}

// The two stores are in either order; the halves show which was the last.
#[dpor::test]
fn last_of_two_wholes() {
    // COUNT: rc11 2 sc 2 tso 2 pso 2
    let word = AtomicU64::new(0);
    two(|| word.store(0x1_0000_0001, Relaxed), || word.store(0x2_0000_0002, Relaxed));
    let (low, high) = two(|| half(&word, 0).load(Relaxed), || half(&word, 1).load(Relaxed));
    assert!(low == high && (low == 1 || low == 2));
}

// Reads of several sizes do not race with each other.
#[dpor::test]
fn reads() {
    // COUNT: rc11 1 sc 1 tso 1 pso 1
    let word = AtomicU64::new(0);
    thread::scope(|scope| _ = scope.spawn(|| word.store(0x5_0000_0003, Relaxed)));
    let whole = || {
        assert_eq!(word.load(Relaxed), 0x5_0000_0003);
        assert_eq!(word.load(Relaxed), 0x5_0000_0003);
    };
    let halves = || {
        assert_eq!(half(&word, 0).load(Relaxed), 3);
        assert_eq!(half(&word, 1).load(Relaxed), 5);
        assert_eq!(half(&word, 0).load(Relaxed), 3);
    };
    two(whole, halves);
}

#[dpor::test]
fn read_and_write() {
    let word = AtomicU64::new(0);
    thread::scope(|scope| {
        scope.spawn(|| {
            word.load(SeqCst); // ERROR: mixed-size-race
        });
        scope.spawn(|| {
            half(&word, 0).store(1, SeqCst); // ERROR: mixed-size-race
        });
    });
}

// The store to the half is seen by the load or is not, whoever is the first to use it as a half.
#[dpor::test]
fn load_and_store_of_half() {
    // COUNT: rc11 2 sc 2 tso 2 pso 2
    let word = AtomicU64::new(0);
    thread::scope(|scope| _ = scope.spawn(|| word.store(3, Relaxed)));
    let (seen, ()) = two(|| half(&word, 0).load(Relaxed), || half(&word, 0).store(4, Relaxed));
    assert!(seen == 3 || seen == 4);
    assert_eq!(word.load(Relaxed), 4);
}

#[dpor::test]
fn byte_of_a_word() {
    let word = AtomicU32::new(0);
    thread::scope(|scope| {
        scope.spawn(|| {
            word.store(1, Relaxed); // ERROR: mixed-size-race
        });
        let byte = unsafe { AtomicU8::from_ptr(word.as_ptr().cast::<u8>().add(2)) };
        byte.load(Relaxed); // ERROR: mixed-size-race
    });
}

// A flag orders them, if it is seen.
#[dpor::test]
fn byte_after_word() {
    // COUNT: rc11 2 sc 2 tso 2 pso 2
    static WORD: AtomicU32 = AtomicU32::new(0);
    static READY: AtomicBool = AtomicBool::new(false);
    thread::scope(|scope| {
        scope.spawn(|| {
            WORD.store(0x0403_0201, Relaxed);
            READY.store(true, Release);
        });
        if READY.load(Acquire) {
            let byte = unsafe { AtomicU8::from_ptr(WORD.as_ptr().cast::<u8>().add(2)) };
            assert_eq!(byte.fetch_add(1, Relaxed), 3);
            assert_eq!(WORD.load(Relaxed), 0x0404_0201);
        }
    });
}

#[dpor::test]
fn back_and_forth() {
    // COUNT: rc11 1 sc 1 tso 1 pso 1
    let word = Box::new(AtomicU32::new(0));
    let half = |at: usize| unsafe { AtomicU16::from_ptr(word.as_ptr().cast::<u16>().add(at)) };
    for round in 1..4 {
        thread::scope(|scope| {
            scope.spawn(|| {
                half(0).fetch_add(1, Relaxed);
                half(1).store(round as u16, Relaxed);
            });
        });
        thread::scope(|scope| {
            scope.spawn(|| assert_eq!(word.fetch_add(1, Relaxed), round << 16 | (2 * round - 1)));
        });
    }
    assert_eq!(word.into_inner(), 0x0003_0006);
}

// One thread, for itself.
#[dpor::test]
fn of_one_thread() {
    // COUNT: rc11 1 sc 1 tso 1 pso 1
    thread::scope(|scope| {
        scope.spawn(|| {
            let word = AtomicU32::new(0);
            word.store(0x0001_0002, Relaxed);
            let half = unsafe { AtomicU16::from_ptr(word.as_ptr().cast()) };
            assert_eq!(half.swap(7, Relaxed), 2);
            assert_eq!(word.load(Relaxed), 0x0001_0007);
            half.store(8, Relaxed);
            assert_eq!(word.into_inner(), 0x0001_0008);
        });
    });
}

// Each iteration has an atomic of its own, at the same place in the frame.
#[dpor::test]
fn one_for_each_iteration() {
    // COUNT: rc11 1 sc 1 tso 1 pso 1
    for _ in 0..2 {
        let number = AtomicU32::new(5);
        thread::scope(|scope| _ = scope.spawn(|| assert_eq!(number.swap(1, Relaxed), 5)));
        assert_eq!(number.load(Relaxed), 1);
    }
}

// Two threads in each of two iterations: 2 orders, twice.
#[dpor::test]
fn two_threads_in_each_iteration() {
    // COUNT: rc11 4 sc 4 tso 4 pso 4
    for _ in 0..2 {
        let number = AtomicU32::new(0);
        let count = || number.fetch_add(1, Relaxed);
        let (first, second) = two(count, count);
        assert_eq!(first + second, 1);
    }
}
