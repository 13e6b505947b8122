//! The instructions of a litmus thread, and how to write them down.

use crate::graph::{LOCKED, Loc, MemOrder, RmwOp, Test, Then, UNLOCKED, Value};

/// A register of a thread. Registers start at 0.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Reg(pub(super) u16);

/// A constant or a register.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Operand {
    Const(Value),
    Reg(Reg),
}

impl From<Value> for Operand {
    fn from(value: Value) -> Operand {
        Operand::Const(value)
    }
}

impl From<Reg> for Operand {
    fn from(reg: Reg) -> Operand {
        Operand::Reg(reg)
    }
}

/// A location, or an element of an array of locations.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Place {
    pub(super) base: Loc,
    pub(super) index: Operand,
}

impl From<Loc> for Place {
    fn from(base: Loc) -> Place {
        Place { base, index: Operand::Const(0) }
    }
}

/// The location that is `index` after another.
pub fn at(base: Loc, index: impl Into<Operand>) -> Place {
    Place { base, index: index.into() }
}

/// What can be computed from two values.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum BinOp {
    Add,
    Sub,
    Xor,
    And,
    Or,
    Eq,
    Ne,
    Lt,
}

impl BinOp {
    /// The result; comparisons give 1 or 0.
    pub fn apply(self, a: Value, b: Value) -> Value {
        match self {
            BinOp::Add => a.wrapping_add(b),
            BinOp::Sub => a.wrapping_sub(b),
            BinOp::Xor => a ^ b,
            BinOp::And => a & b,
            BinOp::Or => a | b,
            BinOp::Eq => Value::from(a == b),
            BinOp::Ne => Value::from(a != b),
            BinOp::Lt => Value::from(a < b),
        }
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Instr {
    Let {
        reg: Reg,
        value: Operand,
    },
    Bin {
        reg: Reg,
        op: BinOp,
        a: Operand,
        b: Operand,
    },
    Head {
        live: u32,
    },
    Jump {
        to: u32,
    },
    Unless {
        condition: Operand,
        to: u32,
    },
    Load {
        reg: Reg,
        place: Place,
        order: MemOrder,
    },
    Store {
        place: Place,
        value: Operand,
        order: MemOrder,
    },
    Rmw {
        reg: Reg,
        place: Place,
        op: RmwOp,
        operand: Operand,
        order: MemOrder,
    },
    Cas {
        reg: Reg,
        ok: Reg,
        place: Place,
        expected: Operand,
        new: Operand,
        order: MemOrder,
        failure: MemOrder,
        weak: bool,
    },
    Try {
        reg: Reg,
        place: Place,
        order: MemOrder,
        failure: MemOrder,
        test: Test,
        then: Then,
    },
    Await {
        reg: Reg,
        place: Place,
        order: MemOrder,
        test: Test,
        then: Then,
    },
    Reach {
        reg: Reg,
        place: Place,
        order: MemOrder,
        test: Test,
    },
    Pick {
        reg: Reg,
        place: Place,
        order: MemOrder,
    },
    Fence {
        order: MemOrder,
    },
    Spawn {
        reg: Reg,
        code: u32,
    },
    Join {
        thread: Operand,
    },
    Choose {
        reg: Reg,
        n: u32,
    },
    Assume {
        condition: Operand,
    },
    Assert {
        condition: Operand,
    },
    End,
}

/// The code of a thread, written from the start to the end.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Code {
    pub(super) instrs: Vec<Instr>,
    pub(super) registers: u16,
    /// For each loop, the registers that matter where it begins.
    pub(super) live: Vec<Vec<Reg>>,
}

/// Where a loop begins.
#[derive(Clone, Copy, Debug)]
pub struct Head(u32);

/// A jump whose target is not known yet.
#[must_use]
#[derive(Debug)]
pub struct Jump(usize);

impl Code {
    /// No code yet.
    pub fn new() -> Code {
        Code::default()
    }

    /// A register that is not used elsewhere.
    pub fn register(&mut self) -> Reg {
        self.registers += 1;
        Reg(self.registers - 1)
    }

    pub(super) fn push(&mut self, instr: Instr) {
        self.instrs.push(instr);
    }

    /// `reg = value`
    pub fn set(&mut self, reg: Reg, value: impl Into<Operand>) {
        self.push(Instr::Let { reg, value: value.into() });
    }

    /// `a op b`
    pub fn bin(&mut self, op: BinOp, a: impl Into<Operand>, b: impl Into<Operand>) -> Reg {
        let reg = self.register();
        self.push(Instr::Bin { reg, op, a: a.into(), b: b.into() });
        reg
    }

    /// `place.load(order)`
    pub fn load(&mut self, place: impl Into<Place>, order: MemOrder) -> Reg {
        let reg = self.register();
        self.push(Instr::Load { reg, place: place.into(), order });
        reg
    }

    /// `place.store(value, order)`
    pub fn store(&mut self, place: impl Into<Place>, value: impl Into<Operand>, order: MemOrder) {
        self.push(Instr::Store { place: place.into(), value: value.into(), order });
    }

    /// An unconditional read-modify-write; the value it read.
    pub fn rmw(&mut self, op: RmwOp, place: impl Into<Place>, operand: impl Into<Operand>, order: MemOrder) -> Reg {
        let reg = self.register();
        self.push(Instr::Rmw { reg, place: place.into(), op, operand: operand.into(), order });
        reg
    }

    /// `place.compare_exchange(expected, new, order, failure)`; the value it read, and 1 where it succeeded.
    pub fn cas(
        &mut self,
        place: impl Into<Place>,
        expected: impl Into<Operand>,
        new: impl Into<Operand>,
        order: MemOrder,
        failure: MemOrder,
    ) -> (Reg, Reg) {
        let (reg, ok) = (self.register(), self.register());
        let (place, expected, new) = (place.into(), expected.into(), new.into());
        self.push(Instr::Cas { reg, ok, place, expected, new, order, failure, weak: false });
        (reg, ok)
    }

    /// A compare-and-swap that may also fail though it reads what it expects; the value it read, and 1 where it succeeded.
    pub fn cas_weak(
        &mut self,
        place: impl Into<Place>,
        expected: impl Into<Operand>,
        new: impl Into<Operand>,
        order: MemOrder,
        failure: MemOrder,
    ) -> (Reg, Reg) {
        let (reg, ok) = self.cas(place, expected, new, order, failure);
        if let Some(Instr::Cas { weak, .. }) = self.instrs.last_mut() {
            *weak = true;
        }
        (reg, ok)
    }

    /// See [`Action::Try`](crate::graph::Action::Try).
    pub fn try_then(
        &mut self,
        place: impl Into<Place>,
        test: Test,
        then: Then,
        order: MemOrder,
        failure: MemOrder,
    ) -> Reg {
        let reg = self.register();
        self.push(Instr::Try { reg, place: place.into(), order, failure, test, then });
        reg
    }

    /// See [`Action::Await`](crate::graph::Action::Await).
    pub fn await_then(&mut self, place: impl Into<Place>, test: Test, then: Then, order: MemOrder) -> Reg {
        let reg = self.register();
        self.push(Instr::Await { reg, place: place.into(), order, test, then });
        reg
    }

    /// See [`Action::Reach`](crate::graph::Action::Reach).
    pub fn reach(&mut self, place: impl Into<Place>, test: Test, order: MemOrder) -> Reg {
        let reg = self.register();
        self.push(Instr::Reach { reg, place: place.into(), order, test });
        reg
    }

    /// See [`Action::Pick`](crate::graph::Action::Pick).
    pub fn pick(&mut self, place: impl Into<Place>, order: MemOrder) -> Reg {
        let reg = self.register();
        self.push(Instr::Pick { reg, place: place.into(), order });
        reg
    }

    /// Locks a lock, waiting for it.
    pub fn lock(&mut self, place: impl Into<Place>) {
        self.await_then(place, Test::Is(UNLOCKED), Then::Set(LOCKED), MemOrder::Acquire);
    }

    /// Unlocks a lock that this thread holds.
    pub fn unlock(&mut self, place: impl Into<Place>) {
        self.store(place, UNLOCKED, MemOrder::Release);
    }

    /// `fence(order)`
    pub fn fence(&mut self, order: MemOrder) {
        self.push(Instr::Fence { order });
    }

    /// Starts a thread that runs the program's code of this number; its id.
    pub fn spawn(&mut self, code: usize) -> Reg {
        let reg = self.register();
        self.push(Instr::Spawn { reg, code: code as u32 });
        reg
    }

    /// Waits for a thread to end.
    pub fn join(&mut self, thread: impl Into<Operand>) {
        self.push(Instr::Join { thread: thread.into() });
    }

    /// Any number below `n`.
    pub fn choose(&mut self, n: u32) -> Reg {
        let reg = self.register();
        self.push(Instr::Choose { reg, n });
        reg
    }

    /// Executions in which the condition is 0 are of no interest.
    pub fn assume(&mut self, condition: impl Into<Operand>) {
        self.push(Instr::Assume { condition: condition.into() });
    }

    /// It is an error if the condition is 0.
    pub fn assert(&mut self, condition: impl Into<Operand>) {
        self.push(Instr::Assert { condition: condition.into() });
    }

    /// A loop begins here; `live` are the registers that were set before and matter in it or after it.
    pub fn head(&mut self, live: &[Reg]) -> Head {
        self.live.push(live.to_vec());
        self.push(Instr::Head { live: self.live.len() as u32 - 1 });
        Head(self.instrs.len() as u32 - 1)
    }

    /// Jumps back to where a loop begins.
    pub fn again(&mut self, head: Head) {
        self.push(Instr::Jump { to: head.0 });
    }

    /// Jumps back to where a loop begins, if the condition is 0.
    pub fn again_unless(&mut self, condition: impl Into<Operand>, head: Head) {
        self.push(Instr::Unless { condition: condition.into(), to: head.0 });
    }

    /// Jumps forward, to where [`Code::land`] says.
    pub fn jump(&mut self) -> Jump {
        self.push(Instr::Jump { to: u32::MAX });
        Jump(self.instrs.len() - 1)
    }

    /// Jumps forward, to where [`Code::land`] says, if the condition is 0.
    pub fn unless(&mut self, condition: impl Into<Operand>) -> Jump {
        self.push(Instr::Unless { condition: condition.into(), to: u32::MAX });
        Jump(self.instrs.len() - 1)
    }

    /// The jump comes to here.
    pub fn land(&mut self, jump: Jump) {
        let here = self.instrs.len() as u32;
        match &mut self.instrs[jump.0] {
            Instr::Jump { to } | Instr::Unless { to, .. } => *to = here,
            _ => {}
        }
    }
}
