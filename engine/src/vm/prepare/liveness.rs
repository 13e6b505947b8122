//! Which registers are read later: operations whose results nobody reads go, and comparisons move into jumps.

use crate::program::{BinOp, Op, Program};

use super::body::{Body, falls_through, list_of};
use super::operands::{Role, is_pure, visit};

/// A set of registers below 256.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Set([u64; 4]);

impl Set {
    fn insert(&mut self, register: u16) {
        self.0[usize::from(register >> 6)] |= 1 << (register & 63);
    }

    fn remove(&mut self, register: u16) {
        self.0[usize::from(register >> 6)] &= !(1 << (register & 63));
    }

    /// Whether a register is in it.
    pub fn contains(&self, register: u16) -> bool {
        self.0[usize::from(register >> 6)] >> (register & 63) & 1 == 1
    }

    fn add(&mut self, other: &Set) {
        for (word, more) in self.0.iter_mut().zip(other.0) {
            *word |= more;
        }
    }
}

/// What is read after each operation.
pub struct Liveness {
    /// Before each operation, and behind the last one.
    before: Vec<Set>,
}

impl Liveness {
    /// Looks at a function that has fewer than 256 registers.
    pub fn new(program: &Program, body: &Body) -> Liveness {
        let mut liveness = Liveness { before: vec![Set::default(); body.lines.len() + 1] };
        // Loops need more than one round; every round only adds.
        while liveness.round(program, body) {}
        liveness
    }

    fn round(&mut self, program: &Program, body: &Body) -> bool {
        let mut changed = false;
        for pc in (0..body.lines.len()).rev() {
            let live = self.before_line(program, body, pc);
            changed |= self.before[pc] != live;
            self.before[pc] = live;
        }
        changed
    }

    /// What is read by an operation, or later.
    pub fn before(&self, pc: usize) -> Set {
        self.before[pc]
    }

    fn before_line(&self, program: &Program, body: &Body, pc: usize) -> Set {
        let mut live = self.during(program, body, pc);
        if let Some(op) = body.lines[pc].op.filter(|op| self.is_of_use(program, body, pc, op)) {
            each_use(program, body, op, &mut |register| live.insert(register));
        }
        live
    }

    /// Whether what an operation reads makes a difference: not if somebody needs its results only for more such results,
    /// as those of a counter that is never looked at.
    fn is_of_use(&self, program: &Program, body: &Body, pc: usize, op: &Op) -> bool {
        if !is_pure(op) {
            return true;
        }
        let after = self.after(body, pc);
        let mut is_read = false;
        each_def(program, *op, &mut |register| is_read |= after.contains(register));
        is_read
    }

    fn after(&self, body: &Body, pc: usize) -> Set {
        let Some(op) = body.lines[pc].op else { return self.before[pc + 1] };
        let mut live = if falls_through(&op) { self.before[pc + 1] } else { Set::default() };
        body.successors(&op, &mut |to| live.add(&self.before[to as usize]));
        live
    }

    /// What is read later, of what was there before an operation, while that is going on: its own operands were read, and
    /// it may go on after it or unwind.
    pub fn during(&self, program: &Program, body: &Body, pc: usize) -> Set {
        let Some(op) = body.lines[pc].op else { return self.before[pc + 1] };
        let mut live = if falls_through(&op) { self.before[pc + 1] } else { Set::default() };
        each_def(program, op, &mut |register| live.remove(register));
        // Where a call unwinds, it has not written its results.
        body.successors(&op, &mut |to| live.add(&self.before[to as usize]));
        live
    }

    /// Whether a register is read after an operation.
    fn is_live_after(&self, body: &Body, pc: usize, register: u16) -> bool {
        self.after(body, pc).contains(register)
    }
}

/// Calls `each` with each register that an operation writes.
pub fn each_def(program: &Program, mut op: Op, each: &mut dyn FnMut(u16)) {
    let results = match op {
        Op::Call { func, .. } => Some(u16::from(program.function(func).results)),
        Op::CallPtr { results, .. } => Some(u16::from(results)),
        _ => None,
    };
    visit(&mut op, &mut |register, count, role| {
        if role == Role::Def {
            (register.0..register.0 + results.unwrap_or(count)).for_each(&mut *each);
        }
    });
}

/// Calls `each` with each register that an operation reads.
pub fn each_use(program: &Program, body: &Body, mut op: Op, each: &mut dyn FnMut(u16)) {
    visit(&mut op, &mut |register, count, role| {
        if role == Role::Use {
            (register.0..register.0 + count).for_each(&mut *each);
        }
    });
    if let Some(list) = list_of(&op) {
        body.list(list).iter().copied().for_each(&mut *each);
    }
    if matches!(op, Op::Return) {
        let results = program.function(body.scopes[0].func).results;
        (0..u16::from(results)).for_each(each);
    }
}

/// Removes operations whose results nobody reads.
pub fn remove_dead(program: &Program, body: &mut Body) {
    let liveness = Liveness::new(program, body);
    for pc in 0..body.lines.len() {
        let Some(mut op) = body.lines[pc].op else { continue };
        if !is_pure(&op) {
            continue;
        }
        let after = liveness.after(body, pc);
        let mut dead = true;
        visit(&mut op, &mut |register, count, role| {
            if role == Role::Def {
                dead &= (register.0..register.0 + count).all(|register| !after.contains(register));
            }
        });
        if dead {
            body.lines[pc].op = None;
        }
    }
}

/// Lets operations write where their result is moved to right after: `t = a + b; x = t` becomes `x = a + b` where
/// nobody else reads `t`.
pub fn forward_results(program: &Program, body: &mut Body) {
    let liveness = Liveness::new(program, body);
    let leaders = body.leaders();
    for pc in 0..body.lines.len() {
        let Some(Op::Mov { dst, src }) = body.lines[pc].op else { continue };
        if liveness.is_live_after(body, pc, src.0) {
            continue;
        }
        let Some(before) = previous(body, &leaders, pc) else { continue };
        let Some(mut op) = body.lines[before].op else { continue };
        if list_of(&op).is_some() || matches!(op, Op::BigSlot { .. } | Op::CatchUnwind { .. }) {
            continue;
        }
        let mut writes = 0;
        let mut only = true;
        visit(&mut op, &mut |register, count, role| {
            if role == Role::Def {
                writes += usize::from(*register == src && count == 1);
                only &= *register != dst && !(count > 1 && (register.0..register.0 + count).contains(&src.0));
                if *register == src && count == 1 {
                    *register = dst;
                }
            }
        });
        if writes == 1 && only {
            body.lines[before].op = Some(op);
            body.lines[pc].op = None;
        }
    }
}

/// The operation before, in the same block.
fn previous(body: &Body, leaders: &[bool], pc: usize) -> Option<usize> {
    let mut at = pc;
    loop {
        if leaders[at] {
            return None;
        }
        at = at.checked_sub(1)?;
        if body.lines[at].op.is_some() {
            return Some(at);
        }
    }
}

/// Removes jumps to the next operation.
pub fn remove_jumps(body: &mut Body) {
    for pc in 0..body.lines.len() {
        let Some(Op::Jump { to }) = body.lines[pc].op else { continue };
        let to = to as usize;
        if to > pc && body.lines[pc + 1..to].iter().all(|line| line.op.is_none()) {
            body.lines[pc].op = None;
        }
    }
}

/// Removes what no way leads to.
pub fn remove_unreachable(body: &mut Body) {
    let mut reached = vec![false; body.lines.len() + 1];
    let mut todo = vec![0];
    while let Some(pc) = todo.pop() {
        if pc >= body.lines.len() || std::mem::replace(&mut reached[pc], true) {
            continue;
        }
        match body.lines[pc].op {
            Some(op) => {
                body.successors(&op, &mut |to| todo.push(to as usize));
                if falls_through(&op) {
                    todo.push(pc + 1);
                }
            }
            None => todo.push(pc + 1),
        }
    }
    for (line, reached) in body.lines.iter_mut().zip(reached) {
        if !reached {
            line.op = None;
        }
    }
}

/// Moves comparisons into the jumps that depend on them.
pub fn fuse_comparisons(program: &Program, body: &mut Body) {
    let liveness = Liveness::new(program, body);
    let leaders = body.leaders();
    for pc in 0..body.lines.len() {
        let (cond, to, holds) = match body.lines[pc].op {
            Some(Op::JumpIf { cond, to }) => (cond, to, true),
            Some(Op::JumpIfNot { cond, to }) => (cond, to, false),
            _ => continue,
        };
        let Some(before) = previous(body, &leaders, pc) else { continue };
        if liveness.is_live_after(body, pc, cond.0) {
            continue;
        }
        let fused = match body.lines[before].op {
            Some(Op::Bin { op, ty, dst, a, b }) if dst == cond => {
                comparison(op, holds).map(|op| Op::JumpCmp { op, ty, a, b, to })
            }
            Some(Op::BinImm { op, ty, dst, a, imm }) if dst == cond => {
                comparison(op, holds).map(|op| Op::JumpCmpImm { op, ty, a, imm, to })
            }
            _ => None,
        };
        if let Some(op) = fused {
            body.lines[pc].op = Some(op);
            body.lines[before].op = None;
        }
    }
}

/// The comparison itself, or its opposite.
fn comparison(op: BinOp, holds: bool) -> Option<BinOp> {
    let (same, opposite) = match op {
        BinOp::Eq => (BinOp::Eq, BinOp::Ne),
        BinOp::Ne => (BinOp::Ne, BinOp::Eq),
        BinOp::Lt => (BinOp::Lt, BinOp::Ge),
        BinOp::Le => (BinOp::Le, BinOp::Gt),
        BinOp::Gt => (BinOp::Gt, BinOp::Le),
        BinOp::Ge => (BinOp::Ge, BinOp::Lt),
        _ => return None,
    };
    Some(if holds { same } else { opposite })
}

/// Marks the overflow checks whose flag only the jump right after reads.
pub fn overflow_jumps(program: &Program, body: &Body) -> Vec<bool> {
    let liveness = Liveness::new(program, body);
    let leaders = body.leaders();
    let mut marks = vec![false; body.lines.len()];
    for pc in 0..body.lines.len() {
        let Some(Op::JumpIf { cond, .. }) = body.lines[pc].op else { continue };
        let Some(before) = previous(body, &leaders, pc) else { continue };
        if let Some(Op::BinOverflow { flag, dst, .. }) = body.lines[before].op {
            marks[before] = flag == cond && dst != cond && !liveness.is_live_after(body, pc, cond.0);
        }
    }
    marks
}
