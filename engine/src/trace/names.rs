//! What variables and values are called in reports.

use std::collections::HashMap;

use crate::graph::Value;
use crate::program::{Part, ValueKind};
use crate::verdict::Location;
use crate::vm::{Object, Variable};

use super::{Step, Trace};

/// Numbers up to this are written in decimals, larger ones as what they may be: addresses and bits.
const LARGE: Value = 1 << 20;

/// The names of what a trace is about.
pub struct Names<'t> {
    trace: &'t Trace,
    /// The blocks on the heap, by address: what each is called.
    blocks: HashMap<u64, String>,
    legend: Vec<Block>,
}

/// A block on the heap.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Block {
    pub name: String,
    pub size: u64,
    pub allocated: Option<Location>,
}

impl<'t> Names<'t> {
    /// The names for a trace: the same in every report.
    pub fn of(trace: &'t Trace) -> Names<'t> {
        let mut found: Vec<(u64, Block)> = Vec::new();
        let variables = trace.steps.iter().filter_map(|step| step.variable.as_ref());
        let pointees = trace.pointers.iter().map(|pointer| &pointer.to);
        for variable in variables.chain(pointees).chain(&trace.about) {
            if let Object::Heap { address, size, allocated, name } = &variable.object
                && found.iter().all(|(known, _)| known != address)
            {
                let block = Block { name: name.clone(), size: *size, allocated: allocated.clone() };
                found.push((*address, block));
            }
        }
        let mut names = Names { trace, blocks: HashMap::new(), legend: Vec::new() };
        for (at, (address, block)) in found.iter().enumerate() {
            let same = |other: &&(u64, Block)| other.1.name == block.name;
            let number = found[..at].iter().filter(same).count() + 1;
            let name = match (block.name.as_str(), found.iter().filter(same).count()) {
                ("", _) => format!("block{number}"),
                (name, 1) => name.to_owned(),
                (name, _) => format!("{name}({number})"),
            };
            names.blocks.insert(*address, name.clone());
            names.legend.push(Block { name, ..block.clone() });
        }
        names
    }

    /// What a variable is called: `COUNTER`, `stack.head`, `block1+16`.
    pub fn variable(&self, variable: &Variable) -> String {
        let object = match &variable.object {
            Object::Static { name } => name.rsplit("::").next().unwrap_or(name).to_owned(),
            Object::Local { name, .. } if name.is_empty() => "temporary".to_owned(),
            Object::Local { name, .. } => name.clone(),
            Object::Heap { address, .. } => self.blocks.get(address).cloned().unwrap_or_else(|| "block".to_owned()),
            Object::Other { address } => format!("{address:#x}"),
        };
        let (path, rest) = match &variable.part {
            Some(part) => (part.path.as_str(), part.rest),
            None => ("", variable.offset),
        };
        if rest == 0 { format!("{object}{path}") } else { format!("{object}{path}+{rest}") }
    }

    /// What the program calls a variable: not what is inside of a type of the standard library.
    pub fn known(&self, variable: Variable) -> String {
        self.variable(&Variable { part: variable.part.map(Part::known), ..variable })
    }

    /// A value of the variable that a step accesses.
    pub fn value(&self, step: &Step, value: Value) -> String {
        let part = step.variable.as_ref().and_then(|variable| variable.part.as_ref());
        self.spell(part.map_or(ValueKind::Unknown, |part| part.kind), value)
    }

    fn spell(&self, kind: ValueKind, value: Value) -> String {
        match kind {
            ValueKind::Bool if value < 2 => (value == 1).to_string(),
            ValueKind::Char => char::from_u32(value as u32).map_or_else(|| number(value), |char| format!("{char:?}")),
            ValueKind::Signed(bits) => {
                let unused = 64 - u32::from(bits);
                (((value << unused) as i64) >> unused).to_string()
            }
            ValueKind::Pointer if value == 0 => "null".to_owned(),
            ValueKind::Pointer => match self.trace.pointers.iter().find(|pointer| pointer.value == value) {
                Some(pointer) if !matches!(pointer.to.object, Object::Other { .. }) => {
                    format!("&{}", self.pointee(&pointer.to))
                }
                _ => format!("{value:#x}"),
            },
            _ => number(value),
        }
    }

    /// What a pointer points to: the whole where it is its beginning.
    fn pointee(&self, variable: &Variable) -> String {
        let mut whole = variable.clone();
        if let Some(part) = &mut whole.part
            && let Some(start) = part.start
        {
            part.path.truncate(start);
        }
        self.variable(&whole)
    }

    /// The blocks on the heap, as they come.
    pub fn blocks(&self) -> &[Block] {
        &self.legend
    }
}

fn number(value: Value) -> String {
    if value < LARGE { value.to_string() } else { format!("{value:#x}") }
}
