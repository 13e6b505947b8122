//! Loops that do not end, and choices that cannot be listed.

use std::hint::black_box;

#[dpor::test]
fn endless_loop() {
    // OUTCOME: incomplete
    let mut n = black_box(1u64);
    while n != 0 {
        n = n % 1_000 + 1;
    }
}

#[dpor::test]
fn long_loop() {
    let mut n = black_box(1u64);
    for _ in 0..100_000 {
        n = n % 1_000 + 1;
    }
    assert_eq!(n, 1);
}

#[dpor::test]
fn choice_among_too_many() {
    // OUTCOME: unsupported
    black_box(dpor::choose(1 << 31));
}
