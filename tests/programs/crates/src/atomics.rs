//! Atomics that are larger than the processor's own, or that ask what the processor can do.

use std::sync::atomic::Ordering::SeqCst;
use std::thread;

use portable_atomic::AtomicU128;

#[dpor::test]
fn wide_atomics() {
    let wide = AtomicU128::new(1);
    wide.store(7, SeqCst);
    println!("{} {:?}", wide.swap(8, SeqCst), wide.compare_exchange(8, u128::MAX, SeqCst, SeqCst));
    println!("{} {}", wide.load(SeqCst), wide.fetch_add(3, SeqCst));
    println!("{}", wide.into_inner());
}

#[dpor::test]
fn shared_wide_atomic() {
    let wide = AtomicU128::new(0);
    thread::scope(|scope| {
        scope.spawn(|| wide.fetch_add(1 << 100, SeqCst));
        wide.fetch_add(1, SeqCst);
    });
    println!("{}", wide.into_inner());
}
