//@ arguments: --suggest
//! An ordering that is not written down where it is used.

use std::cell::UnsafeCell;
use std::sync::atomic::{AtomicBool, Ordering, Ordering::*};
use std::thread;

struct Flag {
    raised: AtomicBool,
    order: Ordering,
}

impl Flag {
    fn raise(&self) {
        self.raised.store(true, self.order);
    }
}

struct Cell(UnsafeCell<u32>);
unsafe impl Sync for Cell {}

#[dpor::test]
fn publishes() {
    let data = Cell(UnsafeCell::new(0));
    let flag = Flag { raised: AtomicBool::new(false), order: Relaxed };
    let (data, flag) = (&data, &flag);
    thread::scope(|scope| {
        scope.spawn(|| {
            unsafe { *data.0.get() = 1 };
            flag.raise();
        });
        if flag.raised.load(Acquire) {
            assert_eq!(unsafe { *data.0.get() }, 1);
        }
    });
}
