//! What a random program is.

use dpor_engine::graph::MemOrder;

/// The atomics that programs use, by number, and how many bits each has.
pub const LOCATIONS: [u32; 3] = [8, 32, 64];
/// How many mutexes there are.
pub const LOCKS: usize = 2;
/// How many registers a thread has. They are 0 at first, as are the atomics.
pub const REGISTERS: usize = 3;

/// A program: what the main thread does beside the others, and what these do.
#[derive(Clone, Debug)]
pub struct Program {
    pub seed: u64,
    pub main: Vec<Stmt>,
    pub threads: Vec<Vec<Stmt>>,
    pub home: Home,
}

/// Where the variables are, and with that, what the threads are: spawned threads need statics.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Home {
    /// In a static, with spawned threads.
    Static,
    /// In a static, with scoped threads.
    ScopedStatic,
    /// In the frame of the main thread, with scoped threads.
    Stack,
    /// On the heap, with scoped threads.
    Heap,
}

/// A register, by number.
pub type Register = usize;
/// An atomic, by number.
pub type Location = usize;

/// A value to be written: a constant, or a register and a constant.
#[derive(Clone, Copy, Debug)]
pub enum Value {
    Constant(u64),
    Sum(Register, u64),
}

/// A read-modify-write that always writes.
#[derive(Clone, Copy, Debug)]
pub enum Update {
    Add,
    Swap,
    Or,
    Max,
}

#[derive(Clone, Debug)]
pub enum Stmt {
    /// Reads the one variable that is not atomic.
    Read {
        to: Register,
    },
    /// Writes it.
    Write {
        value: Value,
    },
    Load {
        to: Register,
        location: Location,
        order: MemOrder,
    },
    Store {
        location: Location,
        value: Value,
        order: MemOrder,
    },
    Update {
        to: Register,
        location: Location,
        update: Update,
        value: Value,
        order: MemOrder,
    },
    CompareExchange {
        to: Register,
        location: Location,
        expected: u64,
        new: Value,
        order: MemOrder,
        failure: MemOrder,
    },
    Fence {
        order: MemOrder,
    },
    If {
        register: Register,
        equals: u64,
        then: Vec<Stmt>,
        otherwise: Vec<Stmt>,
    },
    Choose {
        to: Register,
        count: u32,
    },
    Assume {
        register: Register,
        equals: u64,
    },
    /// With the mutex of this number locked.
    Critical {
        lock: usize,
        body: Vec<Stmt>,
    },
    /// With the mutex of this number locked, if it is free.
    TryCritical {
        lock: usize,
        body: Vec<Stmt>,
    },
}
