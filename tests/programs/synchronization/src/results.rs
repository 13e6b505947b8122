//! What threads return that nobody joins: the thread and its handle both hold the result, and whoever lets go of it last
//! drops it. `tests/tests/library.rs` has that natively.

use std::cell::UnsafeCell;
use std::mem;
use std::panic;
use std::sync::atomic::{AtomicU32, Ordering::Relaxed};
use std::sync::{Arc, Mutex, mpsc};
use std::thread::{self, ThreadId};

static COUNT: AtomicU32 = AtomicU32::new(0);
static DATA: Shared = Shared(UnsafeCell::new(0));

/// Counts when it is dropped.
struct Counts;

impl Drop for Counts {
    fn drop(&mut self) {
        COUNT.fetch_add(1, Relaxed);
    }
}

/// Says who drops it.
struct Tells(mpsc::Sender<ThreadId>);

impl Drop for Tells {
    fn drop(&mut self) {
        self.0.send(thread::current().id()).unwrap();
    }
}

struct Panics;

impl Drop for Panics {
    fn drop(&mut self) {
        panic!("dropped");
    }
}

struct Shared(UnsafeCell<u32>);

unsafe impl Sync for Shared {}

impl Shared {
    fn add(&self, number: u32) {
        unsafe { *self.0.get() += number }
    }
}

/// Changes data that nothing protects when it is dropped.
struct Changes;

impl Drop for Changes {
    fn drop(&mut self) {
        DATA.add(1);
    }
}

// The thread is last, or main is: 2
#[dpor::test]
fn dropped_by_whoever_is_last() {
    // COUNT: rc11 2 sc 2 tso 2 pso 2
    let (sender, receiver) = mpsc::channel();
    drop(thread::spawn(move || Tells(sender)));
    receiver.recv().unwrap();
}

#[dpor::test]
fn dropped_by_main() {
    let (sender, receiver) = mpsc::channel();
    drop(thread::spawn(move || Tells(sender)));
    assert_ne!(receiver.recv().unwrap(), thread::current().id()); // ERROR: panic
}

#[dpor::test]
fn dropped_by_the_thread() {
    let (sender, receiver) = mpsc::channel();
    drop(thread::spawn(move || Tells(sender)));
    assert_eq!(receiver.recv().unwrap(), thread::current().id()); // ERROR: panic
}

// A thread that is joined gives its result away.
#[dpor::test]
fn joined() {
    // COUNT: rc11 1 sc 1 tso 1 pso 1
    drop(thread::spawn(|| Counts).join());
    assert_eq!(COUNT.load(Relaxed), 1);
}

// Who has seen the thread's end is last.
#[dpor::test]
fn dropped_after_the_end() {
    // COUNT: rc11 1 sc 1 tso 1 pso 1
    let (sender, receiver) = mpsc::channel();
    let thread = thread::spawn(move || Tells(sender));
    while !thread.is_finished() {
        thread::yield_now();
    }
    drop(thread);
    assert_eq!(receiver.recv().unwrap(), thread::current().id());
}

// Main drops it, and sees that; or the thread does, before or after main looks: 3
#[dpor::test]
fn seen_or_not() {
    // COUNT: rc11 3 sc 3 tso 3 pso 3
    drop(thread::spawn(|| Counts));
    COUNT.load(Relaxed);
}

#[dpor::test]
fn not_dropped_yet() {
    drop(thread::spawn(|| Counts));
    assert_eq!(COUNT.load(Relaxed), 1); // ERROR: panic
}

#[dpor::test(expect = "abort")]
fn panic_while_it_is_dropped() {
    drop(thread::spawn(|| Panics));
}

#[dpor::test(expect = "abort")]
fn panic_in_a_scope_while_it_is_dropped() {
    thread::scope(|scope| {
        scope.spawn(|| Panics);
    });
}

// The payload of a panic is a result, too.
#[dpor::test]
fn payload_dropped_by_main() {
    let (sender, receiver) = mpsc::channel();
    drop(thread::spawn(move || panic::panic_any(Tells(sender))));
    assert_ne!(receiver.recv().unwrap(), thread::current().id()); // ERROR: panic
}

#[dpor::test]
fn payload_dropped_by_whoever_is_last() {
    // COUNT: rc11 2 sc 2 tso 2 pso 2
    let (sender, receiver) = mpsc::channel();
    drop(thread::spawn(move || panic::panic_any(Tells(sender))));
    receiver.recv().unwrap();
}

// A message has no destructor that anybody sees: it makes no difference who drops it.
#[dpor::test]
fn message_of_a_panic() {
    // COUNT: rc11 1 sc 1 tso 1 pso 1
    drop(thread::spawn(|| panic!("number {}", 1)));
}

// Whoever drops it does so after both have let go: either order, no race.
#[dpor::test]
fn dropped_after_what_both_did() {
    // COUNT: rc11 2 sc 2 tso 2 pso 2
    let (sender, receiver) = mpsc::channel();
    let thread = thread::spawn(move || {
        receiver.recv().unwrap();
        DATA.add(1);
        Changes
    });
    DATA.add(1);
    sender.send(()).unwrap();
    drop(thread);
}

#[dpor::test(expect = "data-race")]
fn dropped_while_main_goes_on() {
    drop(thread::spawn(|| Changes));
    DATA.add(1);
}

// The counts of references in a result are the user's: 2! orders if the thread drops it, 1 if main does.
#[dpor::test]
fn references() {
    // COUNT: rc11 3 sc 3 tso 3 pso 3
    let first = Arc::new(COUNT.load(Relaxed));
    let second = first.clone();
    drop(thread::spawn(move || second));
    drop(first);
}

// A destructor that waits: if the thread is last, both lock in either order; if main is, it locks twice.
#[dpor::test]
fn destructor_that_locks() {
    // COUNT: rc11 3 sc 3 tso 3 pso 3
    static TOTAL: Mutex<u32> = Mutex::new(0);
    struct Locks;
    impl Drop for Locks {
        fn drop(&mut self) {
            *TOTAL.lock().unwrap() += 1;
        }
    }
    drop(thread::spawn(|| Locks));
    *TOTAL.lock().unwrap() += 1;
}

// A handle that is the result of another thread: two results, each with two orders.
#[dpor::test]
fn handle_in_a_result() {
    // COUNT: rc11 4 sc 4 tso 4 pso 4
    drop(thread::spawn(|| thread::spawn(|| Counts)));
}

// A scope ends after its threads' results are dropped, by whomever: they may borrow.
#[dpor::test]
fn borrowed_in_a_scope() {
    // COUNT: rc11 2 sc 2 tso 2 pso 2
    struct Counts<'a>(&'a AtomicU32);
    impl Drop for Counts<'_> {
        fn drop(&mut self) {
            self.0.fetch_add(1, Relaxed);
        }
    }
    let count = AtomicU32::new(0);
    thread::scope(|scope| {
        scope.spawn(|| Counts(&count));
    });
    assert_eq!(count.into_inner(), 1);
}

// The library counts a thread of a scope until its result is dropped: one whose handle is leaked is never done.
#[dpor::test]
fn leaked_handle_in_a_scope() {
    // ERROR: deadlock
    thread::scope(|scope| mem::forget(scope.spawn(|| ())));
}
