use elsa::sync::{FrozenMap, FrozenVec};

use crate::both;

/// Two threads push: both values are there.
#[dpor::test]
fn two_pushes() {
    let vec = FrozenVec::new();
    let (one, two) = both(|| vec.push_get_index(Box::new(1)), || vec.push_get_index(Box::new(2)));
    assert_eq!((vec.get(one), vec.get(two)), (Some(&1), Some(&2)));
}

/// Two threads insert with the same key: the first stays.
#[dpor::test]
fn two_insertions() {
    let map = FrozenMap::new();
    let (one, two) = both(|| *map.insert(1, Box::new(1)), || *map.insert(1, Box::new(2)));
    assert_eq!(one, two);
}
