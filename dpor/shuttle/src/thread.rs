//! Threads.

#[doc(no_inline)]
pub use loom::thread::{AccessError, Builder, JoinHandle, LocalKey};
#[doc(no_inline)]
pub use std::thread::{
    current, panicking, park, park_timeout, scope, sleep, yield_now, Result, Scope, ScopedJoinHandle, Thread, ThreadId,
};

/// Starts a thread. If it panics, the test fails.
#[track_caller]
pub fn spawn<F, T>(f: F) -> JoinHandle<T>
where
    F: FnOnce() -> T + Send + 'static,
    T: Send + 'static,
{
    loom::thread::spawn(f)
}
