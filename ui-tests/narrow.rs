//@ env: COLUMNS=60
//! On a narrow terminal.

use std::sync::atomic::{AtomicUsize, Ordering::*};
use std::thread;

static REMAINING_TICKETS: AtomicUsize = AtomicUsize::new(1);

fn take() -> bool {
    REMAINING_TICKETS.load(Acquire) > 0 && REMAINING_TICKETS.fetch_sub(1, AcqRel) > 0
}

#[dpor::test]
fn sells_more_than_there_are() {
    let thread = thread::spawn(take);
    let mine = take();
    let theirs = thread.join().unwrap();
    assert!(!(mine && theirs), "sold twice");
    assert_eq!(REMAINING_TICKETS.load(Relaxed), 0, "there are more tickets than before: {}", REMAINING_TICKETS.load(Relaxed));
}
