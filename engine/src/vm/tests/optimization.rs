//! What is done to make functions fast makes no difference: random functions run as they are and with all effort.

use proptest::prelude::*;

use crate::program::{BinOp, Builtin, FuncId, IntTy, Op, OverflowOp, UnOp, Unwind, Width};

use super::asm::{Asm, Func, Label, r};

/// Registers that random operations use.
const REGISTERS: u16 = 8;
const WIDTHS: [Width; 4] = [Width::W8, Width::W16, Width::W32, Width::W64];

/// A random number, cut into choices.
struct Dice(u64);

impl Dice {
    fn roll(&mut self, sides: u64) -> u64 {
        let value = self.0 % sides;
        self.0 = (self.0 / sides) ^ (self.0 << 17).wrapping_mul(0x9e37_79b9_7f4a_7c15);
        value
    }

    fn register(&mut self) -> u16 {
        self.roll(u64::from(REGISTERS)) as u16
    }

    fn ty(&mut self) -> IntTy {
        IntTy { width: WIDTHS[self.roll(4) as usize], signed: self.roll(2) == 1 }
    }
}

/// Numbers that fit every type, and some that only fit the largest.
const NUMBERS: [u64; 8] = [0, 1, 2, 7, 63, 127, 0x8000_0000_0000_0001, u64::MAX];
const COMPARISONS: [BinOp; 6] = [BinOp::Eq, BinOp::Ne, BinOp::Lt, BinOp::Le, BinOp::Gt, BinOp::Ge];
/// Operations that are defined for all operands.
const OPERATIONS: [BinOp; 9] =
    [BinOp::Add, BinOp::Sub, BinOp::Mul, BinOp::And, BinOp::Or, BinOp::Xor, BinOp::Shl, BinOp::Shr, BinOp::Cmp];

/// A random operation on registers that hold what fits its type, or one that needs none.
fn operation(f: &mut Func, dice: &mut Dice, end: Label, slot: Option<u16>, callees: &[FuncId], results: u16) {
    let base = results;
    let (a, b, c, dst) =
        (base + dice.register(), base + dice.register(), base + dice.register(), base + dice.register());
    let ty = dice.ty();
    // Registers hold values of their type: cut both operands first.
    let cut = |f: &mut Func, register: u16| {
        f.op(Op::Cast { from: IntTy::U64, to: ty.width, dst: r(register), src: r(register) });
    };
    let next = dst + u16::from(dst + 1 < base + REGISTERS);
    match dice.roll(16) {
        0 => f.imm(dst, NUMBERS[dice.roll(8) as usize]),
        1 | 2 => f.op(Op::Mov { dst: r(dst), src: r(a) }),
        3 => {
            let (dst, a) = (dst.min(base + REGISTERS - 2), a.min(base + REGISTERS - 2));
            f.op(Op::Mov2 { dst: r(dst), src: r(a) })
        }
        4 | 5 => {
            cut(f, a);
            cut(f, b);
            let op =
                if dice.roll(2) == 0 { OPERATIONS[dice.roll(9) as usize] } else { COMPARISONS[dice.roll(6) as usize] };
            f.op(Op::Bin { op, ty, dst: r(dst), a: r(a), b: r(b) })
        }
        6 => {
            cut(f, a);
            let imm = [0, 1, -1, 3, 100, i32::MAX][dice.roll(6) as usize];
            f.op(Op::BinImm { op: OPERATIONS[dice.roll(9) as usize], ty, dst: r(dst), a: r(a), imm })
        }
        7 => {
            cut(f, a);
            cut(f, b);
            let op = [OverflowOp::Add, OverflowOp::Sub, OverflowOp::Mul, OverflowOp::Shl][dice.roll(4) as usize];
            f.op(Op::BinOverflow { op, ty, dst: r(dst), flag: r(next), a: r(a), b: r(b) });
            if dice.roll(2) == 0 { f.op(Op::JumpIf { cond: r(next), to: end.pc() }) } else { f }
        }
        8 => {
            cut(f, a);
            let op = [UnOp::Neg, UnOp::Not, UnOp::CountOnes, UnOp::SwapBytes][dice.roll(4) as usize];
            f.op(Op::Un { op, ty, dst: r(dst), src: r(a) })
        }
        9 => {
            cut(f, a);
            f.op(Op::Cast { from: ty, to: WIDTHS[dice.roll(4) as usize], dst: r(dst), src: r(a) })
        }
        10 => f.op(Op::Select { dst: r(dst), cond: r(c), a: r(a), b: r(b) }),
        11 => f.op(Op::Index { dst: r(dst), base: r(a), index: r(b), scale: 1 << dice.roll(5) }),
        12 => {
            cut(f, a);
            cut(f, b);
            let op = COMPARISONS[dice.roll(6) as usize];
            match dice.roll(4) {
                0 => f.op(Op::JumpIf { cond: r(a), to: end.pc() }),
                1 => f.op(Op::JumpCmp { op, ty, a: r(a), b: r(b), to: end.pc() }),
                2 => f
                    .op(Op::Bin { op, ty, dst: r(dst), a: r(a), b: r(b) })
                    .op(Op::JumpIfNot { cond: r(dst), to: end.pc() }),
                _ => f.op(Op::JumpCmpImm { op, ty, a: r(a), imm: dice.roll(4) as i32 - 1, to: end.pc() }),
            }
        }
        13 | 14 => match slot {
            Some(slot) => access(f, dice, slot, a, dst),
            None => f,
        },
        _ => match callees {
            [] => f,
            _ => {
                let callee = callees[dice.roll(callees.len() as u64) as usize];
                let dst = dst.min(base + REGISTERS - 2);
                f.call_unwind(callee, &[a, b, c], dst, [Unwind::CONTINUE, end.unwind()][dice.roll(2) as usize])
            }
        },
    };
}

/// An access to the slot, directly or through its address.
fn access<'a>(f: &'a mut Func, dice: &mut Dice, slot: u16, src: u16, dst: u16) -> &'a mut Func {
    let width = Width::W64;
    let offset = 8 * dice.roll(4) as u16;
    match dice.roll(6) {
        0 => f.op(Op::LoadSlot { width, dst: r(dst), offset: slot + offset }),
        1 => f.op(Op::StoreSlot { width, src: r(src), offset: slot + offset }),
        2 => {
            f.op(Op::SlotAddr { dst: r(20), offset: slot });
            f.op(Op::Load { width, align: 3, dst: r(dst), base: r(20), offset: i32::from(offset) })
        }
        3 => {
            f.op(Op::SlotAddr { dst: r(20), offset: slot }).imm(21, u64::from(offset / 8));
            f.op(Op::Index { dst: r(22), base: r(20), index: r(21), scale: 8 });
            f.op(Op::Store { width, align: 3, base: r(22), src: r(src), offset: 0 })
        }
        4 => {
            f.op(Op::SlotAddr { dst: r(20), offset: slot + offset });
            f.op(Op::SlotAddr { dst: r(21), offset: slot + (offset + 8) % 32 });
            f.op(Op::Copy { align: 3, dst: r(20), src: r(21), size: 8 })
        }
        _ => {
            f.op(Op::SlotAddr { dst: r(20), offset: slot });
            f.op(Op::BinImm { op: BinOp::Add, ty: IntTy::U64, dst: r(21), a: r(20), imm: i32::from(offset) });
            f.op(Op::Load { width, align: 3, dst: r(dst), base: r(21), offset: 0 })
        }
    }
}

/// A small function of three arguments and two results, which may be inlined.
fn callee(asm: &mut Asm, seeds: &[u64], callees: &[FuncId]) -> FuncId {
    asm.func(&format!("callee{}", asm.next_func().0), 3, 2, |f| {
        f.registers(24);
        for register in 5..2 + REGISTERS {
            f.imm(register, NUMBERS[usize::from(register) % 8]);
        }
        f.imm(0, 5).imm(1, 6);
        let end = f.label();
        for seed in seeds {
            operation(f, &mut Dice(*seed), end, None, callees, 2);
        }
        f.op(Op::Mov { dst: r(0), src: r(4) }).ret();
        f.bind(end);
        f.op(Op::Mov { dst: r(1), src: r(7) }).ret();
    })
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(1000))]
    #[test]
    fn effort_makes_no_difference(
        small in prop::collection::vec(prop::collection::vec(any::<u64>(), 0..4), 1..4),
        main in prop::collection::vec(prop::collection::vec(any::<u64>(), 1..8), 1..6),
        wide in any::<bool>(),
    ) {
        let mut asm = Asm::new();
        let mut callees = Vec::new();
        for seeds in &small {
            let id = callee(&mut asm, seeds, &callees);
            callees.push(id);
        }
        // Both ways are run and compared by the assembler.
        asm.run(|f| {
            let slot = f.slot("slot", 32, true);
            let out = f.slot("out", 8 * REGISTERS, true);
            let again = f.label();
            // With many registers each part has its own, and the values move from one part to the next.
            f.registers(if wide { 300 } else { 30 });
            let base = |part: usize| if wide { 100 + 33 * part as u16 } else { 0 };
            for register in 0..REGISTERS {
                f.imm(register, NUMBERS[usize::from(register)]);
            }
            for offset in 0..4 {
                f.op(Op::StoreSlot { width: Width::W64, src: r(offset), offset: slot + 8 * offset });
            }
            f.imm(25, 3).bind(again);
            for (part, seeds) in main.iter().enumerate() {
                let from = if part == 0 { 0 } else { base(part - 1) };
                for register in 0..REGISTERS {
                    f.op(Op::Mov { dst: r(base(part) + register), src: r(from + register) });
                }
                let end = f.label();
                for seed in seeds {
                    operation(f, &mut Dice(*seed), end, Some(slot), &callees, base(part));
                }
                f.bind(end);
            }
            for register in 0..REGISTERS {
                f.op(Op::Mov { dst: r(register), src: r(base(main.len() - 1) + register) });
            }
            for register in 0..REGISTERS {
                f.op(Op::StoreSlot { width: Width::W64, src: r(register), offset: out + 8 * register });
            }
            f.op(Op::SlotAddr { dst: r(20), offset: out }).imm(21, 8 * u64::from(REGISTERS));
            f.builtin(Builtin::Print, &[20, 21], 24);
            f.op(Op::SlotAddr { dst: r(20), offset: slot }).imm(21, 32).builtin(Builtin::Print, &[20, 21], 24);
            f.op(Op::BinImm { op: BinOp::Sub, ty: IntTy::U64, dst: r(25), a: r(25), imm: 1 });
            f.op(Op::JumpIf { cond: r(25), to: again.pc() }).ret();
        });
    }
}
