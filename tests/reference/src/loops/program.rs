//! What a program is.

use dpor_engine::graph::{MemOrder, Test};

/// A register of a thread. Registers are 0 at first, as are all locations.
pub type Reg = u8;
/// An atomic.
pub type Loc = u8;

/// How many registers a thread has.
pub const REGISTERS: usize = 8;
/// The names of the atomics. There is one variable more, `D`, which is not atomic.
pub const ATOMICS: [&str; 3] = ["X", "Y", "L"];

/// A program: what its threads do, all of which are there from the start.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Program {
    pub threads: Vec<Body>,
}

/// What a thread does, and the registers that it returns.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Body {
    pub stmts: Vec<Stmt>,
    pub results: Vec<Reg>,
}

/// A value: a constant, or a register and a constant.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Val {
    Const(u64),
    Sum(Reg, u64),
}

/// A condition on a register.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Cond {
    pub reg: Reg,
    pub test: Test,
}

/// What a read-modify-write does that always writes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Update {
    Add,
    Sub,
    Swap,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Stmt {
    Load {
        reg: Reg,
        loc: Loc,
        order: MemOrder,
    },
    Store {
        loc: Loc,
        val: Val,
        order: MemOrder,
    },
    Update {
        reg: Reg,
        loc: Loc,
        update: Update,
        val: Val,
        order: MemOrder,
    },
    Cas {
        cas: Cas,
        order: MemOrder,
        failure: MemOrder,
    },
    Fence {
        order: MemOrder,
    },
    /// Reads the variable that is not atomic.
    Read {
        reg: Reg,
    },
    /// Writes it.
    Write {
        val: Val,
    },
    Set {
        reg: Reg,
        val: Val,
    },
    Assert {
        cond: Cond,
    },
    If {
        cond: Cond,
        then: Vec<Stmt>,
    },
    Loop {
        body: Vec<Stmt>,
    },
    /// Ends the innermost loop.
    Break,
}

/// A compare-and-swap: what it reads goes to `old`, and 1 to `done` where it succeeds, else 0.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Cas {
    pub old: Reg,
    pub done: Reg,
    pub loc: Loc,
    pub expected: Val,
    pub new: Val,
}

impl Program {
    /// Whether the variable that is not atomic is accessed.
    pub fn is_plain(&self) -> bool {
        self.threads.iter().any(|thread| are_plain(&thread.stmts))
    }

    /// Whether each loop reads an atomic in every iteration, and only loops are left by `break`.
    pub fn is_well_formed(&self) -> bool {
        self.threads.iter().all(|thread| are_well_formed(&thread.stmts, false))
    }
}

fn are_plain(stmts: &[Stmt]) -> bool {
    stmts.iter().any(|stmt| match stmt {
        Stmt::Read { .. } | Stmt::Write { .. } => true,
        Stmt::If { then: stmts, .. } | Stmt::Loop { body: stmts } => are_plain(stmts),
        _ => false,
    })
}

fn are_well_formed(stmts: &[Stmt], in_loop: bool) -> bool {
    stmts.iter().all(|stmt| match stmt {
        Stmt::If { then, .. } => are_well_formed(then, in_loop),
        Stmt::Loop { body } => body.iter().any(reads) && are_well_formed(body, true),
        Stmt::Break => in_loop,
        _ => true,
    })
}

fn reads(stmt: &Stmt) -> bool {
    matches!(stmt, Stmt::Load { .. } | Stmt::Update { .. } | Stmt::Cas { .. })
}
