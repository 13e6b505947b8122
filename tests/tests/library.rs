//! What the standard library really does, where the models of `docs/synchronization.md` say that it may: natively, on
//! this machine.

use std::sync::{RwLock, mpsc};
use std::thread::{self, ThreadId};
use std::time::{Duration, Instant};

/// So often something is tried that does not happen each time.
const TRIES: usize = 200;
/// Long enough for a thread to be parked, or to be seen to be.
const A_WHILE: Duration = Duration::from_millis(10);

/// Whether this thread has a token. Takes it.
fn has_token() -> bool {
    let before = Instant::now();
    thread::park_timeout(A_WHILE);
    before.elapsed() < A_WHILE
}

/// Whether something is so at least once.
fn happens(mut attempt: impl FnMut() -> bool) -> bool {
    (0..TRIES).any(|_| attempt())
}

#[test]
fn an_attempt_to_read_fails_while_a_writer_waits() {
    let lock = RwLock::new(0);
    thread::scope(|scope| {
        let reader = lock.read().unwrap();
        scope.spawn(|| *lock.write().unwrap() += 1);
        assert!(happens(|| {
            thread::sleep(Duration::from_millis(1));
            lock.try_read().is_err()
        }));
        drop(reader);
    });
    assert_eq!(lock.try_read().map(|number| *number).ok(), Some(1));
}

/// A thread receives a message, and has a token or none afterwards, though it was given one: both happens.
#[test]
fn receiving_may_take_a_token() {
    let attempt = |wait: Duration| {
        let (sender, receiver) = mpsc::channel();
        let receiving = thread::spawn(move || {
            receiver.recv().unwrap();
            has_token()
        });
        thread::sleep(wait);
        // Before the message: a thread that is parked for it wakes up, and parks again.
        receiving.thread().unpark();
        thread::sleep(wait);
        sender.send(()).unwrap();
        receiving.join().unwrap()
    };
    assert!(happens(|| !attempt(A_WHILE)), "the token is taken");
    assert!(happens(|| attempt(Duration::ZERO)), "the token is there");
}

/// The same at the end of a scope, which takes a token if it has to wait, and else leaves one.
#[test]
fn the_end_of_a_scope_may_take_a_token() {
    let attempt = |wait: Duration| {
        let owner = thread::current();
        thread::scope(|scope| {
            scope.spawn(|| {
                thread::sleep(wait);
                owner.unpark();
                thread::sleep(wait);
            });
        });
        has_token()
    };
    assert!(happens(|| !attempt(A_WHILE)), "the token is taken");
    let left = |()| {
        thread::scope(|scope| scope.spawn(|| ()).join().unwrap());
        has_token()
    };
    assert!(left(()), "nobody had to wait");
}

/// Says who drops it.
struct Tells(mpsc::Sender<ThreadId>);

impl Drop for Tells {
    fn drop(&mut self) {
        self.0.send(thread::current().id()).unwrap();
    }
}

/// A thread and its handle both hold the thread's result: whoever lets go of it last drops it.
#[test]
fn a_result_is_dropped_by_whoever_is_last() {
    let (sender, dropped) = mpsc::channel();
    let (go_on, wait) = mpsc::channel::<()>();
    let tells = Tells(sender.clone());
    let thread = thread::spawn(move || {
        wait.recv().unwrap();
        tells
    });
    let id = thread.thread().id();
    drop(thread);
    go_on.send(()).unwrap();
    assert_eq!(dropped.recv().unwrap(), id, "the handle was dropped before the thread has ended");

    let thread = thread::spawn(move || Tells(sender));
    while !thread.is_finished() {
        thread::yield_now();
    }
    assert!(dropped.try_recv().is_err());
    drop(thread);
    assert_eq!(dropped.recv().unwrap(), thread::current().id(), "the thread has ended before");
}

/// A thread of a scope is done when its result is dropped: whoever does that unparks the owner of the scope.
#[test]
fn a_thread_of_a_scope_is_done_when_its_result_is_dropped() {
    thread::scope(|scope| {
        let thread = scope.spawn(|| ());
        while !thread.is_finished() {
            thread::yield_now();
        }
        assert!(!has_token(), "the handle is there");
        drop(thread);
    });
    assert!(has_token(), "the owner has unparked itself");
}
