use papaya::HashMap;

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

/// A thread removes a value while another reads it: what it reads is alive.
#[dpor::test]
fn get_while_removing() {
    let map = HashMap::new();
    map.pin().insert(1, Box::new(1));
    let (removed, seen) = both(|| map.pin().remove(&1).is_some(), || map.pin().get(&1).map(|number| **number));
    assert!(removed);
    assert!(seen.is_none_or(|number| number == 1));
}
