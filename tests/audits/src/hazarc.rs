use std::sync::Arc;

use hazarc::AtomicArc;

use crate::both;

/// A thread stores while another loads: it gets the old value or the new one, alive.
#[dpor::test]
fn load_while_storing() {
    let shared: AtomicArc<u32> = AtomicArc::new(Arc::new(1));
    let (_, seen) = both(|| shared.store(Arc::new(2)), || **shared.load());
    assert!(seen == 1 || seen == 2);
}

/// Two threads swap: each value comes out once.
#[dpor::test]
fn two_swaps() {
    let shared: AtomicArc<u32> = AtomicArc::new(Arc::new(0));
    let (one, two) = both(|| shared.swap(Arc::new(1)), || shared.swap(Arc::new(2)));
    let mut all = [*one, *two, **shared.load()];
    all.sort();
    assert_eq!(all, [0, 1, 2]);
}
