//! A notification that comes before anybody waits is lost.

use std::sync::{Condvar, Mutex};
use std::thread;

#[dpor::test]
fn lost_wakeup() {
    static CONDITION: Condvar = Condvar::new();
    static LOCK: Mutex<()> = Mutex::new(());
    let thread = thread::spawn(|| CONDITION.notify_one());
    let guard = LOCK.lock().unwrap();
    drop(CONDITION.wait(guard).unwrap());
    thread.join().unwrap();
}
