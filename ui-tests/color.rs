//@ arguments: --color always

use std::sync::atomic::{AtomicUsize, Ordering};

#[dpor::test]
fn fails() {
    static X: AtomicUsize = AtomicUsize::new(0);
    let thread = std::thread::spawn(|| X.store(1, Ordering::Relaxed));
    let seen = X.load(Ordering::Relaxed);
    thread.join().unwrap();
    assert_eq!(seen, 1);
}

#[dpor::test(model = "sc")]
fn passes() {}
