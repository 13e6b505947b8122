use flurry::HashMap;

use crate::both;

/// A thread inserts while another looks: nothing or the whole value.
#[dpor::test]
fn get_while_inserting() {
    let map = HashMap::new();
    let (_, seen) = both(
        || {
            map.pin().insert(1, Box::new(1));
        },
        || map.pin().get(&1).map(|number| **number),
    );
    assert!(seen.is_none_or(|number| number == 1));
}

/// Two threads insert with the same key if it is not there: the first stays.
#[dpor::test]
fn two_insertions() {
    let map = HashMap::new();
    let (one, two) = both(|| map.pin().try_insert(1, 1).is_ok(), || map.pin().try_insert(1, 2).is_ok());
    assert!(one != two);
    assert_eq!(map.pin().get(&1), Some(if one { &1 } else { &2 }));
}
