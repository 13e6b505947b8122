//! Generic code, with the types that it has.

use std::cell::UnsafeCell;
use std::fmt::Debug;
use std::sync::atomic::{AtomicBool, Ordering::*};
use std::sync::Arc;
use std::thread;

struct OnceSlot<T> {
    full: AtomicBool,
    value: UnsafeCell<Option<T>>,
}

unsafe impl<T: Send> Sync for OnceSlot<T> {}

impl<T: Clone + Debug> OnceSlot<T> {
    fn put(&self, value: T) {
        unsafe { *self.value.get() = Some(value) };
        self.full.store(true, Relaxed);
    }

    fn get(&self) -> Option<T> {
        match self.full.load(Relaxed) {
            true => unsafe { (*self.value.get()).clone() },
            false => None,
        }
    }
}

fn exchange<T: Clone + Debug + PartialEq + Send + 'static>(value: T) {
    let slot = Arc::new(OnceSlot { full: AtomicBool::new(false), value: UnsafeCell::new(None) });
    let thread = thread::spawn({
        let (slot, value) = (slot.clone(), value.clone());
        move || slot.put(value)
    });
    assert!(slot.get().is_none_or(|seen| seen == value));
    thread.join().unwrap();
}

#[dpor::test]
fn of_numbers() {
    exchange(7u64);
}

#[dpor::test]
fn of_texts() {
    exchange("text".to_owned());
}
