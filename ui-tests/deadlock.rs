//! Threads that wait for ever: where, and for what.

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{mpsc, Arc, Mutex};
use std::thread;

#[dpor::test]
fn locks_twice() {
    let lock = Mutex::new(0);
    let _guard = lock.lock().unwrap();
    let _again = lock.lock().unwrap();
}

#[dpor::test]
fn receives_what_nobody_sends() {
    let (sender, receiver) = mpsc::channel::<u32>();
    let _ = receiver.recv();
    drop(sender);
}

#[dpor::test]
fn opposite_orders() {
    let accounts = Arc::new([Mutex::new(10), Mutex::new(20)]);
    let transfer = |from: usize, to: usize| {
        let accounts = accounts.clone();
        move || {
            let mut from = accounts[from].lock().unwrap();
            let mut to = accounts[to].lock().unwrap();
            *from -= 1;
            *to += 1;
        }
    };
    let threads = [thread::spawn(transfer(0, 1)), thread::spawn(transfer(1, 0))];
    for thread in threads {
        thread.join().unwrap();
    }
}

/// The lock is taken before there is another thread.
#[dpor::test]
fn joins_while_it_holds_the_lock() {
    let lock = Arc::new(Mutex::new(()));
    let other = lock.clone();
    let guard = lock.lock().unwrap();
    let thread = thread::spawn(move || drop(other.lock().unwrap()));
    thread.join().unwrap();
    drop(guard);
}

/// Not a deadlock: the flag may be set before or after it is looked at, and both is fine.
#[dpor::test]
fn parks_until_it_is_told() {
    let flag = Arc::new(AtomicBool::new(false));
    let waiter = thread::spawn({
        let flag = flag.clone();
        move || {
            if !flag.load(Ordering::Acquire) {
                thread::park();
            }
        }
    });
    flag.store(true, Ordering::Release);
    waiter.thread().unpark();
    waiter.join().unwrap();
}
