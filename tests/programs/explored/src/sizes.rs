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

// Each of three threads adds to a byte of its own, and all to the fourth: 3! orders. Then two add to the word: 2 orders.
#[dpor::test]
fn bytes_then_word() {
    // COUNT: rc11 12 sc 12 tso 12 pso 12
    let word = AtomicU32::new(0);
    let byte = |at: usize| unsafe { AtomicU8::from_ptr(word.as_ptr().cast::<u8>().add(at)) };
    thread::scope(|scope| {
        for i in 0..3 {
            scope.spawn(move || {
                byte(i).fetch_add(i as u8 + 1, Relaxed);
                byte(3).fetch_add(1, Relaxed);
            });
        }
    });
    let count = || word.fetch_add(1, Relaxed);
    two(count, count);
    assert_eq!(word.load(Relaxed), 0x0303_0203);
}

// One half says that the other is written: whoever sees that may use the whole.
#[dpor::test]
fn flag_in_a_half() {
    // COUNT: rc11 2 sc 2 tso 2 pso 2
    let word = Box::new(AtomicU64::new(0));
    thread::scope(|scope| {
        scope.spawn(|| {
            half(&word, 1).store(7, Relaxed);
            half(&word, 0).store(1, Release);
        });
        if half(&word, 0).load(Acquire) == 1 {
            assert_eq!(word.load(Relaxed), 0x7_0000_0001);
            word.store(0x9_0000_0002, Relaxed);
            assert_eq!(half(&word, 1).load(Relaxed), 9);
            assert_eq!(half(&word, 0).load(Relaxed), 2);
        }
    });
}

// The same with a loop that waits: it ends when the flag is set.
#[dpor::test]
fn waiting_for_a_half() {
    // COUNT: rc11 1 sc 1 tso 1 pso 1
    let word = Box::new(AtomicU64::new(0));
    thread::scope(|scope| {
        scope.spawn(|| {
            half(&word, 1).store(7, Relaxed);
            half(&word, 0).store(1, Release);
        });
        while half(&word, 0).load(Acquire) != 1 {}
        assert_eq!(word.fetch_add(1, Relaxed), 0x7_0000_0001);
        assert_eq!(half(&word, 0).load(Relaxed), 2);
    });
}

// Atomic and plain accesses of all sizes, in turns.
#[dpor::test]
fn plain_accesses_between() {
    // COUNT: rc11 1 sc 1 tso 1 pso 1
    let mut word = AtomicU64::new(1);
    for round in 0..2 {
        thread::scope(|scope| _ = scope.spawn(|| word.fetch_add(1, Relaxed)));
        *word.get_mut() += 1;
        thread::scope(|scope| _ = scope.spawn(|| half(&word, 1).fetch_add(1, Relaxed)));
        assert_eq!(*word.get_mut(), (round + 1) << 32 | (3 + 2 * round));
        unsafe { *word.as_ptr().cast::<u16>().add(3) += 1 };
        thread::scope(|scope| _ = scope.spawn(|| assert_eq!(u64::from(half(&word, 0).load(Relaxed)), 3 + 2 * round)));
        thread::scope(|scope| _ = scope.spawn(|| assert_eq!(word.swap(3 + 2 * round, Relaxed) >> 48, 1)));
        half(&word, 1).store(round as u32 + 1, Relaxed);
    }
}

// Either both threads use the whole or both use a half: two orders each.
#[dpor::test]
fn one_size_in_each_execution() {
    // COUNT: rc11 4 sc 4 tso 4 pso 4
    let word = AtomicU64::new(0);
    let whole = dpor::choose(2) == 0;
    let store = |value| if whole { word.store(value, Relaxed) } else { half(&word, 0).store(value as u32, Relaxed) };
    two(|| store(1), || store(2));
    assert!([1, 2].contains(&word.load(Relaxed)));
}

// Each thread has a word of its own; of the counter there are 4!/(2! 2!) orders.
#[dpor::test]
fn of_each_thread() {
    // COUNT: rc11 6 sc 6 tso 6 pso 6
    let counter = AtomicU32::new(0);
    let body = || {
        counter.fetch_add(1, Relaxed);
        let word = Box::new(AtomicU64::new(0));
        word.store(5, Relaxed);
        half(&word, 1).store(1, Relaxed);
        assert_eq!(word.load(Relaxed), 0x1_0000_0005);
        counter.fetch_add(1, Relaxed);
    };
    two(body, body);
}

// That the flag was read does not order anything: it was stored without release.
#[dpor::test]
fn after_a_relaxed_flag() {
    static WORD: AtomicU64 = AtomicU64::new(0);
    static READY: AtomicBool = AtomicBool::new(false);
    thread::scope(|scope| {
        scope.spawn(|| {
            WORD.store(1, SeqCst); // ERROR: mixed-size-race
            READY.store(true, Relaxed);
        });
        scope.spawn(|| {
            if READY.load(Acquire) {
                half(&WORD, 0).load(SeqCst); // ERROR: mixed-size-race
            }
        });
    });
}

// A pointer whose halves were looked at is still a pointer.
#[dpor::test]
fn halves_of_a_pointer() {
    // COUNT: rc11 1 sc 1 tso 1 pso 1
    static WORD: AtomicU64 = AtomicU64::new(0);
    thread::scope(|scope| _ = scope.spawn(|| WORD.store(Box::into_raw(Box::new(5_u32)) as u64, Relaxed)));
    let (low, high) = two(|| half(&WORD, 0).load(Relaxed), || half(&WORD, 1).load(Relaxed));
    assert_eq!(WORD.load(Relaxed), u64::from(high) << 32 | u64::from(low));
}
