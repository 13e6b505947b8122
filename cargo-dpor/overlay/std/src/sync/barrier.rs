//! A barrier: a word that counts who has arrived, ever.

use crate::fmt;
use crate::sync::atomic::Atomic;
use crate::sync::atomic::Ordering::AcqRel;
use crate::sys::sync::checker::{dpor_reach, test, wait};

/// A barrier enables multiple threads to synchronize the beginning of some computation.
#[stable(feature = "rust1", since = "1.0.0")]
pub struct Barrier {
    arrived: Atomic<u32>,
    num_threads: usize,
    /// The type is as large as elsewhere.
    _unused: [usize; 3],
}

/// Returned by [`Barrier::wait`] when all threads have arrived.
#[stable(feature = "rust1", since = "1.0.0")]
pub struct BarrierWaitResult(bool);

impl Barrier {
    /// Creates a barrier that blocks threads until `n` of them have arrived.
    #[stable(feature = "rust1", since = "1.0.0")]
    #[rustc_const_stable(feature = "const_barrier", since = "1.78.0")]
    #[must_use]
    #[inline]
    pub const fn new(n: usize) -> Barrier {
        Barrier { arrived: Atomic::<u32>::new(0), num_threads: n, _unused: [0; 3] }
    }

    /// Blocks the current thread until all threads have arrived. The last one is the leader.
    #[stable(feature = "rust1", since = "1.0.0")]
    pub fn wait(&self) -> BarrierWaitResult {
        let size = self.num_threads.max(1);
        let place = self.arrived.fetch_add(1, AcqRel) as usize;
        let last = place - place % size + (size - 1);
        if place < last {
            let all = u32::try_from(last + 1).unwrap_or(u32::MAX);
            dpor_reach(&self.arrived, wait::BARRIER, test::AT_LEAST, all, true, core::ptr::null());
        }
        BarrierWaitResult(place == last)
    }
}

impl BarrierWaitResult {
    /// Whether this thread is the leader: one of those that passed the barrier together is.
    #[stable(feature = "rust1", since = "1.0.0")]
    #[must_use]
    pub fn is_leader(&self) -> bool {
        self.0
    }
}

#[stable(feature = "std_debug", since = "1.16.0")]
impl fmt::Debug for Barrier {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Barrier").finish_non_exhaustive()
    }
}

#[stable(feature = "std_debug", since = "1.16.0")]
impl fmt::Debug for BarrierWaitResult {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("BarrierWaitResult").field("is_leader", &self.is_leader()).finish()
    }
}
