//! Inlining: the code of small functions in place of their calls.
//!
//! A function is inlined where it is small, has no memory of its own, cleans nothing up and is not on the way to
//! itself. Its registers lie behind those of the caller. Reports do not change: every operation knows the functions
//! that it comes from ([`Scope`]).

use crate::program::{FuncId, Function, Op, Program, Quiet, Reg, Unwind};
use crate::vm::code::{NEAR_REGISTERS, Scope};

use super::body::{Body, Line, falls_through, list_mut};
use super::compact::compact;
use super::operands::{is_pure, visit};

/// Functions of more operations than this are called.
const MAX_CALLEE: usize = 24;
/// The same, after inlining into them.
const MAX_INLINED: usize = 60;
/// No more is inlined into a function of so many operations.
const MAX_BODY: usize = 2_000;
/// How deep calls are followed.
const MAX_DEPTH: usize = 8;

/// A function, with small functions inlined.
pub fn inline(program: &Program, func: FuncId) -> Body {
    Inliner { program, path: vec![func] }.body(func)
}

struct Inliner<'a> {
    program: &'a Program,
    /// The functions that are being inlined into each other.
    path: Vec<FuncId>,
}

/// Which targets of an operation are still those of the function itself.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Fix {
    Nothing,
    Unwind,
    Everything,
}

impl Inliner<'_> {
    fn body(&mut self, func: FuncId) -> Body {
        let mut original = Body::new(self.program, func);
        compact(self.program, &mut original);
        let has_calls = original.lines.iter().any(|line| matches!(line.op, Some(Op::Call { .. })));
        if !has_calls || original.registers >= NEAR_REGISTERS {
            return original;
        }
        let mut new = Body { lines: Vec::new(), ..original.clone() };
        let own_switches = new.switches.len();
        let mut fixes = Vec::new();
        let mut starts = Vec::with_capacity(original.lines.len() + 1);
        for line in &original.lines {
            starts.push(new.lines.len() as u32);
            let callee = if new.lines.len() < MAX_BODY { self.callee(func, &original, line) } else { None };
            match callee {
                Some(callee) => splice(self.program, &mut new, &mut fixes, line, &callee, original.registers),
                None => {
                    new.lines.push(*line);
                    fixes.push(Fix::Everything);
                }
            }
        }
        starts.push(new.lines.len() as u32);
        for table in &mut new.switches[..own_switches] {
            table.otherwise = starts[table.otherwise as usize];
            table.cases.iter_mut().for_each(|(_, to)| *to = starts[*to as usize]);
        }
        for (line, fix) in new.lines.iter_mut().zip(fixes) {
            if let Some(op) = &mut line.op {
                retarget(op, fix, &|to| starts[to as usize]);
            }
        }
        new
    }

    /// What is to be inlined in place of an operation.
    fn callee(&mut self, caller: FuncId, body: &Body, line: &Line) -> Option<Body> {
        let Some(Op::Call { func, args, .. }) = line.op else { return None };
        let (function, caller) = (self.program.function(func), self.program.function(caller));
        if self.path.len() > MAX_DEPTH
            || self.path.contains(&func)
            || !is_small(function)
            || usize::from(function.params) != body.list(args).len()
            || !is_as_quiet(function, caller)
            || !is_found(function, caller)
        {
            return None;
        }
        self.path.push(func);
        let callee = self.body(func);
        self.path.pop();
        let fits = callee.lines.len() <= MAX_INLINED && body.registers + callee.registers < NEAR_REGISTERS;
        fits.then_some(callee)
    }
}

fn is_small(function: &Function) -> bool {
    let allowed = |op: &Op| match op {
        Op::BigSlot { .. } | Op::BigSlotDead { .. } | Op::Resume | Op::CatchUnwind { .. } | Op::ThreadLocal { .. } => {
            false
        }
        Op::Call { unwind, .. } | Op::CallPtr { unwind, .. } | Op::Builtin { unwind, .. } => unwind.target().is_none(),
        _ => true,
    };
    function.code.len() <= MAX_CALLEE
        && function.frame_size == 0
        && function.registers < NEAR_REGISTERS
        && function.code.iter().any(|op| matches!(op, Op::Return))
        && function.code.iter().all(allowed)
}

/// Whether what a function does, and what it calls, is tracked in the same way when it is inlined.
fn is_as_quiet(callee: &Function, caller: &Function) -> bool {
    callee.quiet == Quiet::Inherited || callee.quiet == caller.quiet || callee.code.iter().all(is_local)
}

/// Whether an operation concerns registers alone.
fn is_local(op: &Op) -> bool {
    match op {
        Op::BinUnchecked { .. }
        | Op::BinUnchecked128 { .. }
        | Op::CheckRange { .. }
        | Op::Jump { .. }
        | Op::JumpIf { .. }
        | Op::JumpIfNot { .. }
        | Op::JumpCmp { .. }
        | Op::JumpCmpImm { .. }
        | Op::Switch { .. }
        | Op::Return => true,
        op => is_pure(op),
    }
}

/// Whether code that reports point into stays in frames of such functions: it is not inlined into the standard library.
fn is_found(callee: &Function, caller: &Function) -> bool {
    !callee.origin.is_shown() || caller.origin.is_shown()
}

/// Puts the code of a function in place of the call in `line`, with its registers from `base` on.
fn splice(program: &Program, new: &mut Body, fixes: &mut Vec<Fix>, line: &Line, callee: &Body, base: u16) {
    let Some(Op::Call { func, args, dst, unwind }) = line.op else { return };
    let function = program.function(func);
    new.registers = new.registers.max(base + callee.registers);
    let results = u16::from(function.results);
    let mut push = |new: &mut Body, op: Option<Op>, place, scope, fix| {
        new.lines.push(Line { op, place, scope });
        fixes.push(fix);
    };
    for (index, arg) in (0..).zip(new.list(args).to_vec()) {
        let op = Op::Mov { dst: Reg(base + results + index), src: Reg(arg) };
        push(new, Some(op), line.place, line.scope, Fix::Nothing);
    }
    let scopes = new.scopes.len() as u16;
    for scope in &callee.scopes {
        let parent = match scope.parent {
            Some((parent, place)) => (parent + scopes, place),
            None => (line.scope, line.place),
        };
        new.scopes.push(Scope { func: scope.func, parent: Some(parent) });
    }
    let switches = new.switches.len() as u32;
    let ranges = new.ranges.len() as u32;
    new.ranges.extend(callee.ranges.iter().cloned());
    // Where each line of the callee will be: a return becomes moves and a jump.
    let mut starts = Vec::with_capacity(callee.lines.len() + 1);
    let mut at = new.lines.len() as u32;
    for of_callee in &callee.lines {
        starts.push(at);
        at += if matches!(of_callee.op, Some(Op::Return)) { u32::from(results) + 1 } else { 1 };
    }
    let end = at;
    starts.push(end);
    for table in &callee.switches {
        let mut table = table.clone();
        table.otherwise = starts[table.otherwise as usize];
        table.cases.iter_mut().for_each(|(_, to)| *to = starts[*to as usize]);
        new.switches.push(table);
    }
    for of_callee in &callee.lines {
        let scope = of_callee.scope + scopes;
        let Some(mut op) = of_callee.op else {
            push(new, None, of_callee.place, scope, Fix::Nothing);
            continue;
        };
        if matches!(op, Op::Return) {
            for index in 0..results {
                let op = Op::Mov { dst: Reg(dst.0 + index), src: Reg(base + index) };
                push(new, Some(op), line.place, line.scope, Fix::Nothing);
            }
            push(new, Some(Op::Jump { to: end }), line.place, line.scope, Fix::Nothing);
            continue;
        }
        visit(&mut op, &mut |register, _, _| register.0 += base);
        if let Some(list) = list_mut(&mut op) {
            let registers: Vec<u16> = callee.list(*list).iter().map(|register| register + base).collect();
            *list = new.push_list(registers.into_iter());
        }
        match &mut op {
            Op::Switch { table, .. } => *table += switches,
            Op::CheckRange { range, .. } => *range += ranges,
            _ => {}
        }
        retarget(&mut op, Fix::Everything, &|to| starts[to as usize]);
        let fix = if adopt_unwind(&mut op, unwind) { Fix::Unwind } else { Fix::Nothing };
        push(new, Some(op), of_callee.place, scope, fix);
    }
    debug_assert!(
        new.lines.len() as u32 == end
            && callee.lines.last().and_then(|line| line.op).is_none_or(|op| !falls_through(&op))
    );
}

/// What unwinds out of the callee unwinds from the call.
fn adopt_unwind(op: &mut Op, outer: Unwind) -> bool {
    match op {
        Op::Call { unwind, .. } | Op::CallPtr { unwind, .. } | Op::Builtin { unwind, .. }
            if *unwind == Unwind::CONTINUE =>
        {
            *unwind = outer;
            true
        }
        _ => false,
    }
}

fn retarget(op: &mut Op, fix: Fix, new: &dyn Fn(u32) -> u32) {
    match op {
        Op::Jump { to }
        | Op::JumpIf { to, .. }
        | Op::JumpIfNot { to, .. }
        | Op::JumpCmp { to, .. }
        | Op::JumpCmpImm { to, .. }
            if fix == Fix::Everything =>
        {
            *to = new(*to);
        }
        Op::Call { unwind, .. } | Op::CallPtr { unwind, .. } | Op::Builtin { unwind, .. } if fix != Fix::Nothing => {
            if let Some(pc) = unwind.target() {
                *unwind = Unwind::cleanup(new(pc));
            }
        }
        _ => {}
    }
}
