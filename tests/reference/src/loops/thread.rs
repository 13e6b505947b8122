//! How a thread runs by itself, from one access to the next.

use dpor_engine::graph::MemOrder;

use super::code::{Code, Instr};
use super::program::{Cond, Loc, REGISTERS, Reg, Update, Val};

/// The state of a thread: what it does from here on depends on nothing else. Registers that do not matter are 0.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub struct Thread {
    pub pc: usize,
    pub regs: [u64; REGISTERS],
}

/// Where a thread stops.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Stop {
    Access(Access),
    /// It reads the variable that is not atomic.
    Read,
    /// It writes it.
    Write(u64),
    /// The loop of this number begins an iteration.
    Head(usize),
    /// An assertion failed.
    Failed,
    Ended,
}

/// An access of an atomic, or a fence.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Access {
    Load { loc: Loc, order: MemOrder },
    Store { loc: Loc, value: u64, order: MemOrder },
    Update { loc: Loc, update: Update, operand: u64, order: MemOrder },
    Cas { loc: Loc, expected: u64, new: u64, order: MemOrder, failure: MemOrder },
    Fence { order: MemOrder },
}

impl Access {
    /// What it writes if it reads this.
    pub fn written(&self, read: u64) -> Option<u64> {
        match *self {
            Access::Load { .. } | Access::Fence { .. } => None,
            Access::Store { value, .. } => Some(value),
            Access::Update { update: Update::Add, operand, .. } => Some(read.wrapping_add(operand)),
            Access::Update { update: Update::Sub, operand, .. } => Some(read.wrapping_sub(operand)),
            Access::Update { update: Update::Swap, operand, .. } => Some(operand),
            Access::Cas { expected, new, .. } => (read == expected).then_some(new),
        }
    }

    pub fn loc(&self) -> Option<Loc> {
        match *self {
            Access::Load { loc, .. }
            | Access::Store { loc, .. }
            | Access::Update { loc, .. }
            | Access::Cas { loc, .. } => Some(loc),
            Access::Fence { .. } => None,
        }
    }
}

impl Thread {
    /// Runs to where the thread stops.
    pub fn advance(&mut self, code: &Code) -> Stop {
        loop {
            match code.instrs[self.pc] {
                Instr::Set { reg, val } => {
                    self.set(reg, self.value(val));
                    self.pc += 1;
                }
                Instr::Jump { to } => self.pc = to,
                Instr::Unless { cond, to } => self.pc = if self.holds(cond) { self.pc + 1 } else { to },
                Instr::Assert { cond } if self.holds(cond) => self.pc += 1,
                instr => {
                    self.forget_dead(code);
                    return self.stop(instr);
                }
            }
        }
    }

    fn stop(&self, instr: Instr) -> Stop {
        let value = |val| self.value(val);
        Stop::Access(match instr {
            Instr::Load { loc, order, .. } => Access::Load { loc, order },
            Instr::Store { loc, val, order } => Access::Store { loc, value: value(val), order },
            Instr::Update { loc, update, val, order, .. } => Access::Update { loc, update, operand: value(val), order },
            Instr::Cas { cas, order, failure } => {
                let (expected, new) = (value(cas.expected), value(cas.new));
                Access::Cas { loc: cas.loc, expected, new, order, failure }
            }
            Instr::Fence { order } => Access::Fence { order },
            Instr::Read { .. } => return Stop::Read,
            Instr::Write { val } => return Stop::Write(value(val)),
            Instr::Head { number } => return Stop::Head(number),
            Instr::Assert { .. } => return Stop::Failed,
            _ => return Stop::Ended,
        })
    }

    /// Goes on from where it has stopped, having read this, and written or not.
    pub fn go_on(&mut self, code: &Code, read: u64, wrote: bool) {
        match code.instrs[self.pc] {
            Instr::Load { reg, .. } | Instr::Update { reg, .. } | Instr::Read { reg } => self.set(reg, read),
            Instr::Cas { cas, .. } => {
                self.set(cas.old, read);
                self.set(cas.done, wrote.into());
            }
            _ => {}
        }
        self.pc += 1;
    }

    /// What the thread returns.
    pub fn results(&self, code: &Code) -> Vec<u64> {
        code.results.iter().map(|reg| self.regs[usize::from(*reg)]).collect()
    }

    fn forget_dead(&mut self, code: &Code) {
        let live = code.live[self.pc];
        self.regs.iter_mut().enumerate().filter(|(reg, _)| live >> reg & 1 == 0).for_each(|(_, value)| *value = 0);
    }

    fn set(&mut self, reg: Reg, value: u64) {
        self.regs[usize::from(reg)] = value;
    }

    fn value(&self, val: Val) -> u64 {
        match val {
            Val::Const(value) => value,
            Val::Sum(reg, more) => self.regs[usize::from(reg)].wrapping_add(more),
        }
    }

    fn holds(&self, cond: Cond) -> bool {
        cond.test.passes(self.regs[usize::from(cond.reg)])
    }
}
