//! What the threads do.

use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering::*};
use std::thread;

static X: AtomicUsize = AtomicUsize::new(0);
static Y: AtomicUsize = AtomicUsize::new(0);
static ARRAY: [AtomicUsize; 32] = [const { AtomicUsize::new(0) }; 32];
static COUNTER: Mutex<usize> = Mutex::new(0);

/// `n` threads that are spawned, then joined.
pub fn spawned(n: usize, body: impl Fn(usize) + Copy + Send + 'static) {
    let threads: Vec<_> = (0..n).map(|i| thread::spawn(move || body(i))).collect();
    for thread in threads {
        thread.join().unwrap();
    }
}

/// `n` threads of a scope.
pub fn scoped(n: usize, body: impl Fn(usize) + Sync) {
    thread::scope(|scope| {
        for i in 0..n {
            let body = &body;
            scope.spawn(move || body(i));
        }
    });
}

pub fn ainc(_: usize) {
    X.fetch_add(1, Relaxed);
}

pub fn binc(_: usize) {
    X.fetch_add(1, Relaxed);
    Y.fetch_add(1, Relaxed);
}

pub fn inc(i: usize) {
    let seen = X.load(Relaxed);
    X.store(seen + (1 << i), Release);
}

/// Thread `i` of `n`, from 1, makes `i` of `i - 1`.
pub fn casrot(i: usize) {
    _ = X.compare_exchange(i, i + 1, Relaxed, Relaxed);
}

/// A writer, and readers.
pub fn readers(i: usize) {
    match i {
        0 => X.store(1, Relaxed),
        _ => _ = X.load(Relaxed),
    }
}

/// A reader that goes down the array until it finds a 0, and writers that make each element one more than the one before.
pub fn lastzero<const N: usize>(j: usize) {
    if j == 0 {
        let mut i = N;
        while ARRAY[i].load(Acquire) != 0 {
            i -= 1;
        }
    } else {
        let before = ARRAY[j - 1].load(Acquire);
        ARRAY[j].store(before + 1, Release);
    }
}

pub fn sb_ring<const N: usize>(i: usize) {
    ARRAY[i].store(1, Relaxed);
    ARRAY[(i + 1) % N].load(Relaxed);
}

pub fn mutex(_: usize) {
    *COUNTER.lock().unwrap() += 1;
}

/// Two threads that add the other's variable to their own; main, which does not wait for them, looks at both.
pub fn fib_bench_spawned<const N: usize>() {
    fib_bench_start();
    thread::spawn(|| fib_bench_add::<N>(&X, &Y));
    thread::spawn(|| fib_bench_add::<N>(&Y, &X));
    fib_bench_look::<N>();
}

pub fn fib_bench_scoped<const N: usize>() {
    fib_bench_start();
    thread::scope(|scope| {
        scope.spawn(|| fib_bench_add::<N>(&X, &Y));
        scope.spawn(|| fib_bench_add::<N>(&Y, &X));
        fib_bench_look::<N>();
    });
}

fn fib_bench_start() {
    X.store(1, Relaxed);
    Y.store(1, Relaxed);
}

fn fib_bench_add<const N: usize>(mine: &AtomicUsize, other: &AtomicUsize) {
    for _ in 0..N {
        let sum = mine.load(Acquire) + other.load(Acquire);
        mine.store(sum, Release);
    }
}

fn fib_bench_look<const N: usize>() {
    // No value can exceed that number of the sequence.
    let bound = const { fibonacci(2 * N + 2) };
    assert!(X.load(Acquire) >= bound || Y.load(Acquire) < bound);
}

const fn fibonacci(n: usize) -> usize {
    if n < 2 { 1 } else { fibonacci(n - 1) + fibonacci(n - 2) }
}

/// For each of `n` elements, main stores its index and spawns a thread that writes to the element it finds named there.
pub fn sigma_spawned(n: usize) {
    let spawn = |i| {
        X.store(i, SeqCst);
        thread::spawn(sigma_write)
    };
    let threads: Vec<_> = (0..n).map(spawn).collect();
    for thread in threads {
        thread.join().unwrap();
    }
}

pub fn sigma_scoped(n: usize) {
    thread::scope(|scope| {
        for i in 0..n {
            X.store(i, SeqCst);
            scope.spawn(sigma_write);
        }
    });
}

fn sigma_write() {
    ARRAY[X.load(SeqCst)].store(1, SeqCst);
}
