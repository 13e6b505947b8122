//! Barriers, parking, and the end of threads.

use std::cell::{Cell, UnsafeCell};
use std::sync::atomic::{AtomicBool, AtomicU32, Ordering::Acquire, Ordering::Relaxed, fence};
use std::sync::{Barrier, mpsc};
use std::thread;
use std::time::Duration;

// Who comes when: n!
#[dpor::test]
fn barrier() {
    // COUNT: rc11 6 sc 6 tso 6 pso 6
    let (barrier, leaders) = (Barrier::new(3), AtomicU32::new(0));
    thread::scope(|scope| {
        for _ in 0..3 {
            scope.spawn(|| {
                if barrier.wait().is_leader() {
                    leaders.fetch_add(1, Relaxed);
                }
            });
        }
    });
    assert_eq!(leaders.into_inner(), 1);
}

// In each of the two rounds: (n!)²
#[dpor::test]
fn barrier_of_two_rounds() {
    // COUNT: rc11 4 sc 4 tso 4 pso 4
    let barrier = Barrier::new(2);
    thread::scope(|scope| {
        for _ in 0..2 {
            scope.spawn(|| {
                barrier.wait();
                barrier.wait();
            });
        }
    });
}

#[dpor::test]
fn barrier_for_one() {
    // COUNT: rc11 1
    assert!(Barrier::new(1).wait().is_leader());
    assert!(Barrier::new(0).wait().is_leader());
}

struct Shared(UnsafeCell<u32>);

unsafe impl Sync for Shared {}

// What was done before the barrier happens before what is done after it.
#[dpor::test]
fn barrier_orders() {
    // COUNT: rc11 2 sc 2 tso 2 pso 2
    let (barrier, data) = (Barrier::new(2), Shared(UnsafeCell::new(0)));
    let data = &data;
    thread::scope(|scope| {
        scope.spawn(|| {
            unsafe { *data.0.get() = 5 };
            barrier.wait();
        });
        barrier.wait();
        assert_eq!(unsafe { *data.0.get() }, 5);
    });
}

#[dpor::test]
fn barrier_that_nobody_else_comes_to() {
    Barrier::new(2).wait(); // ERROR: deadlock
}

#[dpor::test]
fn unparked() {
    // COUNT: rc11 1 sc 1 tso 1 pso 1
    let thread = thread::spawn(thread::park);
    thread.thread().unpark();
    thread.join().unwrap();
}

#[dpor::test]
fn parked_for_ever() {
    let thread = thread::spawn(thread::park);
    thread.join().unwrap(); // ERROR: deadlock
}

// The token is taken between the two that bring one, or after both, who come in either order.
#[dpor::test]
fn unparked_twice() {
    // COUNT: rc11 4 sc 4 tso 4 pso 4
    let parked = thread::current();
    thread::scope(|scope| {
        for _ in 0..2 {
            scope.spawn(|| parked.unpark());
        }
        thread::park();
    });
}

// The token comes in time, or it does not.
#[dpor::test]
fn parked_for_some_time() {
    // COUNT: rc11 2 sc 2 tso 2 pso 2
    let parked = thread::current();
    thread::scope(|scope| {
        scope.spawn(|| parked.unpark());
        thread::park_timeout(Duration::from_millis(1));
    });
}

// With a token, or without reason.
#[dpor::test(spurious = true)]
fn parked_with_spurious_wake_ups() {
    // COUNT: rc11 2 sc 2 tso 2 pso 2
    let parked = thread::current();
    thread::scope(|scope| {
        scope.spawn(|| parked.unpark());
        thread::park();
    });
}

#[dpor::test]
fn parked_after_the_token_is_used_up() {
    thread::current().unpark();
    thread::current().unpark();
    thread::park();
    thread::park(); // ERROR: deadlock
}

// The thread has ended, or it has not. In the library, to ask is to look at a reference count, with a relaxed load:
// what the thread did is visible only after a fence.
#[dpor::test]
fn finished() {
    // COUNT: rc11 2 sc 2 tso 2 pso 2
    let data = Shared(UnsafeCell::new(0));
    let data = &data;
    thread::scope(|scope| {
        let thread = scope.spawn(move || unsafe { *data.0.get() = 5 });
        if thread.is_finished() {
            fence(Acquire);
            assert_eq!(unsafe { *data.0.get() }, 5);
        }
        thread.join().unwrap();
    });
}

#[dpor::test]
fn finished_without_a_fence() {
    let data = Shared(UnsafeCell::new(0));
    let data = &data;
    let thread = thread::scope(|scope| {
        let thread = scope.spawn(move || unsafe {
            *data.0.get() = 5 // ERROR: data-race
        });
        while !thread.is_finished() {
            thread::yield_now();
        }
        unsafe { *data.0.get() } // ERROR: data-race
    });
    assert_eq!(thread, 5);
}

// A loop that asks again and again ends in one way.
#[dpor::test]
fn asked_until_it_is_finished() {
    // COUNT: rc11 1 sc 1 tso 1 pso 1
    let data = Shared(UnsafeCell::new(0));
    let data = &data;
    thread::scope(|scope| {
        let thread = scope.spawn(move || unsafe { *data.0.get() = 5 });
        while !thread.is_finished() {
            thread::yield_now();
        }
        fence(Acquire);
        assert_eq!(unsafe { *data.0.get() }, 5);
    });
}

#[dpor::test(expect = "data-race")]
fn not_finished() {
    let data = Shared(UnsafeCell::new(0));
    let data = &data;
    thread::scope(|scope| {
        let thread = scope.spawn(move || unsafe { *data.0.get() = 5 });
        if !thread.is_finished() {
            unsafe { *data.0.get() = 6 };
        }
    });
}

// Who sleeps that long does not wake: the other thread finds the value that was there, and the execution is over,
// though a thread is left.
#[dpor::test]
fn a_thread_that_sleeps_for_ever() {
    // COUNT: rc11 0+1 sc 0+1 tso 0+1 pso 0+1
    static AWAKE: AtomicBool = AtomicBool::new(false);
    thread::spawn(|| {
        thread::sleep(Duration::MAX);
        AWAKE.store(true, Relaxed);
    });
    assert!(!AWAKE.load(Relaxed));
}

// Nobody else can wake it: a timeout of centuries is none.
#[dpor::test]
fn parked_for_centuries() {
    thread::park_timeout(Duration::from_secs(1 << 40)); // ERROR: deadlock
}

// The token comes first, or while the thread waits: that is the same execution.
#[dpor::test]
fn unparked_within_centuries() {
    // COUNT: rc11 1 sc 1 tso 1 pso 1
    let main = thread::current();
    let other = thread::spawn(move || main.unpark());
    thread::park_timeout(Duration::MAX);
    other.join().unwrap();
}

// A scope ends when the closures of its threads have returned. The destructors of their thread-locals may still run, as
// the library's documentation says.
#[dpor::test]
fn thread_locals_after_the_end_of_a_scope() {
    static DATA: Shared = Shared(UnsafeCell::new(0));
    thread::scope(|scope| {
        scope.spawn(|| LATE.with(|late| late.0.set(Some(&DATA))));
    });
    assert!(unsafe { *DATA.0.get() } < 2); // ERROR: data-race
}

/// Writes to what it points to when it is dropped.
struct Late(Cell<Option<&'static Shared>>);

impl Drop for Late {
    fn drop(&mut self) {
        let Some(data) = self.0.take() else { return };
        unsafe { *data.0.get() = 1 } // ERROR: data-race
    }
}

thread_local! {
    static LATE: Late = const { Late(Cell::new(None)) };
}

// Whoever joins a thread waits for its destructors, too.
#[dpor::test]
fn thread_locals_after_a_join() {
    // COUNT: rc11 1 sc 1 tso 1 pso 1
    static DATA: Shared = Shared(UnsafeCell::new(0));
    thread::scope(|scope| {
        scope.spawn(|| LATE.with(|late| late.0.set(Some(&DATA)))).join().unwrap();
    });
    assert_eq!(unsafe { *DATA.0.get() }, 1);
}

// What the closures of a scope's threads did happens before its end; in which order they are done makes no difference.
#[dpor::test]
fn the_end_of_a_scope() {
    // COUNT: rc11 1 sc 1 tso 1 pso 1
    let mut numbers = [0; 3];
    thread::scope(|scope| {
        for number in &mut numbers {
            scope.spawn(|| *number = 1);
        }
    });
    assert_eq!(numbers, [1; 3]);
}

// The end of a scope parks the thread that waits there. The token that wakes it may be the one that was meant for
// later: `tests/tests/library.rs` has that natively.
#[dpor::test]
fn token_lost_at_the_end_of_a_scope() {
    let main = thread::current();
    thread::scope(|scope| {
        scope.spawn(|| main.unpark());
    });
    thread::park(); // ERROR: deadlock
}

// A scope whose threads are joined parks nobody, and takes no token.
#[dpor::test]
fn token_kept_where_a_scope_does_not_wait() {
    let main = thread::current();
    thread::scope(|scope| scope.spawn(|| main.unpark()).join().unwrap());
    thread::park();
}

// In the library, a thread of a scope is done when its result is dropped. As long as the owner of the scope has the
// handle, the thread does not unpark it: `tests/tests/library.rs` has that natively.
#[dpor::test]
fn no_token_while_the_handle_is_there() {
    thread::scope(|scope| drop(scope.spawn(|| ())));
    thread::park_timeout(Duration::ZERO);
    thread::scope(|scope| {
        let thread = scope.spawn(|| ());
        thread::park(); // ERROR: deadlock
        thread.join().unwrap();
    });
}

// Whoever drops the last handle of a scope unparks its owner, though that is the owner itself.
#[dpor::test]
fn token_of_a_scope_whose_threads_are_joined() {
    thread::scope(|scope| drop(scope.spawn(|| ())));
    thread::scope(|scope| scope.spawn(|| ()).join().unwrap());
    thread::park();
}

#[dpor::test]
fn token_lost_at_the_end_of_an_inner_scope() {
    let main = thread::current();
    thread::scope(|scope| {
        scope.spawn(|| main.unpark());
        thread::scope(|inner| drop(inner.spawn(|| ())));
        thread::park(); // ERROR: deadlock
    });
}

// That a thread has ended says nothing about what it did: the load may find what was there before.
#[dpor::test]
fn finished_and_not_seen() {
    // MODELS: rc11
    static NUMBER: AtomicU32 = AtomicU32::new(0);
    let thread = thread::spawn(|| NUMBER.store(1, Relaxed));
    if thread.is_finished() {
        assert_eq!(NUMBER.load(Relaxed), 1); // ERROR: panic
    }
    thread.join().unwrap();
}

// Nor does somebody know more who is told by the thread that asked.
#[dpor::test(expect = "data-race")]
fn finished_and_passed_on() {
    static DATA: Shared = Shared(UnsafeCell::new(0));
    let (sender, receiver) = mpsc::channel();
    let thread = thread::spawn(|| unsafe { *DATA.0.get() = 1 });
    let other = thread::spawn(move || {
        receiver.recv().unwrap();
        unsafe { *DATA.0.get() }
    });
    while !thread.is_finished() {
        thread::yield_now();
    }
    sender.send(()).unwrap();
    thread.join().unwrap();
    other.join().unwrap();
}

// A thread is finished before the destructors of its thread-locals have run.
#[dpor::test(expect = "data-race")]
fn finished_before_thread_locals() {
    static DATA: Shared = Shared(UnsafeCell::new(0));
    let thread = thread::spawn(|| LATE.with(|late| late.0.set(Some(&DATA))));
    if thread.is_finished() {
        fence(Acquire);
        assert!(unsafe { *DATA.0.get() } < 2);
    }
    thread.join().unwrap();
}

// The thread of an inner scope may still be there when the thread that waited for the inner scope has ended.
#[dpor::test(expect = "data-race")]
fn thread_locals_after_the_end_of_an_inner_scope() {
    static DATA: Shared = Shared(UnsafeCell::new(0));
    thread::scope(|scope| {
        let inner = || thread::scope(|scope| drop(scope.spawn(|| LATE.with(|late| late.0.set(Some(&DATA))))));
        scope.spawn(inner).join().unwrap();
    });
    assert!(unsafe { *DATA.0.get() } < 2);
}
