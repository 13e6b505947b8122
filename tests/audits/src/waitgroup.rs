use std::sync::OnceLock;

use pollster::block_on;
use waitgroup::WaitGroup;

use crate::both;

/// Whoever waits for the group sees what its worker has done.
#[dpor::test]
fn wait_for_worker() {
    let group = WaitGroup::new();
    let worker = group.worker();
    let cell = OnceLock::new();
    both(
        || {
            cell.set(Box::new(1)).unwrap();
            drop(worker);
        },
        || {
            block_on(group.wait());
            assert_eq!(cell.get(), Some(&Box::new(1)));
        },
    );
}
