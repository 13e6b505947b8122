//! A function on its way to code: its operations, with what was inlined into it.

use crate::program::{FuncId, Function, List, Op, PlaceId, Program, SwitchTable, ValidRange};
use crate::vm::code::Scope;

/// One operation. `None` where it was found to be superfluous.
#[derive(Clone, Copy, Debug)]
pub struct Line {
    pub op: Option<Op>,
    pub place: PlaceId,
    /// An index into [`Body::scopes`].
    pub scope: u16,
}

/// A function on its way to code.
#[derive(Clone, Debug)]
pub struct Body {
    pub lines: Vec<Line>,
    pub lists: Vec<u16>,
    pub switches: Vec<SwitchTable>,
    pub ranges: Vec<ValidRange>,
    pub registers: u16,
    /// The functions that the operations come from; the first is the function itself.
    pub scopes: Vec<Scope>,
}

impl Body {
    /// A function as it is, each list of registers for one operation alone.
    pub fn new(program: &Program, func: FuncId) -> Body {
        let function = program.function(func);
        let mut body = Body {
            lines: Vec::with_capacity(function.code.len()),
            lists: Vec::with_capacity(function.lists.len()),
            switches: function.switches.clone(),
            ranges: function.ranges.clone(),
            registers: function.registers,
            scopes: vec![Scope { func, parent: None }],
        };
        for (op, place) in function.code.iter().zip(&function.code_places) {
            let mut op = *op;
            if let Some(list) = list_mut(&mut op) {
                *list = body.add_list(function, *list);
            }
            body.lines.push(Line { op: Some(op), place: *place, scope: 0 });
        }
        body
    }

    fn add_list(&mut self, function: &Function, list: List) -> List {
        let registers = function.list(list);
        self.push_list(registers.iter().copied())
    }

    /// Adds a list of registers.
    pub fn push_list(&mut self, registers: impl ExactSizeIterator<Item = u16>) -> List {
        let start = self.lists.len() as u32;
        self.lists.push(registers.len() as u16);
        self.lists.extend(registers);
        List(start)
    }

    /// The registers of a list.
    pub fn list(&self, list: List) -> &[u16] {
        let start = list.0 as usize;
        &self.lists[start + 1..start + 1 + usize::from(self.lists[start])]
    }

    /// The registers of a list, for writing.
    pub fn registers_of(lists: &mut [u16], list: List) -> &mut [u16] {
        let start = list.0 as usize;
        let len = usize::from(lists[start]);
        &mut lists[start + 1..start + 1 + len]
    }

    /// Where jumps, switches and unwinding lead: a block starts there.
    pub fn leaders(&self) -> Vec<bool> {
        let mut leaders = vec![false; self.lines.len() + 1];
        let mut ends = false;
        for (pc, line) in self.lines.iter().enumerate() {
            leaders[pc] |= ends;
            let Some(op) = line.op else { continue };
            ends = false;
            self.successors(&op, &mut |to| {
                ends = true;
                leaders[to as usize] = true;
            });
            ends |= !falls_through(&op);
            // A call goes on in the same block; its cleanup is another.
            if list_of(&op).is_some() && falls_through(&op) {
                ends = false;
            }
        }
        leaders
    }

    /// Calls `visit` for each place where an operation can lead, besides the next one.
    pub fn successors(&self, op: &Op, visit: &mut dyn FnMut(u32)) {
        match *op {
            Op::Jump { to }
            | Op::JumpIf { to, .. }
            | Op::JumpIfNot { to, .. }
            | Op::JumpCmp { to, .. }
            | Op::JumpCmpImm { to, .. } => visit(to),
            Op::Switch { table, .. } => {
                let table = &self.switches[table as usize];
                visit(table.otherwise);
                table.cases.iter().for_each(|(_, to)| visit(*to));
            }
            Op::Call { unwind, .. } | Op::CallPtr { unwind, .. } | Op::Builtin { unwind, .. } => {
                if let Some(to) = unwind.target() {
                    visit(to);
                }
            }
            _ => {}
        }
    }
}

/// Whether the next operation can follow.
pub fn falls_through(op: &Op) -> bool {
    !matches!(
        op,
        Op::Jump { .. } | Op::Switch { .. } | Op::Return | Op::Resume | Op::Unreachable { .. } | Op::Unsupported { .. }
    )
}

/// The list of registers of an operation.
pub fn list_of(op: &Op) -> Option<List> {
    match op {
        Op::Call { args, .. } | Op::CallPtr { args, .. } | Op::Builtin { args, .. } => Some(*args),
        _ => None,
    }
}

/// The list of registers of an operation, for writing.
pub fn list_mut(op: &mut Op) -> Option<&mut List> {
    match op {
        Op::Call { args, .. } | Op::CallPtr { args, .. } | Op::Builtin { args, .. } => Some(args),
        _ => None,
    }
}
