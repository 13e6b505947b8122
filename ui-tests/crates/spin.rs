//! spin 0.5.1 (RUSTSEC-2019-0013): the write guard unlocks with a relaxed store.
//@ arguments: --suggest --timeout 600

use spin::RwLock;
use std::thread;

#[dpor::test]
fn two_writers() {
    let lock = RwLock::new(0);
    thread::scope(|scope| {
        scope.spawn(|| *lock.write() += 1);
        *lock.write() += 1;
    });
}
