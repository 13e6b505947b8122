//! Panics: cleanup in order, catching, reports.

use crate::program::{Builtin, FuncId, Op, Unwind, Width};
use crate::verdict::ErrorKind;
use crate::vm::{FailureKind, Stream};

use super::asm::{Asm, Func, r};
use super::blocks::print;

/// Prints one letter, which is a global.
fn say(f: &mut Func, address: u64) {
    f.imm(30, address);
    print(f, 30, 1);
}

/// A function that reports a panic and raises 42.
fn panics(asm: &mut Asm) -> FuncId {
    let message = asm.global(b"went wrong", 1, false);
    let file = asm.global(b"src/lib.rs", 1, false);
    asm.func("panics", 0, 0, |f| {
        f.imm(1, message).imm(2, 10).imm(3, file).imm(4, 10).imm(5, 17).imm(6, 3);
        f.builtin(Builtin::PanicMessage, &[1, 2, 3, 4, 5, 6], 0);
        f.imm(7, 42).builtin(Builtin::Raise, &[7], 0);
    })
}

#[test]
fn uncaught_panics_fail_where_they_were_raised() {
    let mut asm = Asm::new();
    let panics = panics(&mut asm);
    let run = asm.run(|f| {
        f.call(panics, &[], 0).ret();
    });
    let failure = run.failure.unwrap();
    assert_eq!(failure.kind, FailureKind::Error(ErrorKind::Panic));
    assert_eq!(failure.message, "went wrong");
    let location = failure.location.unwrap();
    assert_eq!((location.file.as_str(), location.line, location.column), ("src/lib.rs", 17, 3));
    let functions: Vec<_> = failure.stack.iter().map(|frame| (frame.function.as_str(), frame.location.line)).collect();
    assert_eq!(functions, [("panics", 7), ("main", 1)]);
    let stderr = String::from_utf8(run.output.stream(Stream::Stderr)).unwrap();
    assert_eq!(stderr, "\nthread 'main' panicked at src/lib.rs:17:3:\nwent wrong\n");
}

#[test]
fn cleanup_runs_from_the_inside_out() {
    let mut asm = Asm::new();
    let letters: Vec<u64> = b"abc".iter().map(|letter| asm.global(&[*letter], 1, false)).collect();
    let panics = panics(&mut asm);
    let inner = asm.func("inner", 0, 0, |f| {
        let cleanup = f.label();
        f.call_unwind(panics, &[], 0, cleanup.unwind()).ret();
        f.bind(cleanup);
        say(f, letters[0]);
        f.op(Op::Resume);
    });
    let between = asm.func("between", 0, 0, |f| {
        f.slot("x", 8, true);
        f.call(inner, &[], 0).ret();
    });
    let run = asm.run(|f| {
        let cleanup = f.label();
        f.call_unwind(between, &[], 0, cleanup.unwind()).ret();
        f.bind(cleanup);
        say(f, letters[1]);
        f.op(Op::Resume);
    });
    assert_eq!(run.output.stream(Stream::Stdout), b"ab");
    assert_eq!(run.failure.unwrap().kind, FailureKind::Error(ErrorKind::Panic));
}

#[test]
fn caught_panics_are_no_failure() {
    let mut asm = Asm::new();
    let panics = panics(&mut asm);
    let letters: Vec<u64> = b"01".iter().map(|letter| asm.global(&[*letter], 1, false)).collect();
    let tried = asm.func("tried", 1, 0, |f| {
        let fine = f.label();
        f.op(Op::JumpIfNot { cond: r(0), to: fine.pc() }).call(panics, &[], 0);
        f.bind(fine);
        f.ret();
    });
    // Stores the exception where the data points.
    let caught = asm.func("caught", 2, 0, |f| {
        f.op(Op::Store { width: Width::W64, align: 3, base: r(0), src: r(1), offset: 0 }).ret();
    });
    let run = asm.run(|f| {
        let slot = f.slot("exception", 8, true);
        let (nothing, panicked, end) = (f.label(), f.label(), f.label());
        f.func_addr(2, tried).func_addr(4, caught);
        f.imm(3, 0).op(Op::CatchUnwind { dst: r(5), try_fn: r(2), data: r(3), catch_fn: r(4) });
        f.op(Op::JumpIf { cond: r(5), to: end.pc() });
        say(f, letters[0]);
        f.op(Op::SlotAddr { dst: r(3), offset: slot });
        f.op(Op::CatchUnwind { dst: r(5), try_fn: r(2), data: r(3), catch_fn: r(4) });
        f.op(Op::JumpIfNot { cond: r(5), to: nothing.pc() }).op(Op::Jump { to: panicked.pc() });
        f.bind(panicked);
        say(f, letters[1]);
        f.op(Op::SlotAddr { dst: r(3), offset: slot });
        print(f, 3, 1);
        f.bind(nothing);
        f.bind(end);
        f.ret();
    });
    assert_eq!(run.failure, None);
    assert_eq!(run.output.stream(Stream::Stdout), [b'0', b'1', 42]);
}

#[test]
fn a_catch_frees_the_memory_of_the_frames_between() {
    let mut asm = Asm::new();
    let panics = panics(&mut asm);
    let tried = asm.func("tried", 1, 0, |f| {
        let slot = f.slot("x", 8, true);
        f.op(Op::BigSlot { dst: r(2), size: 50_000, align: 0 });
        f.op(Op::SlotAddr { dst: r(1), offset: slot });
        f.op(Op::Store { width: Width::W64, align: 3, base: r(0), src: r(1), offset: 0 });
        f.call(panics, &[], 0).ret();
    });
    let caught = asm.func("caught", 2, 0, |f| {
        f.ret();
    });
    let run = asm.run(|f| {
        let slot = f.slot("pointer", 8, true);
        f.func_addr(2, tried).func_addr(4, caught).op(Op::SlotAddr { dst: r(3), offset: slot });
        f.op(Op::CatchUnwind { dst: r(5), try_fn: r(2), data: r(3), catch_fn: r(4) });
        f.op(Op::LoadSlot { width: Width::W64, dst: r(6), offset: slot });
        f.op(Op::Load { width: Width::W64, align: 3, dst: r(7), base: r(6), offset: 0 }).ret();
    });
    assert_eq!(run.failure.unwrap().kind, FailureKind::Error(ErrorKind::UseAfterFree));
}

#[test]
fn what_must_not_unwind_is_undefined() {
    let mut asm = Asm::new();
    let panics = panics(&mut asm);
    let run = asm.run(|f| {
        f.call_unwind(panics, &[], 0, Unwind::UNREACHABLE).ret();
    });
    assert_eq!(run.failure.unwrap().kind, FailureKind::Error(ErrorKind::UndefinedBehavior));
}

#[test]
fn raising_in_a_frame_with_cleanup_runs_it() {
    let mut asm = Asm::new();
    let letter = asm.global(b"c", 1, false);
    let run = asm.run(|f| {
        let cleanup = f.label();
        let args = f.list(&[1]);
        f.imm(1, 9).op(Op::Builtin { builtin: Builtin::Raise, args, dst: r(0), unwind: cleanup.unwind() });
        f.bind(cleanup);
        say(f, letter);
        f.op(Op::Resume);
    });
    assert_eq!(run.output.all(), b"c");
    assert_eq!(run.failure.unwrap().message, "panic");
}

#[test]
fn cleanup_that_unwinds_again_and_again_is_an_error() {
    let mut asm = Asm::new();
    let panics = panics(&mut asm);
    let run = asm.run(|f| {
        let cleanup = f.label();
        f.bind(cleanup);
        f.call_unwind(panics, &[], 0, cleanup.unwind()).ret();
    });
    assert_eq!(run.failure.unwrap().kind, FailureKind::Error(ErrorKind::UndefinedBehavior));
}
