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

    /// The name users see.
    pub fn name(self) -> &'static str {
        match self {
            MemOrder::NotAtomic => "not atomic",
            MemOrder::Relaxed => "Relaxed",
            MemOrder::Acquire => "Acquire",
            MemOrder::Release => "Release",
            MemOrder::AcqRel => "AcqRel",
            MemOrder::SeqCst => "SeqCst",
        }
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
    /// Writes `new` if it reads `expected`, else is a load with ordering `failure`; answered with the value read. With
    /// `spurious` it may fail though it reads `expected`.
    Cas { loc: Loc, order: MemOrder, failure: MemOrder, expected: Value, new: Value, spurious: bool },
    /// Does `then` if what it reads passes the test, else is a load with ordering `failure`; answered with the value
    /// read.
    Try { loc: Loc, order: MemOrder, failure: MemOrder, test: Test, then: Then },
    /// Waits until what it reads passes the test, and does `then`; answered with the value read. Where `then` writes,
    /// all writes of the location must be causally ordered, as they are if it is only written by read-modify-writes, and
    /// by whoever an await has let in.
    ///
    /// Where it acquires, adds one and tests for a limit, it is the lock of a reader, and a release update that takes one
    /// away again its unlock: how many readers there are must make no difference to the threads that ask for these.
    Await { loc: Loc, order: MemOrder, test: Test, then: Then },
    /// Waits until the location has a value that passes the test, and reads the first such value that it may read. The
    /// test must stay true once it is, until this thread itself changes the location.
    ///
    /// With `keepers`, it also ends once all who could write the location [have left](Action::Leave), and then reads the
    /// last value, happening after all of them.
    Reach { loc: Loc, order: MemOrder, test: Test, keepers: Option<Loc> },
    /// One of the `keepers` of some location leaves. In which order they do does not matter: the program counts them.
    Leave { keepers: Loc },
    /// Clears one of the bits that are set, whichever, atomically; answered with that bit, 0 if none is set.
    Pick { loc: Loc, order: MemOrder },
    /// A fence.
    Fence { order: MemOrder },
    /// Starts a thread; answered with its [`ThreadId`] as a number.
    Spawn,
    /// Waits until the thread has ended.
    Join(ThreadId),
    /// Waits until all other threads have ended; answered with the number of one that has not been joined, 0 if there
    /// is none.
    Gather,
    /// A model begins or ends: the exploration goes no further, and another one begins here.
    Model(Boundary),
    /// Any number below this one (at least 1); answered with it.
    Choose(u32),
    /// The thread is over.
    End,
    /// The thread is blocked forever: an assumption failed, or it sleeps.
    Block,
    /// The thread ends the whole program. What other threads still do could have come before: they go on as far as they
    /// can, and the execution is complete then.
    Exit,
    /// A loop is back where it began, and its latest iteration, the thread's latest `events`, had no effect: the thread
    /// waits until it would read something else.
    Spin { events: u32 },
    /// The program is wrong: it knows how.
    Fail,
}

/// An end of a model: a part of the program that is explored for itself.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Boundary {
    Begin(Bounds),
    End,
}

/// How far a model is explored: numbers that are too large to be reached where it has no bounds.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Bounds {
    pub executions: u64,
    pub milliseconds: u64,
}

/// A condition on the value of a location.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Test {
    Is(Value),
    IsNot(Value),
    Below(Value),
    AtLeast(Value),
    /// All these bits are 0.
    Clear(Value),
}

impl Test {
    /// Whether a value passes.
    #[inline]
    pub fn passes(self, value: Value) -> bool {
        match self {
            Test::Is(other) => value == other,
            Test::IsNot(other) => value != other,
            Test::Below(limit) => value < limit,
            Test::AtLeast(limit) => value >= limit,
            Test::Clear(bits) => value & bits == 0,
        }
    }
}

/// What is written where a test has passed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Then {
    /// Nothing: it is a load.
    Read,
    /// This value.
    Set(Value),
    /// The value read and this one, added up.
    Add(Value),
    /// `new` where the value read passes this test, too; else it is a load.
    Replace { test: Test, new: Value },
}

impl Then {
    /// What is written if `read` has passed.
    #[inline]
    pub fn update(self, read: Value) -> Option<Value> {
        match self {
            Then::Read => None,
            Then::Set(value) => Some(value),
            Then::Add(operand) => Some(read.wrapping_add(operand)),
            Then::Replace { test, new } => test.passes(read).then_some(new),
        }
    }
}

/// The value of a lock that no thread holds.
pub const UNLOCKED: Value = 0;
/// The value of a lock that a thread holds.
pub const LOCKED: Value = 1;

impl Action {
    /// Waits for a lock: a location that is [`UNLOCKED`] or [`LOCKED`].
    pub fn lock(loc: Loc) -> Action {
        Action::Await { loc, order: MemOrder::Acquire, test: Test::Is(UNLOCKED), then: Then::Set(LOCKED) }
    }

    /// The location accessed, if it is an access.
    #[inline]
    pub fn loc(&self) -> Option<Loc> {
        match *self {
            Action::Load { loc, .. }
            | Action::Store { loc, .. }
            | Action::Rmw { loc, .. }
            | Action::Cas { loc, .. }
            | Action::Try { loc, .. }
            | Action::Await { loc, .. }
            | Action::Reach { loc, .. }
            | Action::Pick { loc, .. } => Some(loc),
            _ => None,
        }
    }

    /// In how many ways it can happen once it is decided what it reads: it reads `old`. All but the first are marked as
    /// not maximal.
    #[inline]
    pub fn ways(&self, old: Value) -> u32 {
        match *self {
            Action::Cas { expected, spurious: true, .. } if old == expected => 2,
            Action::Pick { .. } => old.count_ones().max(1),
            _ => 1,
        }
    }

    /// What a read-modify-write that happens in this way stores when it reads `old`: nothing where a compare-and-swap
    /// fails.
    #[inline]
    pub fn update(&self, old: Value, way: u32) -> Option<Value> {
        match *self {
            Action::Rmw { op, width, operand, .. } => {
                Some(op.apply(u32::from(width.0), u128::from(old), u128::from(operand)) as Value)
            }
            Action::Cas { expected, new, .. } => (old == expected && way == 0).then_some(new),
            Action::Try { test, then, .. } | Action::Await { test, then, .. } => {
                if test.passes(old) {
                    then.update(old)
                } else {
                    None
                }
            }
            Action::Pick { .. } => Some(old & !nth_bit(old, way)),
            _ => None,
        }
    }

    /// What it is answered with when it reads `old`.
    #[inline]
    pub fn answer(&self, old: Value, way: u32) -> Value {
        match self {
            Action::Pick { .. } => nth_bit(old, way),
            _ => old,
        }
    }

    /// The ordering that the event has, `updates` saying whether a read-modify-write does write.
    #[inline]
    pub fn order(&self, updates: bool) -> MemOrder {
        match *self {
            Action::Load { order, .. }
            | Action::Store { order, .. }
            | Action::Rmw { order, .. }
            | Action::Fence { order }
            | Action::Await { order, .. }
            | Action::Reach { order, .. }
            | Action::Pick { order, .. } => order,
            Action::Try { order, then: Then::Read, .. } => order,
            Action::Cas { order, failure, .. } | Action::Try { order, failure, .. } => {
                if updates {
                    order
                } else {
                    failure
                }
            }
            _ => MemOrder::Relaxed,
        }
    }

    /// Whether it is a read-modify-write instruction (that need not write: a compare-and-swap may fail).
    #[inline]
    pub fn is_rmw(&self) -> bool {
        match self {
            Action::Rmw { .. } | Action::Cas { .. } | Action::Try { .. } | Action::Pick { .. } => true,
            Action::Await { then, .. } => *then != Then::Read,
            _ => false,
        }
    }

    /// Whether what it writes is what it reads and a number that does not depend on that.
    pub fn adds(&self) -> bool {
        match self {
            Action::Rmw { op, .. } => matches!(op, RmwOp::Add | RmwOp::Sub),
            Action::Try { then, .. } | Action::Await { then, .. } => matches!(then, Then::Add(_)),
            _ => false,
        }
    }

    /// Whether it is an update that commutes with others of its kind, as far as values go, and does not acquire: what
    /// acquires depends on what is before it.
    pub fn may_be_blind(&self) -> bool {
        match self {
            Action::Rmw { op, order, .. } => {
                kind(*op).is_some() && matches!(order, MemOrder::Relaxed | MemOrder::Release)
            }
            _ => false,
        }
    }

    /// Whether two updates commute as far as values go.
    pub fn commutes_with(&self, other: &Action) -> bool {
        match (self, other) {
            (Action::Rmw { op: one, width, .. }, Action::Rmw { op: other, width: wide, .. }) => {
                kind(*one).is_some() && kind(*one) == kind(*other) && width == wide
            }
            _ => false,
        }
    }

    /// Whether it is the lock of a reader: it waits until there is no writer, and adds one to the number of readers.
    #[inline]
    pub fn is_read_lock(&self) -> bool {
        matches!(self, Action::Await { order: MemOrder::Acquire, test: Test::Below(_), then: Then::Add(1), .. })
    }

    /// Whether it takes one away, and releases, as a reader does that unlocks.
    pub fn is_read_unlock(&self) -> bool {
        match *self {
            Action::Rmw { op, order: MemOrder::Release, width, operand, .. } => {
                let all = u64::MAX >> (64 - width.0);
                op == RmwOp::Sub && operand == 1 || op == RmwOp::Add && operand & all == all
            }
            _ => false,
        }
    }

    /// Whether it waits until it may write: a lock.
    #[inline]
    pub fn is_lock(&self) -> bool {
        matches!(self, Action::Await { then, .. } if *then != Then::Read)
    }

    /// Whether what it reads does not let it go on.
    #[inline]
    pub fn is_blocked_by(&self, value: Value) -> bool {
        matches!(self, Action::Await { test, .. } if !test.passes(value))
    }
}

/// The kind of an operation: those of one kind commute. None for those that do not.
fn kind(op: RmwOp) -> Option<RmwOp> {
    match op {
        RmwOp::Xchg | RmwOp::Nand => None,
        RmwOp::Add | RmwOp::Sub => Some(RmwOp::Add),
        RmwOp::And | RmwOp::Or | RmwOp::Xor | RmwOp::Max | RmwOp::Min | RmwOp::UMax | RmwOp::UMin => Some(op),
    }
}

/// The bit that is the `n`-th of those that are set, from 0; 0 where there are not that many.
fn nth_bit(mut bits: Value, n: u32) -> Value {
    for _ in 0..n {
        bits &= bits.wrapping_sub(1);
    }
    if bits == 0 { 0 } else { 1 << bits.trailing_zeros() }
}
