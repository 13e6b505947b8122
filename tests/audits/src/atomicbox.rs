use std::sync::atomic::Ordering::AcqRel;

use atomicbox::{AtomicBox, AtomicOptionBox};

use crate::both;

/// Two threads swap: each value comes out once.
#[dpor::test]
fn two_swaps() {
    let shared = AtomicBox::new(Box::new(0));
    let (one, two) = both(|| shared.swap(Box::new(1), AcqRel), || shared.swap(Box::new(2), AcqRel));
    let mut all = [*one, *two, *shared.into_inner()];
    all.sort();
    assert_eq!(all, [0, 1, 2]);
}

/// Two threads take: exactly one gets the value.
#[dpor::test]
fn two_takes() {
    let shared = AtomicOptionBox::new(Some(Box::new(1)));
    let (one, two) = both(|| shared.take(AcqRel), || shared.take(AcqRel));
    assert!(one.is_some() != two.is_some());
}
