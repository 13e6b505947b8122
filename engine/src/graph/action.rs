//! Visible actions: what a thread asks of its surroundings, and what becomes an event once it is answered.

use super::ids::{Loc, ThreadId, Value};
use crate::program::RmwOp;
use serde::{Deserialize, Serialize};

/// The ordering of an access or fence, as Rust names them, and plain (non-atomic) accesses.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum MemOrder {
    /// A plain access: it takes part in data races.
    #[serde(rename = "na")]
    NotAtomic,
    Relaxed,
    Acquire,
    Release,
    AcqRel,
    SeqCst,
}

impl MemOrder {
    /// At least acquire.
    #[inline]
    pub fn is_acquire(self) -> bool {
        matches!(self, MemOrder::Acquire | MemOrder::AcqRel | MemOrder::SeqCst)
    }

    /// At least release.
    #[inline]
    pub fn is_release(self) -> bool {
        matches!(self, MemOrder::Release | MemOrder::AcqRel | MemOrder::SeqCst)
    }

    /// Sequentially consistent.
    #[inline]
    pub fn is_sc(self) -> bool {
        self == MemOrder::SeqCst
    }

    /// An atomic access.
    #[inline]
    pub fn is_atomic(self) -> bool {
        self != MemOrder::NotAtomic
    }
}

/// How many bits of a [`Value`] an access covers: results of arithmetic are cut to them.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Width(u8);

impl Width {
    pub const W8: Width = Width(8);
    pub const W16: Width = Width(16);
    pub const W32: Width = Width(32);
    pub const W64: Width = Width(64);
}

/// The next visible action of a thread.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Action {
    /// Reads `loc`; answered with the value.
    Load { loc: Loc, order: MemOrder },
    /// Writes `value` to `loc`.
    Store { loc: Loc, order: MemOrder, value: Value },
    /// Reads `loc` and writes what `op` makes of it, atomically; answered with the value read.
    Rmw { loc: Loc, order: MemOrder, op: RmwOp, width: Width, operand: Value },
    /// Writes `new` if it reads `expected`, else is a load with ordering `failure`; answered with the value read.
    Cas { loc: Loc, order: MemOrder, failure: MemOrder, expected: Value, new: Value },
    /// Waits until it reads [`UNLOCKED`], then writes [`LOCKED`]: an acquire read-modify-write. The location may be
    /// written only by locks, by compare-and-swaps from unlocked to locked, and by the holder, which stores
    /// [`UNLOCKED`].
    Lock { loc: Loc },
    /// A fence.
    Fence { order: MemOrder },
    /// Starts a thread; answered with its [`ThreadId`] as a number.
    Spawn,
    /// Waits until the thread has ended.
    Join(ThreadId),
    /// Any number below this one (at least 1); answered with it.
    Choose(u32),
    /// The thread is over.
    End,
    /// The thread waits for ever: an assumption failed, or a loop would spin.
    Block,
    /// The thread ends the whole program. What other threads still do could have come before: they go on as far as they
    /// can, and the execution is complete then.
    Exit,
    /// The program is wrong: it knows how.
    Fail,
}

/// The value of a lock that nobody holds.
pub const UNLOCKED: Value = 0;
/// The value of a lock that somebody holds.
pub const LOCKED: Value = 1;

impl Action {
    /// The location accessed, if it is an access.
    #[inline]
    pub fn loc(&self) -> Option<Loc> {
        match *self {
            Action::Load { loc, .. }
            | Action::Store { loc, .. }
            | Action::Rmw { loc, .. }
            | Action::Cas { loc, .. }
            | Action::Lock { loc } => Some(loc),
            _ => None,
        }
    }

    /// What a read-modify-write stores when it reads `old`: nothing where a compare-and-swap fails.
    #[inline]
    pub fn update(&self, old: Value) -> Option<Value> {
        match *self {
            Action::Rmw { op, width, operand, .. } => {
                Some(op.apply(u32::from(width.0), u128::from(old), u128::from(operand)) as Value)
            }
            Action::Cas { expected, new, .. } => (old == expected).then_some(new),
            Action::Lock { .. } => (old == UNLOCKED).then_some(LOCKED),
            _ => None,
        }
    }

    /// The ordering that the event has, `updates` saying whether a read-modify-write does write.
    #[inline]
    pub fn order(&self, updates: bool) -> MemOrder {
        match *self {
            Action::Load { order, .. }
            | Action::Store { order, .. }
            | Action::Rmw { order, .. }
            | Action::Fence { order } => order,
            Action::Cas { order, failure, .. } => {
                if updates {
                    order
                } else {
                    failure
                }
            }
            Action::Lock { .. } => MemOrder::Acquire,
            _ => MemOrder::Relaxed,
        }
    }

    /// Whether it is a read-modify-write instruction (that need not write: a compare-and-swap may fail).
    #[inline]
    pub fn is_rmw(&self) -> bool {
        matches!(self, Action::Rmw { .. } | Action::Cas { .. } | Action::Lock { .. })
    }
}
