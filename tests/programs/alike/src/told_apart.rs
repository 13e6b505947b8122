//! Threads that only seem to be alike: somebody tells them apart, and what is wrong is so in some orders only.

use std::cell::UnsafeCell;
use std::sync::atomic::{AtomicUsize, Ordering::*};
use std::thread;
use std::time::{Duration, Instant};

static X: AtomicUsize = AtomicUsize::new(0);
static Y: AtomicUsize = AtomicUsize::new(0);

/// Memory that threads share though they must not.
struct Plain(UnsafeCell<usize>);

unsafe impl Sync for Plain {}

static PLAIN: Plain = Plain(UnsafeCell::new(0));

// What each has captured differs.
#[dpor::test]
fn by_captures() {
    let threads: Vec<_> = (0..2)
        .map(|number| {
            thread::spawn(move || {
                if X.fetch_add(1, Relaxed) == 0 {
                    Y.store(number, Relaxed);
                }
            })
        })
        .collect();
    threads.into_iter().for_each(|thread| thread.join().unwrap());
    // ERROR: panic
    assert_eq!(Y.load(Relaxed), 0);
}

#[dpor::test]
fn by_results_the_first_wins() {
    let threads = [(); 2].map(|()| thread::spawn(|| X.fetch_add(1, Relaxed)));
    // ERROR: panic
    assert_eq!(threads.map(|thread| thread.join().unwrap()), [0, 1]);
}

#[dpor::test]
fn by_results_the_second_wins() {
    let threads = [(); 2].map(|()| thread::spawn(|| X.fetch_add(1, Relaxed)));
    // ERROR: panic
    assert_eq!(threads.map(|thread| thread.join().unwrap()), [1, 0]);
}

// The one that is joined may have come first, or second.
fn joined_in_between(expected: usize) {
    let body = || {
        if X.fetch_add(1, Relaxed) == 0 {
            Y.store(1, Relaxed);
        }
    };
    let [first, second] = [(); 2].map(|()| thread::spawn(body));
    first.join().unwrap();
    let seen = Y.load(Relaxed);
    second.join().unwrap();
    assert_eq!(seen.max(expected), seen);
}

#[dpor::test]
fn by_joining_one() {
    joined_in_between(0);
}

#[dpor::test(expect = "panic")]
fn by_joining_one_first() {
    joined_in_between(1);
}

// Whoever comes first, or second, sleeps; the thread that joins one of them asks how long that took before it has joined
// the other. If it has joined the one that sleeps, that is at least as long as this one has slept, or else much less.
fn asks_for_the_time(sleeps: usize) -> bool {
    const LONG: Duration = Duration::from_millis(5);
    let body = move || {
        if X.fetch_add(1, Relaxed) == sleeps {
            thread::sleep(LONG);
        }
    };
    let before = Instant::now();
    let [first, second] = [(); 2].map(|()| thread::spawn(body));
    first.join().unwrap();
    let elapsed = before.elapsed();
    second.join().unwrap();
    elapsed >= LONG
}

#[dpor::test(expect = "panic")]
fn by_the_time_when_the_first_sleeps() {
    assert!(asks_for_the_time(0));
}

#[dpor::test(expect = "panic")]
fn by_the_time_when_the_second_sleeps() {
    assert!(!asks_for_the_time(1));
}

// Whoever comes first writes; the thread that joins one of them looks before it has joined the other.
#[dpor::test]
fn by_a_plain_access_in_between_of_what_the_first_writes() {
    let body = || {
        if X.fetch_add(1, Relaxed) == 0 {
            unsafe { *PLAIN.0.get() = 1 }; // ERROR: data-race
        }
    };
    let [first, second] = [(); 2].map(|()| thread::spawn(body));
    first.join().unwrap();
    let _seen = unsafe { *PLAIN.0.get() }; // ERROR: data-race
    second.join().unwrap();
}

#[dpor::test]
fn by_a_plain_access_in_between_of_what_the_second_writes() {
    let body = || {
        if X.fetch_add(1, Relaxed) == 1 {
            unsafe { *PLAIN.0.get() = 1 }; // ERROR: data-race
        }
    };
    let [first, second] = [(); 2].map(|()| thread::spawn(body));
    first.join().unwrap();
    let _seen = unsafe { *PLAIN.0.get() }; // ERROR: data-race
    second.join().unwrap();
}

// Between the spawns something is written that only the second may look at.
#[dpor::test]
fn by_a_plain_access_between_the_spawns_that_the_second_looks_at() {
    let body = || {
        if X.fetch_add(1, Relaxed) == 1 {
            let _seen = unsafe { *PLAIN.0.get() }; // ERROR: data-race
        }
    };
    let first = thread::spawn(body);
    unsafe { *PLAIN.0.get() = 1 }; // ERROR: data-race
    let second = thread::spawn(body);
    first.join().unwrap();
    second.join().unwrap();
}

#[dpor::test]
fn by_a_plain_access_between_the_spawns_that_the_first_looks_at() {
    let body = || {
        if X.fetch_add(1, Relaxed) == 0 {
            let _seen = unsafe { *PLAIN.0.get() }; // ERROR: data-race
        }
    };
    let first = thread::spawn(body);
    unsafe { *PLAIN.0.get() = 1 }; // ERROR: data-race
    let second = thread::spawn(body);
    first.join().unwrap();
    second.join().unwrap();
}

// Only one of them goes on.
fn woken(lucky: usize) {
    let body = || {
        let place = X.fetch_add(1, Relaxed);
        thread::park();
        Y.store(place + 1, Relaxed);
    };
    let threads = [(); 2].map(|()| thread::spawn(body));
    threads[0].thread().unpark();
    while Y.load(Relaxed) == 0 {
        std::hint::spin_loop();
    }
    assert_ne!(Y.load(Relaxed), lucky);
    threads.iter().for_each(|thread| thread.thread().unpark());
}

#[dpor::test(expect = "panic")]
fn by_waking_one_that_came_first() {
    woken(1);
}

#[dpor::test(expect = "panic")]
fn by_waking_one_that_came_second() {
    woken(2);
}

// Who panics is joined first, or second.
fn panics(place: usize) -> [bool; 2] {
    let body = move || {
        if X.fetch_add(1, Relaxed) == place {
            panic!("the one");
        }
    };
    [(); 2].map(|()| thread::spawn(body)).map(|thread| thread.join().is_err())
}

#[dpor::test]
fn by_panics_of_the_first() {
    // ERROR: panic
    assert_ne!(panics(0), [true, false]);
}

#[dpor::test]
fn by_panics_of_the_second() {
    // ERROR: panic
    assert_ne!(panics(0), [false, true]);
}

#[dpor::test]
fn by_ids() {
    let body = || {
        let id = thread::current().id();
        let first = X.fetch_add(1, Relaxed) == 0;
        first.then_some(id)
    };
    let threads = [(); 2].map(|()| thread::spawn(body));
    let second = threads[1].thread().id();
    let winner = threads.map(|thread| thread.join().unwrap()).into_iter().flatten().next();
    // ERROR: panic
    assert_ne!(winner, Some(second));
}

// Boxes of the same contents: each is its thread's, and then main's again.
#[dpor::test]
fn by_what_they_have_borrowed() {
    let mut boxes = [Box::new(0), Box::new(0)];
    thread::scope(|scope| {
        for own in &mut boxes {
            scope.spawn(|| **own = X.fetch_add(1, Relaxed));
        }
    });
    // ERROR: panic
    assert_eq!(*boxes[0], 0);
}

/// Spawns two threads that are alike, and joins the first or the second of them; nobody waits for the other.
fn one_of_two<T: Send + 'static>(joined: usize, body: fn() -> T) -> T {
    let mut threads = vec![thread::spawn(body), thread::spawn(body)];
    threads.swap_remove(joined).join().unwrap()
}

// The other one may have come first, and may come later.
#[dpor::test]
fn by_the_result_of_the_second() {
    let found = one_of_two(1, || X.swap(1, Relaxed));
    // ERROR: panic
    assert_eq!(found, 1);
}

#[dpor::test]
fn by_the_result_of_the_first() {
    let found = one_of_two(0, || X.swap(1, Relaxed));
    // ERROR: panic
    assert_eq!(found, 0);
}

// The second of three is not joined.
#[dpor::test]
fn by_the_results_of_two_of_three() {
    let [first, _, third] = [(); 3].map(|()| thread::spawn(|| X.fetch_add(1, Relaxed)));
    let found = (first.join().unwrap(), third.join().unwrap());
    // ERROR: panic
    assert_ne!(found, (2, 1));
}
