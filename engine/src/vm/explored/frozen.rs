//! A thread that does not run, with the memory that is its own.

use crate::vm::memory::Table;
use crate::vm::thread::Thread;

/// A thread that does not run, and the blocks of its heap that it keeps for itself.
///
/// Equal ones behave alike, as long as what they share with others is alike.
#[derive(Debug, PartialEq, Eq, Hash)]
pub struct Frozen {
    pub thread: Thread,
    pub table: Table,
}

impl Frozen {
    /// Roughly how many bytes it takes.
    pub fn bytes(&self) -> usize {
        self.thread.bytes() + self.table.bytes()
    }
}
