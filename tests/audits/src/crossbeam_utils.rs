use crossbeam_utils::atomic::AtomicCell;
use crossbeam_utils::sync::{Parker, ShardedLock, WaitGroup};

use crate::both;

/// Two threads add to a cell: both count.
#[dpor::test]
fn cell_additions() {
    let cell = AtomicCell::new(0_u32);
    both(|| cell.fetch_add(1), || cell.fetch_add(2));
    assert_eq!(cell.load(), 3);
}

/// A cell that is larger than any atomic, read with a sequence lock: what is loaded was stored. The reads of a sequence lock
/// race by design.
#[dpor::test(allow = "data-race in crossbeam_utils::atomic")]
fn large_cell() {
    let cell = AtomicCell::new([0_u64; 2]);
    let (_, seen) = both(|| cell.store([1; 2]), || cell.load());
    assert_eq!(seen[0], seen[1]);
}

/// A thread unparks while another parks: no token is lost.
#[dpor::test]
fn parker() {
    let parker = Parker::new();
    let unparker = parker.unparker().clone();
    let mut value = 0;
    let shared = &mut value;
    both(
        move || {
            *shared = 1;
            unparker.unpark();
        },
        || parker.park(),
    );
    assert_eq!(value, 1);
}

/// A thread writes two numbers under the lock while another reads both: they agree.
#[dpor::test]
fn sharded_lock() {
    let pair = ShardedLock::new((0, 0));
    let (_, seen) = both(|| *pair.write().unwrap() = (1, 1), || *pair.read().unwrap());
    assert!(seen == (0, 0) || seen == (1, 1));
}

/// Whoever waits for the group sees what its member has done.
#[dpor::test]
fn wait_group() {
    let group = WaitGroup::new();
    let member = group.clone();
    let cell = std::sync::OnceLock::new();
    both(
        || {
            cell.set(Box::new(1)).unwrap();
            drop(member);
        },
        || {
            group.wait();
            assert_eq!(cell.get(), Some(&Box::new(1)));
        },
    );
}
