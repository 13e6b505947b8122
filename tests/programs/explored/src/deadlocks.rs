//! Threads that wait for each other, or for what never comes; and the same done right.
//!
//! A deadlock is reported where the first thread that waits does so: the main thread, where that one waits too.

use std::sync::atomic::{AtomicBool, Ordering::*};
use std::sync::{Arc, Barrier, Condvar, Mutex, OnceLock, RwLock, mpsc};
use std::{mem, thread};

#[dpor::test]
fn opposite_orders() {
    let locks = Arc::new((Mutex::new(0), Mutex::new(0)));
    let other = locks.clone();
    let thread = thread::spawn(move || {
        let first = other.0.lock().unwrap();
        let second = other.1.lock().unwrap();
        drop((first, second));
    });
    let second = locks.1.lock().unwrap();
    let first = locks.0.lock().unwrap(); // ERROR: deadlock
    drop((first, second));
    thread.join().unwrap();
}

// The threads' critical sections, both locks held, come in either order.
#[dpor::test]
fn same_order() {
    // COUNT: rc11 2 sc 2 tso 2 pso 2
    let locks = (Mutex::new(0), Mutex::new(0));
    thread::scope(|scope| {
        for _ in 0..2 {
            scope.spawn(|| {
                let mut first = locks.0.lock().unwrap();
                let mut second = locks.1.lock().unwrap();
                *first += 1;
                *second += 1;
            });
        }
    });
}

// Three threads and three locks in a circle.
#[dpor::test]
fn circle_of_three() {
    let locks = [const { Mutex::new(()) }; 3];
    // ERROR: deadlock
    thread::scope(|scope| {
        for i in 0..3 {
            let locks = &locks;
            scope.spawn(move || {
                let _first = locks[i].lock().unwrap();
                let _second = locks[(i + 1) % 3].lock().unwrap();
            });
        }
    });
}

// The last philosopher takes the forks the other way round. Each fork is used by two, in either order, and the three
// orders cannot be cyclic: 2³ − 2.
#[dpor::test]
fn circle_broken() {
    // COUNT: rc11 6 sc 6 tso 6 pso 6
    let locks = [const { Mutex::new(()) }; 3];
    thread::scope(|scope| {
        for (first, second) in [(0, 1), (1, 2), (0, 2)] {
            let locks = &locks;
            scope.spawn(move || {
                let _first = locks[first].lock().unwrap();
                let _second = locks[second].lock().unwrap();
            });
        }
    });
}

#[dpor::test]
fn locked_twice_by_one_thread() {
    let lock = Mutex::new(1);
    let first = lock.lock().unwrap();
    let second = lock.lock().unwrap(); // ERROR: deadlock
    drop((first, second));
}

// The guard lives until the end of the `match`.
#[dpor::test]
fn locked_twice_in_some_executions() {
    static LOCK: Mutex<u32> = Mutex::new(0);
    let thread = thread::spawn(|| *LOCK.lock().unwrap() = 1);
    match *LOCK.lock().unwrap() {
        0 => *LOCK.lock().unwrap() = 2, // ERROR: deadlock
        seen => assert_eq!(seen, 1),
    }
    thread.join().unwrap();
}

#[dpor::test]
fn guard_forgotten() {
    let lock = Mutex::new(1);
    thread::scope(|scope| {
        scope.spawn(|| mem::forget(lock.lock().unwrap())).join().unwrap();
    });
    drop(lock.lock().unwrap()); // ERROR: deadlock
}

// Joins the thread that waits for the lock.
#[dpor::test]
fn joined_with_the_lock() {
    let lock = Arc::new(Mutex::new(0));
    let other = lock.clone();
    let guard = lock.lock().unwrap();
    let thread = thread::spawn(move || *other.lock().unwrap() += 1);
    thread.join().unwrap(); // ERROR: deadlock
    drop(guard);
}

#[dpor::test]
fn upgraded_read_lock() {
    let lock = RwLock::new(0);
    let read = lock.read().unwrap();
    let write = lock.write().unwrap(); // ERROR: deadlock
    drop(write);
    drop(read);
}

#[dpor::test]
fn two_upgraded_read_locks() {
    let lock = RwLock::new(0);
    let (first, second) = (lock.read().unwrap(), lock.read().unwrap());
    // ERROR: deadlock
    thread::scope(|scope| {
        scope.spawn(|| *lock.write().unwrap() += 1);
    });
    drop((first, second));
}

#[dpor::test]
fn never_notified() {
    let (ready, changed) = (Mutex::new(false), Condvar::new());
    thread::scope(|scope| {
        scope.spawn(|| *ready.lock().unwrap() = true);
        let mut guard = ready.lock().unwrap();
        while !*guard {
            guard = changed.wait(guard).unwrap(); // ERROR: deadlock
        }
    });
}

// The notification comes between the look at the flag and the wait.
#[dpor::test]
fn notified_too_early() {
    let (ready, lock, changed) = (AtomicBool::new(false), Mutex::new(()), Condvar::new());
    thread::scope(|scope| {
        scope.spawn(|| {
            ready.store(true, SeqCst);
            changed.notify_one();
        });
        if !ready.load(SeqCst) {
            let guard = lock.lock().unwrap();
            drop(changed.wait(guard).unwrap()); // ERROR: deadlock
        }
    });
}

// The flag is set and looked at under the lock.
#[dpor::test]
fn notified_in_time() {
    let (ready, changed) = (Mutex::new(false), Condvar::new());
    thread::scope(|scope| {
        scope.spawn(|| {
            *ready.lock().unwrap() = true;
            changed.notify_one();
        });
        let guard = changed.wait_while(ready.lock().unwrap(), |ready| !*ready).unwrap();
        assert!(*guard);
    });
}

// Two wait, one is notified.
#[dpor::test]
fn one_of_two_notified() {
    let (ready, changed) = (Mutex::new(false), Condvar::new());
    let wait = || drop(changed.wait_while(ready.lock().unwrap(), |ready| !*ready).unwrap());
    // ERROR: deadlock
    thread::scope(|scope| {
        scope.spawn(wait);
        scope.spawn(wait);
        *ready.lock().unwrap() = true;
        changed.notify_one();
    });
}

#[dpor::test]
fn both_notified() {
    let (ready, changed) = (Mutex::new(false), Condvar::new());
    let wait = || drop(changed.wait_while(ready.lock().unwrap(), |ready| !*ready).unwrap());
    thread::scope(|scope| {
        scope.spawn(wait);
        scope.spawn(wait);
        *ready.lock().unwrap() = true;
        changed.notify_all();
    });
}

#[dpor::test]
fn parked_for_ever() {
    let thread = thread::spawn(thread::park);
    thread.join().unwrap(); // ERROR: deadlock
}

// The token is used up by the first of two parks.
#[dpor::test]
fn unparked_once_parked_twice() {
    let thread = thread::spawn(|| {
        thread::park();
        thread::park();
    });
    thread.thread().unpark();
    thread.join().unwrap(); // ERROR: deadlock
}

// Two unparks before the first park are as good as one.
#[dpor::test]
fn unparked_twice_parked_twice() {
    let thread = thread::spawn(|| {
        thread::park();
        thread::park();
    });
    thread.thread().unpark();
    thread.thread().unpark();
    thread.join().unwrap(); // ERROR: deadlock
}

// A thread that waits for a message holds the only sender.
#[dpor::test]
fn receiver_with_its_own_sender() {
    let (sender, receiver) = mpsc::channel::<u32>();
    assert!(receiver.recv().is_err()); // ERROR: deadlock
    drop(sender);
}

// Main waits for the thread, which waits for a message of main.
#[dpor::test]
fn joined_before_the_message() {
    let (sender, receiver) = mpsc::channel();
    let thread = thread::spawn(move || receiver.recv().unwrap());
    thread.join().unwrap(); // ERROR: deadlock
    sender.send(1).unwrap();
}

// Two threads that each wait for the other's message before they send their own.
#[dpor::test]
fn two_polite_threads() {
    let (to_first, first) = mpsc::channel();
    let (to_second, second) = mpsc::channel();
    let thread = thread::spawn(move || {
        let greeting: u32 = first.recv().unwrap();
        to_second.send(greeting).unwrap();
    });
    let greeting: u32 = second.recv().unwrap(); // ERROR: deadlock
    to_first.send(greeting).unwrap();
    thread.join().unwrap();
}

// A channel without a buffer: the sender waits for a receiver, which is itself.
#[dpor::test]
fn rendezvous_with_oneself() {
    let (sender, receiver) = mpsc::sync_channel(0);
    sender.send(1).unwrap(); // ERROR: deadlock
    receiver.recv().unwrap();
}

#[dpor::test]
fn buffer_too_small() {
    let (sender, receiver) = mpsc::sync_channel(1);
    sender.send(1).unwrap();
    sender.send(2).unwrap(); // ERROR: deadlock
    drop(receiver);
}

#[dpor::test]
fn barrier_for_one_too_many() {
    let barrier = Barrier::new(3);
    thread::scope(|scope| {
        scope.spawn(|| _ = barrier.wait());
        barrier.wait(); // ERROR: deadlock
    });
}

// The initialization asks for its own result.
#[dpor::test]
fn initialized_by_itself() {
    static CELL: OnceLock<u32> = OnceLock::new();
    CELL.get_or_init(|| *CELL.get_or_init(|| 1)); // ERROR: deadlock
}

// Two initializations that need each other's result.
#[dpor::test]
fn initialized_by_each_other() {
    static FIRST: OnceLock<u32> = OnceLock::new();
    static SECOND: OnceLock<u32> = OnceLock::new();
    let thread = thread::spawn(|| FIRST.get_or_init(|| *SECOND.get_or_init(|| 1)));
    SECOND.get_or_init(|| *FIRST.get_or_init(|| 2)); // ERROR: deadlock
    thread.join().unwrap();
}
