//! Tests that `cargo dpor` explores exhaustively.
//!
//! ```toml
//! [dev-dependencies]
//! dpor = "0.1"
//! ```
//!
//! ```no_run
//! use std::sync::atomic::{AtomicUsize, Ordering::Relaxed};
//! use std::thread;
//!
//! # mod tests {
//! # use super::*;
//! #[dpor::test]
//! fn no_increment_is_lost() {
//!     let counter = AtomicUsize::new(0);
//!     thread::scope(|scope| {
//!         scope.spawn(|| counter.fetch_add(1, Relaxed));
//!         counter.fetch_add(1, Relaxed);
//!     });
//!     assert_eq!(counter.into_inner(), 2);
//! }
//! # }
//! ```
//!
//! `cargo dpor test` explores every execution of such a test that the memory model allows. Under plain `cargo test` it is
//! an ordinary test, which runs the body once: the crate builds on stable Rust and has no dependencies but its own macro.

#![forbid(unsafe_code)]
#![warn(missing_docs)]

// The expansion of `#[dpor::test]` names this crate, in its own tests too.
extern crate self as dpor;

#[doc(hidden)]
pub mod __rt;

/// Makes a function a test that `cargo dpor test` checks and plain `cargo test` runs once.
///
/// The function may return a `Result`, and take `#[should_panic]` and `#[ignore]`. Options say how the test is
/// explored, and take precedence over the command line:
///
/// | option | value |
/// |---|---|
/// | `model` | `"rc11"`, `"sc"`, `"tso"`, `"pso"`, or several with commas between them |
/// | `buffer_bound` | how many stores a buffer holds under `"tso"` and `"pso"` |
/// | `equivalence` | `"trace"` or `"reads-from"` |
/// | `expect` | the kind of error that must occur, such as `"panic"` or `"data-race"` |
/// | `unroll` | the bound for loops that do not end by themselves |
/// | `max_executions` | after how many executions the exploration stops |
/// | `spurious` | whether `compare_exchange_weak` may fail spuriously |
/// | `allow` | errors that are accepted: kinds, or `"KIND in PATTERN"`, with commas between them |
///
/// ```no_run
/// # mod tests {
/// #[dpor::test(expect = "panic")]
/// fn fails() {
///     assert_eq!(1 + 1, 3);
/// }
/// # }
/// ```
///
/// An option that does not exist, or a value that it cannot have, is a compile error.
///
/// ```compile_fail
/// #[dpor::test(modle = "sc")]
/// fn misspelt() {}
/// ```
pub use dpor_macros::test;

/// A nondeterministic choice in `0..n`.
///
/// Under `cargo dpor` every value is explored; elsewhere the first is taken.
///
/// # Panics
///
/// If `n` is zero.
#[inline(never)]
pub fn choose(n: usize) -> usize {
    assert!(n > 0, "dpor::choose(0): there is nothing to choose from");
    0
}

/// Discards the execution if `condition` is false.
///
/// Under `cargo dpor`, exploration does not continue such an execution. Elsewhere the test ends there and passes: the thread unwinds, and
/// `#[dpor::test]` stops the unwinding. A thread that the test started ends at its false assumption, and the test passes
/// if it then fails because that thread has no result.
#[inline(never)]
pub fn assume(condition: bool) {
    if !condition {
        __rt::assumption_failed();
    }
}

/// Declares that some execution must come here: under `cargo dpor`, a test fails if none does.
///
/// So a test that passes because nothing happens in it is found out. How many executions come to each label is part of
/// the report, and `cargo dpor test --show-cover LABEL` shows one of them. Elsewhere it does nothing.
///
/// ```
/// # use std::sync::Mutex;
/// # let mutex = Mutex::new(());
/// if mutex.try_lock().is_err() {
///     dpor::cover!("the mutex is locked");
/// }
/// ```
#[macro_export]
macro_rules! cover {
    ($label:literal $(,)?) => {
        $crate::__rt::cover($label)
    };
}

/// Explores a closure for itself.
///
/// Under `cargo dpor` every execution of the closure is explored, from the state at its beginning; what follows is
/// explored for the first of them. Several models in a test, or one in a loop, add up:
///
/// ```no_run
/// # mod tests {
/// # use std::sync::atomic::{AtomicUsize, Ordering::Relaxed};
/// # use std::thread;
/// #[dpor::test]
/// fn no_increment_is_lost() {
///     for by in 1..10 {
///         dpor::model(|| {
///             let counter = AtomicUsize::new(0);
///             thread::scope(|scope| {
///                 scope.spawn(|| counter.fetch_add(by, Relaxed));
///                 counter.fetch_add(by, Relaxed);
///             });
///             assert_eq!(counter.into_inner(), 2 * by);
///         });
///     }
/// }
/// # }
/// ```
///
/// A model begins when all other threads have been joined, and ends when all threads that it started have ended. It is
/// in the main thread, and not inside another model. Statics and thread-locals keep their values from one model to the
/// next. Elsewhere the closure runs once.
pub fn model(body: impl FnOnce()) {
    __rt::begin_model(None, None);
    body();
    __rt::join_all();
    __rt::end_model();
}

/// Whether this runs under `cargo dpor`.
#[inline(never)]
pub fn checking() -> bool {
    false
}
