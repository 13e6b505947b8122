use std::sync::Arc;

use arc_swap::ArcSwap;

use crate::both;

/// A thread stores while another loads: it gets the old value or the new one, alive.
#[dpor::test]
fn load_while_storing() {
    let shared = ArcSwap::from_pointee(1);
    let (_, seen) = both(|| shared.store(Arc::new(2)), || **shared.load());
    assert!(seen == 1 || seen == 2);
    assert_eq!(**shared.load(), 2);
}

/// Two threads swap: each value comes out once.
#[dpor::test]
fn two_swaps() {
    let shared = ArcSwap::from_pointee(0);
    let (one, two) = both(|| shared.swap(Arc::new(1)), || shared.swap(Arc::new(2)));
    let mut all = [*one, *two, **shared.load()];
    all.sort();
    assert_eq!(all, [0, 1, 2]);
}

/// Two threads update with `rcu`: no update is lost.
#[dpor::test]
fn two_updates() {
    let shared = ArcSwap::from_pointee(0);
    both(|| shared.rcu(|number| **number + 1), || shared.rcu(|number| **number + 1));
    assert_eq!(**shared.load(), 2);
}
