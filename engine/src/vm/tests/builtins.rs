//! The functions of the machine that are not tested elsewhere: C allocation, strings, time, the process.

use std::collections::BTreeMap;
use std::sync::Arc;

use crate::program::{Builtin, Op, Width};
use crate::verdict::Outcome;
use crate::vm::{Run, RunOptions, Stream, run};

use super::asm::{Asm, Func, r};
use super::blocks::print;

#[track_caller]
fn prints(run: &Run, expected: &[u8]) {
    assert_eq!(run.failure, None);
    assert_eq!(run.output.all(), expected);
}

/// Prints the low byte of a register.
fn print_register(f: &mut Func, register: u16) {
    let slot = f.slot("byte", 8, true);
    f.op(Op::StoreSlot { width: Width::W64, src: r(register), offset: slot })
        .op(Op::SlotAddr { dst: r(29), offset: slot });
    print(f, 29, 1);
}

#[test]
fn c_allocation() {
    let run = Asm::new().run(|f| {
        f.imm(1, 4).imm(2, 2).builtin(Builtin::Calloc, &[1, 2], 3);
        print(f, 3, 1);
        f.imm(4, 9).op(Op::Store { width: Width::W8, align: 0, base: r(3), src: r(4), offset: 0 });
        f.imm(5, 100).builtin(Builtin::CRealloc, &[3, 5], 6);
        print(f, 6, 8);
        f.builtin(Builtin::Free, &[6], 0).imm(7, 0).builtin(Builtin::Free, &[7], 0);
        f.builtin(Builtin::CRealloc, &[7, 5], 8).builtin(Builtin::Free, &[8], 0);
        f.builtin(Builtin::Malloc, &[1], 8).builtin(Builtin::Free, &[8], 0);
        f.imm(9, 64).builtin(Builtin::AlignedAlloc, &[9, 5], 8).op(Op::Store {
            width: Width::W64,
            align: 6,
            base: r(8),
            src: r(9),
            offset: 0,
        });
        f.builtin(Builtin::Free, &[8], 0);
        let slot = f.slot("out", 8, true);
        f.op(Op::SlotAddr { dst: r(10), offset: slot }).builtin(Builtin::PosixMemalign, &[10, 9, 5], 11);
        f.op(Op::LoadSlot { width: Width::W64, dst: r(12), offset: slot }).builtin(Builtin::Free, &[12], 0);
        f.imm(5, 1 << 60).builtin(Builtin::Malloc, &[5], 13).builtin(Builtin::Calloc, &[5, 5], 14);
        print_register(f, 13);
        print_register(f, 14);
        f.ret();
    });
    prints(&run, &[0, 9, 0, 0, 0, 0, 0, 0, 0, 0, 0]);
}

#[test]
fn rust_reallocation_keeps_the_data_and_moves() {
    let run = Asm::new().run(|f| {
        f.imm(1, 4).imm(2, 4).builtin(Builtin::AllocZeroed, &[1, 2], 3).imm(4, 5);
        f.op(Op::Store { width: Width::W8, align: 0, base: r(3), src: r(4), offset: 3 });
        f.imm(5, 16).builtin(Builtin::Realloc, &[3, 1, 2, 5], 6);
        print(f, 6, 4);
        f.op(Op::Bin { op: crate::program::BinOp::Eq, ty: super::asm::U64, dst: r(7), a: r(6), b: r(3) });
        print_register(f, 7);
        f.imm(1, 2).builtin(Builtin::Realloc, &[6, 5, 2, 1], 8);
        print(f, 8, 2);
        f.builtin(Builtin::Dealloc, &[8, 1, 2], 0).ret();
    });
    prints(&run, &[0, 0, 0, 5, 0, 0, 0]);
}

#[test]
fn strings() {
    let mut asm = Asm::new();
    let text = asm.global(b"hello\0", 1, false);
    let run = asm.run(|f| {
        f.imm(1, text).builtin(Builtin::Strlen, &[1], 2);
        print_register(f, 2);
        f.imm(3, u64::from(b'l')).imm(4, 6).builtin(Builtin::Memchr, &[1, 3, 4], 5).builtin(
            Builtin::Memrchr,
            &[1, 3, 4],
            6,
        );
        print(f, 5, 3);
        print(f, 6, 2);
        f.imm(3, u64::from(b'z')).builtin(Builtin::Memchr, &[1, 3, 4], 5);
        print_register(f, 5);
        f.ret();
    });
    prints(&run, b"\x05llolo\0");
}

#[test]
fn errors_have_texts() {
    let run = Asm::new().run(|f| {
        let text = f.slot("text", 32, true);
        f.op(Op::SlotAddr { dst: r(1), offset: text }).imm(2, 22).imm(3, 32);
        f.builtin(Builtin::StrError, &[2, 1, 3], 4);
        print_register(f, 4);
        print(f, 1, 17);
        f.imm(3, 16).builtin(Builtin::StrError, &[2, 1, 3], 4);
        print_register(f, 4);
        f.ret();
    });
    // There is no room for the byte 0 at the end of it: ERANGE.
    prints(&run, b"\0Invalid argument\0\x22");
}

#[test]
fn time_advances_and_sleeping_takes_time() {
    let run = Asm::new().run(|f| {
        let (time, request) = (f.slot("time", 16, true), f.slot("request", 16, true));
        f.imm(1, 1).op(Op::SlotAddr { dst: r(2), offset: time });
        let now = |f: &mut Func, dst: u16| {
            f.builtin(Builtin::ClockGettime, &[1, 2], 3);
            f.op(Op::LoadSlot { width: Width::W64, dst: r(dst), offset: time });
            f.op(Op::LoadSlot { width: Width::W64, dst: r(dst + 1), offset: time + 8 });
        };
        now(f, 4);
        now(f, 6);
        f.op(Op::Bin { op: crate::program::BinOp::Lt, ty: super::asm::U64, dst: r(8), a: r(5), b: r(7) });
        print_register(f, 8);
        f.imm(9, 2).op(Op::StoreSlot { width: Width::W64, src: r(9), offset: request });
        f.imm(9, 0).op(Op::StoreSlot { width: Width::W64, src: r(9), offset: request + 8 });
        f.op(Op::SlotAddr { dst: r(10), offset: request }).builtin(Builtin::Nanosleep, &[10, 9], 11);
        f.imm(12, 0).builtin(Builtin::ClockNanosleep, &[1, 12, 10, 9], 11);
        now(f, 13);
        f.op(Op::Bin { op: crate::program::BinOp::Sub, ty: super::asm::U64, dst: r(15), a: r(13), b: r(4) });
        print_register(f, 15);
        f.ret();
    });
    prints(&run, &[1, 4]);
}

#[test]
fn output_keeps_its_order() {
    let mut asm = Asm::new();
    let text = asm.global(b"abcd", 1, false);
    let vectors: Vec<u8> = [text + 2, 1, text + 3, 1].iter().flat_map(|word: &u64| word.to_le_bytes()).collect();
    let vectors = asm.global(&vectors, 8, false);
    let run = asm.run(|f| {
        f.imm(1, 1).imm(2, text).imm(3, 1).builtin(Builtin::Write, &[1, 2, 3], 4);
        f.imm(1, 2).imm(2, text + 1).builtin(Builtin::Eprint, &[2, 3], 0);
        f.imm(5, vectors).imm(6, 2).builtin(Builtin::Writev, &[1, 5, 6], 4);
        f.imm(2, text).builtin(Builtin::Print, &[2, 3], 0).ret();
    });
    prints(&run, b"abcda");
    assert_eq!(run.output.stream(Stream::Stdout), b"aa");
    assert_eq!(run.output.stream(Stream::Stderr), b"bcd");
    let run = Asm::new().run(|f| {
        f.imm(1, 5).imm(2, 8).imm(3, 0).builtin(Builtin::Write, &[1, 2, 3], 4).ret();
    });
    assert_eq!(run.outcome, Outcome::Unsupported);
}

#[test]
fn the_environment_is_as_set() {
    let mut asm = Asm::new();
    let (set, unset) = (asm.global(b"NAME\0", 1, false), asm.global(b"OTHER\0", 1, false));
    let main = asm.func("main", 0, 0, |f| {
        f.imm(1, set).builtin(Builtin::Getenv, &[1], 2).builtin(Builtin::Getenv, &[1], 3);
        print(f, 2, 6);
        f.op(Op::Bin { op: crate::program::BinOp::Eq, ty: super::asm::U64, dst: r(4), a: r(2), b: r(3) });
        print_register(f, 4);
        f.imm(1, unset).builtin(Builtin::Getenv, &[1], 2);
        print_register(f, 2);
        f.imm(1, 84).builtin(Builtin::Sysconf, &[1], 2);
        print_register(f, 2);
        f.ret();
    });
    let env = BTreeMap::from([("NAME".to_owned(), "value".to_owned())]);
    let run =
        run(&Arc::new(asm.program), main, &RunOptions { env: env.into(), processors: 3, ..RunOptions::default() });
    prints(&run, b"value\0\x01\0\x03");
}

#[test]
fn randomness_is_the_same_in_every_run() {
    let random = || {
        let run = Asm::new().run(|f| {
            let slot = f.slot("bytes", 20, true);
            f.op(Op::SlotAddr { dst: r(1), offset: slot }).imm(2, 20).imm(3, 0).builtin(
                Builtin::Getrandom,
                &[1, 2, 3],
                4,
            );
            print(f, 1, 20);
            f.builtin(Builtin::Getrandom, &[1, 2, 3], 4);
            print(f, 1, 20);
            f.builtin(Builtin::HashSeeds, &[], 5);
            print_register(f, 5);
            print_register(f, 6);
            f.ret();
        });
        assert_eq!(run.failure, None);
        run.output.all()
    };
    let (first, second) = (random(), random());
    assert_eq!(first, second);
    assert_ne!(first[..20], first[20..40]);
}

#[test]
fn other_system_calls_are_unsupported() {
    let run = Asm::new().run(|f| {
        f.imm(1, 186).builtin(Builtin::Syscall, &[1], 2);
        print_register(f, 2);
        f.imm(1, 999).builtin(Builtin::Syscall, &[1], 2).ret();
    });
    assert_eq!(run.output.all(), [1]);
    assert_eq!(
        (run.outcome, run.failure.unwrap().message.as_str()),
        (Outcome::Unsupported, "unsupported operation: system call 999")
    );
}
