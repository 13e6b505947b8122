//! Heap memory that nobody can free any more.

use std::cell::RefCell;
use std::collections::HashMap;
use std::rc::{Rc, Weak};
use std::sync::atomic::{AtomicPtr, Ordering};
use std::sync::{LazyLock, Mutex, OnceLock};

#[dpor::test]
fn forgotten_box() {
    let boxed = Box::new([1u8; 100]); // ERROR: memory-leak
    std::mem::forget(boxed);
}

#[dpor::test]
fn pointer_that_is_lost() {
    let pointer = Box::into_raw(Box::new(7)); // ERROR: memory-leak
    println!("{}", unsafe { *pointer });
}

#[dpor::test]
fn pointer_that_is_freed() {
    let pointer = Box::into_raw(Box::new(7));
    drop(unsafe { Box::from_raw(pointer) });
}

struct Node {
    next: RefCell<Option<Rc<Node>>>,
    previous: RefCell<Weak<Node>>,
}

#[dpor::test]
fn cycle_of_counted_references() {
    let node = Rc::new(Node { next: RefCell::default(), previous: RefCell::default() }); // ERROR: memory-leak
    *node.next.borrow_mut() = Some(node.clone());
}

#[dpor::test]
fn cycle_with_a_weak_reference() {
    let first = Rc::new(Node { next: RefCell::default(), previous: RefCell::default() });
    let second = Rc::new(Node { next: RefCell::default(), previous: RefCell::default() });
    *second.previous.borrow_mut() = Rc::downgrade(&first);
    *first.next.borrow_mut() = Some(second);
    assert!(first.next.borrow().as_ref().unwrap().previous.borrow().upgrade().is_some());
}

#[dpor::test]
fn leaked_vector() {
    let list: &'static mut [u32] = vec![1, 2, 3].leak(); // ERROR: memory-leak
    println!("{}", list.len());
}

static LEAKED: OnceLock<&'static [String]> = OnceLock::new();

#[dpor::test]
fn leaked_into_a_static() {
    let names = vec![String::from("reachable"), String::from("still reachable")];
    LEAKED.set(names.leak()).unwrap();
    assert_eq!(LEAKED.get().unwrap().len(), 2);
}

static NAMES: LazyLock<Mutex<HashMap<u32, String>>> = LazyLock::new(Mutex::default);

#[dpor::test]
fn collection_in_a_static() {
    for i in 0..20 {
        NAMES.lock().unwrap().insert(i, format!("name {i}"));
    }
    assert_eq!(NAMES.lock().unwrap().len(), 20);
}

static LAST: AtomicPtr<[u64; 4]> = AtomicPtr::new(std::ptr::null_mut());

#[dpor::test]
fn replaced_in_a_static() {
    for i in 0..2 {
        let block = Box::new([i; 4]); // ERROR: memory-leak
        LAST.store(Box::into_raw(block), Ordering::Relaxed);
    }
}

#[dpor::test]
fn replaced_and_freed() {
    for i in 0..2 {
        let block = Box::into_raw(Box::new([i; 4]));
        let old = LAST.swap(block, Ordering::Relaxed);
        if !old.is_null() {
            drop(unsafe { Box::from_raw(old) });
        }
    }
}

#[dpor::test]
fn thread_locals_are_freed() {
    thread_local!(static CACHE: RefCell<Vec<String>> = const { RefCell::new(Vec::new()) });
    CACHE.with_borrow_mut(|cache| cache.push("kept until the thread ends".into()));
}
