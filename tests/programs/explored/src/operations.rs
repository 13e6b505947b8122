//! Every atomic type and operation.
//!
//! Two threads apply the same operation, each with its own operand: what they see and what is left is what one of the two
//! orders gives. An operation is chosen, so a test has two executions for each.

use std::sync::atomic::{Ordering::*, *};
use std::thread;

use crate::support::two;

/// An operation on an atomic, and what it must make of its value.
type Operation<A, T> = (fn(&A, T) -> T, fn(T, T) -> T);

/// Applies an operation to an atomic from two threads; `left` is what is in it then.
fn apply<A: Sync, T: Copy + PartialEq + Send>(
    (atomic, plain): Operation<A, T>,
    place: &A,
    [initial, a, b]: [T; 3],
    left: impl FnOnce() -> T,
) {
    let seen = two(move || atomic(place, a), move || atomic(place, b));
    let (after_a, after_b) = (plain(initial, a), plain(initial, b));
    let left = left();
    let a_first = seen == (initial, after_a) && left == plain(after_a, b);
    let b_first = seen == (after_b, initial) && left == plain(after_b, a);
    assert!(a_first || b_first);
}

macro_rules! integers {
    ($atomic:ident, $int:ident) => {{
        let operations: [Operation<$atomic, $int>; 9] = [
            (|x, v| x.fetch_add(v, Relaxed), |a, b| a.wrapping_add(b)),
            (|x, v| x.fetch_sub(v, Acquire), |a, b| a.wrapping_sub(b)),
            (|x, v| x.fetch_and(v, Release), |a, b| a & b),
            (|x, v| x.fetch_nand(v, AcqRel), |a, b| !(a & b)),
            (|x, v| x.fetch_or(v, SeqCst), |a, b| a | b),
            (|x, v| x.fetch_xor(v, Relaxed), |a, b| a ^ b),
            (|x, v| x.fetch_max(v, Relaxed), |a, b| a.max(b)),
            (|x, v| x.fetch_min(v, Relaxed), |a, b| a.min(b)),
            (|x, v| x.swap(v, Relaxed), |_, b| b),
        ];
        let values = [$int::MAX - 5, 7, $int::MIN + 2];
        let place = $atomic::new(values[0]);
        apply(operations[dpor::choose(9)], &place, values, || place.load(Relaxed));
    }};
}

#[dpor::test]
fn unsigned_8() {
    // COUNT: rc11 18 sc 18 tso 18 pso 18
    integers!(AtomicU8, u8);
}

#[dpor::test]
fn signed_8() {
    // COUNT: rc11 18 sc 18 tso 18 pso 18
    integers!(AtomicI8, i8);
}

#[dpor::test]
fn unsigned_16() {
    // COUNT: rc11 18 sc 18 tso 18 pso 18
    integers!(AtomicU16, u16);
}

#[dpor::test]
fn signed_16() {
    // COUNT: rc11 18 sc 18 tso 18 pso 18
    integers!(AtomicI16, i16);
}

#[dpor::test]
fn unsigned_32() {
    // COUNT: rc11 18 sc 18 tso 18 pso 18
    integers!(AtomicU32, u32);
}

#[dpor::test]
fn signed_32() {
    // COUNT: rc11 18 sc 18 tso 18 pso 18
    integers!(AtomicI32, i32);
}

#[dpor::test]
fn unsigned_64() {
    // COUNT: rc11 18 sc 18 tso 18 pso 18
    integers!(AtomicU64, u64);
}

#[dpor::test]
fn signed_64() {
    // COUNT: rc11 18 sc 18 tso 18 pso 18
    integers!(AtomicI64, i64);
}

#[dpor::test]
fn unsigned_of_pointer_size() {
    // COUNT: rc11 18 sc 18 tso 18 pso 18
    integers!(AtomicUsize, usize);
}

#[dpor::test]
fn signed_of_pointer_size() {
    // COUNT: rc11 18 sc 18 tso 18 pso 18
    integers!(AtomicIsize, isize);
}

// Six operations, each with any initial value and operands: 6·2³ choices of two executions each.
#[dpor::test]
fn booleans() {
    // COUNT: rc11 96 sc 96 tso 96 pso 96
    let operations: [Operation<AtomicBool, bool>; 6] = [
        (|x, v| x.fetch_and(v, Relaxed), |a, b| a & b),
        (|x, v| x.fetch_nand(v, Acquire), |a, b| !(a & b)),
        (|x, v| x.fetch_or(v, Release), |a, b| a | b),
        (|x, v| x.fetch_xor(v, AcqRel), |a, b| a ^ b),
        (|x, _| x.fetch_not(SeqCst), |a, _| !a),
        (|x, v| x.swap(v, Relaxed), |_, b| b),
    ];
    let values = [(); 3].map(|()| dpor::choose(2) == 1);
    let place = AtomicBool::new(values[0]);
    apply(operations[dpor::choose(6)], &place, values, || place.load(Relaxed));
}

/// A pointer whose address is what is compared.
#[derive(Clone, Copy, PartialEq)]
struct Address(*mut u32);

unsafe impl Send for Address {}

// Two operations.
#[dpor::test]
fn pointers() {
    // COUNT: rc11 4 sc 4 tso 4 pso 4
    let mut numbers = [10, 11, 12];
    let [a, b, c] = &mut numbers;
    let values = [a, b, c].map(|number| Address(number));
    let place = AtomicPtr::new(values[0].0);
    let operations: [Operation<AtomicPtr<u32>, Address>; 2] = [
        (|x, v| Address(x.swap(v.0, AcqRel)), |_, b| b),
        (|x, v| Address(x.fetch_ptr_add(v.0.addr() % 2 + 1, Relaxed)), |a, _| Address(a.0.wrapping_add(1))),
    ];
    apply(operations[dpor::choose(2)], &place, values, || Address(place.load(Relaxed)));
    assert!((10..=12).contains(unsafe { &*place.load(Relaxed) }));
}

// A tag in the low bits of a pointer: set by one thread and toggled by another, in either order.
#[dpor::test]
fn tagged_pointers() {
    // COUNT: rc11 2 sc 2 tso 2 pso 2
    let mut number = 7_u32;
    let untagged = &raw mut number;
    let place = AtomicPtr::new(untagged);
    let seen = two(|| place.fetch_or(1, Relaxed).addr() & 3, || place.fetch_xor(3, Relaxed).addr() & 3);
    assert!([(0, 1), (3, 0)].contains(&seen));
    let left = place.fetch_and(!3, Relaxed);
    assert_eq!(left.addr() & 3, if seen.0 == 0 { 2 } else { 3 });
    assert_eq!(place.load(Relaxed), untagged);
    assert_eq!(unsafe { *place.into_inner() }, 7);
}

// Whichever comes first succeeds, and the other one sees its value.
#[dpor::test]
fn compare_exchange() {
    // COUNT: rc11 2 sc 2 tso 2 pso 2
    let place = AtomicU16::new(0);
    let exchange = |new| place.compare_exchange(0, new, AcqRel, Acquire);
    let seen = two(|| exchange(1), || exchange(2));
    assert!([(Ok(0), Err(1)), (Err(2), Ok(0))].contains(&seen));
}

// The same, since spurious failures are not asked for.
#[dpor::test]
fn compare_exchange_weak() {
    // COUNT: rc11 2 sc 2 tso 2 pso 2
    let place = AtomicI64::new(-1);
    let exchange = |new| place.compare_exchange_weak(-1, new, Release, Relaxed);
    let seen = two(|| exchange(1), || exchange(2));
    assert!([(Ok(-1), Err(1)), (Err(2), Ok(-1))].contains(&seen));
}

// A failure without a reason, after which the load sees the store; besides, the exchange comes first, or sees the store. That
// the load sees what was there before the store is no execution: the loop is back where it began.
#[dpor::test(spurious = true)]
fn compare_exchange_weak_in_a_loop() {
    // COUNT: rc11 3 sc 3 tso 3 pso 3
    let number = AtomicU32::new(0);
    let exchange = || {
        while number.compare_exchange_weak(0, 1, Relaxed, Relaxed).is_err() {
            if number.load(Relaxed) != 0 {
                break;
            }
        }
    };
    two(exchange, || number.store(5, Relaxed));
    assert_eq!(number.into_inner(), 5);
}

// Whoever fails without a reason tries again: the orders of the two.
#[dpor::test(spurious = true)]
fn compare_exchange_weak_until_it_succeeds() {
    // COUNT: rc11 2 sc 2 tso 2 pso 2
    let number = AtomicU32::new(0);
    let add = || {
        let mut current = number.load(Relaxed);
        while let Err(actual) = number.compare_exchange_weak(current, current + 1, Relaxed, Relaxed) {
            current = actual;
        }
    };
    two(add, add);
    assert_eq!(number.into_inner(), 2);
}

#[dpor::test]
fn compare_exchange_of_pointers() {
    // COUNT: rc11 2 sc 2 tso 2 pso 2
    static NUMBERS: [u8; 2] = [0, 1];
    let place = AtomicPtr::new(std::ptr::null_mut());
    let exchange = |at: usize| {
        let new = (&raw const NUMBERS[at]).cast_mut();
        place.compare_exchange(std::ptr::null_mut(), new, Release, Relaxed).is_ok()
    };
    let (first, second) = two(|| exchange(0), || exchange(1));
    assert_ne!(first, second);
    assert_eq!(unsafe { *place.load(Relaxed) }, u8::from(second));
}

#[dpor::test]
fn compare_exchange_of_booleans() {
    // COUNT: rc11 2 sc 2 tso 2 pso 2
    let place = AtomicBool::new(false);
    let lock = || place.compare_exchange(false, true, Acquire, Relaxed).is_ok();
    let (first, second) = two(lock, lock);
    assert!(first != second && place.load(Relaxed));
}

// A compare-exchange compares no more than its width: the bytes beside it do not matter.
#[dpor::test]
fn compare_exchange_of_one_byte_of_four() {
    // COUNT: rc11 1 sc 1 tso 1 pso 1
    let bytes = [const { AtomicU8::new(0) }; 4];
    let exchange = |at: usize| bytes[at].compare_exchange(0, at as u8 + 1, Relaxed, Relaxed);
    assert_eq!(two(|| exchange(1), || exchange(2)), (Ok(0), Ok(0)));
    assert_eq!(bytes.each_ref().map(|byte| byte.load(Relaxed)), [0, 2, 3, 0]);
}

#[dpor::test]
#[allow(deprecated, reason = "the old name of `try_update`")]
fn fetch_update() {
    let place = AtomicU32::new(5);
    let double = || place.fetch_update(AcqRel, Acquire, |seen| Some(2 * seen)).unwrap();
    let seen = two(double, double);
    assert!([(5, 10), (10, 5)].contains(&seen));
    assert_eq!(place.into_inner(), 20);
}

#[dpor::test]
fn update() {
    let place = AtomicI8::new(1);
    let negate_and_add = || place.update(Relaxed, Relaxed, |seen| -seen + 3);
    let seen = two(negate_and_add, negate_and_add);
    assert!([(1, 2), (2, 1)].contains(&seen));
    assert_eq!(place.into_inner(), 1);
}

// An update that is declined is a load: it sees the store or not.
#[dpor::test]
fn update_that_declines() {
    // COUNT: rc11 2 sc 2 tso 2 pso 2
    let place = AtomicU32::new(5);
    let decline = || place.try_update(SeqCst, Relaxed, |_| None);
    let (seen, ()) = two(decline, || place.store(6, Relaxed));
    assert!([Err(5), Err(6)].contains(&seen));
}

// Loads and stores of every ordering: each load sees 0 or the store.
#[dpor::test]
fn loads_and_stores() {
    // COUNT: rc11 18 sc 18 tso 18 pso 18
    let load = [Relaxed, Acquire, SeqCst][dpor::choose(3)];
    let store = [Relaxed, Release, SeqCst][dpor::choose(3)];
    let place = AtomicI16::new(0);
    let (seen, ()) = two(|| place.load(load), || place.store(-7, store));
    assert!(seen == 0 || seen == -7);
}

// Plain, then atomic, then plain again, always ordered: no race, and nothing is lost. The increments are in either order.
#[dpor::test]
fn plain_then_atomic_then_plain() {
    // COUNT: rc11 2 sc 2 tso 2 pso 2
    let mut number = 40_u32;
    number += 1;
    let place = unsafe { AtomicU32::from_ptr(&raw mut number) };
    two(|| place.fetch_add(1, Relaxed), || place.fetch_add(1, Relaxed));
    assert_eq!(number, 43);
    number += 1;
    assert_eq!(unsafe { AtomicU32::from_ptr(&raw mut number) }.load(Relaxed), 44);
}

// The same through a pointer to the heap and back, with threads in between twice: two orders each.
#[dpor::test]
fn atomic_views_of_memory() {
    // COUNT: rc11 4 sc 4 tso 4 pso 4
    let mut numbers = vec![0_u64; 3];
    for round in 0..2 {
        let place = unsafe { AtomicU64::from_ptr(&raw mut numbers[1]) };
        two(|| place.fetch_add(10, Relaxed), || place.fetch_add(1, Relaxed));
        numbers[1] *= 2;
        assert_eq!(numbers[1], [22, 66][round]);
    }
    assert_eq!(numbers, [0, 66, 0]);
}

// Exclusive access by `get_mut` sees the last store, whichever it is, and what it writes is seen by the next thread.
#[dpor::test]
fn exclusive_access() {
    // COUNT: rc11 2 sc 2 tso 2 pso 2
    let mut place = AtomicI32::new(0);
    two(|| place.store(1, Relaxed), || place.store(2, Relaxed));
    let last = *place.get_mut();
    *place.get_mut() += 10;
    let place = &place;
    let seen = thread::scope(|scope| scope.spawn(move || place.load(Relaxed)).join().unwrap());
    assert!(seen == last + 10 && (last == 1 || last == 2));
}

// A move of an atomic takes its value along.
#[dpor::test]
fn moved_atomics() {
    // COUNT: rc11 2 sc 2 tso 2 pso 2
    let atomics = (AtomicU8::new(1), AtomicPtr::new(std::ptr::null_mut::<u8>()));
    two(|| atomics.0.fetch_add(1, Relaxed), || atomics.0.fetch_add(1, Relaxed));
    let moved = Box::new(atomics);
    assert_eq!(thread::spawn(move || moved.0.load(Relaxed)).join().unwrap(), 3);
}

// So does a vector that moves to a larger block, and one that two others are swapped with.
#[dpor::test]
fn moved_vectors_of_atomics() {
    // COUNT: rc11 1 sc 1 tso 1 pso 1
    let mut atomics: Vec<AtomicU32> = vec![AtomicU32::new(1), AtomicU32::new(2)];
    let add_to_all = |atomics: &[AtomicU32]| {
        thread::scope(|scope| {
            for atomic in atomics {
                scope.spawn(|| atomic.fetch_add(10, Relaxed));
            }
        });
    };
    add_to_all(&atomics);
    atomics.reserve_exact(100);
    atomics.push(AtomicU32::new(3));
    atomics.swap(0, 2);
    add_to_all(&atomics);
    assert_eq!(atomics.into_iter().map(AtomicU32::into_inner).collect::<Vec<_>>(), [13, 22, 21]);
}

#[dpor::test]
fn into_inner() {
    // COUNT: rc11 2 sc 2 tso 2 pso 2
    let place = AtomicIsize::new(-1);
    two(|| place.swap(-2, Relaxed), || place.swap(-3, Relaxed));
    let last = place.into_inner();
    assert!(last == -2 || last == -3);
}

// Alone, every fence is fine, except one that is relaxed: that panics, in the standard library. So do loads and stores with
// an ordering that they cannot have.
#[dpor::test]
fn fences() {
    // COUNT: rc11 8 sc 8 tso 8 pso 8
    let order = [Acquire, Release, AcqRel, SeqCst][dpor::choose(4)];
    if dpor::choose(2) == 0 {
        fence(order);
    } else {
        compiler_fence(order);
    }
}

#[dpor::test(expect = "panic")]
fn relaxed_fence() {
    let order = [SeqCst, Relaxed][dpor::choose(2)];
    fence(order);
}

#[dpor::test(expect = "panic")]
fn load_with_release() {
    let order = [Relaxed, Release][dpor::choose(2)];
    AtomicU8::new(0).load(order);
}

#[dpor::test(expect = "panic")]
fn store_with_acquire() {
    let order = [Relaxed, Acquire][dpor::choose(2)];
    AtomicU8::new(0).store(1, order);
}

// Two increments by a load and a store: one may be lost.
#[dpor::test]
fn lost_update() {
    let place = AtomicU32::new(0);
    let increment = || {
        let seen = place.load(SeqCst);
        place.store(seen + 1, SeqCst);
    };
    two(increment, increment);
    assert_eq!(place.into_inner(), 2); // ERROR: panic
}

// The same with a compare-exchange that is not tried again.
#[dpor::test]
fn update_given_up() {
    let place = AtomicU32::new(0);
    let increment = || {
        let seen = place.load(SeqCst);
        _ = place.compare_exchange(seen, seen + 1, SeqCst, SeqCst);
    };
    two(increment, increment);
    assert_eq!(place.into_inner(), 2); // ERROR: panic
}

// The value was changed and changed back in between: the exchange does not notice (ABA).
#[dpor::test]
fn changed_and_changed_back() {
    let place = AtomicU32::new(0);
    let changes = AtomicU32::new(0);
    let change_twice = || {
        place.store(1, SeqCst);
        changes.fetch_add(1, SeqCst);
        place.store(0, SeqCst);
    };
    let exchange = || {
        let (value, before) = (place.load(SeqCst), changes.load(SeqCst));
        let exchanged = value == 0 && place.compare_exchange(0, 7, SeqCst, SeqCst).is_ok();
        exchanged && changes.load(SeqCst) != before
    };
    let ((), deceived) = two(change_twice, exchange);
    assert!(!deceived); // ERROR: panic
}
