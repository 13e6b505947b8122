use sharded_slab::Slab;

use crate::both;

/// A thread takes a value while another reads it: what it reads is alive.
#[dpor::test]
fn get_while_taking() {
    let slab = Slab::new();
    let key = slab.insert(Box::new(1)).unwrap();
    let (taken, seen) = both(|| slab.take(key), || slab.get(key).map(|number| **number));
    assert_eq!(taken, Some(Box::new(1)));
    assert!(seen.is_none_or(|number| number == 1));
}

/// Two threads insert: each finds its own value.
#[dpor::test]
fn two_insertions() {
    let slab = Slab::new();
    let (one, two) = both(|| slab.insert(1).unwrap(), || slab.insert(2).unwrap());
    assert_eq!((*slab.get(one).unwrap(), *slab.get(two).unwrap()), (1, 2));
}
