//! Numbers of executions that follow from a formula, with threads that are spawned or scoped.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering, Ordering::*};
use std::thread;

static X: AtomicUsize = AtomicUsize::new(0);
static Y: AtomicUsize = AtomicUsize::new(0);

fn spawned(n: usize, body: impl Fn(usize) + Send + Copy + 'static) {
    let threads: Vec<_> = (0..n).map(|i| thread::spawn(move || body(i))).collect();
    for thread in threads {
        thread.join().unwrap();
    }
}

fn scoped(n: usize, body: impl Fn(usize) + Send + Sync) {
    thread::scope(|scope| {
        for i in 0..n {
            let body = &body;
            scope.spawn(move || body(i));
        }
    });
}

// Threads that do nothing can be interleaved in one way only.
#[dpor::test]
fn empty_threads() {
    // COUNT: rc11 1 sc 1 tso 1 pso 1
    spawned(4, |_| ());
}

#[dpor::test]
fn empty_scoped_threads() {
    // COUNT: rc11 1 sc 1 tso 1 pso 1
    scoped(4, |_| ());
}

// ainc(n): the read-modify-writes come in any order: n!
#[dpor::test]
fn increments() {
    // COUNT: rc11 24 sc 24 tso 24 pso 24
    spawned(4, |_| _ = X.fetch_add(1, Relaxed));
    assert_eq!(X.load(Relaxed), 4);
}

#[dpor::test]
fn scoped_increments() {
    // COUNT: rc11 24 sc 24 tso 24 pso 24
    scoped(4, |_| _ = X.fetch_add(1, Relaxed));
    assert_eq!(X.load(Relaxed), 4);
}

// binc(n): any order for either counter: (n!)²
#[dpor::test]
fn increments_of_two_counters() {
    // COUNT: rc11 36 sc 36 tso 36
    spawned(3, |_| {
        X.fetch_add(1, Relaxed);
        Y.fetch_add(1, Relaxed);
    });
}

// inc(n): (n!)²
#[dpor::test]
fn lost_updates() {
    // COUNT: rc11 36 sc 36 tso 36
    scoped(3, |i| {
        let seen = X.load(Relaxed);
        X.store(seen + (1 << i), Release);
    });
}

// readers(n): each of n readers sees the write or not: 2^n
#[dpor::test]
fn readers() {
    // COUNT: rc11 16 sc 16 tso 16 pso 16
    spawned(5, |i| if i == 0 { X.store(1, Relaxed) } else { _ = X.load(Relaxed) });
}

// n_writers(n): the writes come in any order: n!; whoever reads after joining sees the last one.
#[dpor::test]
fn writers() {
    // COUNT: rc11 24 sc 24 tso 24 pso 24
    spawned(4, |i| X.store(i + 1, Relaxed));
    assert_ne!(X.load(Relaxed), 0);
}

// exp_mem(n): n! orders of the one counter, and 2 of the other.
#[dpor::test]
fn two_groups() {
    // COUNT: rc11 12 sc 12 tso 12
    spawned(4, |i| {
        if i == 0 {
            X.fetch_add(1, Relaxed);
        } else {
            Y.fetch_add(1, Relaxed);
        }
        if i == 3 {
            X.fetch_add(1, Relaxed);
        }
    });
}

fn ring(order: Ordering) {
    static RING: [AtomicUsize; 3] = [const { AtomicUsize::new(0) }; 3];
    scoped(3, |i| {
        RING[i].store(1, order);
        RING[(i + 1) % 3].load(order);
    });
}

// sb_ring(n): every load sees the store or not, 2^n; not all can miss it in a sequentially consistent execution: 2^n - 1
#[dpor::test]
fn store_buffering() {
    // COUNT: rc11 8 sc 7 tso 8 pso 8
    ring(Relaxed);
}

#[dpor::test]
fn store_buffering_seq_cst() {
    // COUNT: rc11 7 sc 7 tso 7 pso 7
    ring(SeqCst);
}

// lastzero(n): (n + 3) · 2^(n - 2)
#[dpor::test]
fn last_zero() {
    // COUNT: rc11 28 sc 28 tso 28
    static ARRAY: [AtomicUsize; 5] = [const { AtomicUsize::new(0) }; 5];
    spawned(5, |i| {
        if i == 0 {
            let mut at = 4;
            while ARRAY[at].load(Acquire) != 0 {
                at -= 1;
            }
        } else {
            let before = ARRAY[i - 1].load(Acquire);
            ARRAY[i].store(before + 1, Release);
        }
    });
}

fn message_passing(store: Ordering, load: Ordering) {
    scoped(2, |i| {
        if i == 0 {
            X.store(1, Relaxed);
            Y.store(1, store);
        } else {
            let flag = Y.load(load);
            _ = (flag, X.load(Relaxed));
        }
    });
}

// MP: the flag is seen or not, and so is the message; seeing the flag but not the message is excluded by release and
// acquire, and by every model that keeps the order of stores and that of loads.
#[dpor::test]
fn message_passing_synchronized() {
    // COUNT: rc11 3 sc 3 tso 3 pso 3
    message_passing(Release, Acquire);
}

#[dpor::test]
fn message_passing_relaxed() {
    // COUNT: rc11 4 sc 3 tso 3 pso 4
    message_passing(Relaxed, Relaxed);
}

// Three choices and two, of which two pairs are equal.
#[dpor::test]
fn choices() {
    // COUNT: rc11 4
    let (a, b) = (dpor::choose(3), dpor::choose(2));
    dpor::assume(a != b);
}

// What a thread returns is dropped by the standard library where nobody wants it: the reference is the user's all the same.
// Two references are dropped, in either order: 2!
#[dpor::test]
fn results_that_nobody_wants() {
    // COUNT: rc11 2 sc 2 tso 2 pso 2
    let first = Arc::new(AtomicUsize::new(0));
    let idle = thread::spawn(|| ());
    let second = first.clone();
    drop(thread::spawn(move || second));
    drop(first);
    idle.join().unwrap();
}

// As is a closure that can be called several times: it is dropped by the caller.
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
