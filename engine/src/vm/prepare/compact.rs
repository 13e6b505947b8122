//! Fewer registers: those that are never needed at the same time become one.
//!
//! Functions of the compiler's have a register for every temporary. Instructions name few, and whatever makes code
//! faster looks at functions with few alone, so a function with many is renumbered first. A register is taken to be in
//! use from the first line to the last where it is read, written or read later; neighbours stay neighbours.

use crate::program::{Op, Program};
use crate::vm::code::NEAR_REGISTERS;

use super::body::{Body, falls_through, list_of};
use super::liveness::{each_def, each_use};
use super::operands::visit;

/// Functions of fewer registers stay as they are: there is room to inline others into them.
const MANY: u16 = NEAR_REGISTERS - 64;
/// So many registers are used in turn before others are: facts about copies hold for longer.
const TURNS: usize = 160;
/// In words: what is known about larger functions would take too long to find out.
const MAX_KNOWLEDGE: usize = 4 << 20;

/// Renumbers the registers of a function that has many.
pub fn compact(program: &Program, body: &mut Body) {
    let words = usize::from(body.registers).div_ceil(64);
    if body.registers < MANY || words * (body.lines.len() + 1) > MAX_KNOWLEDGE {
        return;
    }
    let groups = groups(program, body, &used_lines(program, body, words));
    let function = program.function(body.scopes[0].func);
    let fixed = u16::from(function.results) + function.params;
    let Some(numbers) = number(&groups, fixed, body.registers, TURNS) else { return };
    body.registers = numbers.iter().map(|number| number + 1).max().unwrap_or(0);
    for line in &mut body.lines {
        let Some(op) = &mut line.op else { continue };
        visit(op, &mut |register, _, _| register.0 = numbers[usize::from(register.0)]);
        if let Some(list) = list_of(op) {
            for register in Body::registers_of(&mut body.lists, list) {
                *register = numbers[usize::from(*register)];
            }
        }
    }
}

/// The first and the last line where a register is in use.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Span {
    first: u32,
    last: u32,
}

impl Span {
    const NEVER: Span = Span { first: u32::MAX, last: 0 };

    fn add(&mut self, other: Span) {
        self.first = self.first.min(other.first);
        self.last = self.last.max(other.last);
    }
}

/// Neighbouring registers that stay together.
#[derive(Clone, Copy, Debug)]
struct Group {
    first: u16,
    count: u16,
    span: Span,
}

/// For each register the lines where it is in use.
fn used_lines(program: &Program, body: &Body, words: usize) -> Vec<Span> {
    let live = live_before(program, body, words);
    let mut spans = vec![Span::NEVER; usize::from(body.registers)];
    for (pc, row) in live.chunks_exact(words).enumerate() {
        let line = pc as u32;
        let here = Span { first: line, last: line };
        for (index, word) in row.iter().enumerate() {
            let mut rest = *word;
            while rest != 0 {
                spans[64 * index + rest.trailing_zeros() as usize].add(here);
                rest &= rest - 1;
            }
        }
        if let Some(op) = body.lines.get(pc).and_then(|line| line.op) {
            each_def(program, op, &mut |register| spans[usize::from(register)].add(here));
        }
    }
    spans
}

/// Which registers are read at each line or later: rows of bits.
fn live_before(program: &Program, body: &Body, words: usize) -> Vec<u64> {
    let mut rows = vec![0; words * (body.lines.len() + 1)];
    let mut live = vec![0; words];
    let mut changed = true;
    while changed {
        changed = false;
        for pc in (0..body.lines.len()).rev() {
            let next = &rows[words * (pc + 1)..][..words];
            match body.lines[pc].op {
                Some(op) => {
                    if falls_through(&op) {
                        live.copy_from_slice(next);
                    } else {
                        live.fill(0);
                    }
                    each_def(program, op, &mut |register| live[usize::from(register >> 6)] &= !(1 << (register & 63)));
                    body.successors(&op, &mut |to| {
                        let row = &rows[words * to as usize..][..words];
                        live.iter_mut().zip(row).for_each(|(word, more)| *word |= more);
                    });
                    each_use(program, body, op, &mut |register| {
                        live[usize::from(register >> 6)] |= 1 << (register & 63)
                    });
                }
                None => live.copy_from_slice(next),
            }
            let row = &mut rows[words * pc..][..words];
            if *row != *live {
                row.copy_from_slice(&live);
                changed = true;
            }
        }
    }
    rows
}

/// Registers that an operation takes together, and each other one by itself.
fn groups(program: &Program, body: &Body, spans: &[Span]) -> Vec<Group> {
    // Whether a register belongs to the one before it.
    let mut joined = vec![false; spans.len()];
    for op in body.lines.iter().filter_map(|line| line.op) {
        let results = match op {
            Op::Call { func, .. } => u16::from(program.function(func).results),
            Op::CallPtr { results, .. } => u16::from(results),
            _ => 0,
        };
        let mut op = op;
        visit(&mut op, &mut |register, count, _| {
            (register.0 + 1..register.0 + count).for_each(|next| joined[usize::from(next)] = true);
        });
        if let Op::Call { dst, .. } | Op::CallPtr { dst, .. } = op {
            (dst.0 + 1..dst.0 + results).for_each(|next| joined[usize::from(next)] = true);
        }
    }
    let mut groups: Vec<Group> = Vec::new();
    for (register, span) in (0..).zip(spans) {
        match groups.last_mut() {
            Some(group) if joined[usize::from(register)] => {
                group.count += 1;
                group.span.add(*span);
            }
            _ => groups.push(Group { first: register, count: 1, span: *span }),
        }
    }
    groups
}

/// The new number of each register; `None` where neighbours find no place. The first ones, for results and parameters,
/// keep theirs.
fn number(groups: &[Group], fixed: u16, registers: u16, turns: usize) -> Option<Vec<u16>> {
    let mut numbers = vec![0; usize::from(registers)];
    // The line from which on each new register is free.
    let mut free_from = vec![0; usize::from(registers)];
    let (kept, mut others): (Vec<Group>, Vec<Group>) = groups.iter().partition(|group| group.first < fixed);
    for group in kept {
        let all = usize::from(group.first)..usize::from(group.first + group.count);
        free_from[all.clone()].fill(u32::MAX);
        all.for_each(|register| numbers[register] = register as u16);
    }
    others.sort_by_key(|group| group.span.first);
    for group in others {
        let at = place(&free_from, group, turns)?;
        for index in 0..group.count {
            free_from[at + usize::from(index)] = group.span.last.saturating_add(1);
            numbers[usize::from(group.first + index)] = at as u16 + index;
        }
    }
    Some(numbers)
}

/// Where a group can be: of the registers that are used in turn where it has been free for longest, or else the first.
fn place(free_from: &[u32], group: Group, turns: usize) -> Option<usize> {
    let count = usize::from(group.count);
    let places = free_from.windows(count).map(|window| window.iter().copied().max().unwrap_or(0)).enumerate();
    let mut fitting = places.filter(|(_, free)| *free <= group.span.first);
    let in_turn = fitting.clone().take_while(|(at, _)| at + count <= turns).min_by_key(|(_, free)| *free);
    in_turn.or_else(|| fitting.next()).map(|(at, _)| at)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn group(first: u16, count: u16, span: (u32, u32)) -> Group {
        Group { first, count, span: Span { first: span.0, last: span.1 } }
    }

    #[test]
    fn groups_share_what_is_free() {
        // Register 0 is a parameter. 1 and 2, a pair, are done with before 3 begins, 4 overlaps both.
        let groups = [group(0, 1, (0, 9)), group(1, 2, (0, 3)), group(3, 1, (4, 9)), group(4, 1, (2, 5))];
        assert_eq!(number(&groups, 1, 5, 3), Some(vec![0, 1, 2, 1, 3]));
        // With more to be used in turn, the one that has been free for longer.
        assert_eq!(number(&groups, 1, 5, 5), Some(vec![0, 1, 2, 4, 3]));
    }

    #[test]
    fn what_is_in_use_is_not_shared() {
        let groups = [group(0, 1, (0, 4)), group(1, 1, (4, 6)), group(2, 1, (5, 6))];
        assert_eq!(number(&groups, 0, 3, 1), Some(vec![0, 1, 0]));
    }
}
