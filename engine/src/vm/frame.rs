//! The frames of a thread: one per active function.

use crate::program::FuncId;

/// What happens when a function returns or unwinds, besides going on in its caller.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum FrameKind {
    /// The results go to the caller's registers.
    #[default]
    Plain,
    /// The function that a `catch_unwind` tries: the caller gets 0; an exception goes to the handler.
    Try { dst: u8, data: u8, catch_fn: u8 },
    /// The handler of a `catch_unwind`: the caller gets 1.
    Catch { dst: u8 },
    /// The first function of a thread, or a destructor that the machine called.
    Root,
}

/// An active function.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Frame {
    pub func: FuncId,
    /// The next instruction. While the function calls another, the call is the one before.
    pub pc: u32,
    /// Where its registers start.
    pub base: u32,
    /// How many registers it has.
    pub registers: u32,
    /// The register of the caller that gets the first result.
    pub dst: u16,
    pub kind: FrameKind,
    /// Whether it has memory on the stack.
    pub memory: bool,
    /// Whether it has locals with allocations of their own.
    pub big_slots: bool,
    /// The depth of the innermost frame that reports point into, this one included.
    pub user: u32,
    /// Whether its atomics are no visible actions.
    pub quiet: bool,
}
