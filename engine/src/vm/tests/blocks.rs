//! Memory: scalars, slots, copies, globals, thread-locals, large locals.

use crate::program::{BinOp, Builtin, Op, Width};
use crate::vm::Run;

use super::asm::{Asm, Func, U64, r};

const W: Width = Width::W64;

/// Prints `len` bytes at the address in a register.
pub fn print(f: &mut Func, address: u16, len: u64) {
    f.imm(31, len).builtin(Builtin::Print, &[address, 31], 0);
}

/// Puts a global's address in a register.
fn text(asm: &mut Asm, bytes: &[u8]) -> u64 {
    asm.global(bytes, 1, false)
}

#[track_caller]
fn prints(run: &Run, expected: &[u8]) {
    assert_eq!(run.failure, None);
    assert_eq!(run.output.all(), expected);
}

#[test]
fn scalars_of_every_width() {
    let mut asm = Asm::new();
    let data = asm.global(&[1, 2, 3, 4, 5, 6, 7, 8], 8, false);
    let run = asm.run(|f| {
        let out = f.slot("out", 32, true);
        f.imm(1, data);
        for (index, width) in [Width::W8, Width::W16, Width::W32, Width::W64].into_iter().enumerate() {
            f.op(Op::Load { width, align: 0, dst: r(2), base: r(1), offset: 0 });
            f.op(Op::StoreSlot { width: W, src: r(2), offset: out + 8 * index as u16 });
        }
        f.op(Op::SlotAddr { dst: r(3), offset: out });
        print(f, 3, 32);
        f.ret();
    });
    let expected: Vec<u8> =
        [0x01u64, 0x0201, 0x0403_0201, 0x0807_0605_0403_0201].iter().flat_map(|word| word.to_le_bytes()).collect();
    prints(&run, &expected);
}

#[test]
fn slots_hold_scalars_of_every_width() {
    let run = Asm::new().run(|f| {
        let out = f.slot("out", 16, true);
        f.imm(1, 0x0807_0605_0403_0201);
        f.op(Op::StoreSlot { width: Width::W64, src: r(1), offset: out });
        for (offset, width) in [(8, Width::W8), (10, Width::W16), (12, Width::W32)] {
            f.op(Op::LoadSlot { width, dst: r(2), offset: out });
            f.op(Op::StoreSlot { width, src: r(2), offset: out + offset });
        }
        f.op(Op::LoadSlot { width: W, dst: r(2), offset: out });
        f.op(Op::StoreSlot { width: W, src: r(2), offset: out });
        f.imm(3, 9).op(Op::StoreSlot { width: Width::W8, src: r(3), offset: out + 9 });
        f.op(Op::SlotAddr { dst: r(3), offset: out });
        print(f, 3, 16);
        f.ret();
    });
    prints(&run, &[1, 2, 3, 4, 5, 6, 7, 8, 1, 9, 1, 2, 1, 2, 3, 4]);
}

#[test]
fn copies() {
    let mut asm = Asm::new();
    let source = text(&mut asm, b"abcdefgh");
    let run = asm.run(|f| {
        let (a, b) = (f.slot("a", 8, true), f.slot("b", 8, true));
        f.imm(1, source).op(Op::CopyToSlot { align: 0, dst: a, src: r(1), size: 8 });
        f.op(Op::CopySlots { dst: b, src: a, size: 8 });
        f.imm(2, 8).imm(3, 1).builtin(Builtin::Alloc, &[2, 3], 4);
        f.op(Op::CopyFromSlot { align: 0, dst: r(4), src: b, size: 8 });
        print(f, 4, 8);
        // Overlapping by two.
        f.imm(5, 6).op(Op::BinImm { op: BinOp::Add, ty: U64, dst: r(6), a: r(4), imm: 2 });
        f.op(Op::CopyOverlapping { align: 0, dst: r(6), src: r(4), len: r(5) });
        print(f, 4, 8);
        f.imm(5, 4).op(Op::BinImm { op: BinOp::Add, ty: U64, dst: r(6), a: r(4), imm: 4 });
        f.op(Op::CopyNonOverlapping { align: 0, dst: r(4), src: r(6), len: r(5) });
        print(f, 4, 8);
        f.op(Op::SlotAddr { dst: r(7), offset: a });
        f.op(Op::Copy { align: 0, dst: r(4), src: r(7), size: 8 });
        f.op(Op::Copy { align: 0, dst: r(4), src: r(4), size: 8 });
        print(f, 4, 8);
        f.imm(5, 3).imm(8, u64::from(b'x')).op(Op::Fill { align: 0, dst: r(6), value: r(8), len: r(5) });
        print(f, 4, 8);
        f.op(Op::Repeat { dst: r(4), size: 2, count: 4 });
        print(f, 4, 8);
        f.builtin(Builtin::Dealloc, &[4, 2, 3], 0).ret();
    });
    prints(&run, b"abcdefghababcdefcdefcdefabcdefghabcdxxxhabababab");
}

#[test]
fn large_copies() {
    let mut asm = Asm::new();
    let bytes: Vec<u8> = (0..200u16).map(|n| n as u8).collect();
    let source = text(&mut asm, &bytes);
    let run = asm.run(|f| {
        f.imm(1, source).imm(2, 200).imm(3, 1).builtin(Builtin::Alloc, &[2, 3], 4);
        f.op(Op::CopyNonOverlapping { align: 0, dst: r(4), src: r(1), len: r(2) });
        f.imm(5, 199).op(Op::BinImm { op: BinOp::Add, ty: U64, dst: r(6), a: r(4), imm: 1 });
        f.op(Op::CopyOverlapping { align: 0, dst: r(4), src: r(6), len: r(5) });
        print(f, 4, 200);
        f.builtin(Builtin::Dealloc, &[4, 2, 3], 0).ret();
    });
    let mut expected = bytes.clone();
    expected.copy_within(1.., 0);
    prints(&run, &expected);
}

#[test]
fn comparisons() {
    let mut asm = Asm::new();
    let long: Vec<u8> = vec![7; 100];
    let mut other = long.clone();
    other[99] = 8;
    let (a, b) = (text(&mut asm, &long), text(&mut asm, &other));
    let run = asm.run(|f| {
        let out = f.slot("out", 4, true);
        f.imm(1, a).imm(2, b);
        for (first, second, len) in [(1, 2, 100), (2, 1, 100), (1, 2, 99), (1, 2, 0)] {
            f.imm(3, len).op(Op::Compare { dst: r(4), a: r(first), b: r(second), len: r(3) });
            f.op(Op::StoreSlot { width: Width::W32, src: r(4), offset: out })
                .op(Op::SlotAddr { dst: r(5), offset: out });
            print(f, 5, 4);
        }
        f.ret();
    });
    let expected: Vec<u8> = [-1i32, 1, 0, 0].iter().flat_map(|word| word.to_le_bytes()).collect();
    prints(&run, &expected);
}

#[test]
fn statics_are_written_and_each_run_starts_anew() {
    let mut asm = Asm::new();
    let counter = asm.global(&5u64.to_le_bytes(), 8, true);
    let main = asm.func("main", 0, 0, |f| {
        f.imm(1, counter).op(Op::Load { width: W, align: 3, dst: r(2), base: r(1), offset: 0 });
        f.op(Op::BinImm { op: BinOp::Add, ty: U64, dst: r(2), a: r(2), imm: 1 });
        f.op(Op::Store { width: W, align: 3, base: r(1), src: r(2), offset: 0 });
        print(f, 1, 1);
        f.ret();
    });
    let program = std::sync::Arc::new(asm.program);
    for _ in 0..2 {
        prints(&crate::vm::run(&program, main, &crate::vm::RunOptions::default()), &[6]);
    }
}

#[test]
fn padding_reads_as_zero() {
    let run = Asm::new().run(|f| {
        let a = f.slot("a", 8, true);
        let out = f.slot("out", 8, true);
        f.imm(1, 0x0201).op(Op::StoreSlot { width: Width::W16, src: r(1), offset: a + 2 });
        f.op(Op::LoadSlotPadding { width: Width::W32, dst: r(2), offset: a });
        f.op(Op::StoreSlot { width: Width::W32, src: r(2), offset: out });
        f.op(Op::SlotAddr { dst: r(3), offset: a });
        f.op(Op::LoadPadding { width: Width::W16, align: 1, dst: r(2), base: r(3), offset: 2 });
        f.op(Op::StoreSlot { width: Width::W32, src: r(2), offset: out + 4 });
        f.op(Op::SlotAddr { dst: r(3), offset: out });
        print(f, 3, 8);
        f.ret();
    });
    prints(&run, &[0, 0, 1, 2, 1, 2, 0, 0]);
}

#[test]
fn big_slots_live_as_long_as_their_frame() {
    let mut asm = Asm::new();
    let callee = asm.func("callee", 0, 1, |f| {
        let again = f.label();
        f.imm(2, 2).bind(again);
        f.op(Op::BigSlot { dst: r(1), size: 100_000, align: 4 }).imm(3, 7);
        f.op(Op::Store { width: Width::W8, align: 0, base: r(1), src: r(3), offset: 99_999 });
        f.op(Op::BinImm { op: BinOp::Sub, ty: U64, dst: r(2), a: r(2), imm: 1 });
        f.op(Op::JumpIf { cond: r(2), to: again.pc() });
        f.op(Op::BinImm { op: BinOp::Add, ty: U64, dst: r(4), a: r(1), imm: 99_999 });
        print(f, 4, 1);
        f.op(Op::Mov { dst: r(0), src: r(1) }).ret();
    });
    let run = asm.run(|f| {
        f.call(callee, &[], 1).op(Op::Load { width: Width::W8, align: 0, dst: r(2), base: r(1), offset: 99_999 }).ret();
    });
    assert_eq!(run.output.all(), [7]);
    let failure = run.failure.unwrap();
    assert_eq!(failure.kind, crate::verdict::ErrorKind::UseAfterFree.into());
    assert_eq!(failure.message, "read of 1 byte in a local variable of 100000 bytes, which is out of scope");
}

#[test]
fn big_slots_may_die_before_their_frame() {
    let run = Asm::new().run(|f| {
        f.op(Op::BigSlot { dst: r(1), size: 4, align: 2 }).imm(2, 7);
        f.op(Op::Store { width: Width::W32, align: 2, base: r(1), src: r(2), offset: 0 });
        f.op(Op::BigSlotDead { slot: r(1) }).op(Op::BigSlotDead { slot: r(1) });
        f.op(Op::Load { width: Width::W32, align: 2, dst: r(2), base: r(1), offset: 0 }).ret();
    });
    let failure = run.failure.unwrap();
    assert_eq!(failure.kind, crate::verdict::ErrorKind::UseAfterFree.into());
    assert_eq!(failure.message, "read of 4 bytes in a local variable of 4 bytes, which is out of scope");
}

#[test]
fn switches() {
    for (cases, value) in [(2u64, 0), (2, 1), (2, 7), (20, 0), (20, 19), (20, 33)] {
        let run = Asm::new().run(|f| {
            let out = f.slot("out", 1, true);
            let labels: Vec<_> = (0..=cases).map(|_| f.label()).collect();
            let end = f.label();
            let table: Vec<_> = (0..cases).map(|case| (case, labels[case as usize])).collect();
            f.imm(1, value).switch(1, &table, labels[cases as usize]);
            for (index, label) in labels.into_iter().enumerate() {
                f.bind(label);
                f.imm(2, index as u64).op(Op::Jump { to: end.pc() });
            }
            f.bind(end);
            f.op(Op::StoreSlot { width: Width::W8, src: r(2), offset: out })
                .op(Op::SlotAddr { dst: r(3), offset: out });
            print(f, 3, 1);
            f.ret();
        });
        prints(&run, &[value.min(cases) as u8]);
    }
}

#[test]
fn calls_pass_many_arguments_and_results() {
    let mut asm = Asm::new();
    let swap = asm.func("swap", 2, 2, |f| {
        f.op(Op::Mov { dst: r(0), src: r(3) }).op(Op::Mov { dst: r(1), src: r(2) }).ret();
    });
    let run = asm.run(|f| {
        f.registers(300);
        let out = f.slot("out", 2, true);
        f.imm(1, 1).imm(299, 2).call(swap, &[1, 299], 247);
        f.op(Op::StoreSlot { width: Width::W8, src: r(247), offset: out });
        f.op(Op::StoreSlot { width: Width::W8, src: r(248), offset: out + 1 });
        f.op(Op::SlotAddr { dst: r(3), offset: out });
        print(f, 3, 2);
        let args = f.list(&[1, 299]);
        f.func_addr(290, swap);
        f.op(Op::CallPtr { ptr: r(290), args, dst: r(260), results: 2, unwind: crate::program::Unwind::CONTINUE });
        f.op(Op::StoreSlot { width: Width::W8, src: r(261), offset: out });
        print(f, 3, 1);
        f.ret();
    });
    prints(&run, &[2, 1, 1]);
}
