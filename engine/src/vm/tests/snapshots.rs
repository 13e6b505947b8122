//! A copy of a state continues as the original does, on any thread, and neither sees what the other does.

use std::sync::Arc;

use proptest::prelude::*;

use crate::program::{AtomicWidth, BinOp, Builtin, FuncId, Op, Ordering, Program, RmwOp, Width};
use crate::vm::{
    Action, Answer, Atomics, Basis, Cue, Effect, Explored, Halt, Image, Interpreter, Reply, RunOptions, Stop, ThreadId,
    Tracked, Translated, run_image,
};

use super::asm::{Asm, U64, r};
use super::blocks::print;

const W: Width = Width::W64;

/// Counts to `rounds` in a heap block, a slot, a static and a register, with a visible action in each round. What a thread
/// does alone is not visible, so that another one is spawned first.
fn counting(rounds: u64) -> (Arc<Program>, FuncId) {
    let mut asm = Asm::new();
    let counter = asm.global(&[0; 8], 8, true);
    let idle = asm.func("idle", 1, 1, |f| _ = f.imm(0, 0).ret());
    let main = asm.func("main", 0, 0, |f| {
        let slot = f.slot("count", 8, true);
        let handle = f.slot("handle", 8, true);
        let again = f.label();
        f.op(Op::SlotAddr { dst: r(1), offset: handle }).imm(2, 0).func_addr(3, idle);
        f.builtin(Builtin::PthreadCreate, &[1, 2, 3, 2], 4);
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
        f.op(Op::Bin { op: BinOp::Add, ty: U64, dst: r(8), a: r(8), b: r(7) });
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
        f.op(Op::BinImm { op: BinOp::Add, ty: U64, dst: r(10), a: r(6), imm: 8 });
        print(f, 10, 8);
        f.builtin(Builtin::Dealloc, &[6, 1, 2], 0).ret();
    });
    (Arc::new(asm.program), main)
}

fn state(program: &Arc<Program>, main: FuncId) -> Explored<Action> {
    let basis = Basis::new(&Image::of(program), main, &RunOptions::default(), Tracked::default());
    Explored::new(&basis).unwrap()
}

/// Takes actions as they are.
struct Plain;

impl Atomics for Plain {
    fn value(&self, _: u64, _: u32, _: u32) -> Option<u64> {
        None
    }

    fn is_mixed(&self, _: u64, _: u32) -> bool {
        false
    }
}

impl Interpreter<Action> for Plain {
    fn translate(&self, stop: Stop, _: u32) -> Result<Translated<Action>, String> {
        match stop {
            Stop::Action(action) => Ok(Translated::Action(action)),
            Stop::Exit(_) => Err("the end".to_owned()),
        }
    }

    fn answer(&self, _: Action, value: u64, _: bool) -> Reply<Action> {
        Reply::Answer(Answer::Value(u128::from(value)))
    }

    fn causes(&self) -> &[u32] {
        &[]
    }

    fn effect(&self, _: Action, _: u64, _: bool) -> Effect {
        Effect::Lasting
    }
}

fn step(state: &mut Explored<Action>, cue: Cue) -> Result<Action, Halt> {
    state.step(ThreadId::MAIN, cue, &[0], 0, &Plain).map(|stepped| stepped.action)
}

/// A state in which the main thread is about to make its first round.
fn begun(program: &Arc<Program>, main: FuncId) -> Explored<Action> {
    let mut state = state(program, main);
    assert_eq!(step(&mut state, Cue::Start).unwrap(), Action::Spawn);
    step(&mut state, Cue::Value { value: 1, wrote: false }).unwrap();
    state
}

/// Answers so many actions with these values, in turn; what was printed by then, if that is the end.
fn advance(state: &mut Explored<Action>, values: &[u64]) -> Option<Vec<u8>> {
    for value in values {
        if step(state, Cue::Value { value: *value, wrote: true }).unwrap() == Action::End {
            return Some(state.output().all());
        }
    }
    None
}

/// Values from 0 on, as a counter would give them.
fn counted(from: usize) -> Vec<u64> {
    (from as u64..100).collect()
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(40))]
    #[test]
    fn copies_end_as_the_original(at in prop::collection::vec(0..12usize, 1..4)) {
        let (program, main) = counting(40);
        let mut original = begun(&program, main);
        let mut done = 0;
        let mut copies = Vec::new();
        for actions in at {
            prop_assert_eq!(advance(&mut original, &counted(done)[..actions]), None);
            done += actions;
            copies.push((done, original.clone()));
        }
        copies.push((done, original));
        let plain = run_image(&Image::of(&program), main, &RunOptions::default());
        prop_assert_eq!(&plain.failure, &None);
        let ends = |(done, mut copy): (usize, Explored<Action>)| {
            std::thread::spawn(move || {
                let mut here = copy.clone();
                (advance(&mut here, &counted(done)), advance(&mut copy, &counted(done)))
            })
        };
        let threads: Vec<_> = copies.into_iter().map(ends).collect();
        for thread in threads {
            let (here, there) = thread.join().unwrap();
            prop_assert_eq!(here.as_ref(), Some(&plain.output.all()));
            prop_assert_eq!(here, there);
        }
    }
}

#[test]
fn neither_sees_what_the_other_does() {
    let (program, main) = counting(3);
    let mut one = begun(&program, main);
    advance(&mut one, &[5]);
    let mut two = one.clone();
    // What is printed last is the sum of the answers.
    let sum = |output: Option<Vec<u8>>| output.unwrap().last_chunk().map(|chunk| u64::from_le_bytes(*chunk));
    assert_eq!(sum(advance(&mut one, &[10, 100])), Some(115));
    assert_eq!(sum(advance(&mut two, &[20, 200])), Some(225));
    let mut three = state(&program, main);
    three.clone_from(&one);
    assert_eq!(three.pending(ThreadId::MAIN), Some(Action::End));
}

#[test]
fn what_was_done_before_is_done_alike() {
    let (program, main) = counting(20);
    let original = begun(&program, main);
    let ends: Vec<_> = (0..3).map(|_| advance(&mut original.clone(), &counted(0))).collect();
    assert!(ends[0].is_some() && ends.iter().all(|end| *end == ends[0]));
}

#[test]
fn a_state_can_be_sent() {
    fn sendable<T: Send + Sync>() {}
    sendable::<Explored<Action>>();
}
