//@ arguments: --equivalence reads-from --no-fail-fast
//@ then: test --equivalence trace stores
//@ then: replay target/dpor/replay/the_second_store_is_overwritten.rc11.json

use std::sync::atomic::{AtomicU32, Ordering::Relaxed};
use std::thread;

static X: AtomicU32 = AtomicU32::new(0);

fn stores() {
    let threads = [1, 2, 3].map(|value| thread::spawn(move || X.store(value, Relaxed)));
    threads.into_iter().for_each(|thread| thread.join().unwrap());
}

#[dpor::test]
fn three_stores_and_a_load() {
    stores();
    assert!(X.load(Relaxed) > 0);
}

#[dpor::test]
fn three_stores() {
    stores();
}

#[dpor::test]
fn the_second_store_is_overwritten() {
    stores();
    assert_eq!(X.load(Relaxed), 2);
}

#[dpor::test(equivalence = "trace")]
fn as_the_attribute_says_stores() {
    stores();
}
