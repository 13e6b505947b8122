//@ arguments: --keep-going
//! Every kind of update.

use std::sync::atomic::{AtomicBool, AtomicI8, AtomicU16, Ordering::*};
use std::thread;

#[dpor::test]
fn of_all_kinds() {
    static NUMBER: AtomicI8 = AtomicI8::new(-1);
    static BITS: AtomicU16 = AtomicU16::new(0b1100);
    static FLAG: AtomicBool = AtomicBool::new(false);
    let thread = thread::spawn(|| {
        NUMBER.fetch_sub(2, AcqRel);
        NUMBER.fetch_max(5, Relaxed);
        BITS.fetch_xor(0xffff, Release);
        BITS.fetch_or(1, Relaxed);
        FLAG.fetch_nand(true, SeqCst);
        let _ = FLAG.compare_exchange(false, true, SeqCst, Relaxed);
        let _ = NUMBER.fetch_update(Release, Acquire, |number| number.checked_add(1));
    });
    assert!(NUMBER.load(Acquire) < 6);
    thread.join().unwrap();
}
