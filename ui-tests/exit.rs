//! The program may end itself.

use std::process::exit;
use std::sync::Mutex;
use std::thread;

#[dpor::test]
fn successfully() {
    let _kept = Box::new(1);
    exit(0);
}

#[dpor::test]
fn with_a_code() {
    exit(3);
}

/// Whoever waits for the thread waits in vain, and what it holds does not matter any more.
#[dpor::test]
fn while_others_wait() {
    static LOCK: Mutex<()> = Mutex::new(());
    let thread = thread::spawn(|| {
        let _guard = LOCK.lock().unwrap();
        exit(0);
    });
    thread.join().unwrap();
    unreachable!("the process has ended");
}

/// What another thread does could have come before the end.
#[dpor::test]
fn while_another_thread_fails() {
    let thread = thread::spawn(|| panic!("in time"));
    if dpor::choose(2) == 1 {
        thread.join().unwrap();
    }
    exit(0);
}
