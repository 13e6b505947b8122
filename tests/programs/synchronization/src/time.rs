//! Time: nothing waits for it, and nobody is told an earlier time than one that it knows of.

use std::sync::atomic::{AtomicU64, Ordering::Relaxed};
use std::sync::{Barrier, Mutex, mpsc};
use std::thread;
use std::time::{Duration, Instant};

const A_WHILE: Duration = Duration::from_millis(10);

// Who has the lock later looks at the clock later: 2!
#[dpor::test]
fn instants_behind_a_lock() {
    // COUNT: rc11 2 sc 2 tso 2 pso 2
    static LATEST: Mutex<Option<Instant>> = Mutex::new(None);
    let look = || {
        thread::sleep(A_WHILE);
        let mut latest = LATEST.lock().unwrap();
        let now = Instant::now();
        assert!(latest.is_none_or(|before| before <= now));
        *latest = Some(now);
    };
    let threads = [thread::spawn(look), thread::spawn(look)];
    threads.into_iter().for_each(|thread| thread.join().unwrap());
}

// A relaxed load does not synchronize; what it loads is from an earlier time all the same.
#[dpor::test]
fn instant_in_a_relaxed_atomic() {
    // COUNT: rc11 2 sc 2 tso 2 pso 2
    static NANOSECONDS: AtomicU64 = AtomicU64::new(0);
    let start = Instant::now();
    let nanoseconds = move || start.elapsed().as_nanos() as u64;
    let thread = thread::spawn(move || {
        thread::sleep(A_WHILE);
        NANOSECONDS.store(nanoseconds(), Relaxed);
    });
    let seen = NANOSECONDS.load(Relaxed);
    assert!(seen <= nanoseconds());
    thread.join().unwrap();
}

// What a thread comes to know later does not change what time it was before. The first thread reads what the third writes,
// or not, after that has read what the second writes, or not: 2 · 2. To have the first one read it, the third is run again.
#[dpor::test]
fn the_same_time_again() {
    // COUNT: rc11 4 sc 4 tso 4 pso 4
    static LATE: AtomicU64 = AtomicU64::new(0);
    static NANOSECONDS: AtomicU64 = AtomicU64::new(0);
    static DONE: AtomicU64 = AtomicU64::new(0);
    let start = Instant::now();
    let nanoseconds = move || start.elapsed().as_nanos() as u64;
    let first = thread::spawn(|| DONE.load(Relaxed));
    let second = thread::spawn(move || {
        thread::sleep(A_WHILE);
        LATE.store(nanoseconds(), Relaxed);
    });
    let third = thread::spawn(move || {
        NANOSECONDS.store(1, Relaxed);
        NANOSECONDS.store(nanoseconds(), Relaxed);
        LATE.load(Relaxed);
        DONE.store(1, Relaxed);
    });
    first.join().unwrap();
    second.join().unwrap();
    third.join().unwrap();
}

#[dpor::test]
fn instants_before_and_after_a_barrier() {
    // COUNT: rc11 2 sc 2 tso 2 pso 2
    let barrier = Barrier::new(2);
    thread::scope(|scope| {
        let other = scope.spawn(|| {
            thread::sleep(A_WHILE);
            let before = Instant::now();
            barrier.wait();
            before
        });
        barrier.wait();
        let after = Instant::now();
        assert!(other.join().unwrap() <= after);
    });
}

#[dpor::test]
fn instant_as_a_result() {
    // COUNT: rc11 1 sc 1 tso 1 pso 1
    let thread = thread::spawn(|| {
        thread::sleep(A_WHILE);
        Instant::now()
    });
    let end = thread.join().unwrap();
    assert!(end <= Instant::now());
}

// Where a timeout is over, so much time has passed.
#[dpor::test]
fn timeout_that_is_over() {
    let (sender, receiver) = mpsc::channel();
    let thread = thread::spawn(move || sender.send(()).unwrap());
    let start = Instant::now();
    if receiver.recv_timeout(A_WHILE) == Err(mpsc::RecvTimeoutError::Timeout) {
        assert!(start.elapsed() >= A_WHILE);
    }
    thread.join().unwrap();
}
