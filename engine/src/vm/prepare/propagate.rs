//! Copies and constants, forward through each block: operations read the original of a copy, do arithmetic on known
//! numbers at once, and reach locals of the frame directly instead of through their address.

use crate::program::{BinOp, Function, IntTy, Op, Program, Reg, Width};
use crate::vm::arith;

use super::body::{Body, list_of};
use super::operands::{Role, visit};

/// What is known about a register.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Fact {
    Copy(Reg),
    Number(u64),
    /// The address of a byte of the frame.
    Slot(u16),
    /// Another register plus a number, of 64 bits.
    Offset(Reg, i32),
}

/// The facts that hold at a place.
#[derive(Default)]
struct Facts {
    known: Vec<(Reg, Fact)>,
}

impl Facts {
    fn get(&self, register: Reg) -> Option<Fact> {
        self.known.iter().find(|(of, _)| *of == register).map(|(_, fact)| *fact)
    }

    fn number(&self, register: Reg) -> Option<u64> {
        match self.get(register) {
            Some(Fact::Number(number)) => Some(number),
            _ => None,
        }
    }

    fn original(&self, register: Reg) -> Reg {
        match self.get(register) {
            Some(Fact::Copy(original)) => original,
            _ => register,
        }
    }

    /// A register is written: what was known about it, or through it, is not so any more.
    fn forget(&mut self, written: impl Fn(Reg) -> bool) {
        self.known.retain(|(of, fact)| {
            let through = match fact {
                Fact::Copy(other) | Fact::Offset(other, _) => written(*other),
                Fact::Number(_) | Fact::Slot(_) => false,
            };
            !written(*of) && !through
        });
    }

    fn learn(&mut self, register: Reg, fact: Fact) {
        if fact != Fact::Copy(register) && !matches!(fact, Fact::Offset(base, _) if base == register) {
            self.known.push((register, fact));
        }
    }
}

/// Propagates copies and constants through a function.
pub fn propagate(program: &Program, body: &mut Body) {
    let function = program.function(body.scopes[0].func);
    let leaders = body.leaders();
    let mut facts = Facts::default();
    for pc in 0..body.lines.len() {
        if leaders[pc] {
            facts.known.clear();
        }
        let Some(mut op) = body.lines[pc].op else { continue };
        read_originals(&mut op, body, &facts);
        let op = simplify(op, body, &facts, function);
        body.lines[pc].op = op;
        if let Some(op) = op {
            record(op, &mut facts);
        }
    }
}

fn read_originals(op: &mut Op, body: &mut Body, facts: &Facts) {
    visit(op, &mut |register, count, role| {
        if role == Role::Use {
            let original = facts.original(*register);
            let neighbours = (1..count).all(|n| facts.original(Reg(register.0 + n)) == Reg(original.0 + n));
            if neighbours {
                *register = original;
            }
        }
    });
    if let Some(list) = list_of(op) {
        for register in Body::registers_of(&mut body.lists, list) {
            *register = facts.original(Reg(*register)).0;
        }
    }
}

/// The operation in its simplest form; `None` where there is nothing to do.
fn simplify(op: Op, body: &Body, facts: &Facts, function: &Function) -> Option<Op> {
    let number = |register| facts.number(register);
    Some(match op {
        Op::Mov { dst, src } if dst == src => return None,
        Op::Mov { dst, src } => match facts.get(src) {
            Some(Fact::Number(value)) => Op::Imm { dst, value },
            Some(Fact::Slot(offset)) => Op::SlotAddr { dst, offset },
            _ => op,
        },
        Op::Bin { op, ty, dst, a, b } => simplify_bin(op, ty, dst, a, b, facts),
        Op::BinImm { op, ty, dst, a, imm } => simplify_bin_imm(op, ty, dst, a, imm, facts),
        Op::Cast { from, to, dst, src } => match number(src) {
            Some(value) => Op::Imm { dst, value: arith::cast(from, to, value) },
            None if to == from.width || (!from.signed && to > from.width) => Op::Mov { dst, src },
            None => op,
        },
        Op::Un { op: un, ty, dst, src } => match number(src) {
            Some(value) => Op::Imm { dst, value: arith::un(un, ty, value) },
            None => op,
        },
        Op::Select { dst, cond, a, b } => match number(cond) {
            Some(cond) => Op::Mov { dst, src: if cond != 0 { a } else { b } },
            None => op,
        },
        Op::CheckRange { src, range } => match number(src) {
            Some(value) => {
                let range = &body.ranges[range as usize];
                let valid = value.wrapping_sub(range.start) <= range.end.wrapping_sub(range.start);
                return (!valid).then_some(op);
            }
            None => op,
        },
        Op::JumpIf { cond, to } => match number(cond) {
            Some(0) => return None,
            Some(_) => Op::Jump { to },
            None => op,
        },
        Op::JumpIfNot { cond, to } => match number(cond) {
            Some(0) => Op::Jump { to },
            Some(_) => return None,
            None => op,
        },
        Op::JumpCmp { op: compare, ty, a, b, to } => match (number(a), number(b)) {
            (Some(a), Some(b)) => return jump_known(compare, ty, a, b, to, op),
            (None, Some(b)) => match immediate(ty, b) {
                Some(imm) => Op::JumpCmpImm { op: compare, ty, a, imm, to },
                None => op,
            },
            _ => op,
        },
        Op::JumpCmpImm { op: compare, ty, a, imm, to } => match number(a) {
            Some(a) => return jump_known(compare, ty, a, i64::from(imm) as u64 & ty.width.mask(), to, op),
            None => op,
        },
        Op::Switch { src, table } => match number(src) {
            Some(value) => {
                let table = &body.switches[table as usize];
                let case = table.cases.iter().find(|(case, _)| *case == value);
                Op::Jump { to: case.map_or(table.otherwise, |(_, to)| *to) }
            }
            None => op,
        },
        Op::Index { dst, base, index, scale } => {
            let offset = number(index).and_then(|index| {
                let offset = i128::from(index as i64) * i128::from(scale);
                i32::try_from(offset).ok()
            });
            match offset {
                Some(imm) => simplify_bin_imm(BinOp::Add, IntTy::U64, dst, base, imm, facts),
                None => op,
            }
        }
        Op::Load { .. }
        | Op::Store { .. }
        | Op::LoadPadding { .. }
        | Op::Copy { .. }
        | Op::CopyToSlot { .. }
        | Op::CopyFromSlot { .. } => simplify_access(op, facts, function),
        _ => op,
    })
}

/// The number as an immediate of this type.
fn immediate(ty: IntTy, value: u64) -> Option<i32> {
    let imm = i32::try_from(arith::sign_extend(value, ty.width)).ok()?;
    (i64::from(imm) as u64 & ty.width.mask() == value).then_some(imm)
}

fn jump_known(op: BinOp, ty: IntTy, a: u64, b: u64, to: u32, unknown: Op) -> Option<Op> {
    match arith::bin(op, ty, a, b) {
        Some(0) => None,
        Some(_) => Some(Op::Jump { to }),
        None => Some(unknown),
    }
}

fn simplify_bin(op: BinOp, ty: IntTy, dst: Reg, a: Reg, b: Reg, facts: &Facts) -> Op {
    let commutes = matches!(op, BinOp::Add | BinOp::Mul | BinOp::And | BinOp::Or | BinOp::Xor | BinOp::Eq | BinOp::Ne);
    let unknown = Op::Bin { op, ty, dst, a, b };
    let (known_a, known_b) = (facts.number(a), facts.number(b));
    // The amount of a shift can be wider than the type.
    let fits = |value: u64| value <= ty.width.mask();
    match (known_a, known_b) {
        (Some(x), Some(y)) => arith::bin(op, ty, x, y).map_or(unknown, |value| Op::Imm { dst, value }),
        (_, Some(y)) if fits(y) => match immediate(ty, y) {
            Some(imm) => simplify_bin_imm(op, ty, dst, a, imm, facts),
            None => unknown,
        },
        (Some(x), _) if commutes && fits(x) => match immediate(ty, x) {
            Some(imm) => simplify_bin_imm(op, ty, dst, b, imm, facts),
            None => unknown,
        },
        _ => unknown,
    }
}

fn simplify_bin_imm(op: BinOp, ty: IntTy, dst: Reg, a: Reg, imm: i32, facts: &Facts) -> Op {
    let unknown = Op::BinImm { op, ty, dst, a, imm };
    let nothing = imm == 0 && matches!(op, BinOp::Add | BinOp::Sub | BinOp::Or | BinOp::Xor | BinOp::Shl | BinOp::Shr);
    match facts.get(a) {
        Some(Fact::Number(a)) => {
            let b = i64::from(imm) as u64 & ty.width.mask();
            arith::bin(op, ty, a, b).map_or(unknown, |value| Op::Imm { dst, value })
        }
        Some(Fact::Slot(offset)) if op == BinOp::Add && ty.width == Width::W64 => match slot_offset(offset, imm) {
            Some(offset) => Op::SlotAddr { dst, offset },
            None => unknown,
        },
        Some(Fact::Offset(base, before)) if op == BinOp::Add && ty.width == Width::W64 => match before.checked_add(imm)
        {
            Some(imm) => Op::BinImm { op, ty, dst, a: base, imm },
            None => unknown,
        },
        _ if nothing => Op::Mov { dst, src: a },
        _ => unknown,
    }
}

/// A byte of the frame, so far behind another.
fn slot_offset(offset: u16, more: i32) -> Option<u16> {
    let offset = i64::from(offset) + i64::from(more);
    u16::try_from(offset).ok().filter(|offset| u32::from(*offset) < crate::program::address::MAX_FRAME)
}

/// An access through a pointer, to what it is known to point to.
fn simplify_access(op: Op, facts: &Facts, function: &Function) -> Op {
    let slot = |register: Reg, offset: i32, size: u64, align: u8| match facts.get(register) {
        Some(Fact::Slot(start)) => slot_offset(start, offset).filter(|at| {
            let in_frame = u64::from(*at) + size <= u64::from(function.frame_size);
            in_frame && align < 14 && u64::from(*at).is_multiple_of(1 << align)
        }),
        _ => None,
    };
    let based = |register: Reg, offset: i32| match facts.get(register) {
        Some(Fact::Offset(base, more)) => offset.checked_add(more).map_or((register, offset), |sum| (base, sum)),
        _ => (register, offset),
    };
    match op {
        Op::Load { width, align, dst, base, offset } => match slot(base, offset, u64::from(width.bytes()), align) {
            Some(offset) => Op::LoadSlot { width, dst, offset },
            None => {
                let (base, offset) = based(base, offset);
                Op::Load { width, align, dst, base, offset }
            }
        },
        Op::LoadPadding { width, align, dst, base, offset } => {
            match slot(base, offset, u64::from(width.bytes()), align) {
                Some(offset) => Op::LoadSlotPadding { width, dst, offset },
                None => {
                    let (base, offset) = based(base, offset);
                    Op::LoadPadding { width, align, dst, base, offset }
                }
            }
        }
        Op::Store { width, align, base, src, offset } => match slot(base, offset, u64::from(width.bytes()), align) {
            Some(offset) => Op::StoreSlot { width, src, offset },
            None => {
                let (base, offset) = based(base, offset);
                Op::Store { width, align, base, src, offset }
            }
        },
        Op::Copy { align, dst, src, size } => {
            let to = slot(dst, 0, u64::from(size), align);
            let from = slot(src, 0, u64::from(size), align);
            match (to, from) {
                (Some(dst), Some(src)) => Op::CopySlots { dst, src, size },
                (Some(dst), None) => Op::CopyToSlot { align, dst, src, size },
                (None, Some(src)) => Op::CopyFromSlot { align, dst, src, size },
                (None, None) => op,
            }
        }
        Op::CopyToSlot { align, dst, src, size } => match slot(src, 0, u64::from(size), align) {
            Some(src) => Op::CopySlots { dst, src, size },
            None => op,
        },
        Op::CopyFromSlot { align, dst, src, size } => match slot(dst, 0, u64::from(size), align) {
            Some(dst) => Op::CopySlots { dst, src, size },
            None => op,
        },
        _ => op,
    }
}

/// What is known after an operation.
fn record(mut op: Op, facts: &mut Facts) {
    // How many results a call has is not always known, but they are all behind the first.
    let call = matches!(op, Op::Call { .. } | Op::CallPtr { .. } | Op::Builtin { .. });
    visit(&mut op, &mut |register, count, role| {
        if role == Role::Def {
            let (first, end) = (register.0, if call { u16::MAX } else { register.0 + count });
            facts.forget(|register| (first..end).contains(&register.0));
        }
    });
    match op {
        Op::Imm { dst, value } => facts.learn(dst, Fact::Number(value)),
        Op::Mov { dst, src } => facts.learn(dst, Fact::Copy(src)),
        Op::Mov2 { dst, src } if dst.0.abs_diff(src.0) >= 2 => {
            facts.learn(dst, Fact::Copy(src));
            facts.learn(Reg(dst.0 + 1), Fact::Copy(Reg(src.0 + 1)));
        }
        Op::SlotAddr { dst, offset } => facts.learn(dst, Fact::Slot(offset)),
        Op::BinImm { op: BinOp::Add, ty, dst, a, imm } if ty.width == Width::W64 => {
            facts.learn(dst, Fact::Offset(a, imm));
        }
        _ => {}
    }
}
