//! Six threads, and a bug that needs all of them.

use std::sync::atomic::{AtomicU32, Ordering::*};
use std::thread;

static TURN: AtomicU32 = AtomicU32::new(0);

fn pass_on(from: u32) {
    dpor::assume(TURN.load(Acquire) == from);
    TURN.store(from + 1, Release);
}

#[dpor::test]
fn the_last_one_is_late() {
    thread::scope(|scope| {
        for number in 0..5 {
            scope.spawn(move || pass_on(number));
        }
        dpor::assume(TURN.load(Acquire) == 5);
        assert_ne!(TURN.swap(0, Relaxed), 5);
    });
}
