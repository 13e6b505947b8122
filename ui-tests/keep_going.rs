//@ arguments: --keep-going

//! Every distinct error is reported once.

use std::sync::atomic::{AtomicUsize, Ordering};
use std::thread;

/// 2 writes and 2 reads: the reader sees 0, 1 or 2, then the same or what is later in coherence order.
#[dpor::test]
fn two_mistakes() {
    static X: AtomicUsize = AtomicUsize::new(0);
    let writer = thread::spawn(|| {
        X.store(1, Ordering::Relaxed);
        X.store(2, Ordering::Relaxed);
    });
    let (first, second) = (X.load(Ordering::Relaxed), X.load(Ordering::Relaxed));
    assert_ne!(first, 1, "saw the first store");
    assert_eq!(first, second, "saw a change");
    writer.join().unwrap();
}

/// The same mistake with different values is one.
#[dpor::test]
fn one_mistake() {
    let number = dpor::choose(5);
    assert!(number < 2, "{number} is too large");
}

/// All errors are of the expected kind.
#[dpor::test(expect = "panic")]
fn expected_mistakes() {
    match dpor::choose(3) {
        0 => panic!("zero"),
        1 => panic!("one"),
        _ => {}
    }
}
