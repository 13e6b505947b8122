//! What random programs are like: several kinds, for several mechanisms of the explorer.

use clap::ValueEnum;

/// A loop that a program may have.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Loop {
    /// Waits until a location has some value.
    Await,
    /// Waits until two locations have.
    AwaitBoth,
    /// The same as the first, and uses the value.
    AwaitValue,
    /// Waits by swapping, or by adding nothing.
    AwaitUpdate,
    /// A lock that is taken by swapping.
    SwapLock,
    /// A lock that is tried, then looked at until it seems free.
    LookLock,
    /// A ticket, and the wait for its turn.
    Ticket,
    /// Takes a lock to look at a location, until that has some value.
    Look,
    /// The same, but does not wait for the lock.
    TryLook,
    /// Announces itself, looks, withdraws.
    Announce,
    /// A reader of a lock for readers and writers: it is counted while it tries.
    Reader,
    /// A writer of the same lock.
    Writer,
    /// Looks, and writes something and takes it back if it has to go on.
    LookFirst,
    /// Backs off more and more.
    BackOff,
    /// The same, and uses what it has seen, or how far it has got.
    BackOffUsed,
    /// Backs off from a compare-and-swap.
    BackOffCas,
    /// Loads, then compares and swaps.
    Attempt,
    /// Goes on with what the failure has seen.
    Retry,
    /// An attempt that also looks at something else, and keeps something of each failure.
    AttemptUsed,
    /// A few attempts.
    AttemptsBounded,
    /// `fetch_update`
    FetchUpdate,
    /// Waits a few times.
    AwaitBounded,
    /// Attempts to push a node with atomics, to which it stores before.
    Push,
    /// No loop: looks at the node that was pushed last.
    Peek,
}

/// A kind of programs.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum Profile {
    /// Loops that write and take it back.
    Undo,
    /// The same, more of them, and on one location.
    Undo2,
    /// Loops that back off.
    Slow,
    /// The same, and something is left of the counter.
    Slow2,
    /// Attempts.
    Attempt,
    /// The same, on one location, and something is left of failures.
    Attempt2,
    /// Attempts to publish nodes that nobody has seen before.
    Own,
    /// Data races behind loops.
    Gated,
    /// Locks and tickets.
    Spin,
    /// All loops.
    All,
    /// No loops of its own: the standard library's primitives, and threads that are alike.
    Std,
}

/// What programs of a profile are made of: one of each list, unless it says otherwise.
#[derive(Clone, Copy, Debug)]
pub struct Shape {
    pub loops: &'static [Loop],
    /// How many in a hundred programs access a variable that is not atomic.
    pub racy: usize,
    /// The atomics that are accessed.
    pub atomics: &'static [&'static [&'static str]],
    pub threads: &'static [usize],
    /// How many loops there are, at most one in a thread.
    pub count: &'static [usize],
    /// How many statements a thread has besides.
    pub statements: &'static [usize],
}

const SHAPE: Shape = Shape {
    loops: &[],
    racy: 30,
    atomics: &[&["X", "Y"], &["X", "Y"], &["X", "Y", "Z"]],
    threads: &[2, 3, 3, 3, 4],
    count: &[1, 1, 2, 2, 3],
    statements: &[0, 1, 1, 2],
};

impl Profile {
    /// All but the one with all loops.
    pub const SPECIAL: [Profile; 10] = [
        Profile::Undo,
        Profile::Undo2,
        Profile::Slow,
        Profile::Slow2,
        Profile::Attempt,
        Profile::Attempt2,
        Profile::Own,
        Profile::Gated,
        Profile::Spin,
        Profile::Std,
    ];

    /// What its programs are made of, if that is loops.
    pub fn shape(self) -> Option<Shape> {
        use Loop::*;
        Some(match self {
            Profile::Std => return None,
            Profile::Undo => {
                Shape { loops: &[Look, TryLook, Announce, Reader, Writer, SwapLock, Await], racy: 50, ..SHAPE }
            }
            Profile::Undo2 => Shape {
                loops: &[LookFirst, LookFirst, Look, TryLook, Announce, Reader, Writer, LookLock],
                racy: 40,
                atomics: &[&["X", "L"], &["L", "X", "L"], &["X", "L", "Y"]],
                threads: &[2, 3, 3],
                count: &[2, 2, 3],
                statements: &[0, 1, 2, 2],
            },
            Profile::Slow => {
                Shape { loops: &[BackOff, BackOff, BackOffCas, Await, AwaitBounded, AwaitValue], racy: 20, ..SHAPE }
            }
            Profile::Slow2 => Shape {
                loops: &[BackOff, BackOffUsed, BackOffUsed, BackOffCas],
                racy: 10,
                atomics: &[&["X", "X", "Y"]],
                threads: &[3, 3, 4],
                count: &[1, 1, 2],
                statements: &[1, 1, 2, 3],
            },
            Profile::Attempt => {
                Shape { loops: &[Attempt, Attempt, Retry, FetchUpdate, AttemptsBounded], racy: 30, ..SHAPE }
            }
            Profile::Attempt2 => Shape {
                loops: &[Attempt, Retry, AttemptUsed, AttemptUsed, AttemptsBounded, FetchUpdate],
                racy: 20,
                atomics: &[&["X", "X", "Y"]],
                threads: &[2, 3, 3],
                count: &[2, 2, 3],
                statements: &[0, 1, 1, 2],
            },
            Profile::Own => Shape {
                loops: &[Push, Push, Peek],
                racy: 10,
                threads: &[2, 3, 3],
                count: &[2, 3, 4],
                statements: &[0, 0, 1],
                ..SHAPE
            },
            Profile::Gated => Shape {
                loops: &[Await, AwaitBoth, AwaitValue, Attempt, SwapLock, BackOff, LookFirst],
                racy: 100,
                threads: &[3, 4, 4],
                count: &[1, 2, 2],
                statements: &[1, 1, 2],
                ..SHAPE
            },
            Profile::Spin => Shape {
                loops: &[Await, AwaitBoth, AwaitValue, SwapLock, LookLock, AwaitUpdate, Ticket],
                racy: 40,
                ..SHAPE
            },
            Profile::All => Shape {
                loops: &[
                    Await,
                    AwaitBoth,
                    AwaitValue,
                    AwaitUpdate,
                    AwaitBounded,
                    SwapLock,
                    LookLock,
                    Ticket,
                    Look,
                    TryLook,
                    Announce,
                    Reader,
                    Writer,
                    LookFirst,
                    BackOff,
                    BackOffUsed,
                    BackOffCas,
                    Attempt,
                    Retry,
                    AttemptUsed,
                    AttemptsBounded,
                    FetchUpdate,
                    Push,
                    Peek,
                ],
                ..SHAPE
            },
        })
    }
}
