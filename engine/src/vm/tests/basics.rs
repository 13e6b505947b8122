//! Arithmetic, jumps, calls: programs that compute.

use crate::program::{BinOp, Builtin, Op};
use crate::verdict::Outcome;
use crate::vm::Stream;

use super::asm::{Asm, Func, U64, r};

/// Prints the low byte of a register as a letter and checks nothing else.
fn print_digit(func: &mut Func, register: u16) {
    let slot = func.slot("digit", 1, true);
    func.op(Op::BinImm { op: BinOp::Add, ty: U64, dst: r(30), a: r(register), imm: 48 });
    func.op(Op::StoreSlot { width: crate::program::Width::W8, src: r(30), offset: slot });
    func.op(Op::SlotAddr { dst: r(30), offset: slot }).imm(31, 1);
    func.builtin(Builtin::Print, &[30, 31], 0);
}

#[test]
fn a_loop_sums() {
    let run = Asm::new().run(|f| {
        f.imm(0, 0).imm(1, 4);
        let (head, done) = (f.label(), f.label());
        f.bind(head);
        f.op(Op::JumpCmpImm { op: BinOp::Eq, ty: U64, a: r(1), imm: 0, to: done.pc() });
        f.op(Op::Bin { op: BinOp::Add, ty: U64, dst: r(0), a: r(0), b: r(1) });
        f.op(Op::BinImm { op: BinOp::Sub, ty: U64, dst: r(1), a: r(1), imm: 1 });
        f.op(Op::Jump { to: head.pc() });
        f.bind(done);
        f.op(Op::BinImm { op: BinOp::Sub, ty: U64, dst: r(0), a: r(0), imm: 3 });
        print_digit(f, 0);
        f.ret();
    });
    assert_eq!(run.failure, None);
    assert_eq!(run.outcome, Outcome::Passed);
    assert_eq!(run.output.stream(Stream::Stdout), b"7");
}

#[test]
fn recursion_computes_fibonacci() {
    let mut asm = Asm::new();
    let fib = asm.next_func();
    asm.func("fib", 1, 1, |f| {
        let base = f.label();
        f.op(Op::JumpCmpImm { op: BinOp::Lt, ty: U64, a: r(1), imm: 2, to: base.pc() });
        f.op(Op::BinImm { op: BinOp::Sub, ty: U64, dst: r(2), a: r(1), imm: 1 });
        f.call(fib, &[2], 3);
        f.op(Op::BinImm { op: BinOp::Sub, ty: U64, dst: r(2), a: r(1), imm: 2 });
        f.call(fib, &[2], 4);
        f.op(Op::Bin { op: BinOp::Add, ty: U64, dst: r(0), a: r(3), b: r(4) }).ret();
        f.bind(base);
        f.op(Op::Mov { dst: r(0), src: r(1) }).ret();
    });
    let run = asm.run(|f| {
        f.imm(1, 6).call(fib, &[1], 0);
        print_digit(f, 0);
        f.ret();
    });
    assert_eq!(run.failure, None);
    assert_eq!(run.output.all(), b"8");
}

#[test]
fn the_heap_holds_what_is_stored() {
    let run = Asm::new().run(|f| {
        let width = crate::program::Width::W64;
        f.imm(1, 24).imm(2, 8).builtin(Builtin::Alloc, &[1, 2], 3).imm(4, 5);
        f.op(Op::Store { width, align: 3, base: r(3), src: r(4), offset: 16 });
        f.op(Op::Load { width, align: 3, dst: r(5), base: r(3), offset: 16 });
        print_digit(f, 5);
        f.builtin(Builtin::Dealloc, &[3, 1, 2], 0).ret();
    });
    assert_eq!(run.failure, None);
    assert_eq!(run.output.all(), b"5");
}
