//! `choose` and `assume`, alone and with threads.

use std::sync::atomic::{AtomicUsize, Ordering::*};
use std::thread;

use crate::support::two;

static X: AtomicUsize = AtomicUsize::new(0);

// Three choices and two, of which two pairs are equal.
#[dpor::test]
fn alone() {
    // COUNT: rc11 4+2 sc 4+2 tso 4+2 pso 4+2
    let (a, b) = (dpor::choose(3), dpor::choose(2));
    dpor::assume(a != b);
}

// Choices of two threads: all pairs.
#[dpor::test]
fn in_two_threads() {
    // COUNT: rc11 6 sc 6 tso 6 pso 6
    let (a, b) = two(|| dpor::choose(2), || dpor::choose(3));
    assert!(a < 2 && b < 3);
}

// What to do is chosen. A load sees the store or not, so does a read-modify-write, whose place is decided by that; two
// stores are in either order: two executions each.
#[dpor::test]
fn of_what_to_do() {
    // COUNT: rc11 6 sc 6 tso 6 pso 6
    let act = || match dpor::choose(3) {
        0 => _ = X.load(Relaxed),
        1 => _ = X.fetch_add(1, Relaxed),
        _ => X.store(5, Relaxed),
    };
    two(act, || X.store(1, Relaxed));
}

// Chosen by one thread if it sees the other one's store.
#[dpor::test]
fn after_a_load() {
    // COUNT: rc11 4 sc 4 tso 4 pso 4
    let choose = || if X.load(Relaxed) == 1 { dpor::choose(3) } else { 0 };
    two(choose, || X.store(1, Relaxed));
}

#[dpor::test]
fn a_bad_one() {
    let number = dpor::choose(10);
    assert_ne!(number, 7); // ERROR: panic
}

// A bad combination of a choice and of what is seen.
#[dpor::test]
fn a_bad_combination() {
    let choose = || {
        X.store(1, Relaxed);
        dpor::choose(3)
    };
    let (number, seen) = two(choose, || X.load(Relaxed));
    assert_ne!((number, seen), (2, 1)); // ERROR: panic
}

// Executions that do not see the store are of no interest.
#[dpor::test]
fn assumed_to_be_seen() {
    // COUNT: rc11 1+1 sc 1+1 tso 1+1 pso 1+1
    thread::scope(|scope| {
        scope.spawn(|| X.store(1, Relaxed));
        scope.spawn(|| dpor::assume(X.load(Relaxed) == 1));
    });
    assert_eq!(X.load(Relaxed), 1);
}

// Nor is an error in them.
#[dpor::test]
fn error_assumed_away() {
    // COUNT: rc11 1+1 sc 1+1 tso 1+1 pso 1+1
    let thread = thread::spawn(|| X.store(1, Relaxed));
    let seen = X.load(Relaxed);
    dpor::assume(seen == 1);
    assert_eq!(seen, 1);
    thread.join().unwrap();
}

// An error before the assumption counts.
#[dpor::test]
fn error_before_the_assumption() {
    let thread = thread::spawn(|| X.store(1, Relaxed));
    let seen = X.load(Relaxed);
    assert_eq!(seen, 1); // ERROR: panic
    dpor::assume(seen == 1);
    thread.join().unwrap();
}

// An assumption that never holds leaves nothing.
#[dpor::test]
fn assumed_in_vain() {
    // COUNT: rc11 0+1 sc 0+1 tso 0+1 pso 0+1
    dpor::assume(!dpor::checking());
    unreachable!();
}

// A permutation of three, by choices: 3! of 3³.
#[dpor::test]
fn permutations() {
    // COUNT: rc11 6+21 sc 6+21 tso 6+21 pso 6+21
    let [a, b, c] = [(); 3].map(|()| dpor::choose(3));
    dpor::assume(a != b && b != c && c != a);
    assert_eq!(a + b + c, 3);
}
