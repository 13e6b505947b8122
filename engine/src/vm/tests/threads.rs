//! Threads: spawning, joining, futexes, thread-locals, deadlocks, the fixed schedule.

use crate::program::{AtomicWidth, BinOp, Builtin, FuncId, Op, Ordering, RmwOp, Width};
use crate::verdict::{ErrorKind, Outcome};
use crate::vm::{FailureKind, ThreadId};

use super::asm::{Asm, Func, U64, r};
use super::blocks::print;

const SC: Ordering = Ordering::SeqCst;
const W32: AtomicWidth = AtomicWidth::W32;
const FUTEX: u64 = 202;
const WAIT: u64 = 128;
const WAKE: u64 = 129;

/// Spawns `start(argument in register 20)`; the handle goes to the slot, then to register 21.
fn spawn(f: &mut Func, start: FuncId) {
    let slot = f.slot("handle", 8, true);
    f.op(Op::SlotAddr { dst: r(22), offset: slot }).imm(23, 0).func_addr(24, start);
    f.builtin(Builtin::PthreadCreate, &[22, 23, 24, 20], 25);
    f.op(Op::LoadSlot { width: Width::W64, dst: r(21), offset: slot });
}

fn futex(f: &mut Func, op: u64, address: u16, value: u64, timeout: u16) {
    f.imm(10, FUTEX).imm(11, op).imm(12, value).imm(13, 0).imm(14, u64::from(u32::MAX));
    f.builtin(Builtin::Syscall, &[10, address, 11, 12, timeout, 13, 14], 15);
}

#[test]
fn a_thread_runs_and_is_joined() {
    let mut asm = Asm::new();
    let text = asm.global(b"12", 1, false);
    let child = asm.func("child", 1, 1, |f| {
        print(f, 1, 1);
        f.imm(0, 77).ret();
    });
    let run = asm.run(|f| {
        let out = f.slot("out", 8, true);
        f.imm(20, text);
        spawn(f, child);
        f.op(Op::BinImm { op: BinOp::Add, ty: U64, dst: r(1), a: r(20), imm: 1 });
        // Main goes first: it has the lower number.
        print(f, 1, 1);
        f.op(Op::SlotAddr { dst: r(2), offset: out }).builtin(Builtin::PthreadJoin, &[21, 2], 3);
        print(f, 2, 1);
        f.builtin(Builtin::PthreadJoin, &[21, 2], 4).op(Op::BinImm {
            op: BinOp::Eq,
            ty: U64,
            dst: r(5),
            a: r(4),
            imm: 22,
        });
        f.op(Op::StoreSlot { width: Width::W8, src: r(5), offset: out });
        print(f, 2, 1);
        f.ret();
    });
    assert_eq!(run.failure, None);
    assert_eq!(run.output.all(), [b'2', b'1', 77, 1]);
}

#[test]
fn detached_threads_run_to_their_end() {
    let mut asm = Asm::new();
    let text = asm.global(b"x", 1, false);
    let child = asm.func("child", 1, 1, |f| {
        print(f, 1, 1);
        f.ret();
    });
    let run = asm.run(|f| {
        f.imm(20, text);
        spawn(f, child);
        f.builtin(Builtin::PthreadDetach, &[21], 3).builtin(Builtin::PthreadSelf, &[], 4).ret();
    });
    assert_eq!((run.outcome, run.output.all()), (Outcome::Passed, b"x".to_vec()));
}

#[test]
fn a_futex_wait_ends_by_a_wake() {
    let mut asm = Asm::new();
    let word = asm.global(&[0; 4], 4, true);
    let child = asm.func("child", 1, 1, |f| {
        f.imm(2, 1).op(Op::AtomicStore { width: W32, ordering: SC, ptr: r(1), src: r(2) }).imm(3, 0);
        futex(f, WAKE, 1, 1, 3);
        f.ret();
    });
    let run = asm.run(|f| {
        let out = f.slot("out", 8, true);
        f.imm(20, word).imm(1, word).imm(3, 0);
        spawn(f, child);
        futex(f, WAIT, 1, 0, 3);
        f.op(Op::StoreSlot { width: Width::W8, src: r(15), offset: out });
        // The word has another value now: no wait.
        futex(f, WAIT, 1, 0, 3);
        f.op(Op::StoreSlot { width: Width::W8, src: r(15), offset: out + 1 });
        f.builtin(Builtin::ErrnoLocation, &[], 16).op(Op::Load {
            width: Width::W32,
            align: 2,
            dst: r(17),
            base: r(16),
            offset: 0,
        });
        f.op(Op::StoreSlot { width: Width::W8, src: r(17), offset: out + 2 });
        f.op(Op::SlotAddr { dst: r(2), offset: out });
        print(f, 2, 3);
        f.imm(2, 0).builtin(Builtin::PthreadJoin, &[21, 2], 3).ret();
    });
    assert_eq!(run.failure, None);
    assert_eq!(run.output.all(), [0, 255, 11]);
}

// A program that was damaged may name any thread.
#[test]
fn only_threads_that_exist_are_joined() {
    for thread in [0, 1, 70_000] {
        let run = Asm::new().run(|f| {
            f.imm(1, thread).builtin(Builtin::JoinGathered, &[1], 0).ret();
        });
        assert_eq!(run.failure.unwrap().kind, FailureKind::Unsupported);
    }
}

#[test]
fn a_wait_times_out_when_nothing_else_can_run() {
    let mut asm = Asm::new();
    let word = asm.global(&[0; 4], 4, true);
    let run = asm.run(|f| {
        let time = f.slot("time", 16, true);
        f.imm(1, 5).op(Op::StoreSlot { width: Width::W64, src: r(1), offset: time });
        f.imm(1, 0).op(Op::StoreSlot { width: Width::W64, src: r(1), offset: time + 8 });
        f.op(Op::SlotAddr { dst: r(3), offset: time }).imm(1, word);
        futex(f, WAIT, 1, 0, 3);
        f.builtin(Builtin::ErrnoLocation, &[], 16);
        print(f, 16, 1);
        // Five seconds later.
        f.imm(4, 1).builtin(Builtin::ClockGettime, &[4, 3], 5);
        print(f, 3, 2);
        f.ret();
    });
    assert_eq!(run.failure, None);
    let mut expected = vec![110];
    expected.extend_from_slice(&1005u16.to_le_bytes());
    assert_eq!(run.output.all(), expected);
}

#[test]
fn deadlocks_name_every_thread() {
    let mut asm = Asm::new();
    let word = asm.global(&[0; 4], 4, true);
    let child = asm.func("child", 1, 1, |f| {
        f.imm(3, 0);
        futex(f, WAIT, 1, 0, 3);
        f.ret();
    });
    let run = asm.run(|f| {
        f.imm(20, word);
        spawn(f, child);
        f.imm(2, 0).builtin(Builtin::PthreadJoin, &[21, 2], 3).ret();
    });
    let failure = run.failure.unwrap();
    assert_eq!(failure.kind, FailureKind::Error(ErrorKind::Deadlock));
    assert_eq!(failure.message, "deadlock: 2 threads are blocked forever");
    let notes: Vec<_> = failure.notes.iter().map(|note| (note.message(true), note.thread)).collect();
    assert_eq!(
        notes,
        [
            ("main is blocked here: waiting for thread 1 to finish".to_owned(), Some(ThreadId(0))),
            ("thread 1 is blocked here: waiting for a futex to be woken".to_owned(), Some(ThreadId(1)))
        ]
    );
    assert_eq!(failure.location.unwrap().file, "main.rs");
    assert_eq!(failure.notes[1].location.as_ref().unwrap().file, "child.rs");
}

#[test]
fn a_loop_that_waits_for_another_thread_ends() {
    for yields in [false, true] {
        let mut asm = Asm::new();
        let word = asm.global(&[0; 4], 4, true);
        let child = asm.func("child", 1, 1, |f| {
            f.imm(2, 1).op(Op::AtomicStore { width: W32, ordering: SC, ptr: r(1), src: r(2) }).ret();
        });
        let run = asm.run(|f| {
            f.imm(20, word);
            spawn(f, child);
            let again = f.label();
            f.bind(again);
            if yields {
                f.builtin(Builtin::SpinLoop, &[], 0).builtin(Builtin::SchedYield, &[], 1);
            }
            f.op(Op::AtomicLoad { width: W32, ordering: SC, dst: r(1), ptr: r(20) });
            f.op(Op::JumpIfNot { cond: r(1), to: again.pc() }).ret();
        });
        assert_eq!(run.outcome, Outcome::Passed);
    }
}

#[test]
fn read_modify_writes() {
    let ops = [
        (RmwOp::Xchg, 3, 3),
        (RmwOp::Add, 250, 4),
        (RmwOp::Sub, 11, 255),
        (RmwOp::And, 6, 2),
        (RmwOp::Nand, 6, 0xfd),
        (RmwOp::Or, 5, 15),
        (RmwOp::Xor, 3, 9),
        (RmwOp::Max, 0x80, 10),
        (RmwOp::Min, 0x80, 0x80),
        (RmwOp::UMax, 0x80, 0x80),
        (RmwOp::UMin, 0x80, 10),
    ];
    for (op, operand, expected) in ops {
        let mut asm = Asm::new();
        let byte = asm.global(&[10], 1, true);
        let run = asm.run(|f| {
            let out = f.slot("old", 1, true);
            f.imm(1, byte).imm(2, operand);
            f.op(Op::AtomicRmw { op, width: AtomicWidth::W8, ordering: SC, dst: r(3), ptr: r(1), src: r(2) });
            f.op(Op::StoreSlot { width: Width::W8, src: r(3), offset: out })
                .op(Op::SlotAddr { dst: r(4), offset: out });
            print(f, 4, 1);
            print(f, 1, 1);
            f.op(Op::Fence { ordering: SC }).ret();
        });
        assert_eq!(run.output.all(), [10, expected], "{op:?}");
    }
}

#[test]
fn compare_and_swap() {
    for width in [AtomicWidth::W8, AtomicWidth::W16, AtomicWidth::W32, AtomicWidth::W64, AtomicWidth::W128] {
        let mut asm = Asm::new();
        let mut bytes = [0; 16];
        bytes[0] = 5;
        let word = asm.global(&bytes, 16, true);
        let pair = if width == AtomicWidth::W128 { 2 } else { 1 };
        let run = asm.run(|f| {
            let out = f.slot("out", 4, true);
            f.imm(1, word).imm(2, 5).imm(3, 0).imm(4, 6).imm(5, 0);
            let cas = |dst| Op::AtomicCas {
                width,
                success: SC,
                failure: Ordering::Relaxed,
                weak: false,
                dst: r(dst),
                ptr: r(1),
                expected: r(2),
                new: r(4),
            };
            f.op(cas(10)).op(cas(14));
            for (offset, register) in [10, 10 + pair, 14, 14 + pair].into_iter().enumerate() {
                f.op(Op::StoreSlot { width: Width::W8, src: r(register), offset: out + offset as u16 });
            }
            f.op(Op::SlotAddr { dst: r(6), offset: out });
            print(f, 6, 4);
            f.op(Op::AtomicLoad { width, ordering: SC, dst: r(10), ptr: r(1) });
            f.op(Op::AtomicStore { width, ordering: SC, ptr: r(1), src: r(10) }).ret();
        });
        assert_eq!(run.failure, None);
        assert_eq!(run.output.all(), [5, 1, 6, 0], "{width:?}");
    }
}

#[test]
fn thread_locals_are_of_the_thread_and_die_with_it() {
    let mut asm = Asm::new();
    let local = asm.thread_local(&[3, 0, 0, 0], 4);
    let text = asm.global(&[0; 8], 8, true);
    let child = asm.func("child", 1, 1, |f| {
        f.op(Op::ThreadLocal { dst: r(2), index: local });
        print(f, 2, 1);
        f.op(Op::Store { width: Width::W64, align: 3, base: r(1), src: r(2), offset: 0 }).ret();
    });
    let run = asm.run(|f| {
        f.op(Op::ThreadLocal { dst: r(1), index: local }).imm(2, 9);
        f.op(Op::Store { width: Width::W32, align: 2, base: r(1), src: r(2), offset: 0 });
        f.imm(20, text);
        spawn(f, child);
        f.imm(2, 0).builtin(Builtin::PthreadJoin, &[21, 2], 3).op(Op::ThreadLocal { dst: r(1), index: local });
        print(f, 1, 1);
        f.op(Op::Load { width: Width::W64, align: 3, dst: r(4), base: r(20), offset: 0 });
        f.op(Op::Load { width: Width::W32, align: 2, dst: r(5), base: r(4), offset: 0 }).ret();
    });
    assert_eq!(run.output.all(), [3, 9]);
    let failure = run.failure.unwrap();
    assert_eq!(failure.kind, FailureKind::Error(ErrorKind::UseAfterFree));
    assert_eq!(failure.message, "read of 4 bytes in a thread-local variable of 4 bytes that was freed");
}

#[test]
fn destructors_of_keys_run_in_their_thread() {
    let mut asm = Asm::new();
    let text = asm.global(b"ab", 1, false);
    let key = asm.global(&[0; 4], 4, true);
    let destructor = asm.func("destructor", 1, 0, |f| {
        print(f, 0, 1);
        f.ret();
    });
    let child = asm.func("child", 1, 1, |f| {
        f.imm(2, key).op(Op::Load { width: Width::W32, align: 2, dst: r(3), base: r(2), offset: 0 });
        f.builtin(Builtin::PthreadGetSpecific, &[3], 4).op(Op::Select { dst: r(4), cond: r(4), a: r(4), b: r(1) });
        f.builtin(Builtin::PthreadSetSpecific, &[3, 4], 5).ret();
    });
    let run = asm.run(|f| {
        f.imm(1, key).func_addr(2, destructor).builtin(Builtin::PthreadKeyCreate, &[1, 2], 3);
        f.op(Op::Load { width: Width::W32, align: 2, dst: r(4), base: r(1), offset: 0 });
        f.imm(5, text + 1).builtin(Builtin::PthreadSetSpecific, &[4, 5], 6).imm(20, text);
        spawn(f, child);
        f.imm(2, 0).builtin(Builtin::PthreadJoin, &[21, 2], 3).ret();
    });
    assert_eq!(run.failure, None);
    assert_eq!(run.output.all(), b"ab");
}

#[test]
fn pointers_to_the_stack_of_another_thread() {
    let mut asm = Asm::new();
    let child = asm.func("child", 1, 1, |f| {
        f.op(Op::Load { width: Width::W8, align: 0, dst: r(2), base: r(1), offset: 0 });
        f.op(Op::BinImm { op: BinOp::Add, ty: U64, dst: r(2), a: r(2), imm: 1 });
        f.op(Op::Store { width: Width::W8, align: 0, base: r(1), src: r(2), offset: 0 }).ret();
    });
    let run = asm.run(|f| {
        let slot = f.slot("shared", 8, true);
        f.imm(1, 5).op(Op::StoreSlot { width: Width::W64, src: r(1), offset: slot });
        f.op(Op::SlotAddr { dst: r(20), offset: slot });
        spawn(f, child);
        f.imm(2, 0).builtin(Builtin::PthreadJoin, &[21, 2], 3);
        print(f, 20, 1);
        f.ret();
    });
    assert_eq!(run.failure, None);
    assert_eq!(run.output.all(), [6]);
}

#[test]
fn choices_and_assumptions() {
    let mut asm = Asm::new();
    let text = asm.global(b"ab", 1, false);
    let run = asm.run(|f| {
        f.imm(1, 5).builtin(Builtin::Choose, &[1], 2).imm(3, text);
        f.op(Op::Index { dst: r(3), base: r(3), index: r(2), scale: 1 });
        print(f, 3, 1);
        f.imm(1, 1).builtin(Builtin::Assume, &[1], 0);
        print(f, 3, 1);
        f.imm(1, 0).builtin(Builtin::Assume, &[1], 0);
        print(f, 3, 1);
        f.ret();
    });
    assert_eq!((run.outcome, run.output.all()), (Outcome::Passed, b"aa".to_vec()));
}
