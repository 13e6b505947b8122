use crossbeam_skiplist::SkipMap;

use crate::both;

/// A thread inserts while another looks: nothing or the whole value.
#[dpor::test]
fn get_while_inserting() {
    let map = SkipMap::new();
    let (_, seen) = both(
        || {
            map.insert(1, Box::new(1));
        },
        || map.get(&1).map(|entry| **entry.value()),
    );
    assert!(seen.is_none_or(|number| number == 1));
    assert_eq!(map.len(), 1);
}

/// Two threads remove the same key: exactly one does.
#[dpor::test]
fn two_removals() {
    let map = SkipMap::new();
    map.insert(1, Box::new(1));
    let (one, two) = both(|| map.remove(&1).is_some(), || map.remove(&1).is_some());
    assert!(one != two);
    assert!(map.is_empty());
}
