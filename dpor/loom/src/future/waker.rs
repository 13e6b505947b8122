//! Wakers that give a token to a thread.
//!
//! Who holds one is counted, which is nobody's concurrency: to `cargo dpor`, what this module does for itself is
//! bookkeeping, as that of thread handles is. So nothing here may wait, and only the token is seen.

use std::sync::Arc;
use std::task::{RawWaker, RawWakerVTable, Waker};

use super::token::Token;

/// A waker of the current thread, and the token that it gives, as long as the waker is there.
pub(super) fn of_current_thread() -> (Waker, *const Token) {
    let token = Arc::into_raw(Arc::new(Token::of_current_thread()));
    // SAFETY: The functions in the table keep the contract, for a pointer that an `Arc<Token>` was made of.
    (unsafe { Waker::from_raw(RawWaker::new(token.cast(), &TABLE)) }, token)
}

static TABLE: RawWakerVTable = RawWakerVTable::new(clone, wake, wake_by_ref, drop);

/// # Safety
///
/// As for all of the table, `data` was made of an `Arc<Token>` that is still counted.
unsafe fn clone(data: *const ()) -> RawWaker {
    // SAFETY: The caller says so.
    unsafe { Arc::increment_strong_count(data.cast::<Token>()) };
    RawWaker::new(data, &TABLE)
}

/// # Safety
///
/// As for `clone`.
unsafe fn wake(data: *const ()) {
    // SAFETY: The caller says so, and does not use it any more.
    let token = unsafe { Arc::from_raw(data.cast::<Token>()) };
    token.give();
}

/// # Safety
///
/// As for `clone`.
unsafe fn wake_by_ref(data: *const ()) {
    // SAFETY: The caller says so.
    let token = unsafe { &*data.cast::<Token>() };
    token.give();
}

/// # Safety
///
/// As for `clone`.
unsafe fn drop(data: *const ()) {
    // SAFETY: The caller says so, and does not use it any more.
    unsafe { Arc::decrement_strong_count(data.cast::<Token>()) };
}
