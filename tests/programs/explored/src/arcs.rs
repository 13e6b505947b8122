//! `Arc` and `Weak`: shared, counted, dropped once.
//!
//! The counters of an `Arc` are atomics of the program like others, so these tests state outcomes, not numbers.

use std::sync::atomic::{AtomicUsize, Ordering::*};
use std::sync::{Arc, Mutex, Weak};
use std::thread;

use crate::support::two;

/// Counts how often it is dropped, and writes when it is.
struct Counted<'a> {
    drops: &'a AtomicUsize,
    data: u32,
}

impl Drop for Counted<'_> {
    fn drop(&mut self) {
        self.data = 0;
        self.drops.fetch_add(1, Relaxed);
    }
}

#[dpor::test]
fn dropped_once_by_the_last_one() {
    let drops = AtomicUsize::new(0);
    let first = Arc::new(Counted { drops: &drops, data: 5 });
    let second = first.clone();
    two(move || assert_eq!(first.data, 5), move || assert_eq!(second.data, 5));
    assert_eq!(drops.load(Relaxed), 1);
}

#[dpor::test]
fn three_handles() {
    let drops = AtomicUsize::new(0);
    let first = Arc::new(Counted { drops: &drops, data: 5 });
    let (second, third) = (first.clone(), first.clone());
    thread::scope(|scope| {
        scope.spawn(move || drop(first));
        scope.spawn(move || drop(second));
        drop(third);
    });
    assert_eq!(drops.load(Relaxed), 1);
}

// Whether there is another handle is a question of time; if there is none, the data are ours.
#[dpor::test]
fn get_mut() {
    let mut number = Arc::new(5);
    let other = number.clone();
    let thread = thread::spawn(move || *other);
    if let Some(number) = Arc::get_mut(&mut number) {
        *number += 1;
    }
    assert_eq!(thread.join().unwrap(), 5);
}

#[dpor::test]
fn get_mut_that_must_not_fail() {
    let mut number = Arc::new(5);
    let other = number.clone();
    let thread = thread::spawn(move || *other);
    *Arc::get_mut(&mut number).unwrap() += 1; // ERROR: panic
    thread.join().unwrap();
}

#[dpor::test]
fn make_mut() {
    let mut number = Arc::new(5);
    let other = number.clone();
    let thread = thread::spawn(move || *other);
    *Arc::make_mut(&mut number) += 1;
    assert_eq!((*number, thread.join().unwrap()), (6, 5));
}

#[dpor::test]
fn make_mut_by_two() {
    let mut first = Arc::new(5);
    let mut second = first.clone();
    let (first, second) = two(
        move || {
            *Arc::make_mut(&mut first) += 1;
            *first
        },
        move || {
            *Arc::make_mut(&mut second) += 2;
            *second
        },
    );
    assert_eq!((first, second), (6, 7));
}

// Exactly one of two gets the value.
#[dpor::test]
fn into_inner() {
    let first = Arc::new(String::from("value"));
    let second = first.clone();
    let (first, second) = two(move || Arc::into_inner(first), move || Arc::into_inner(second));
    assert_eq!([first, second].into_iter().flatten().collect::<Vec<_>>(), ["value"]);
}

// With `try_unwrap` and a drop of what was not unwrapped, perhaps neither does.
#[dpor::test]
fn try_unwrap_by_two() {
    let first = Arc::new(5);
    let second = first.clone();
    let (first, second) = two(move || Arc::try_unwrap(first).ok(), move || Arc::try_unwrap(second).ok());
    assert!(first.is_some() || second.is_some()); // ERROR: panic
}

#[dpor::test]
fn try_unwrap_after_joining() {
    let number = Arc::new(Mutex::new(0));
    let threads = [(); 2].map(|()| {
        let number = number.clone();
        thread::spawn(move || *number.lock().unwrap() += 1)
    });
    for thread in threads {
        thread.join().unwrap();
    }
    assert_eq!(Arc::try_unwrap(number).unwrap().into_inner().unwrap(), 2);
}

// The value is there while it is used, or it is gone.
#[dpor::test]
fn upgrade() {
    let drops = AtomicUsize::new(0);
    let strong = Arc::new(Counted { drops: &drops, data: 5 });
    let weak = Arc::downgrade(&strong);
    let (_, seen) = two(move || drop(strong), move || weak.upgrade().map(|strong| strong.data));
    assert!(seen.is_none_or(|seen| seen == 5));
    assert_eq!(drops.load(Relaxed), 1);
}

#[dpor::test]
fn upgrade_that_must_not_fail() {
    let strong = Arc::new(5);
    let weak = Arc::downgrade(&strong);
    let thread = thread::spawn(move || drop(strong));
    assert_eq!(*weak.upgrade().unwrap(), 5); // ERROR: panic
    thread.join().unwrap();
}

// As long as somebody has a strong one, it does not fail.
#[dpor::test]
fn upgrade_while_there_is_another() {
    let strong = Arc::new(5);
    let (weak, other) = (Arc::downgrade(&strong), strong.clone());
    let thread = thread::spawn(move || drop(other));
    assert_eq!(*weak.upgrade().unwrap(), 5);
    thread.join().unwrap();
    drop(strong);
    assert!(weak.upgrade().is_none());
}

// A weak one keeps the memory, not the value.
#[dpor::test]
fn weak_that_outlives() {
    let drops = AtomicUsize::new(0);
    let strong = Arc::new(Counted { drops: &drops, data: 5 });
    let weaks = [Arc::downgrade(&strong), Arc::downgrade(&strong)];
    drop(strong);
    assert_eq!(drops.load(Relaxed), 1);
    let [first, second] = weaks;
    two(move || assert!(first.upgrade().is_none()), move || drop(second));
}

// Counts are out of date as soon as they are seen.
#[dpor::test]
fn count_out_of_date() {
    let number = Arc::new(5);
    let other = number.clone();
    let thread = thread::spawn(move || drop(other));
    assert_eq!(Arc::strong_count(&number), 2); // ERROR: panic
    thread.join().unwrap();
}

// Uniqueness by a count is no synchronization: `strong_count` is relaxed.
#[dpor::test]
fn uniqueness_by_the_count() {
    let number = Arc::new(5);
    let other = number.clone();
    let thread = thread::spawn(move || {
        assert_eq!(*other, 5);
    });
    if Arc::strong_count(&number) == 1 {
        unsafe { *Arc::as_ptr(&number).cast_mut() = 6 }; // ERROR: data-race
    }
    thread.join().unwrap();
}

// A tree whose children know their parent, dropped from another thread.
#[dpor::test]
fn parents_and_children() {
    struct Node {
        parent: Weak<Node>,
        children: Mutex<Vec<Arc<Node>>>,
    }
    let root = Arc::new(Node { parent: Weak::new(), children: Mutex::default() });
    let child = Arc::new(Node { parent: Arc::downgrade(&root), children: Mutex::default() });
    root.children.lock().unwrap().push(child.clone());
    let thread = thread::spawn(move || drop(root));
    if let Some(parent) = child.parent.upgrade() {
        assert_eq!(parent.children.lock().unwrap().len(), 1);
    }
    thread.join().unwrap();
    assert!(child.children.lock().unwrap().is_empty());
}

// Slices, strings and trait objects are counted alike.
#[dpor::test]
fn unsized_values() {
    let text: Arc<str> = Arc::from("text");
    let function: Arc<dyn Fn(usize) -> usize + Send + Sync> = Arc::new({
        let text = text.clone();
        move |n| text.len() + n
    });
    let other = function.clone();
    assert_eq!(two(move || function(1), move || other(2)), (5, 6));
    assert_eq!(Arc::strong_count(&text), 1);
}
