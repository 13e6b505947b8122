use dashmap::DashMap;

use crate::both;

fn map() -> DashMap<u32, u32> {
    DashMap::with_shard_amount(2)
}

/// A thread inserts while another looks, if it need not wait: nothing or the whole value.
#[dpor::test]
fn try_get_while_inserting() {
    let map = map();
    let (_, seen) = both(|| map.insert(1, 2), || map.try_get(&1).try_unwrap().map(|entry| *entry));
    assert!(seen.is_none_or(|number| number == 2));
}

/// Two threads add to the same entry: both count.
#[dpor::test]
fn two_entries() {
    let map = map();
    both(|| *map.entry(1).or_insert(0) += 1, || *map.entry(1).or_insert(0) += 1);
    assert_eq!(*map.get(&1).unwrap(), 2);
}
