//! Atomics that one thread alone uses, while there are others: they are accessed atomically, and like any other memory, too.
//! There is one execution for each combination of what the threads read from each other and of what is chosen.

use std::cell::Cell;
use std::hint::black_box;
use std::sync::atomic::{AtomicU8, AtomicU32, AtomicUsize, Ordering::*};
use std::thread;

use crate::support::two;

/// From now on there is another thread: accesses to atomics are events.
fn with_another_thread(test: impl FnOnce()) {
    let other = thread::spawn(|| {});
    test();
    other.join().unwrap();
}

#[dpor::test]
fn a_new_variable_in_every_iteration() {
    // COUNT: rc11 1 sc 1 tso 1 pso 1
    with_another_thread(|| {
        for value in 0..4 {
            let own = AtomicUsize::new(value);
            assert_eq!(own.load(SeqCst), value);
            own.fetch_add(1, SeqCst);
            assert_eq!(own.into_inner(), value + 1);
        }
    });
}

#[dpor::test]
fn assigned_as_a_whole() {
    // COUNT: rc11 1 sc 1 tso 1 pso 1
    with_another_thread(|| {
        let mut own = (AtomicUsize::new(7), 1u8);
        for value in 0..4 {
            assert_eq!(own.0.swap(9, Relaxed), if value == 0 { 7 } else { value - 1 });
            own = (AtomicUsize::new(value), own.1 + 1);
        }
        assert_eq!(own.0.load(Relaxed), 3);
        assert_eq!(own.1, 5);
    });
}

#[dpor::test]
fn accessed_in_both_ways() {
    // COUNT: rc11 1 sc 1 tso 1 pso 1
    with_another_thread(|| {
        let mut own = AtomicUsize::new(7);
        for value in 0..4 {
            own.store(5, Release);
            assert_eq!(*own.get_mut(), 5);
            *own.get_mut() = value;
            assert_eq!(own.load(Acquire), value);
        }
    });
}

#[dpor::test]
fn accessed_in_both_ways_on_the_heap() {
    // COUNT: rc11 1 sc 1 tso 1 pso 1
    with_another_thread(|| {
        let mut own = Box::new(AtomicU32::new(7));
        for value in 0..4 {
            *own.get_mut() = value;
            assert_eq!(own.fetch_sub(1, Relaxed), value);
            assert_eq!(*own.get_mut(), value.wrapping_sub(1));
        }
    });
}

#[dpor::test]
fn one_byte_of_it_is_written() {
    // COUNT: rc11 1 sc 1 tso 1 pso 1
    with_another_thread(|| {
        let mut own = AtomicU32::new(0x0101_0101);
        assert_eq!(own.load(Relaxed), 0x0101_0101);
        let bytes: *mut u32 = own.get_mut();
        unsafe { bytes.cast::<u8>().write(2) };
        assert_eq!(own.load(Relaxed), 0x0101_0102);
    });
}

#[dpor::test]
fn copied_and_swapped() {
    // COUNT: rc11 1 sc 1 tso 1 pso 1
    with_another_thread(|| {
        let mut own = [const { AtomicU8::new(0) }; 4];
        own[0].store(1, Relaxed);
        own[1].store(2, Relaxed);
        own.swap(0, 3);
        own.rotate_left(1);
        let values = own.each_ref().map(|atomic| atomic.load(Relaxed));
        assert_eq!(values, [2, 0, 1, 0]);
        let copy = black_box(own);
        assert_eq!(copy.map(AtomicU8::into_inner), [2, 0, 1, 0]);
    });
}

// What is stored is overwritten by another value than what is there in the end; an event lies in between. The choice is
// one of two.
#[dpor::test]
fn overwritten_before_another_event() {
    // COUNT: rc11 2 sc 2 tso 2 pso 2
    let other = AtomicUsize::new(0);
    with_another_thread(|| {
        let mut own = AtomicUsize::new(0);
        own.store(dpor::choose(2), Relaxed);
        *own.get_mut() = 0;
        other.load(Relaxed);
        assert_eq!(own.load(Relaxed), 0);
    });
}

// The first value is what was read from the other thread: one of two.
#[dpor::test]
fn first_value_from_another_thread() {
    // COUNT: rc11 2 sc 2 tso 2 pso 2
    let shared = AtomicUsize::new(0);
    two(
        || shared.store(1, Relaxed),
        || {
            for _ in 0..2 {
                let before = shared.load(Relaxed);
                let own = AtomicUsize::new(before);
                assert_eq!(own.fetch_add(2, Relaxed), before);
                assert_eq!(own.load(Relaxed), before + 2);
                if before == 0 {
                    return;
                }
            }
        },
    );
}

#[dpor::test]
fn in_a_function_that_calls_itself() {
    // COUNT: rc11 1 sc 1 tso 1 pso 1
    fn sum(depth: usize) -> usize {
        let own = AtomicUsize::new(depth);
        let below = if depth == 0 { 0 } else { sum(depth - 1) + sum(depth - 1) };
        own.fetch_add(below, Relaxed);
        own.into_inner()
    }
    // sum(n) = n + 2 sum(n - 1)
    with_another_thread(|| assert_eq!(sum(3), 3 + 2 * (2 + 2)));
}

thread_local! {
    static LOCAL: AtomicUsize = const { AtomicUsize::new(3) };
    static CELL: Cell<usize> = const { Cell::new(3) };
}

#[dpor::test]
fn in_thread_local_memory() {
    // COUNT: rc11 1 sc 1 tso 1 pso 1
    let count = || {
        LOCAL.with(|local| local.fetch_add(1, Relaxed));
        CELL.with(|cell| unsafe { AtomicUsize::from_ptr(cell.as_ptr()) }.fetch_add(1, Relaxed));
        (LOCAL.with(|local| local.load(Relaxed)), CELL.get())
    };
    assert_eq!(two(count, count), ((4, 4), (4, 4)));
}

// The second block may be where the first one was.
#[dpor::test]
fn one_block_after_the_other() {
    // COUNT: rc11 1 sc 1 tso 1 pso 1
    with_another_thread(|| {
        for value in 0..4 {
            let own = Box::new(AtomicUsize::new(value));
            own.fetch_add(10, Relaxed);
            assert_eq!(own.load(Relaxed), value + 10);
        }
    });
}
