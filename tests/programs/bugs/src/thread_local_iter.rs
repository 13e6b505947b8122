//! The thread_local crate (RUSTSEC-2022-0006): the iterator over the values of all threads looked at the flag of an entry
//! with a load that was too weak to see the entry initialized.

use crate::sync::atomic::{AtomicBool, Ordering, Ordering::*};
use std::mem::MaybeUninit;
use std::thread;

use crate::plain::Plain;

#[dpor::test]
fn fixed() {
    insert_and_iterate(Acquire);
}

#[dpor::test]
fn broken() {
    insert_and_iterate(Relaxed);
}

struct Entry {
    present: AtomicBool,
    value: Plain<MaybeUninit<String>>,
}

impl Entry {
    const fn empty() -> Entry {
        Entry { present: AtomicBool::new(false), value: Plain::new(MaybeUninit::uninit()) }
    }

    fn insert(&self, value: &str) {
        unsafe { (*self.value.get()).write(value.to_owned()) }; // ERROR: data-race
        self.present.store(true, Release);
    }
}

impl Drop for Entry {
    fn drop(&mut self) {
        if *self.present.get_mut() {
            unsafe { (*self.value.get()).assume_init_drop() };
        }
    }
}

fn insert_and_iterate(order: Ordering) {
    let entries = [const { Entry::empty() }; 2];
    thread::scope(|scope| {
        scope.spawn(|| entries[0].insert("first"));
        scope.spawn(|| entries[1].insert("second"));
        let present = entries.iter().filter(|entry| entry.present.load(order));
        let lengths = present.map(|entry| unsafe { (*entry.value.get()).assume_init_ref() }.len()); // ERROR: data-race
        assert!(lengths.sum::<usize>() <= 11);
    });
}
