//! Every kind of error: its kind, its message, its place and its notes.

use crate::program::address::code_address;
use crate::program::{BinOp, Builtin, Op, Origin, OverflowOp, Unwind, Width};
use crate::verdict::{ErrorKind, Outcome};
use crate::vm::{Failure, FailureKind, Run, RunOptions, run};

use super::asm::{Asm, Func, I32, U32, U64, r};

const W: Width = Width::W64;

/// The failure of a run, which must be of this kind, in this line of `main`.
#[track_caller]
fn fails(run: Run, kind: ErrorKind, line: u32) -> Failure {
    fails_in(run, kind, ("main.rs", line))
}

/// The failure of a run, which must be of this kind, in this file and line.
#[track_caller]
fn fails_in(run: Run, kind: ErrorKind, place: (&str, u32)) -> Failure {
    let failure = run.failure.expect("a failure");
    assert_eq!(failure.kind, FailureKind::Error(kind), "{failure:?}");
    assert_eq!(run.outcome, Outcome::Failed);
    let location = failure.location.clone().expect("a place");
    assert_eq!((location.file.as_str(), location.line), place, "{failure:?}");
    failure
}

/// Four operations: a block of 24 bytes with alignment 8, its address in register 3.
fn alloc(f: &mut Func) -> &mut Func {
    f.imm(1, 24).imm(2, 8).builtin(Builtin::Alloc, &[1, 2], 3).imm(4, 7)
}

fn load(base: u16, offset: i32) -> Op {
    Op::Load { width: W, align: 3, dst: r(5), base: r(base), offset }
}

fn store(base: u16, offset: i32) -> Op {
    Op::Store { width: W, align: 3, base: r(base), src: r(4), offset }
}

fn notes(failure: &Failure) -> Vec<(String, u32)> {
    let line = |note: &crate::vm::Note| note.location.as_ref().map_or(0, |location| location.line);
    failure.notes.iter().map(|note| (note.message(false), line(note))).collect()
}

/// An error in a dependency is shown there; what the standard library does is shown where it is called.
#[test]
fn places_are_outside_of_the_standard_library() {
    let mut asm = Asm::new();
    let library = asm.func("library", 2, 1, |f| {
        f.origin(Origin::Std).builtin(Builtin::Alloc, &[1, 2], 0).ret();
    });
    let reader = asm.func("reader", 1, 0, |f| {
        f.origin(Origin::Dependency).op(load(0, 0)).ret();
    });
    let run = asm.run(|f| {
        f.imm(1, 24).imm(2, 8).call(library, &[1, 2], 3).call(reader, &[3], 0).ret();
    });
    let failure = fails_in(run, ErrorKind::UninitializedRead, ("reader.rs", 1));
    assert_eq!(notes(&failure), [("allocated here".to_owned(), 3)]);
    let functions: Vec<_> = failure.stack.iter().map(|frame| (frame.function.as_str(), frame.origin)).collect();
    assert_eq!(functions, [("reader", Origin::Dependency), ("main", Origin::User)]);
}

#[test]
fn null_pointers() {
    for (address, op) in [(0, load(1, 0)), (0, store(1, 0)), (8, load(1, 0)), (0, load(1, 16))] {
        let run = Asm::new().run(|f| {
            f.imm(1, address).imm(4, 0).op(op).ret();
        });
        fails(run, ErrorKind::NullPointer, 3);
    }
}

#[test]
fn out_of_bounds_of_the_heap() {
    for offset in [24, 17, 4000, -8, 6000] {
        let run = Asm::new().run(|f| {
            alloc(f).op(Op::Load { width: W, align: 0, dst: r(5), base: r(3), offset }).ret();
        });
        let failure = fails(run, ErrorKind::OutOfBounds, 5);
        if (0..4000).contains(&offset) {
            assert_eq!(failure.message, format!("read of 8 bytes at offset {offset} of a heap block of 24 bytes"));
        }
        assert_eq!(notes(&failure), [("allocated here".to_owned(), 3)]);
    }
    let run = Asm::new().run(|f| {
        alloc(f).op(store(3, 24)).ret();
    });
    fails(run, ErrorKind::OutOfBounds, 5);
}

#[test]
fn addresses_of_nothing() {
    for address in [0x12_3456_7890u64, u64::MAX - 100, 1 << 46, 0x7fff_ffff_fff8, 0xffff_8000_0000_0000] {
        let run = Asm::new().run(|f| {
            f.imm(1, address).op(Op::Load { width: Width::W8, align: 0, dst: r(5), base: r(1), offset: 0 }).ret();
        });
        // The first frame has no memory: even the first stack address is nothing.
        fails(run, ErrorKind::OutOfBounds, 2);
    }
}

#[test]
fn use_after_free() {
    for op in [
        load(3, 8),
        store(3, 8),
        Op::AtomicLoad {
            width: crate::program::AtomicWidth::W64,
            ordering: crate::program::Ordering::SeqCst,
            dst: r(5),
            ptr: r(3),
        },
    ] {
        let run = Asm::new().run(|f| {
            alloc(f).builtin(Builtin::Dealloc, &[3, 1, 2], 0).op(op).ret();
        });
        let failure = fails(run, ErrorKind::UseAfterFree, 6);
        assert_eq!(notes(&failure), [("allocated here".to_owned(), 3), ("freed here".to_owned(), 5)]);
        assert_eq!(failure.notes[1].thread, Some(crate::vm::ThreadId::MAIN));
    }
}

#[test]
fn dangling_locals() {
    let mut asm = Asm::new();
    let callee = asm.func("callee", 0, 1, |f| {
        let slot = f.slot("x", 8, true);
        f.op(Op::SlotAddr { dst: r(0), offset: slot }).ret();
    });
    let run = asm.run(|f| {
        f.call(callee, &[], 1).op(load(1, 0)).ret();
    });
    let failure = fails(run, ErrorKind::UseAfterFree, 2);
    assert_eq!(failure.message, "read of 8 bytes in a local variable of a function that has returned");
}

#[test]
fn locals_out_of_scope() {
    let run = Asm::new().run(|f| {
        let slot = f.slot("inner", 8, false);
        f.op(Op::StorageLive { offset: slot, size: 8 }).imm(4, 1);
        f.op(Op::StoreSlot { width: W, src: r(4), offset: slot }).op(Op::SlotAddr { dst: r(1), offset: slot });
        f.op(load(1, 0)).op(Op::StorageDead { offset: slot, size: 8 }).op(load(1, 0)).ret();
    });
    let failure = fails(run, ErrorKind::UseAfterFree, 7);
    assert_eq!(failure.message, "read of 8 bytes in the local variable `inner` of `main`, which is out of scope");
}

#[test]
fn past_a_local() {
    for (offset, message) in [
        (4, "read of 8 bytes at offset 4 of the local variable `array` of `main`, which has 8 bytes"),
        (8, "read of 8 bytes outside of the local variables of `main`"),
        (1000, "read of 8 bytes outside of the local variables of `main`"),
    ] {
        let run = Asm::new().run(|f| {
            let slot = f.slot("array", 8, true);
            f.imm(4, 1)
                .op(Op::StoreSlot { width: W, src: r(4), offset: slot })
                .op(Op::SlotAddr { dst: r(1), offset: slot });
            f.op(Op::Load { width: W, align: 0, dst: r(5), base: r(1), offset }).ret();
        });
        assert_eq!(fails(run, ErrorKind::OutOfBounds, 4).message, message);
    }
}

#[test]
fn uninitialized_reads() {
    let run = Asm::new().run(|f| {
        alloc(f).op(load(3, 0)).ret();
    });
    let failure = fails(run, ErrorKind::UninitializedRead, 5);
    assert_eq!(notes(&failure), [("allocated here".to_owned(), 3)]);
    let run = Asm::new().run(|f| {
        alloc(f).op(Op::Store { width: Width::W32, align: 2, base: r(3), src: r(4), offset: 8 }).op(load(3, 8)).ret();
    });
    let failure = fails(run, ErrorKind::UninitializedRead, 6);
    assert_eq!(failure.message, "read of 8 bytes of which byte 4 is not initialized");
    let run = Asm::new().run(|f| {
        let slot = f.slot("x", 8, true);
        f.op(Op::LoadSlot { width: W, dst: r(1), offset: slot }).ret();
    });
    let failure = fails(run, ErrorKind::UninitializedRead, 1);
    assert_eq!(notes(&failure), [("it is in the local variable `x` of `main`".to_owned(), 0)]);
}

#[test]
fn uninitialized_bytes_are_copied_as_such() {
    let run = Asm::new().run(|f| {
        let slot = f.slot("copy", 24, true);
        alloc(f).op(store(3, 8)).op(Op::CopyToSlot { align: 3, dst: slot, src: r(3), size: 24 });
        f.op(Op::LoadSlot { width: W, dst: r(6), offset: slot + 8 }).builtin(Builtin::Dealloc, &[3, 1, 2], 0);
        f.op(Op::LoadSlot { width: W, dst: r(6), offset: slot }).ret();
    });
    fails(run, ErrorKind::UninitializedRead, 9);
    let run = Asm::new().run(|f| {
        alloc(f).op(store(3, 8)).op(load(3, 8)).op(Op::Deinit { dst: r(3), size: 24 }).op(load(3, 8)).ret();
    });
    fails(run, ErrorKind::UninitializedRead, 8);
}

#[test]
fn misaligned() {
    let run = Asm::new().run(|f| {
        alloc(f).op(store(3, 8)).op(load(3, 4)).ret();
    });
    let failure = fails(run, ErrorKind::Misaligned, 6);
    assert!(failure.message.ends_with(": the alignment is 8"), "{}", failure.message);
    let run = Asm::new().run(|f| {
        alloc(f).op(Op::Copy { align: 4, dst: r(3), src: r(3), size: 8 }).ret();
    });
    fails(run, ErrorKind::Misaligned, 5);
    let run = Asm::new().run(|f| {
        alloc(f).op(Op::Load { width: W, align: 9, dst: r(5), base: r(3), offset: 0 }).ret();
    });
    fails(run, ErrorKind::Misaligned, 5);
}

#[test]
fn double_and_invalid_frees() {
    let run = Asm::new().run(|f| {
        alloc(f).builtin(Builtin::Dealloc, &[3, 1, 2], 0).builtin(Builtin::Dealloc, &[3, 1, 2], 0).ret();
    });
    let failure = fails(run, ErrorKind::DoubleFree, 6);
    assert_eq!(notes(&failure), [("allocated here".to_owned(), 3), ("freed here".to_owned(), 5)]);
    // An address inside, a wrong size, a wrong alignment, the wrong allocator, a local, a static, nothing.
    let run = Asm::new().run(|f| {
        alloc(f).op(Op::BinImm { op: BinOp::Add, ty: U64, dst: r(3), a: r(3), imm: 8 });
        f.builtin(Builtin::Dealloc, &[3, 1, 2], 0).ret();
    });
    assert!(fails(run, ErrorKind::InvalidFree, 6).message.contains("offset 8"));
    let run = Asm::new().run(|f| {
        alloc(f).imm(1, 16).builtin(Builtin::Dealloc, &[3, 1, 2], 0).ret();
    });
    fails(run, ErrorKind::InvalidFree, 6);
    let run = Asm::new().run(|f| {
        alloc(f).imm(2, 4).builtin(Builtin::Dealloc, &[3, 1, 2], 0).ret();
    });
    fails(run, ErrorKind::InvalidFree, 6);
    let run = Asm::new().run(|f| {
        alloc(f).builtin(Builtin::Free, &[3], 0).ret();
    });
    fails(run, ErrorKind::InvalidFree, 5);
    let run = Asm::new().run(|f| {
        let slot = f.slot("x", 8, true);
        f.imm(1, 8).imm(2, 8).op(Op::SlotAddr { dst: r(3), offset: slot });
        f.builtin(Builtin::Dealloc, &[3, 1, 2], 0).ret();
    });
    fails(run, ErrorKind::InvalidFree, 4);
    let mut asm = Asm::new();
    let global = asm.global(&[0; 8], 8, true);
    let run = asm.run(|f| {
        f.imm(1, 8).imm(2, 8).imm(3, global).builtin(Builtin::Dealloc, &[3, 1, 2], 0).ret();
    });
    fails(run, ErrorKind::InvalidFree, 4);
    let run = Asm::new().run(|f| {
        f.imm(1, 8).imm(2, 8).imm(3, 0x10_0000).builtin(Builtin::Dealloc, &[3, 1, 2], 0).ret();
    });
    fails(run, ErrorKind::InvalidFree, 4);
}

#[test]
fn undefined_behaviour() {
    let undefined = |build: &dyn Fn(&mut Func), line| {
        let mut asm = Asm::new();
        asm.message("entered unreachable code");
        asm.func("f", 1, 0, |f| {
            f.ret();
        });
        let run = asm.run(|f| build(f));
        fails(run, ErrorKind::UndefinedBehavior, line).message
    };
    let div = |op, ty| {
        move |f: &mut Func| {
            f.imm(1, 0x8000_0000).imm(2, 0xffff_ffff).imm(3, 0);
            f.op(Op::Bin { op, ty, dst: r(4), a: r(1), b: r(if ty.signed { 2 } else { 3 }) });
        }
    };
    assert_eq!(undefined(&div(BinOp::Div, U32), 4), "division by zero");
    assert_eq!(undefined(&div(BinOp::Rem, I32), 4), "overflow of a division");
    let overflow = |f: &mut Func| {
        f.imm(1, u64::MAX).op(Op::BinUnchecked { op: OverflowOp::Add, ty: U64, dst: r(2), a: r(1), b: r(1) });
    };
    assert_eq!(undefined(&overflow, 2), "overflow of an unchecked addition");
    let range = |f: &mut Func| {
        let range = f.range(0, 1);
        f.imm(1, 2).op(Op::CheckRange { src: r(1), range });
    };
    assert_eq!(undefined(&range, 2), "0x2 is not a valid value of type `bool`");
    let unreachable = |f: &mut Func| {
        f.op(Op::Unreachable { kind: ErrorKind::UndefinedBehavior, message: 0 });
    };
    assert_eq!(undefined(&unreachable, 1), "entered unreachable code");
    let overlap = |f: &mut Func| {
        alloc(f).op(Op::BinImm { op: BinOp::Add, ty: U64, dst: r(5), a: r(3), imm: 8 }).imm(6, 16);
        f.op(Op::CopyNonOverlapping { align: 0, dst: r(3), src: r(5), len: r(6) });
    };
    assert!(undefined(&overlap, 7).ends_with("the ranges overlap"));
    let call = |address| {
        move |f: &mut Func| {
            let args = f.list(&[]);
            f.imm(1, address).op(Op::CallPtr { ptr: r(1), args, dst: r(0), results: 0, unwind: Unwind::CONTINUE });
        }
    };
    assert_eq!(undefined(&call(0x1234), 2), "call of 0x1234, which is not a function");
    assert!(undefined(&call(code_address(0)), 2).contains("0 arguments in registers instead of 1"));
    let zero = |f: &mut Func| {
        f.imm(1, 0).imm(2, 8).builtin(Builtin::Alloc, &[1, 2], 3);
    };
    assert_eq!(undefined(&zero, 3), "allocation of zero bytes");
}

#[test]
fn wrapping_ranges() {
    for (value, valid) in [(250, true), (255, true), (0, true), (3, true), (4, false), (249, false)] {
        let run = Asm::new().run(|f| {
            let range = f.range(250, 3);
            f.imm(1, value).op(Op::CheckRange { src: r(1), range }).ret();
        });
        assert_eq!(run.failure.is_none(), valid, "{value}");
    }
}

#[test]
fn constants_cannot_be_written() {
    for (mutable, passes) in [(false, false), (true, true)] {
        let mut asm = Asm::new();
        let global = asm.global(&[0; 8], 8, mutable);
        let run = asm.run(|f| {
            f.imm(1, global).imm(4, 1).op(store(1, 0)).ret();
        });
        if passes {
            assert_eq!(run.failure, None);
        } else {
            let failure = fails(run, ErrorKind::UndefinedBehavior, 3);
            assert_eq!(failure.message, "write of 8 bytes: the memory is read-only");
        }
    }
}

#[test]
fn functions_are_no_data() {
    let run = Asm::new().run(|f| {
        f.imm(1, code_address(0)).op(load(1, 0)).ret();
    });
    fails(run, ErrorKind::UndefinedBehavior, 2);
}

#[test]
fn zero_bytes_can_be_anywhere() {
    let run = Asm::new().run(|f| {
        f.imm(1, 8).imm(2, 0).op(Op::Copy { align: 3, dst: r(1), src: r(1), size: 0 });
        f.op(Op::CopyNonOverlapping { align: 3, dst: r(1), src: r(1), len: r(2) });
        f.op(Op::CopyOverlapping { align: 3, dst: r(1), src: r(1), len: r(2) });
        f.op(Op::Fill { align: 3, dst: r(1), value: r(1), len: r(2) });
        f.op(Op::Compare { dst: r(3), a: r(1), b: r(1), len: r(2) });
        f.op(Op::Deinit { dst: r(1), size: 0 }).op(Op::Repeat { dst: r(1), size: 0, count: 9 }).ret();
    });
    assert_eq!(run.failure, None);
}

#[test]
fn leaks() {
    let run = Asm::new().run(|f| {
        alloc(f).ret();
    });
    let failure = run.failure.unwrap();
    assert_eq!(failure.kind, FailureKind::Error(ErrorKind::MemoryLeak));
    assert_eq!(failure.message, "a heap block of 24 bytes is never freed");
    assert_eq!(failure.location.unwrap().line, 3);
    // What a static leads to is not lost, be it by a chain, or by a pointer to the middle.
    let mut asm = Asm::new();
    let global = asm.global(&[0; 8], 8, true);
    let run = asm.run(|f| {
        alloc(f).op(Op::Mov { dst: r(6), src: r(3) }).builtin(Builtin::Alloc, &[1, 2], 3);
        f.op(Op::BinImm { op: BinOp::Add, ty: U64, dst: r(7), a: r(6), imm: 16 });
        f.op(Op::Store { width: W, align: 3, base: r(3), src: r(7), offset: 8 });
        f.imm(8, global).op(Op::Store { width: W, align: 3, base: r(8), src: r(3), offset: 0 }).ret();
    });
    assert_eq!(run.failure, None);
    // A cycle is lost.
    let run = Asm::new().run(|f| {
        alloc(f).op(Op::Store { width: W, align: 3, base: r(3), src: r(3), offset: 0 }).ret();
    });
    assert_eq!(run.failure.unwrap().kind, FailureKind::Error(ErrorKind::MemoryLeak));
}

#[test]
fn aborts_and_exits() {
    let run = Asm::new().run(|f| {
        f.builtin(Builtin::Abort, &[], 0);
    });
    fails(run, ErrorKind::Abort, 1);
    let run = Asm::new().run(|f| {
        f.imm(1, 3).builtin(Builtin::Exit, &[1], 0);
    });
    assert_eq!(fails(run, ErrorKind::Abort, 2).message, "the program exits with code 3");
    // Ending well is no leak.
    let run = Asm::new().run(|f| {
        alloc(f).imm(1, 0).builtin(Builtin::Exit, &[1], 0);
    });
    assert_eq!(run.outcome, Outcome::Passed);
}

#[test]
fn unsupported_is_said() {
    let mut asm = Asm::new();
    asm.message("inline assembly");
    let run = asm.run(|f| {
        f.op(Op::Unsupported { message: 0 });
    });
    let failure = run.failure.unwrap();
    assert_eq!((run.outcome, failure.kind), (Outcome::Unsupported, FailureKind::Unsupported));
    assert_eq!(
        (failure.message.as_str(), failure.location.unwrap().line),
        ("unsupported operation: inline assembly", 1)
    );
}

#[test]
fn endless_recursion_is_a_stack_overflow() {
    for memory in [false, true] {
        let mut asm = Asm::new();
        let endless = asm.next_func();
        asm.func("main", 0, 0, |f| {
            if memory {
                f.slot("x", 1000, true);
            }
            f.call(endless, &[], 0).ret();
        });
        let failure = fails(asm.run_from(endless), ErrorKind::Abort, 1);
        assert_eq!(failure.message, "stack overflow");
        assert_eq!(failure.stack.len(), 200);
    }
}

#[test]
fn endless_loops_end_at_the_limit() {
    let mut asm = Asm::new();
    let main = asm.func("main", 0, 0, |f| {
        f.op(Op::Jump { to: 0 });
    });
    let run = run(&std::sync::Arc::new(asm.program), main, &RunOptions { max_steps: 1000, ..RunOptions::default() });
    assert_eq!((run.outcome, run.steps), (Outcome::Incomplete, 1000));
    let failure = run.failure.unwrap();
    assert_eq!((failure.kind, failure.location.unwrap().line), (FailureKind::Limit, 1));
}
