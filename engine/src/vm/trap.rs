//! Why a thread cannot go on, though it has not come to a visible action.
//!
//! Inside the machine an instruction that cannot be carried out ends in a [`Trap`]. Most are errors; but while a program
//! is explored, memory may also need something that only whoever explores can give. If the machine cannot deal with that
//! itself, the thread comes to a [`Halt`].

use crate::program::Program;

use super::failure::{Failure, Fault, StackFrame};
use super::memory::Observable;
use super::thread::ThreadId;

/// What an instruction gives, or why it cannot be carried out.
///
/// The trap is in a box, and made by functions that are not inlined: nearly everything that the interpreter does in its
/// loop has this type, and a trap is rare.
pub type Checked<T> = Result<T, Box<Trap>>;

/// Why an instruction cannot be carried out.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Trap {
    /// It is an error.
    Fault(Fault),
    /// Exploring has to know of this from the start.
    Learn(Observable),
    /// It is a plain access to an atomic whose value is in the execution graph: when memory has the value, the
    /// instruction can be run again.
    NeedValue { address: u64, len: u32 },
}

impl Trap {
    /// Exploring has to know of this from the start.
    #[cold]
    #[inline(never)]
    pub fn learn(site: Observable) -> Box<Trap> {
        Box::new(Trap::Learn(site))
    }

    /// The value of an atomic is in the execution graph.
    #[cold]
    #[inline(never)]
    pub fn need_value(address: u64, len: u32) -> Box<Trap> {
        Box::new(Trap::NeedValue { address, len })
    }
}

impl From<Fault> for Box<Trap> {
    #[cold]
    #[inline(never)]
    fn from(fault: Fault) -> Box<Trap> {
        Box::new(Trap::Fault(fault))
    }
}

/// Why a thread does not come to its next visible action.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Halt {
    /// Something is wrong.
    Failure(Box<Failure>),
    /// Exploring has to know of this from the start, and begins again. On a fixed schedule, where nothing is tracked,
    /// there is nothing to learn.
    Learn(Observable),
}

impl Halt {
    /// What a trap is to a thread with this stack, where the instruction cannot be run again.
    #[cold]
    pub(super) fn new(trap: Trap, program: &Program, thread: ThreadId, stack: Vec<StackFrame>) -> Halt {
        let fault = match trap {
            Trap::Fault(fault) => fault,
            Trap::Learn(site) => return Halt::Learn(site),
            Trap::NeedValue { .. } => Fault::limit("the value of an atomic is in the graph"),
        };
        Halt::Failure(Failure::new(fault, program, thread, stack))
    }
}

impl From<Box<Failure>> for Halt {
    fn from(failure: Box<Failure>) -> Halt {
        Halt::Failure(failure)
    }
}
