//! hashbrown, indexmap.

use std::collections::BTreeMap;

use hashbrown::hash_map::EntryRef;
use hashbrown::{HashMap, HashSet, HashTable};
use indexmap::{IndexMap, IndexSet, indexmap};

fn sorted<T: Ord>(items: impl IntoIterator<Item = T>) -> Vec<T> {
    let mut items: Vec<T> = items.into_iter().collect();
    items.sort();
    items
}

#[dpor::test]
fn hashbrown_maps() {
    let mut map: HashMap<String, Vec<usize>> = HashMap::new();
    for (i, word) in "so much depends upon a red wheel barrow so much".split(' ').enumerate() {
        match map.entry_ref(word) {
            EntryRef::Occupied(mut entry) => entry.get_mut().push(i),
            EntryRef::Vacant(entry) => drop(entry.insert(vec![i])),
        }
    }
    println!("{:?}", sorted(&map));
    println!("{:?} {:?}", map.get("red"), map.get("blue"));
    println!("{:?}", sorted(map.extract_if(|_, places| places.len() > 1)));
    map.retain(|word, _| word.len() > 3);
    println!("{:?} {}", sorted(map.keys()), map.len());

    let mut squares = HashMap::with_capacity(16);
    for n in 0..1_000u32 {
        squares.insert(n, n * n);
    }
    for n in (0..1_000).step_by(3) {
        assert_eq!(squares.remove(&n), Some(n * n));
    }
    squares.shrink_to_fit();
    println!("{} {}", squares.len(), squares.values().map(|n| u64::from(*n)).sum::<u64>());
    let [a, b] = squares.get_disjoint_mut([&1, &2]);
    std::mem::swap(a.unwrap(), b.unwrap());
    println!("{} {} {:?}", squares[&1], squares[&2], squares.iter().map(|(k, _)| *k).max());
    let copy: BTreeMap<u32, u32> = squares.drain().filter(|(n, _)| *n < 10).collect();
    println!("{copy:?} {}", squares.is_empty());
}

#[dpor::test]
fn hashbrown_sets_and_tables() {
    let a: HashSet<char> = "hello world".chars().collect();
    let b: HashSet<char> = "help wanted".chars().collect();
    println!("{:?} {:?}", sorted(&a & &b), sorted(a.difference(&b)));
    println!("{} {}", a.is_subset(&b), sorted(a.union(&b)).into_iter().collect::<String>());

    // Every hash collides: the table must probe through all of them.
    let mut table: HashTable<(u64, &str)> = HashTable::new();
    for (i, name) in ["a", "b", "c", "d", "e", "f"].into_iter().enumerate() {
        table.insert_unique(7, (i as u64, name), |_| 7);
    }
    println!("{:?} {:?}", table.find(7, |entry| entry.1 == "e"), table.find(8, |entry| entry.1 == "e").is_some());
    if let Ok(entry) = table.find_entry(7, |entry| entry.0 == 2) {
        println!("{:?}", entry.remove().0);
    }
    println!("{:?}", sorted(table.iter().map(|entry| entry.1)));
}

#[dpor::test]
fn index_maps() {
    let mut map: IndexMap<&str, i32> = indexmap! { "zeta" => 1, "alpha" => 2, "mid" => 3 };
    map.insert("beta", 4);
    *map.entry("alpha").or_insert(0) += 40;
    println!("{map:?}");
    println!("{:?} {:?} {:?}", map.get_index(2), map.get_index_of("beta"), map.first());
    println!("{:?} {map:?}", map.swap_remove("zeta"));
    println!("{:?} {map:?}", map.shift_remove("alpha"));
    map.extend([("gamma", 7), ("eta", 5)]);
    map.sort_by(|_, a, _, b| b.cmp(a));
    println!("{:?}", map.as_slice());
    map.reverse();
    map.retain(|_, value| *value != 5);
    map.move_index(0, 1);
    println!("{:?} {:?}", map.keys().collect::<Vec<_>>(), map.values().sum::<i32>());
    println!("{:?}", map.binary_search_by(|_, value| value.cmp(&100)));
    let mut set: IndexSet<u8> = b"mississippi".iter().copied().collect();
    println!("{set:?}");
    println!("{:?}", set.insert_full(b'x'));
    let other = IndexSet::from(*b"sxy");
    println!("{:?} {:?}", &set & &other, set.difference(&other).count());
    let long: IndexMap<String, usize> = (0..100).map(|n| (format!("key {n}"), n)).collect();
    println!("{:?} {:?}", long.get("key 77"), long.get_range(98..).map(|slice| slice.len()));
}

/// Reclaims memory with the help of `membarrier`.
#[dpor::test]
fn concurrent_map() {
    let map = papaya::HashMap::new();
    std::thread::scope(|scope| {
        scope.spawn(|| {
            map.pin().insert(1, "one");
        });
        println!("{}", map.pin().get(&1).is_none_or(|name| *name == "one"));
    });
    println!("{:?}", map.pin().remove(&1));
    println!("{:?}", map.pin().get(&1));
}
