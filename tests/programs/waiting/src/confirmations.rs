//! Loops that go on until a compare-exchange has confirmed what they have read, in all their forms. n threads add one to
//! a counter: in any order, n!, where attempts that fail are left out.
//!
//! At lower levels, forms that load again after a failure have just these executions, too. Forms that go on with what the
//! failure has found have more: the p-th thread to succeed may before that have failed with any of the p − 1 values before
//! the one that it finds in the end, in order: 2^(p − 1) possibilities, and n!·2^(n(n − 1)/2) executions, 48 for three.
//! None of them is blocked.

use std::hint;
use std::ptr;
use std::sync::atomic::{AtomicPtr, AtomicU64, AtomicUsize, Ordering::*};
use std::thread;

use crate::support::{Plain, threads, two};

/// Three threads add one each.
fn count_to_three(add: impl Fn(&AtomicUsize) + Sync) {
    let counter = AtomicUsize::new(0);
    threads(3, |_| add(&counter));
    assert_eq!(counter.into_inner(), 3);
}

// The blocked executions are those of the benchmark conf_loop: 3·1² + 6·3.
#[dpor::test]
fn load_and_exchange() {
    // COUNT: rc11 6 sc 6 tso 6 pso 6
    // LEVELS: off 6+21
    count_to_three(|counter| {
        loop {
            let current = counter.load(Relaxed);
            if counter.compare_exchange(current, current + 1, Relaxed, Relaxed).is_ok() {
                break;
            }
        }
    });
}

#[dpor::test]
fn while_it_fails() {
    // COUNT: rc11 6 sc 6 tso 6 pso 6
    count_to_three(|counter| {
        let add = |current| counter.compare_exchange(current, current + 1, AcqRel, Relaxed);
        while add(counter.load(Acquire)).is_err() {
            hint::spin_loop();
        }
    });
}

#[dpor::test]
fn weak_exchange() {
    // COUNT: rc11 6 sc 6 tso 6 pso 6
    count_to_three(add_weakly);
}

// A failure without a reason is left out like any other.
#[dpor::test(spurious = true)]
fn weak_exchange_that_fails_spuriously() {
    // COUNT: rc11 6 sc 6 tso 6 pso 6
    count_to_three(add_weakly);
}

fn add_weakly(counter: &AtomicUsize) {
    loop {
        let current = counter.load(Relaxed);
        match counter.compare_exchange_weak(current, current + 1, Relaxed, Relaxed) {
            Ok(_) => return,
            Err(_) => hint::spin_loop(),
        }
    }
}

#[dpor::test]
fn goes_on_with_what_it_found() {
    // COUNT: rc11 6 sc 6 tso 6 pso 6
    // LEVELS: off 48 stale 48 in-place 48 full 6
    count_to_three(|counter| {
        let mut current = counter.load(Relaxed);
        loop {
            match counter.compare_exchange(current, current + 1, Relaxed, Relaxed) {
                Ok(_) => break,
                Err(actual) => current = actual,
            }
        }
    });
}

#[dpor::test]
fn goes_on_while_it_fails() {
    // COUNT: rc11 6 sc 6 tso 6 pso 6
    // LEVELS: off 48 stale 48 in-place 48 full 6
    count_to_three(|counter| {
        let mut current = counter.load(Acquire);
        while let Err(actual) = counter.compare_exchange_weak(current, current + 1, AcqRel, Acquire) {
            current = actual;
        }
    });
}

// Two threads whose weak exchanges may fail without a reason, which then find what they have loaded.
#[dpor::test(spurious = true)]
fn goes_on_after_failing_spuriously() {
    // COUNT: rc11 2 sc 2 tso 2 pso 2
    // LEVELS: off 2.. stale 2.. in-place 2.. full 2
    let counter = AtomicUsize::new(0);
    let add = || {
        let mut current = counter.load(Relaxed);
        while let Err(actual) = counter.compare_exchange_weak(current, current + 1, Relaxed, Relaxed) {
            current = actual;
        }
    };
    two(add, add);
    assert_eq!(counter.into_inner(), 2);
}

#[dpor::test]
#[allow(deprecated, reason = "this is what it was called for years")]
fn fetch_update() {
    // COUNT: rc11 6 sc 6 tso 6 pso 6
    // LEVELS: off 48 stale 48 in-place 48 full 6
    count_to_three(|counter| _ = counter.fetch_update(AcqRel, Acquire, |current| Some(current + 1)));
}

#[dpor::test]
fn update() {
    // COUNT: rc11 6 sc 6 tso 6 pso 6
    // LEVELS: off 48 stale 48 in-place 48 full 6
    count_to_three(|counter| _ = counter.update(Relaxed, Relaxed, |current| current + 1));
}

// One of n threads takes the only one there is; the others see that there is none.
#[dpor::test]
fn update_that_gives_up() {
    // COUNT: rc11 3 sc 3 tso 3 pso 3
    // LEVELS: off 3.. stale 3.. in-place 3.. full 3
    let left = AtomicUsize::new(1);
    let taken = AtomicUsize::new(0);
    threads(3, |i| {
        if left.try_update(AcqRel, Acquire, |left| left.checked_sub(1)).is_ok() {
            taken.store(i + 1, Relaxed);
        }
    });
    assert_eq!(left.into_inner(), 0);
    assert_ne!(taken.into_inner(), 0);
}

// Thread i makes it at least i. For 3: those that store are a set with 3 in it, in increasing order; each of the others
// has seen one of the larger ones: 1 for {3}, 1 for {1, 3}, 2 for {2, 3}, 1 for {1, 2, 3}.
#[dpor::test]
fn maximum() {
    // COUNT: rc11 5 sc 5 tso 5 pso 5
    let maximum = AtomicUsize::new(0);
    threads(3, |i| {
        loop {
            let current = maximum.load(Relaxed);
            if current > i || maximum.compare_exchange_weak(current, i + 1, Relaxed, Relaxed).is_ok() {
                break;
            }
        }
    });
    assert_eq!(maximum.into_inner(), 3);
}

// Something else is read in between, which does not change.
#[dpor::test]
fn with_a_read_in_between() {
    // COUNT: rc11 6 sc 6 tso 6 pso 6
    let step = AtomicUsize::new(1);
    count_to_three(|counter| {
        loop {
            let current = counter.load(Relaxed);
            let next = current + step.load(Relaxed);
            if counter.compare_exchange(current, next, Relaxed, Relaxed).is_ok() {
                break;
            }
        }
    });
}

// Something else is read in between, which changes once: each of the three sees that or not; where counting is ordered with
// reading, all do after one that did.
#[dpor::test]
fn with_a_read_of_what_changes() {
    // COUNT: rc11 48 sc 24 tso 24 pso 24
    let (counter, step) = (AtomicUsize::new(0), AtomicUsize::new(1));
    thread::scope(|scope| {
        for _ in 0..3 {
            scope.spawn(|| {
                loop {
                    let current = counter.load(Relaxed);
                    let next = current + step.load(Relaxed);
                    if counter.compare_exchange(current, next, Relaxed, Relaxed).is_ok() {
                        break;
                    }
                }
            });
        }
        scope.spawn(|| step.store(10, Relaxed));
    });
    assert!([3, 12, 21, 30].contains(&counter.into_inner()));
}

// Memory of the thread is written in each iteration.
#[dpor::test]
fn with_writes_to_locals() {
    // COUNT: rc11 6 sc 6 tso 6 pso 6
    // LEVELS: off 6.. stale 6.. in-place 6.. full 6
    count_to_three(|counter| {
        let mut digits = [0; 4];
        loop {
            let current = counter.load(Relaxed);
            for (i, digit) in digits.iter_mut().enumerate() {
                *digit = (current + i) % 10;
            }
            hint::black_box(&mut digits);
            if counter.compare_exchange(digits[0], digits[1], Relaxed, Relaxed).is_ok() {
                break;
            }
        }
    });
}

// What the compare-exchange publishes is allocated in each iteration, and freed where that fails.
#[dpor::test]
fn with_an_allocation_in_each() {
    // COUNT: rc11 6 sc 6 tso 6 pso 6
    // LEVELS: off 6.. stale 6.. in-place 6.. full 6..
    let current = AtomicPtr::new(Box::into_raw(Box::new(0)));
    let old = [const { Plain::new(ptr::null_mut()) }; 3];
    threads(3, |i| {
        loop {
            let seen = current.load(Acquire);
            let new = Box::into_raw(Box::new(unsafe { *seen } + 1));
            if current.compare_exchange(seen, new, AcqRel, Relaxed).is_ok() {
                old[i].write(seen);
                break;
            }
            drop(unsafe { Box::from_raw(new) });
        }
    });
    let last = unsafe { Box::from_raw(current.into_inner()) };
    assert_eq!(*last, 3);
    for pointer in old {
        drop(unsafe { Box::from_raw(pointer.into_inner()) });
    }
}

struct Node {
    value: usize,
    next: *mut Node,
}

// A node allocated before the loop, whose link is written in each iteration: in both forms.
#[dpor::test]
fn node_before_the_loop() {
    // COUNT: rc11 6 sc 6 tso 6 pso 6
    // LEVELS: off 6.. stale 6.. in-place 6.. full 6
    push_three(|head, node| {
        loop {
            let first = head.load(Relaxed);
            unsafe { (*node).next = first };
            if head.compare_exchange_weak(first, node, Release, Relaxed).is_ok() {
                break;
            }
        }
    });
}

#[dpor::test]
fn node_before_the_loop_that_goes_on() {
    // COUNT: rc11 6 sc 6 tso 6 pso 6
    // LEVELS: off 48 stale 48 in-place 48 full 6
    push_three(|head, node| {
        let mut first = head.load(Relaxed);
        loop {
            unsafe { (*node).next = first };
            match head.compare_exchange_weak(first, node, Release, Relaxed) {
                Ok(_) => break,
                Err(now) => first = now,
            }
        }
    });
}

#[dpor::test]
fn node_in_a_closure() {
    // COUNT: rc11 6 sc 6 tso 6 pso 6
    // LEVELS: off 48 stale 48 in-place 48 full 6
    push_three(|head, node| {
        let link = |first| {
            unsafe { (*node).next = first };
            Some(node)
        };
        _ = head.try_update(Release, Relaxed, link);
    });
}

fn push_three(push: impl Fn(&AtomicPtr<Node>, *mut Node) + Sync) {
    let head = AtomicPtr::new(ptr::null_mut());
    threads(3, |value| push(&head, Box::into_raw(Box::new(Node { value, next: ptr::null_mut() }))));
    let (mut sum, mut node) = (0, head.into_inner());
    while !node.is_null() {
        let freed = unsafe { Box::from_raw(node) };
        sum += freed.value;
        node = freed.next;
    }
    assert_eq!(sum, 3);
}

// Two halves of one word, of which each thread increments one: still one location.
#[dpor::test]
fn halves_of_a_word() {
    // COUNT: rc11 6 sc 6 tso 6 pso 6
    let word = AtomicU64::new(0);
    threads(3, |i| {
        let shift = 32 * (i as u32 % 2);
        loop {
            let current = word.load(Relaxed);
            if word.compare_exchange(current, current + (1 << shift), Relaxed, Relaxed).is_ok() {
                break;
            }
        }
    });
    assert_eq!(word.into_inner(), 1 << 32 | 2);
}

// A sum with an intermediate result that only the thread itself sees, and a second counter: (n!)².
#[dpor::test]
fn two_counters() {
    // COUNT: rc11 36 sc 36 tso 36 pso 36
    let second = AtomicUsize::new(0);
    let add = |counter: &AtomicUsize| {
        loop {
            let current = counter.load(Relaxed);
            if counter.compare_exchange(current, current + 1, Relaxed, Relaxed).is_ok() {
                break;
            }
        }
    };
    count_to_three(|first| {
        add(first);
        add(&second);
    });
    assert_eq!(second.into_inner(), 3);
}

// Two additions each, by two threads: any order that keeps those of either in sequence, C(4, 2).
#[dpor::test]
fn twice_each() {
    // COUNT: rc11 6 sc 6 tso 6 pso 6
    let counter = AtomicUsize::new(0);
    let add_twice = || {
        for _ in 0..2 {
            loop {
                let current = counter.load(Relaxed);
                if counter.compare_exchange(current, current + 1, Relaxed, Relaxed).is_ok() {
                    break;
                }
            }
        }
    };
    two(add_twice, add_twice);
    assert_eq!(counter.into_inner(), 4);
}

// After an attempt that has failed, a thread looks whether it is to go on at all: then failures matter. The first adds one
// before or after the other; or it fails, having seen what the other has replaced, and then sees that it is to stop, or not and
// tries again.
#[dpor::test]
fn gives_up_after_a_failure() {
    let (counter, stop) = (AtomicUsize::new(0), AtomicUsize::new(0));
    let add = || {
        loop {
            let seen = counter.load(Relaxed);
            if counter.compare_exchange(seen, seen + 1, Relaxed, Relaxed).is_ok() {
                return true;
            }
            if stop.load(Relaxed) == 1 {
                return false;
            }
        }
    };
    let other = || {
        counter.fetch_add(1, Relaxed);
        stop.store(1, Relaxed);
    };
    let (added, ()) = two(add, other);
    assert!(added); // ERROR: panic
}

fn add_one(counter: &AtomicUsize) {
    loop {
        let seen = counter.load(Relaxed);
        if counter.compare_exchange(seen, seen + 1, Relaxed, Relaxed).is_ok() {
            break;
        }
    }
}

// Two threads add one to each of four counters, at one place. Each counter has the two additions in either order: 2⁴.
#[dpor::test]
fn four_counters_at_one_place() {
    // COUNT: rc11 16 sc 16 tso 16 pso 16
    let counters = [const { AtomicUsize::new(0) }; 4];
    let add = || counters.iter().for_each(add_one);
    two(add, add);
}

// The same at four places: as many executions, and no more has to be learned (`tests/tests/waiting.rs`).
#[dpor::test]
fn four_counters_at_four_places() {
    // COUNT: rc11 16 sc 16 tso 16 pso 16
    let counters = [const { AtomicUsize::new(0) }; 4];
    let add = || {
        add_one(&counters[0]);
        add_one(&counters[1]);
        add_one(&counters[2]);
        add_one(&counters[3]);
    };
    two(add, add);
}
