//! Generic data structures, written by hand.

use std::collections::HashMap;
use std::fmt::{Debug, Display};

/// A singly linked list that owns its nodes.
struct List<T> {
    head: Option<Box<Node<T>>>,
    len: usize,
}

struct Node<T> {
    value: T,
    next: Option<Box<Node<T>>>,
}

impl<T> List<T> {
    fn new() -> Self {
        List { head: None, len: 0 }
    }

    fn push(&mut self, value: T) {
        let next = self.head.take();
        self.head = Some(Box::new(Node { value, next }));
        self.len += 1;
    }

    fn pop(&mut self) -> Option<T> {
        self.head.take().map(|node| {
            self.head = node.next;
            self.len -= 1;
            node.value
        })
    }

    fn reverse(&mut self) {
        let mut reversed = None;
        let mut rest = self.head.take();
        while let Some(mut node) = rest {
            rest = node.next.take();
            node.next = reversed;
            reversed = Some(node);
        }
        self.head = reversed;
    }

    fn iter(&self) -> ListIter<'_, T> {
        ListIter { next: self.head.as_deref() }
    }
}

struct ListIter<'a, T> {
    next: Option<&'a Node<T>>,
}

impl<'a, T> Iterator for ListIter<'a, T> {
    type Item = &'a T;

    fn next(&mut self) -> Option<&'a T> {
        let node = self.next?;
        self.next = node.next.as_deref();
        Some(&node.value)
    }
}

#[dpor::test]
fn linked_list() {
    let mut list = List::new();
    for i in 0..6 {
        list.push(format!("item {i}"));
    }
    println!("{:?}", list.iter().collect::<Vec<_>>());
    list.reverse();
    println!("{:?} and {:?}", list.pop(), list.pop());
    println!("{} left: {:?}", list.len, list.iter().map(|s| s.len()).sum::<usize>());

    let mut pairs: List<(u8, u64)> = List::new();
    pairs.push((1, 1 << 40));
    pairs.push((2, 1 << 50));
    for (small, large) in pairs.iter() {
        println!("{small} {large}");
    }
    while pairs.pop().is_some() {}
    assert!(pairs.head.is_none());
}

/// An ordered binary tree.
enum Tree<K, V> {
    Leaf,
    Fork(Box<Fork<K, V>>),
}

struct Fork<K, V> {
    left: Tree<K, V>,
    key: K,
    value: V,
    right: Tree<K, V>,
}

impl<K: Ord, V> Tree<K, V> {
    fn insert(&mut self, key: K, value: V) -> Option<V> {
        match self {
            Tree::Leaf => {
                *self = Tree::Fork(Box::new(Fork { left: Tree::Leaf, key, value, right: Tree::Leaf }));
                None
            }
            Tree::Fork(fork) => match key.cmp(&fork.key) {
                std::cmp::Ordering::Less => fork.left.insert(key, value),
                std::cmp::Ordering::Greater => fork.right.insert(key, value),
                std::cmp::Ordering::Equal => Some(std::mem::replace(&mut fork.value, value)),
            },
        }
    }

    fn get(&self, key: &K) -> Option<&V> {
        let mut tree = self;
        while let Tree::Fork(fork) = tree {
            tree = match key.cmp(&fork.key) {
                std::cmp::Ordering::Less => &fork.left,
                std::cmp::Ordering::Greater => &fork.right,
                std::cmp::Ordering::Equal => return Some(&fork.value),
            };
        }
        None
    }

    fn depth(&self) -> usize {
        match self {
            Tree::Leaf => 0,
            Tree::Fork(fork) => 1 + fork.left.depth().max(fork.right.depth()),
        }
    }

    fn visit(&self, f: &mut impl FnMut(&K, &V)) {
        if let Tree::Fork(fork) = self {
            fork.left.visit(f);
            f(&fork.key, &fork.value);
            fork.right.visit(f);
        }
    }
}

#[dpor::test]
fn binary_tree() {
    let mut tree = Tree::Leaf;
    for (i, word) in "the quick brown fox jumps over the lazy dog by the river".split(' ').enumerate() {
        if let Some(before) = tree.insert(word, i) {
            println!("{word:?} was at {before}, now at {i}");
        }
    }
    tree.visit(&mut |key, value| print!("{key}={value} "));
    println!();
    println!("depth {}, fox {:?}, cat {:?}", tree.depth(), tree.get(&"fox"), tree.get(&"cat"));
}

/// A graph whose nodes live in one vector and point to each other by index.
struct Arena<T> {
    nodes: Vec<ArenaNode<T>>,
}

struct ArenaNode<T> {
    value: T,
    parent: Option<usize>,
    children: Vec<usize>,
}

impl<T: Display> Arena<T> {
    fn add(&mut self, value: T, parent: Option<usize>) -> usize {
        let id = self.nodes.len();
        self.nodes.push(ArenaNode { value, parent, children: Vec::new() });
        if let Some(parent) = parent {
            self.nodes[parent].children.push(id);
        }
        id
    }

    fn print(&self, id: usize, indent: usize) {
        println!("{:indent$}{}", "", self.nodes[id].value);
        for &child in &self.nodes[id].children {
            self.print(child, indent + 2);
        }
    }

    fn path(&self, mut id: usize) -> String {
        let mut names = vec![self.nodes[id].value.to_string()];
        while let Some(parent) = self.nodes[id].parent {
            names.push(self.nodes[parent].value.to_string());
            id = parent;
        }
        names.reverse();
        names.join("/")
    }
}

#[dpor::test]
fn arena_tree() {
    let mut arena = Arena { nodes: Vec::new() };
    let root = arena.add("usr", None);
    let lib = arena.add("lib", Some(root));
    arena.add("bin", Some(root));
    let x86 = arena.add("x86_64", Some(lib));
    let deep = arena.add("libc.so", Some(x86));
    arena.print(root, 0);
    println!("{}", arena.path(deep));
}

/// A cache that forgets what was used least recently.
struct Lru<V> {
    capacity: usize,
    clock: u64,
    entries: HashMap<String, (u64, V)>,
}

impl<V: Debug> Lru<V> {
    fn get(&mut self, key: &str) -> Option<&V> {
        self.clock += 1;
        let entry = self.entries.get_mut(key)?;
        entry.0 = self.clock;
        Some(&entry.1)
    }

    fn put(&mut self, key: &str, value: V) {
        self.clock += 1;
        if self.entries.len() == self.capacity && !self.entries.contains_key(key) {
            let oldest = self.entries.iter().min_by_key(|(_, (used, _))| *used).map(|(key, _)| key.clone());
            if let Some(oldest) = oldest {
                let gone = self.entries.remove(&oldest);
                println!("evicts {oldest}: {gone:?}");
            }
        }
        self.entries.insert(key.to_owned(), (self.clock, value));
    }
}

#[dpor::test]
fn lru_cache() {
    let mut cache = Lru { capacity: 3, clock: 0, entries: HashMap::new() };
    cache.put("a", 1.5);
    cache.put("b", 2.5);
    cache.put("c", 3.5);
    println!("{:?}", cache.get("a"));
    cache.put("d", 4.5);
    cache.put("c", -3.5);
    cache.put("e", 5.5);
    for key in ["a", "b", "c"] {
        println!("{key}: {:?}", cache.get(key));
    }
    let mut keys: Vec<_> = cache.entries.keys().collect();
    keys.sort();
    println!("{keys:?}");
}

/// Disjoint sets with union by size and path halving.
struct UnionFind {
    parent: Vec<usize>,
    size: Vec<usize>,
}

impl UnionFind {
    fn new(n: usize) -> Self {
        UnionFind { parent: (0..n).collect(), size: vec![1; n] }
    }

    fn find(&mut self, mut x: usize) -> usize {
        while self.parent[x] != x {
            self.parent[x] = self.parent[self.parent[x]];
            x = self.parent[x];
        }
        x
    }

    fn union(&mut self, a: usize, b: usize) -> bool {
        let (a, b) = (self.find(a), self.find(b));
        if a == b {
            return false;
        }
        let (small, large) = if self.size[a] < self.size[b] { (a, b) } else { (b, a) };
        self.parent[small] = large;
        self.size[large] += self.size[small];
        true
    }
}

#[dpor::test]
fn union_find() {
    let mut sets = UnionFind::new(20);
    for (a, b) in [(0, 1), (2, 3), (1, 3), (0, 2), (10, 11), (11, 19), (4, 19), (19, 10)] {
        println!("{a}-{b}: {}", if sets.union(a, b) { "joined" } else { "already one" });
    }
    let mut roots: Vec<usize> = (0..20).map(|x| sets.find(x)).collect();
    println!("{roots:?}");
    roots.sort_unstable();
    roots.dedup();
    println!("{} sets", roots.len());
}

/// A tree over the letters of words.
#[derive(Default, Debug)]
struct Trie {
    children: [Option<Box<Trie>>; 4],
    word: bool,
}

impl Trie {
    fn slot(letter: char) -> usize {
        "acgt".find(letter).expect("one of the four letters")
    }

    fn insert(&mut self, word: &str) {
        let mut node = self;
        for letter in word.chars() {
            node = node.children[Self::slot(letter)].get_or_insert_default();
        }
        node.word = true;
    }

    fn collect(&self, prefix: &mut String, found: &mut Vec<String>) {
        if self.word {
            found.push(prefix.clone());
        }
        for (child, letter) in self.children.iter().zip("acgt".chars()) {
            if let Some(child) = child {
                prefix.push(letter);
                child.collect(prefix, found);
                prefix.pop();
            }
        }
    }
}

#[dpor::test]
fn trie() {
    let mut trie = Trie::default();
    for word in ["gattaca", "tag", "cat", "tact", "gat", "at"] {
        trie.insert(word);
    }
    let mut found = Vec::new();
    trie.collect(&mut String::new(), &mut found);
    println!("{found:?}");
    let mut small = Trie::default();
    small.insert("a");
    println!("{small:#?}");
}

/// A queue of fixed capacity in an array.
struct Ring<T, const N: usize> {
    items: [Option<T>; N],
    start: usize,
    len: usize,
}

impl<T, const N: usize> Ring<T, N> {
    fn new() -> Self {
        Ring { items: [const { None }; N], start: 0, len: 0 }
    }

    fn push(&mut self, item: T) -> Result<(), T> {
        if self.len == N {
            return Err(item);
        }
        self.items[(self.start + self.len) % N] = Some(item);
        self.len += 1;
        Ok(())
    }

    fn pop(&mut self) -> Option<T> {
        let item = self.items[self.start].take()?;
        self.start = (self.start + 1) % N;
        self.len -= 1;
        Some(item)
    }
}

#[dpor::test]
fn ring_buffer() {
    let mut ring: Ring<String, 3> = Ring::new();
    for round in 0..3 {
        for i in 0..4 {
            match ring.push(format!("{round}.{i}")) {
                Ok(()) => print!("+"),
                Err(item) => print!(" full, {item} stays out;"),
            }
        }
        println!(" pops {:?} {:?}", ring.pop(), ring.pop());
    }
    println!("left {:?}", ring.items);
}
