//! A snapshot continues as the original does, on any thread, and neither sees what the other writes.

use std::sync::Arc;

use proptest::prelude::*;

use crate::program::{AtomicWidth, BinOp, Builtin, FuncId, Op, Ordering, Program, RmwOp, Width};
use crate::vm::schedule::run_vm;
use crate::vm::{Action, Answer, Image, Run, RunOptions, Stop, ThreadId, Vm};

use super::asm::{Asm, U64, r};
use super::blocks::print;

const W: Width = Width::W64;

/// Counts to `rounds` in a heap block, a slot, a static and a register, with a visible action in each round.
fn counting(rounds: u64) -> (Arc<Program>, FuncId) {
    let mut asm = Asm::new();
    let counter = asm.global(&[0; 8], 8, true);
    let main = asm.func("main", 0, 0, |f| {
        let slot = f.slot("count", 8, true);
        let again = f.label();
        f.imm(1, 16).imm(2, 8).imm(3, counter).imm(4, 0).imm(5, 1);
        f.builtin(Builtin::AllocZeroed, &[1, 2], 6).op(Op::StoreSlot { width: W, src: r(4), offset: slot });
        f.bind(again);
        f.op(Op::AtomicRmw {
            op: RmwOp::Add,
            width: AtomicWidth::W64,
            ordering: Ordering::SeqCst,
            dst: r(7),
            ptr: r(3),
            src: r(5),
        });
        f.op(Op::Load { width: W, align: 3, dst: r(8), base: r(6), offset: 8 });
        f.op(Op::BinImm { op: BinOp::Add, ty: U64, dst: r(8), a: r(8), imm: 1 });
        f.op(Op::Store { width: W, align: 3, base: r(6), src: r(8), offset: 8 });
        f.op(Op::LoadSlot { width: W, dst: r(9), offset: slot });
        f.op(Op::BinImm { op: BinOp::Add, ty: U64, dst: r(9), a: r(9), imm: 1 });
        f.op(Op::StoreSlot { width: W, src: r(9), offset: slot });
        f.op(Op::BinImm { op: BinOp::Add, ty: U64, dst: r(4), a: r(4), imm: 1 });
        // A block that lives for one round, so that addresses matter.
        f.builtin(Builtin::Alloc, &[1, 2], 11).op(Op::Store { width: W, align: 3, base: r(11), src: r(11), offset: 0 });
        print(f, 11, 8);
        f.builtin(Builtin::Dealloc, &[11, 1, 2], 0);
        f.op(Op::JumpCmpImm { op: BinOp::Lt, ty: U64, a: r(4), imm: rounds as i32, to: again.pc() });
        f.op(Op::SlotAddr { dst: r(10), offset: slot });
        print(f, 10, 8);
        print(f, 3, 8);
        f.op(Op::BinImm { op: BinOp::Add, ty: U64, dst: r(10), a: r(6), imm: 8 });
        print(f, 10, 8);
        f.builtin(Builtin::Dealloc, &[6, 1, 2], 0).ret();
    });
    (Arc::new(asm.program), main)
}

fn machine(program: &Arc<Program>, main: FuncId) -> Vm {
    Vm::new(&Image::new(program), main, &Arc::new(RunOptions::default())).unwrap()
}

/// Runs the main thread over so many actions.
fn advance(vm: &mut Vm, actions: usize) {
    for _ in 0..actions {
        match vm.run_thread(ThreadId::MAIN).unwrap() {
            Stop::Action(Action::End) | Stop::Exit(_) => return,
            Stop::Action(_) => {
                let answer = vm.perform(ThreadId::MAIN).unwrap();
                vm.answer(ThreadId::MAIN, answer).unwrap();
            }
        }
    }
}

#[track_caller]
fn same(a: &Run, b: &Run) {
    assert_eq!((a.outcome, &a.failure, &a.output, a.steps), (b.outcome, &b.failure, &b.output, b.steps));
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(40))]
    #[test]
    fn copies_end_as_the_original(at in prop::collection::vec(0..20usize, 1..4), deep in any::<bool>()) {
        let (program, main) = counting(40);
        let reference = run_vm(machine(&program, main));
        prop_assert_eq!(&reference.failure, &None);
        let mut vm = machine(&program, main);
        let mut copies = Vec::new();
        for actions in at {
            advance(&mut vm, actions);
            // Without a snapshot a clone copies what is owned.
            copies.push(if deep { vm.clone() } else { vm.snapshot() });
        }
        copies.push(vm);
        let threads: Vec<_> = copies.into_iter().map(|vm| std::thread::spawn(|| run_vm(vm))).collect();
        for thread in threads {
            same(&thread.join().unwrap(), &reference);
        }
    }
}

#[test]
fn neither_sees_what_the_other_writes() {
    let (program, main) = counting(10);
    let mut vm = machine(&program, main);
    advance(&mut vm, 3);
    let mut copy = vm.snapshot();
    // The value of the counter that the next read-modify-write finds.
    let next = |vm: &mut Vm| {
        vm.run_thread(ThreadId::MAIN).unwrap();
        let answer = vm.perform(ThreadId::MAIN).unwrap();
        vm.answer(ThreadId::MAIN, answer).unwrap();
        answer
    };
    assert_eq!(next(&mut vm), Answer::Value(3));
    assert_eq!(next(&mut vm), Answer::Value(4));
    assert_eq!(next(&mut copy), Answer::Value(3));
    let mut third = copy.snapshot();
    assert_eq!(next(&mut vm), Answer::Value(5));
    assert_eq!(next(&mut copy), Answer::Value(4));
    assert_eq!(next(&mut third), Answer::Value(4));
}

#[test]
fn an_action_can_be_answered_otherwise_than_from_memory() {
    let (program, main) = counting(1);
    let mut vm = machine(&program, main);
    let stop = vm.run_thread(ThreadId::MAIN).unwrap();
    assert!(matches!(stop, Stop::Action(Action::Rmw { op: RmwOp::Add, operand: 1, .. })));
    vm.check_access(ThreadId::MAIN).unwrap();
    vm.answer(ThreadId::MAIN, Answer::Value(17)).unwrap();
    let run = run_vm(vm);
    let output = run.output.all();
    // The static was never written.
    assert_eq!(output[output.len() - 16..output.len() - 8], [0; 8]);
}

#[test]
fn a_machine_can_be_sent() {
    fn sendable<T: Send + Sync>() {}
    sendable::<Vm>();
}
