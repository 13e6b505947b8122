//! Futures.

mod token;
mod waker;

use std::future::Future;
use std::pin::pin;
use std::sync::{Mutex, PoisonError};
use std::task::{Context, Poll, Waker};

/// Polls a future until it is ready; the thread waits in between until it is woken.
#[track_caller]
pub fn block_on<F>(f: F) -> F::Output
where
    F: Future,
{
    let mut future = pin!(f);
    let (waker, token) = waker::of_current_thread();
    let mut context = Context::from_waker(&waker);
    loop {
        if let Poll::Ready(value) = future.as_mut().poll(&mut context) {
            return value;
        }
        // SAFETY: The waker is there.
        unsafe { (*token).take() };
    }
}

/// A waker that one task registers and others wake.
#[derive(Debug, Default)]
pub struct AtomicWaker {
    waker: Mutex<Option<Waker>>,
}

impl AtomicWaker {
    /// No waker is registered.
    pub fn new() -> AtomicWaker {
        AtomicWaker::default()
    }

    /// Registers a waker, in place of the one before.
    #[track_caller]
    pub fn register(&self, waker: Waker) {
        let before = self.waker.lock().unwrap_or_else(PoisonError::into_inner).replace(waker);
        drop(before);
    }

    /// Registers a copy of a waker.
    #[track_caller]
    pub fn register_by_ref(&self, waker: &Waker) {
        self.register(waker.clone());
    }

    /// Wakes the registered waker.
    #[track_caller]
    pub fn wake(&self) {
        if let Some(waker) = self.take_waker() {
            waker.wake();
        }
    }

    /// The registered waker, which is not registered any more.
    #[track_caller]
    pub fn take_waker(&self) -> Option<Waker> {
        self.waker.lock().unwrap_or_else(PoisonError::into_inner).take()
    }
}
