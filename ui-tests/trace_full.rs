//@ arguments: --trace full
//! Everything that happens is shown on demand.

use std::sync::atomic::{AtomicU32, Ordering::*};
use std::sync::{Arc, Mutex};
use std::thread;

#[dpor::test]
fn with_all_steps() {
    let number = Arc::new(Mutex::new(AtomicU32::new(0)));
    let thread = thread::spawn({
        let number = number.clone();
        move || number.lock().unwrap().fetch_add(1, Relaxed)
    });
    let first = number.lock().unwrap().fetch_add(1, Relaxed);
    assert_eq!(first, 0);
    thread.join().unwrap();
}
