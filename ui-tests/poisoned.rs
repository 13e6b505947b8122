//! A thread panics while it has a lock, and while others do something.

use std::sync::{Arc, Mutex};
use std::thread;

#[dpor::test]
fn in_a_thread() {
    let lock = Arc::new(Mutex::new(1));
    let thread = thread::spawn({
        let lock = lock.clone();
        move || {
            let mut guard = lock.lock().unwrap();
            *guard -= 1;
            assert!(*guard > 0, "nothing is left");
        }
    });
    let _ = thread.join();
    assert_eq!(*lock.lock().unwrap(), 0);
}
