//! Errors that happen in the code of a dependency are shown where that is used.

use dependency::{assert_same, SpinLock};
use std::thread;

static COUNT: SpinLock<u32> = SpinLock::new(0);

#[dpor::test]
fn a_lock_that_does_not_acquire() {
    let thread = thread::spawn(|| COUNT.with(|count| *count += 1));
    COUNT.with(|count| *count += 1);
    thread.join().unwrap();
}

#[dpor::test]
fn a_panic_in_a_dependency() {
    assert_same(dpor::choose(2) as u32, 0);
}
