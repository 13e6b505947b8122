//! Synchronization.

mod arc;
pub mod atomic;
mod notify;

pub use arc::Arc;
pub use notify::Notify;

#[doc(no_inline)]
pub use std::sync::{
    mpsc, Barrier, Condvar, LockResult, Mutex, MutexGuard, RwLock, RwLockReadGuard, RwLockWriteGuard, TryLockResult,
    WaitTimeoutResult,
};
