//! Arithmetic, jumps, calls: programs that compute.

use std::sync::Arc;
use std::time::{Duration, Instant};

use crate::program::{BinOp, Builtin, FuncId, Op, OverflowOp, Program, Width};
use crate::verdict::Outcome;
use crate::vm::{RunOptions, Stream, run};

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

/// Counts the rounds of a loop whose jump depends on an overflow, and prints the number.
fn counting(rounds: u64) -> (Arc<Program>, FuncId) {
    let mut asm = Asm::new();
    let main = asm.func("main", 0, 0, |f| {
        let out = f.slot("out", 8, true);
        let (head, body, done) = (f.label(), f.label(), f.label());
        f.imm(0, rounds).imm(1, u64::MAX).imm(2, 0);
        f.bind(head);
        // Adding the largest number subtracts one, and overflows unless it was 0.
        f.op(Op::BinOverflow { op: OverflowOp::Add, ty: U64, dst: r(0), a: r(0), b: r(1), flag: r(3) });
        f.op(Op::JumpIf { cond: r(3), to: body.pc() }).op(Op::Jump { to: done.pc() });
        f.bind(body);
        f.op(Op::BinImm { op: BinOp::Add, ty: U64, dst: r(2), a: r(2), imm: 1 }).op(Op::Jump { to: head.pc() });
        f.bind(done);
        f.op(Op::StoreSlot { width: Width::W64, src: r(2), offset: out }).op(Op::SlotAddr { dst: r(4), offset: out });
        f.imm(5, 8).builtin(Builtin::Print, &[4, 5], 6).ret();
    });
    (Arc::new(asm.program), main)
}

#[test]
fn a_look_at_the_clock_changes_nothing() {
    let rounds = 3_000_001;
    let (program, main) = counting(rounds);
    let run = run(&program, main, &RunOptions::default());
    assert_eq!((run.outcome, run.output.all()), (Outcome::Passed, rounds.to_le_bytes().to_vec()));
    assert!(run.steps > 2 * rounds, "{} steps", run.steps);
}

#[test]
fn a_run_ends_at_its_deadline() {
    let (program, main) = counting(u64::MAX);
    let deadline = Some(Instant::now() + Duration::from_millis(20));
    let options = RunOptions { deadline, max_steps: u64::MAX, ..RunOptions::default() };
    let run = run(&program, main, &options);
    assert_eq!(run.outcome, Outcome::Incomplete);
    assert_eq!(run.failure.unwrap().message, "time limit reached");
}
