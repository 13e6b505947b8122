//! Synchronization: all of it is the standard library's.

#[doc(no_inline)]
pub use std::sync::{
    atomic, mpsc, Arc, Barrier, BarrierWaitResult, Condvar, LockResult, Mutex, MutexGuard, Once, OnceState,
    PoisonError, RwLock, RwLockReadGuard, RwLockWriteGuard, TryLockError, TryLockResult, WaitTimeoutResult, Weak,
};
