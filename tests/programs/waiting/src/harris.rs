//! Harris's sorted list: a node is marked before it is taken out. Nodes belong to the test, and live as long as it.
//!
//! Numbers are for interleavings: all of them were run, iterations that fail without effect left out, and those counted that
//! differ in rf or co.

use std::sync::atomic::{AtomicPtr, Ordering, Ordering::*};
use std::{ptr, thread};

use crate::support::{Plain, two};

struct Node {
    key: u32,
    value: Plain<u32>,
    /// The next node; its lowest bit says that this one is removed.
    next: AtomicPtr<Node>,
}

fn node(key: u32) -> Node {
    Node { key, value: Plain::new(0), next: AtomicPtr::new(ptr::null_mut()) }
}

fn marked(pointer: *mut Node) -> *mut Node {
    pointer.map_addr(|address| address | 1)
}

fn unmarked(pointer: *mut Node) -> *mut Node {
    pointer.map_addr(|address| address & !1)
}

fn is_marked(pointer: *mut Node) -> bool {
    pointer.addr() & 1 != 0
}

#[derive(Default)]
struct List {
    head: AtomicPtr<Node>,
}

/// The link where a node with a key is, or belongs, and what is there.
struct Place<'a> {
    link: &'a AtomicPtr<Node>,
    current: *mut Node,
}

impl<'a> Place<'a> {
    fn node(&self, key: u32) -> Option<&'a Node> {
        unsafe { self.current.as_ref() }.filter(|node| node.key == key)
    }
}

impl List {
    /// Finds the first node with at least this key, and takes out marked ones on the way.
    fn find(&self, key: u32) -> Place<'_> {
        'again: loop {
            let mut link = &self.head;
            let mut current = link.load(Acquire);
            loop {
                let Some(node) = (unsafe { current.as_ref() }) else { return Place { link, current } };
                let next = node.next.load(Acquire);
                if is_marked(next) {
                    if link.compare_exchange(current, unmarked(next), AcqRel, Relaxed).is_err() {
                        continue 'again;
                    }
                    current = unmarked(next);
                } else if node.key >= key {
                    return Place { link, current };
                } else {
                    link = &node.next;
                    current = next;
                }
            }
        }
    }

    fn insert(&self, node: &Node, publish: Ordering) -> bool {
        loop {
            let place = self.find(node.key);
            if place.node(node.key).is_some() {
                return false;
            }
            node.next.store(place.current, Relaxed);
            let new = ptr::from_ref(node).cast_mut();
            if place.link.compare_exchange(place.current, new, publish, Relaxed).is_ok() {
                return true;
            }
        }
    }

    fn remove(&self, key: u32) -> bool {
        loop {
            let place = self.find(key);
            let Some(node) = place.node(key) else { return false };
            let next = node.next.load(Acquire);
            if !is_marked(next) && node.next.compare_exchange(next, marked(next), AcqRel, Relaxed).is_ok() {
                // If this fails, somebody else takes it out.
                _ = place.link.compare_exchange(place.current, next, AcqRel, Relaxed);
                return true;
            }
        }
    }

    fn get(&self, key: u32) -> Option<u32> {
        self.find(key).node(key).map(|node| node.value.read())
    }

    /// All keys that are there.
    fn keys(&self) -> Vec<u32> {
        let mut keys = Vec::new();
        let mut current = self.head.load(Acquire);
        while let Some(node) = unsafe { current.as_ref() } {
            let next = node.next.load(Acquire);
            if !is_marked(next) {
                keys.push(node.key);
            }
            current = unmarked(next);
        }
        keys
    }
}

/// A list with some of the nodes in it.
fn list<'a>(nodes: impl IntoIterator<Item = &'a Node>) -> List {
    let list = List::default();
    nodes.into_iter().for_each(|node| assert!(list.insert(node, Release)));
    list
}

#[dpor::test]
fn inserts() {
    // COUNT: sc 4
    let nodes = [node(1), node(2)];
    let list = List::default();
    two(|| assert!(list.insert(&nodes[0], Release)), || assert!(list.insert(&nodes[1], Release)));
    assert_eq!(list.keys(), [1, 2]);
}

// One of two nodes with the same key.
#[dpor::test]
fn inserts_of_the_same() {
    // COUNT: sc 4
    let nodes = [node(1), node(1)];
    let list = List::default();
    let (first, second) = two(|| list.insert(&nodes[0], Release), || list.insert(&nodes[1], Release));
    assert!(first != second);
    assert_eq!(list.keys(), [1]);
}

// What is inserted behind a node that is being removed stays.
#[dpor::test]
fn insert_and_remove() {
    // COUNT: sc 8
    let nodes = [node(1), node(2)];
    let list = list(&nodes[..1]);
    let (inserted, removed) = two(|| list.insert(&nodes[1], Release), || list.remove(1));
    assert!(inserted && removed);
    assert_eq!(list.keys(), [2]);
}

// Two neighbours.
#[dpor::test]
fn removes() {
    // COUNT: sc 6
    let nodes = [node(1), node(2)];
    let list = list(&nodes);
    let (first, second) = two(|| list.remove(1), || list.remove(2));
    assert!(first && second);
    assert_eq!(list.keys(), []);
}

// The same node is removed once.
#[dpor::test]
fn removes_of_the_same() {
    // COUNT: sc 4
    let nodes = [node(1)];
    let list = list(&nodes);
    let (first, second) = two(|| list.remove(1), || list.remove(1));
    assert!(first != second);
    assert_eq!(list.keys(), []);
}

#[dpor::test]
fn insert_remove_and_look() {
    // COUNT: sc 30
    let nodes = [node(1), node(2)];
    let list = list(&nodes[..1]);
    thread::scope(|scope| {
        scope.spawn(|| {
            nodes[1].value.write(7);
            list.insert(&nodes[1], Release);
        });
        scope.spawn(|| list.remove(1));
        scope.spawn(|| assert!(list.get(2).is_none_or(|value| value == 7)));
    });
    assert_eq!(list.keys(), [2]);
}

#[dpor::test(expect = "data-race")]
fn inserted_relaxed() {
    let node = node(1);
    let list = List::default();
    let insert = || {
        node.value.write(7);
        list.insert(&node, Relaxed)
    };
    two(insert, || list.get(1));
}

// A node is taken out without having been marked: what is inserted behind it is lost.
#[dpor::test]
fn removed_without_a_mark() {
    let nodes = [node(1), node(2)];
    let list = list(&nodes[..1]);
    let remove = || {
        loop {
            let place = list.find(1);
            let next = nodes[0].next.load(Acquire);
            if place.link.compare_exchange(place.current, next, AcqRel, Relaxed).is_ok() {
                break;
            }
        }
    };
    two(|| list.insert(&nodes[1], Release), remove);
    assert_eq!(list.keys(), [2]); // ERROR: panic
}

// A mark that is stored, and not exchanged: what was inserted in the meantime is overwritten.
#[dpor::test]
fn marked_with_a_store() {
    let nodes = [node(1), node(2)];
    let list = list(&nodes[..1]);
    let remove = || {
        let next = nodes[0].next.load(Acquire);
        nodes[0].next.store(marked(next), Release);
    };
    two(|| list.insert(&nodes[1], Release), remove);
    assert_eq!(list.keys(), [2]); // ERROR: panic
}

// Two neighbours that are taken out without marks: one of them stays.
#[dpor::test]
fn neighbours_removed_without_marks() {
    let nodes = [node(1), node(2)];
    let list = list(&nodes);
    let remove = |key| {
        loop {
            let place = list.find(key);
            let Some(node) = place.node(key) else { return };
            let next = node.next.load(Acquire);
            if place.link.compare_exchange(place.current, next, AcqRel, Relaxed).is_ok() {
                return;
            }
        }
    };
    two(|| remove(1), || remove(2));
    assert_eq!(list.keys(), []); // ERROR: panic
}
