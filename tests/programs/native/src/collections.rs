//! The collections of the standard library. Hash maps are printed sorted: their order is left open.

use std::cmp::Reverse;
use std::collections::{BTreeMap, BTreeSet, BinaryHeap, HashMap, HashSet, LinkedList, VecDeque, btree_map, hash_map};
use std::hash::{BuildHasherDefault, Hash, Hasher};

fn sorted<T: Ord>(items: impl IntoIterator<Item = T>) -> Vec<T> {
    let mut items: Vec<T> = items.into_iter().collect();
    items.sort();
    items
}

#[dpor::test]
fn vectors() {
    let mut v: Vec<i32> = (1..=10).collect();
    v.retain(|n| n % 3 != 0);
    v.insert(2, 100);
    v.swap_remove(0);
    println!("{v:?} {:?} {:?}", v.first(), v.last());
    println!("{:?} {v:?}", v.drain(1..3).collect::<Vec<_>>());
    println!("{:?} {v:?}", v.splice(..2, [7, 7, 7]).collect::<Vec<_>>());
    v.dedup();
    v.extend_from_slice(&[1, 2]);
    v.extend_from_within(..1);
    v.resize(9, -1);
    println!("{v:?} {}", v.contains(&100));
    let tail = v.split_off(6);
    v.truncate(2);
    println!("{v:?} {tail:?} {:?}", [&v[..], &tail].concat());
    println!("{:?}", v.iter().rev().copied().chain(vec![0; 2]).collect::<Box<[i32]>>());
    let mut words = vec!["b".to_string(), "a".into(), "c".into()];
    println!("{:?} {:?}", words.pop_if(|w| w == "c"), words.pop_if(|w| w == "x"));
    words.sort();
    println!("{words:?} {:?}", words.extract_if(.., |w| w == "a").collect::<Vec<_>>());
    let zst = vec![(); 1000];
    println!("{} {}", zst.len(), zst.into_iter().count());
}

#[dpor::test]
fn hash_maps() {
    let mut counts: HashMap<char, usize> = HashMap::new();
    for c in "the quick brown fox jumps over the lazy dog".chars().filter(|c| !c.is_whitespace()) {
        *counts.entry(c).or_default() += 1;
    }
    let mut frequent: Vec<_> = counts.iter().filter(|(_, n)| **n > 2).collect();
    frequent.sort();
    println!("{} {frequent:?}", counts.len());

    let mut stock: HashMap<String, i32> = [("pear", 3), ("fig", 0), ("kiwi", 12)].map(|(k, v)| (k.into(), v)).into();
    stock.entry("pear".into()).and_modify(|n| *n *= 2).or_insert(1);
    stock.entry("plum".into()).and_modify(|n| *n *= 2).or_insert_with(|| 40 + 2);
    if let hash_map::Entry::Occupied(entry) = stock.entry("fig".into()) {
        println!("remove {:?}", entry.remove_entry());
    }
    println!("{:?} {:?}", stock.insert("kiwi".into(), 1), stock.get("fig"));
    stock.retain(|name, n| name.starts_with('p') || *n > 5);
    println!("{:?}", sorted(&stock));
    println!("{:?} {:?}", stock.remove("plum"), stock.contains_key("plum"));
    let inverted: HashMap<i32, String> = stock.into_iter().map(|(k, v)| (v, k)).collect();
    println!("{inverted:?}");

    let mut big = HashMap::new();
    for i in 0..500u64 {
        big.insert(i * i % 997, i);
    }
    for i in 0..250u64 {
        big.remove(&(i * 4 % 997));
    }
    println!("{} {}", big.len(), big.values().sum::<u64>());
    let copy = big.clone();
    println!("{} {}", copy == big, copy.keys().all(|k| big.contains_key(k)));
}

#[dpor::test]
fn hash_sets() {
    let a: HashSet<u32> = (0..10).map(|n| n * 3).collect();
    let b: HashSet<u32> = (0..10).map(|n| n * 2).collect();
    println!("{:?} {:?}", sorted(a.intersection(&b)), sorted(a.difference(&b)));
    println!("{:?} {:?}", sorted(a.symmetric_difference(&b)), sorted(&a | &b));
    println!("{} {}", a.is_disjoint(&HashSet::from([1, 2])), a.is_subset(&b));
    let mut seen = HashSet::new();
    let repeated: Vec<i32> = [1, 5, 2, 5, 1, 7].into_iter().filter(|n| !seen.insert(*n)).collect();
    println!("{repeated:?} {:?} {:?}", seen.take(&7), seen.get(&7));
    let pairs: HashSet<(String, [u8; 2])> = [("x".into(), [1, 2]), ("x".into(), [1, 2]), ("y".into(), [1, 2])].into();
    println!("{}", pairs.len());
}

/// FNV-1a: a hasher whose results do not depend on a seed.
struct Fnv(u64);

impl Default for Fnv {
    fn default() -> Self {
        Fnv(0xcbf2_9ce4_8422_2325)
    }
}

impl Hasher for Fnv {
    fn finish(&self) -> u64 {
        self.0
    }

    fn write(&mut self, bytes: &[u8]) {
        for byte in bytes {
            self.0 = (self.0 ^ u64::from(*byte)).wrapping_mul(0x100_0000_01b3);
        }
    }
}

#[derive(Hash)]
#[allow(dead_code, reason = "only hashed")]
enum Key {
    Number(u32),
    Text(&'static str),
}

#[dpor::test]
fn own_hashers() {
    let mut map: HashMap<&str, i32, BuildHasherDefault<Fnv>> = HashMap::default();
    for (i, word) in ["alpha", "beta", "gamma", "delta"].into_iter().enumerate() {
        map.insert(word, i as i32);
    }
    // The hasher has no seed, so the order is the same everywhere.
    println!("{map:?}");
    let hash = |value: &dyn Fn(&mut Fnv)| {
        let mut hasher = Fnv::default();
        value(&mut hasher);
        hasher.finish()
    };
    println!("{:x}", hash(&|h| 42u64.hash(h)));
    println!("{:x}", hash(&|h| "text".hash(h)));
    println!("{:x} {:x}", hash(&|h| Key::Number(1).hash(h)), hash(&|h| Key::Text("k").hash(h)));
    println!("{:x}", hash(&|h| (1u8, 'c', [1u16, 2], Some(true), ()).hash(h)));
    let mut sip = std::hash::DefaultHasher::new();
    "seedless".hash(&mut sip);
    println!("{:x}", sip.finish());
}

#[dpor::test]
fn btree_maps() {
    let mut map = BTreeMap::new();
    for i in 0..200u32 {
        map.insert(i * 7919 % 1009, i);
    }
    println!("{} {:?} {:?}", map.len(), map.first_key_value(), map.last_key_value());
    println!("{:?}", map.range(100..130).collect::<Vec<_>>());
    println!("{:?}", map.range(..=20).rev().map(|(k, _)| k).collect::<Vec<_>>());
    for i in (0..200).filter(|i| i % 5 != 0) {
        map.remove(&(i * 7919 % 1009));
    }
    println!("{} {:?}", map.len(), map.keys().take(12).collect::<Vec<_>>());
    let high = map.split_off(&500);
    println!("{} {} {:?}", map.len(), high.len(), high.keys().next());
    map.retain(|key, _| key % 2 == 0);
    match map.entry(44) {
        btree_map::Entry::Vacant(entry) => println!("vacant {}", entry.insert(9)),
        btree_map::Entry::Occupied(entry) => println!("occupied {}", entry.get()),
    }
    *map.entry(44).or_insert(0) += 1;
    println!("{map:?}");
    println!("{:?} {:?}", map.pop_first(), map.pop_last());
    for value in map.values_mut() {
        *value = 0;
    }
    let mut joined: BTreeMap<_, _> = high.into_iter().take(3).collect();
    joined.append(&mut map);
    println!("{joined:?} {}", map.is_empty());
    let mut words: BTreeMap<String, Vec<usize>> = BTreeMap::new();
    for (i, word) in "a b a c b a".split(' ').enumerate() {
        words.entry(word.into()).or_default().push(i);
    }
    println!("{words:?} {:?}", words.range("b".to_string()..).next());
}

#[dpor::test]
fn btree_sets() {
    let a: BTreeSet<i32> = [5, 1, 9, 3, 7].into();
    let b: BTreeSet<i32> = (3..8).collect();
    println!("{:?} {:?} {:?} {:?}", &a & &b, &a | &b, &a - &b, &a ^ &b);
    println!("{:?} {:?}", a.range(4..).next(), a.range(..4).next_back());
    println!("{:?} {}", a.iter().rev().collect::<Vec<_>>(), a.is_superset(&[1, 9].into()));
    let mut words = BTreeSet::from(["pear", "fig"]);
    println!("{} {} {:?}", words.insert("fig"), words.replace("fig").is_some(), words);
    println!("{:?} {:?}", words.pop_first(), words.cmp(&BTreeSet::new()));
}

#[dpor::test]
fn deques() {
    let mut deque: VecDeque<u32> = VecDeque::with_capacity(4);
    for i in 0..10 {
        if i % 3 == 0 { deque.push_front(i) } else { deque.push_back(i) }
    }
    println!("{deque:?} {:?} {:?}", deque.front(), deque.back());
    deque.rotate_left(3);
    println!("{deque:?} {}", deque[4]);
    deque.make_contiguous().sort();
    println!("{:?} {:?}", deque.as_slices(), deque.binary_search(&6));
    deque.extend(deque.clone().range(2..5));
    println!("{:?} {:?}", deque.drain(1..4).collect::<Vec<_>>(), deque);
    deque.insert(2, 99);
    deque.swap(0, 1);
    println!("{:?} {:?} {:?}", deque.remove(3), deque.pop_front(), deque.iter().rev().take(3).collect::<Vec<_>>());
    let back: Vec<u32> = deque.into();
    println!("{back:?}");
    let mut list: LinkedList<_> = [1, 2, 3].into();
    list.push_front(0);
    let mut tail = list.split_off(2);
    tail.append(&mut list);
    println!("{tail:?} {:?}", tail.pop_back());
}

#[derive(Debug, PartialEq, Eq, PartialOrd, Ord)]
struct Job {
    priority: u8,
    name: &'static str,
}

#[dpor::test]
fn heaps() {
    let mut heap = BinaryHeap::new();
    for (priority, name) in [(2, "wash"), (9, "eat"), (5, "read"), (9, "breathe"), (1, "iron")] {
        heap.push(Job { priority, name });
    }
    println!("{:?}", heap.peek());
    heap.peek_mut().unwrap().priority = 3;
    while let Some(job) = heap.pop() {
        print!("{}:{} ", job.priority, job.name);
    }
    println!();
    let mut smallest: BinaryHeap<Reverse<i32>> = [5, -2, 8].map(Reverse).into();
    smallest.push(Reverse(0));
    smallest.append(&mut BinaryHeap::from([Reverse(4)]));
    println!("{:?} {:?}", smallest.pop().map(|r| r.0), smallest.into_sorted_vec());
    println!("{:?}", BinaryHeap::from(vec![3, 1, 2]).into_iter().max());
}
