//! Variables have the names that the source gives them.

use std::sync::atomic::{AtomicBool, AtomicI32, AtomicPtr, AtomicU8, Ordering::*};
use std::sync::{Arc, Mutex};
use std::{ptr, thread};

#[derive(Default)]
struct Node {
    next: AtomicPtr<Node>,
    marks: [AtomicU8; 3],
    pair: (AtomicBool, AtomicI32),
}

mod inner {
    use super::*;
    pub static ROOT: AtomicPtr<Node> = AtomicPtr::new(ptr::null_mut());
}

#[dpor::test]
fn of_fields_elements_and_pointers() {
    let node = Arc::new(Node::default());
    let other: &Node = Box::leak(Box::new(Node::default()));
    let lock = Arc::new(Mutex::new(0));
    let local = AtomicBool::new(true);
    thread::scope(|scope| {
        scope.spawn(|| {
            node.marks[2].store(7, Relaxed);
            node.pair.1.fetch_sub(5, Relaxed);
            node.next.store(ptr::from_ref(other).cast_mut(), Release);
            inner::ROOT.store(Arc::as_ptr(&node).cast_mut(), Release);
            *lock.lock().unwrap() += 1;
            local.swap(false, Relaxed);
        });
        let root = inner::ROOT.load(Acquire);
        if !root.is_null() {
            let next = unsafe { (*root).next.load(Acquire) };
            unsafe { (*next).pair.0.store(true, Relaxed) };
            assert!(lock.try_lock().is_ok(), "{:?}", local.load(Relaxed));
        }
    });
    drop(unsafe { Box::from_raw(ptr::from_ref(other).cast_mut()) });
}
