//! Threads: spawned, scoped, built, detached; their results, panics and names.

use std::panic::{self, AssertUnwindSafe};
use std::sync::atomic::{AtomicUsize, Ordering::*};
use std::sync::{Arc, mpsc};
use std::thread::{self, Builder, JoinHandle};
use std::time::{Duration, Instant};

use crate::support::{Plain, Pointer, two};

static X: AtomicUsize = AtomicUsize::new(0);

#[dpor::test]
fn results() {
    // COUNT: rc11 1 sc 1 tso 1 pso 1
    let text = String::from("text");
    let thread = thread::spawn(move || text + "s");
    assert_eq!(thread.join().unwrap(), "texts");
}

#[dpor::test]
fn panics_arrive_where_a_thread_is_joined() {
    // COUNT: rc11 1 sc 1 tso 1 pso 1
    let thread = thread::spawn(|| panic!("number {}", X.load(Relaxed)));
    let payload = thread.join().unwrap_err();
    assert_eq!(payload.downcast_ref::<String>().map(String::as_str), Some("number 0"));
}

#[dpor::test]
fn panic_passed_on() {
    let thread = thread::spawn(|| {
        assert_eq!(X.load(Relaxed), 0); // ERROR: panic
    });
    X.store(1, Relaxed);
    thread.join().unwrap();
}

// Nobody joins the thread: its panic is nobody's.
#[dpor::test]
fn panic_not_passed_on() {
    // COUNT: rc11 2 sc 2 tso 2 pso 2
    thread::spawn(|| assert_eq!(X.load(Relaxed), 0));
    X.store(1, Relaxed);
}

// The payload travels on in another panic.
#[dpor::test]
fn panic_resumed() {
    // COUNT: rc11 1 sc 1 tso 1 pso 1
    let outer = thread::spawn(|| {
        let inner = thread::spawn(|| panic::panic_any(7_u8));
        panic::resume_unwind(inner.join().unwrap_err());
    });
    assert_eq!(*outer.join().unwrap_err().downcast::<u8>().unwrap(), 7);
}

#[dpor::test]
fn panic_in_a_scope() {
    thread::scope(|scope| {
        scope.spawn(|| assert_eq!(X.load(Relaxed), 0)); // ERROR: panic
        X.store(1, Relaxed);
    });
}

// Joined by hand, the panic is told to whoever joins, and the scope ends well.
#[dpor::test]
fn panic_in_a_scope_joined() {
    // COUNT: rc11 2 sc 2 tso 2 pso 2
    let result = thread::scope(|scope| {
        let thread = scope.spawn(|| assert_eq!(X.load(Relaxed), 0));
        X.store(1, Relaxed);
        thread.join()
    });
    assert!(result.is_ok() || result.is_err());
}

// A detached thread runs to its end: the store is seen or not, and two of them are in either order.
#[dpor::test]
fn detached() {
    // COUNT: rc11 6 sc 6 tso 6 pso 6
    drop(thread::spawn(|| X.store(1, Relaxed)));
    drop(thread::spawn(|| X.store(2, Relaxed)));
    X.load(Relaxed);
}

// What belongs to a function that returned is not there for a detached thread.
#[dpor::test]
fn detached_with_a_local() {
    fn start() {
        let mut local = 5;
        let pointer = Pointer::new(&raw mut local);
        thread::spawn(move || {
            assert_eq!(unsafe { *pointer.get() }, 5); // ERROR: use-after-free
        });
    }
    start();
}

// A detached thread that uses what it owns needs nobody.
#[dpor::test]
fn detached_with_its_own() {
    // COUNT: rc11 1 sc 1 tso 1 pso 1
    let numbers: Box<[i32]> = Box::new([1, 2, 3]);
    thread::spawn(move || assert_eq!(numbers.iter().sum::<i32>(), 6));
}

// A detached thread must come to its end, too: the test is not over before.
#[dpor::test]
fn detached_and_blocked_forever() {
    thread::spawn(|| {
        loop {
            thread::park(); // ERROR: deadlock
        }
    });
}

#[dpor::test]
fn detached_race() {
    static DATA: Plain<u32> = Plain::new(0);
    let write = || unsafe {
        *DATA.get() += 1; // ERROR: data-race
    };
    thread::spawn(write);
    thread::spawn(write);
}

#[dpor::test]
fn nested_scopes() {
    // COUNT: rc11 6 sc 6 tso 6 pso 6
    let number = AtomicUsize::new(0);
    thread::scope(|outer| {
        outer.spawn(|| {
            thread::scope(|inner| {
                inner.spawn(|| number.fetch_add(1, Relaxed));
                inner.spawn(|| number.fetch_add(1, Relaxed));
            });
        });
        outer.spawn(|| number.fetch_add(1, Relaxed));
    });
    assert_eq!(number.into_inner(), 3);
}

// Threads that are spawned by threads of the scope belong to the scope too.
#[dpor::test]
fn scope_that_spawns_on() {
    // COUNT: rc11 2 sc 2 tso 2 pso 2
    let number = AtomicUsize::new(0);
    thread::scope(|scope| {
        scope.spawn(|| {
            scope.spawn(|| number.fetch_add(1, Relaxed));
            number.fetch_add(1, Relaxed);
        });
    });
    assert_eq!(number.into_inner(), 2);
}

#[dpor::test]
fn scoped_results() {
    // COUNT: rc11 1 sc 1 tso 1 pso 1
    let numbers = [1, 2, 3, 4];
    let (left, right) = numbers.split_at(2);
    let (left, right) = two(|| left.iter().sum::<i32>(), || right.iter().product::<i32>());
    assert_eq!((left, right), (3, 12));
}

// A thread of its own for each level of a tree.
#[dpor::test]
fn threads_of_threads() {
    // COUNT: rc11 1 sc 1 tso 1 pso 1
    fn sum(numbers: &'static [u32]) -> u32 {
        match numbers {
            [number] => *number,
            _ => {
                let (left, right) = numbers.split_at(numbers.len() / 2);
                let thread = thread::spawn(|| sum(left));
                sum(right) + thread.join().unwrap()
            }
        }
    }
    assert_eq!(sum(&[1, 2, 3, 4]), 10);
}

#[dpor::test]
fn built() {
    // COUNT: rc11 1 sc 1 tso 1 pso 1
    let builder = Builder::new().name("worker".into()).stack_size(64 << 10);
    let thread = builder.spawn(|| thread::current().name().map(str::to_owned)).unwrap();
    assert_eq!(thread.thread().name(), Some("worker"));
    assert_eq!(thread.join().unwrap().as_deref(), Some("worker"));
    let number = 5;
    thread::scope(|scope| {
        let thread = Builder::new().name("scoped".into()).spawn_scoped(scope, || number + 1).unwrap();
        assert_eq!(thread.join().unwrap(), 6);
    });
}

#[dpor::test]
fn ids() {
    // COUNT: rc11 1 sc 1 tso 1 pso 1
    let own = thread::current().id();
    let thread = thread::spawn(|| thread::current().id());
    let id = thread.thread().id();
    assert_ne!(id, own);
    assert_eq!(thread.join().unwrap(), id);
    assert_eq!(thread::current().id(), own);
    let (first, second) = two(|| thread::current().id(), || thread::current().id());
    assert!(first != second && ![own, id].contains(&first));
}

// To sleep is not to synchronize: the other thread may be slower still.
#[dpor::test]
fn slept_long_enough() {
    let thread = thread::spawn(|| X.store(1, Relaxed));
    thread::sleep(Duration::from_secs(3600));
    assert_eq!(X.load(Relaxed), 1); // ERROR: panic
    thread.join().unwrap();
}

#[dpor::test]
fn slept_and_joined() {
    // COUNT: rc11 1 sc 1 tso 1 pso 1
    let before = Instant::now();
    let thread = thread::spawn(|| thread::sleep(Duration::from_millis(10)));
    thread::sleep(Duration::from_millis(20));
    thread.join().unwrap();
    assert!(before.elapsed() >= Duration::from_millis(20));
}

// What happens before something is not later: a time that was sent is over for whoever receives it.
#[dpor::test]
fn time_sent_to_another_thread() {
    // COUNT: rc11 1 sc 1 tso 1 pso 1
    let (sender, receiver) = mpsc::channel();
    let thread = thread::spawn(move || {
        thread::sleep(Duration::from_millis(10));
        sender.send(Instant::now()).unwrap();
    });
    let sent = receiver.recv().unwrap();
    let received = Instant::now();
    thread::sleep(Duration::from_millis(5));
    assert!(received >= sent);
    assert!(sent.elapsed() >= Duration::from_millis(5));
    thread.join().unwrap();
}

// Whoever waits for a thread that sleeps has waited as long, if not longer.
#[dpor::test]
fn time_that_another_thread_slept() {
    // COUNT: rc11 1 sc 1 tso 1 pso 1
    let (sender, receiver) = mpsc::channel();
    let before = Instant::now();
    let thread = thread::spawn(move || {
        thread::sleep(Duration::from_millis(10));
        sender.send(()).unwrap();
    });
    receiver.recv().unwrap();
    assert!(before.elapsed() >= Duration::from_millis(10));
    thread.join().unwrap();
}

// Threads that are not ordered say nothing about each other's time.
#[dpor::test]
fn time_of_two_threads() {
    // COUNT: rc11 1 sc 1 tso 1 pso 1
    let (first, second) = two(Instant::now, Instant::now);
    let now = Instant::now();
    assert!(now >= first && now >= second);
}

// To yield is not to wait.
#[dpor::test]
fn yielded() {
    let thread = thread::spawn(|| X.store(1, Relaxed));
    for _ in 0..3 {
        thread::yield_now();
    }
    assert_eq!(X.load(Relaxed), 1); // ERROR: panic
    thread.join().unwrap();
}

// Yields and hints add no executions.
#[dpor::test]
fn yields_and_hints() {
    // COUNT: rc11 2 sc 2 tso 2 pso 2
    let add = || {
        thread::yield_now();
        std::hint::spin_loop();
        X.fetch_add(1, Relaxed);
        thread::yield_now();
    };
    two(add, add);
}

// A thread may be finished or not.
#[dpor::test]
fn finished_or_not() {
    let thread = thread::spawn(|| X.store(1, Relaxed));
    if thread.is_finished() {
        thread.join().unwrap();
        assert_eq!(X.load(Relaxed), 1);
    }
}

// What a thread returns is dropped by the standard library where nobody wants it: the reference is the user's all the
// same. Two references are dropped, in either order, 2!, if the thread drops its result; if main does, because it drops the
// handle after the thread has ended, in one.
#[dpor::test]
fn results_that_nobody_wants() {
    // COUNT: rc11 3 sc 3 tso 3 pso 3
    let first = Arc::new(AtomicUsize::new(0));
    let idle = thread::spawn(|| ());
    let second = first.clone();
    drop(thread::spawn(move || second));
    drop(first);
    idle.join().unwrap();
}

// So is a closure that can be called several times: it is dropped by the caller.
#[dpor::test]
fn closures_that_the_library_drops() {
    // COUNT: rc11 2 sc 2 tso 2 pso 2
    let first = Arc::new(AtomicUsize::new(0));
    let idle = thread::spawn(|| ());
    let second = first.clone();
    let closure = move || assert_eq!(second.load(Relaxed), 0);
    let thread = thread::spawn(closure);
    drop(first);
    thread.join().unwrap();
    idle.join().unwrap();
}

// A thread that ends the program goes no further; what others do could have come before. The increments come in either
// order: 2!
#[dpor::test]
fn exit() {
    // COUNT: rc11 2 sc 2 tso 2 pso 2
    let thread = thread::spawn(|| {
        X.fetch_add(1, Relaxed);
        std::process::exit(0)
    });
    X.fetch_add(1, Relaxed);
    thread.join().unwrap()
}

// Nobody else sees what a thread does before it spawns another: it adds no executions, but what it wrote is there. Then
// the two increments come in either order: 2!
#[dpor::test]
fn alone_before_the_others() {
    // COUNT: rc11 2 sc 2 tso 2 pso 2
    for _ in 0..10_000 {
        X.fetch_add(1, Relaxed);
    }
    let thread = thread::spawn(|| X.fetch_add(1, Relaxed));
    let seen = X.fetch_add(1, Relaxed) + thread.join().unwrap();
    assert_eq!((X.load(Relaxed), seen), (10_002, 20_001));
}

// Also where it looks again and again: that is no loop that waits.
#[dpor::test]
fn alone_and_looking() {
    // COUNT: rc11 1 sc 1 tso 1 pso 1
    let sum: usize = (0..100_000).map(|_| X.load(Relaxed)).sum();
    assert_eq!(sum, 0);
}

// Which is refused, by a panic; the messages come in one order.
#[dpor::test]
fn joined_by_itself() {
    // COUNT: rc11 1 sc 1 tso 1 pso 1
    let (sender, receiver) = mpsc::channel::<JoinHandle<()>>();
    let (done, refused) = mpsc::channel();
    let thread = thread::spawn(move || {
        let own = receiver.recv().unwrap();
        done.send(panic::catch_unwind(AssertUnwindSafe(|| own.join())).is_err()).unwrap();
    });
    sender.send(thread).unwrap();
    assert!(refused.recv().unwrap());
}

#[dpor::test]
fn scopes_in_scopes() {
    // COUNT: rc11 1 sc 1 tso 1 pso 1
    let mut numbers = vec![1];
    let counter = AtomicUsize::new(0);
    thread::scope(|outer| {
        outer.spawn(|| thread::scope(|inner| _ = inner.spawn(|| numbers.push(2))));
        outer.spawn(|| _ = outer.spawn(|| counter.store(1, Relaxed)));
    });
    assert_eq!((numbers, counter.into_inner()), (vec![1, 2], 1));
}
