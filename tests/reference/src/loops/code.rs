//! What threads do, as instructions with jumps.

use dpor_engine::graph::MemOrder;

use super::program::{Body, Cas, Cond, Loc, Reg, Stmt, Update, Val};

/// The instructions of a thread.
#[derive(Clone, Debug, Default)]
pub struct Code {
    pub instrs: Vec<Instr>,
    /// For each instruction, the registers that matter there: a bit for each.
    pub live: Vec<u8>,
    /// For each loop, whether it may write an atomic and take that back in the same iteration: it writes it in two
    /// places.
    pub loops: Vec<bool>,
    pub results: Vec<Reg>,
}

#[derive(Clone, Copy, Debug)]
pub enum Instr {
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
    Read {
        reg: Reg,
    },
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
    Unless {
        cond: Cond,
        to: usize,
    },
    Jump {
        to: usize,
    },
    /// A loop begins an iteration.
    Head {
        number: usize,
    },
    End,
}

/// A jump whose target is not known yet.
const OPEN: usize = usize::MAX;

impl Code {
    pub fn of(body: &Body) -> Code {
        let mut code = Code { results: body.results.clone(), ..Code::default() };
        code.stmts(&body.stmts, &mut Vec::new());
        code.instrs.push(Instr::End);
        code.find_live();
        code
    }

    fn stmts(&mut self, stmts: &[Stmt], breaks: &mut Vec<usize>) {
        stmts.iter().for_each(|stmt| self.stmt(stmt, breaks));
    }

    fn stmt(&mut self, stmt: &Stmt, breaks: &mut Vec<usize>) {
        let instr = match *stmt {
            Stmt::Load { reg, loc, order } => Instr::Load { reg, loc, order },
            Stmt::Store { loc, val, order } => Instr::Store { loc, val, order },
            Stmt::Update { reg, loc, update, val, order } => Instr::Update { reg, loc, update, val, order },
            Stmt::Cas { cas, order, failure } => Instr::Cas { cas, order, failure },
            Stmt::Fence { order } => Instr::Fence { order },
            Stmt::Read { reg } => Instr::Read { reg },
            Stmt::Write { val } => Instr::Write { val },
            Stmt::Set { reg, val } => Instr::Set { reg, val },
            Stmt::Assert { cond } => Instr::Assert { cond },
            Stmt::Break => {
                breaks.push(self.instrs.len());
                Instr::Jump { to: OPEN }
            }
            Stmt::If { cond, ref then } => return self.branch(cond, then, breaks),
            Stmt::Loop { ref body } => return self.repeat(body),
        };
        self.instrs.push(instr);
    }

    fn branch(&mut self, cond: Cond, then: &[Stmt], breaks: &mut Vec<usize>) {
        let jump = self.instrs.len();
        self.instrs.push(Instr::Unless { cond, to: OPEN });
        self.stmts(then, breaks);
        self.land(jump);
    }

    fn repeat(&mut self, body: &[Stmt]) {
        let (head, number) = (self.instrs.len(), self.loops.len());
        self.loops.push(false);
        self.instrs.push(Instr::Head { number });
        let mut breaks = Vec::new();
        self.stmts(body, &mut breaks);
        let written: Vec<Loc> = self.instrs[head..].iter().filter_map(writes).collect();
        self.loops[number] = written.iter().any(|loc| written.iter().filter(|other| *other == loc).count() > 1);
        self.instrs.push(Instr::Jump { to: head });
        breaks.into_iter().for_each(|jump| self.land(jump));
    }

    /// A jump comes to here.
    fn land(&mut self, jump: usize) {
        let here = self.instrs.len();
        if let Instr::Jump { to } | Instr::Unless { to, .. } = &mut self.instrs[jump] {
            *to = here;
        }
    }

    /// Goes through the instructions from the last to the first until nothing changes.
    fn find_live(&mut self) {
        self.live = vec![0; self.instrs.len()];
        let results = self.results.iter().fold(0, |set, reg| set | bit(*reg));
        loop {
            let before = self.live.clone();
            for at in (0..self.instrs.len()).rev() {
                let next = self.live.get(at + 1).copied().unwrap_or(0);
                let after = match self.instrs[at] {
                    Instr::Jump { to } => self.live[to],
                    Instr::Unless { to, .. } => next | self.live[to],
                    Instr::End => results,
                    _ => next,
                };
                self.live[at] = (after & !sets(&self.instrs[at])) | uses(&self.instrs[at]);
            }
            if self.live == before {
                return;
            }
        }
    }
}

/// What an instruction may write.
fn writes(instr: &Instr) -> Option<Loc> {
    match *instr {
        Instr::Store { loc, .. } | Instr::Update { loc, .. } => Some(loc),
        Instr::Cas { cas, .. } => Some(cas.loc),
        _ => None,
    }
}

fn bit(reg: Reg) -> u8 {
    1 << reg
}

fn in_val(val: Val) -> u8 {
    match val {
        Val::Const(_) => 0,
        Val::Sum(reg, _) => bit(reg),
    }
}

fn sets(instr: &Instr) -> u8 {
    match *instr {
        Instr::Load { reg, .. } | Instr::Update { reg, .. } | Instr::Read { reg } | Instr::Set { reg, .. } => bit(reg),
        Instr::Cas { cas, .. } => bit(cas.old) | bit(cas.done),
        _ => 0,
    }
}

fn uses(instr: &Instr) -> u8 {
    match *instr {
        Instr::Store { val, .. } | Instr::Update { val, .. } | Instr::Write { val } | Instr::Set { val, .. } => {
            in_val(val)
        }
        Instr::Cas { cas, .. } => in_val(cas.expected) | in_val(cas.new),
        Instr::Assert { cond } | Instr::Unless { cond, .. } => bit(cond.reg),
        _ => 0,
    }
}
