//! Threads to run a program with: spawned or scoped.

use std::thread;

/// Runs `body(0)` to `body(n - 1)` in threads of their own and `meanwhile` beside them, and joins them all.
pub type Run = fn(n: usize, body: fn(usize), meanwhile: fn());

/// With `thread::spawn`.
pub fn spawned(n: usize, body: fn(usize), meanwhile: fn()) {
    let threads: Vec<_> = (0..n).map(|i| thread::spawn(move || body(i))).collect();
    meanwhile();
    for thread in threads {
        thread.join().unwrap();
    }
}

/// With `thread::scope`.
pub fn scoped(n: usize, body: fn(usize), meanwhile: fn()) {
    thread::scope(|scope| {
        for i in 0..n {
            scope.spawn(move || body(i));
        }
        meanwhile();
    });
}
