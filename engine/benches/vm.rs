//! The speed of the machine on loops written by hand: `cargo bench -p dpor-engine --bench vm`.
//!
//! For each loop the time of one iteration, and of one operation where that says something; the best of five runs.

use std::sync::Arc;
use std::time::Instant;

use dpor_engine::program::{
    AtomicWidth, BinOp, Builtin, FuncId, Function, IntTy, List, Op, Ordering, Origin, OverflowOp, Pc, Place, PlaceId,
    Program, Reg, RmwOp, Slot, Unwind, Width,
};
use dpor_engine::vm::{
    Action, Answer, Atomics, Basis, Cue, Effect, Explored, Image, Interpreter, Reply, RunOptions, Stop, ThreadId,
    Tracked, Translated, run_image,
};

const U64: IntTy = IntTy::U64;
const ITERATIONS: i32 = 3_000_000;

fn main() {
    println!("{:<34} {:>10} {:>10}", "loop", "ns/round", "ns/op");
    measure("addition and comparison", 4, &[], |_| vec![add(2, 2, 1), xor(3, 3, 2)]);
    measure("checked addition", 4, &[], |_| {
        let overflow = Op::BinOverflow { op: OverflowOp::Add, ty: U64, dst: r(2), flag: r(3), a: r(2), b: r(4) };
        vec![overflow, Op::JumpIf { cond: r(3), to: 0 }]
    });
    measure("slot load and store", 5, &[8], |_| {
        vec![
            Op::LoadSlot { width: Width::W64, dst: r(2), offset: 0 },
            add(2, 2, 1),
            Op::StoreSlot { width: Width::W64, src: r(2), offset: 0 },
        ]
    });
    measure("heap load and store", 5, &[], |_| {
        vec![
            Op::Load { width: Width::W64, align: 3, dst: r(2), base: r(10), offset: 8 },
            add(2, 2, 1),
            Op::Store { width: Width::W64, align: 3, base: r(10), src: r(2), offset: 8 },
        ]
    });
    measure("copy of 24 bytes", 3, &[24], |_| vec![Op::CopyFromSlot { align: 3, dst: r(10), src: 0, size: 24 }]);
    measure("call of a function", 5, &[], |lists| vec![call(lists, LEAF, &[2], 3)]);
    measure("call of a function with a slot", 6, &[], |lists| vec![call(lists, LEAF_WITH_SLOT, &[2], 3)]);
    measure("allocation and deallocation", 4, &[], |lists| {
        let alloc = builtin(lists, Builtin::Alloc, &[11, 12], 13);
        vec![alloc, builtin(lists, Builtin::Dealloc, &[13, 11, 12], 14)]
    });
    measure("atomic addition", 3, &[], |_| {
        vec![Op::AtomicRmw {
            op: RmwOp::Add,
            width: AtomicWidth::W64,
            ordering: Ordering::SeqCst,
            dst: r(2),
            ptr: r(10),
            src: r(1),
        }]
    });
    snapshots();
}

const LEAF: FuncId = FuncId(0);
const LEAF_WITH_SLOT: FuncId = FuncId(1);

fn r(register: u16) -> Reg {
    Reg(register)
}

fn add(dst: u16, a: u16, b: u16) -> Op {
    Op::Bin { op: BinOp::Add, ty: U64, dst: r(dst), a: r(a), b: r(b) }
}

fn xor(dst: u16, a: u16, b: u16) -> Op {
    Op::Bin { op: BinOp::Xor, ty: U64, dst: r(dst), a: r(a), b: r(b) }
}

fn list(lists: &mut Vec<u16>, registers: &[u16]) -> List {
    let start = lists.len() as u32;
    lists.push(registers.len() as u16);
    lists.extend_from_slice(registers);
    List(start)
}

fn call(lists: &mut Vec<u16>, func: FuncId, args: &[u16], dst: u16) -> Op {
    Op::Call { func, args: list(lists, args), dst: r(dst), unwind: Unwind::CONTINUE }
}

fn builtin(lists: &mut Vec<u16>, builtin: Builtin, args: &[u16], dst: u16) -> Op {
    Op::Builtin { builtin, args: list(lists, args), dst: r(dst), unwind: Unwind::CONTINUE }
}

fn function(name: &str, params: u16, results: u8, slots: &[u16], code: Vec<Op>, lists: Vec<u16>) -> Function {
    let mut frame_size = 0;
    let mut all = Vec::new();
    for size in slots {
        all.push(Slot { offset: frame_size, size: *size, live_at_start: true, name: String::new() });
        frame_size += size.next_multiple_of(16);
    }
    Function {
        name: name.into(),
        origin: Origin::User,
        quiet: dpor_engine::program::Quiet::No,
        registers: 20,
        params,
        results,
        frame_size,
        slots: all,
        code_places: vec![PlaceId(0); code.len()],
        links: Vec::new(),
        code,
        lists,
        switches: Vec::new(),
        ranges: Vec::new(),
        place: PlaceId(0),
    }
}

/// A program whose main function runs `body` so many times. Register 1 is 1, 10 a block of 24 bytes, 11 and 12 a layout.
fn program(rounds: i32, slots: &[u16], body: impl Fn(&mut Vec<u16>) -> Vec<Op>) -> Arc<Program> {
    let mut lists = Vec::new();
    let alloc = builtin(&mut lists, Builtin::AllocZeroed, &[11, 12], 10);
    let mut code = vec![
        Op::Imm { dst: r(0), value: 0 },
        Op::Imm { dst: r(1), value: 1 },
        Op::Imm { dst: r(2), value: 0 },
        Op::Imm { dst: r(3), value: 0 },
        Op::Imm { dst: r(4), value: 1 },
        Op::Imm { dst: r(11), value: 24 },
        Op::Imm { dst: r(12), value: 8 },
        alloc,
    ];
    if !slots.is_empty() {
        code.push(Op::StoreSlot { width: Width::W64, src: r(1), offset: 0 });
    }
    let head = code.len() as Pc;
    code.extend(body(&mut lists));
    code.push(Op::BinImm { op: BinOp::Add, ty: U64, dst: r(0), a: r(0), imm: 1 });
    code.push(Op::JumpCmpImm { op: BinOp::Lt, ty: U64, a: r(0), imm: rounds, to: head });
    code.push(builtin(&mut lists, Builtin::Dealloc, &[10, 11, 12], 3));
    code.push(Op::Return);
    let leaf = vec![add(0, 1, 1), Op::Return];
    let with_slot = vec![
        Op::StoreSlot { width: Width::W64, src: r(1), offset: 0 },
        Op::LoadSlot { width: Width::W64, dst: r(0), offset: 0 },
        Op::Return,
    ];
    Arc::new(Program {
        functions: vec![
            function("leaf", 1, 1, &[], leaf, Vec::new()),
            function("leaf_with_slot", 1, 1, &[8], with_slot, Vec::new()),
            function("main", 0, 0, slots, code, lists),
        ],
        files: vec!["bench.rs".into()],
        places: vec![Place { file: 0, line: 1, column: 1 }],
        ..Program::default()
    })
}

fn measure(name: &str, ops: u32, slots: &[u16], body: impl Fn(&mut Vec<u16>) -> Vec<Op>) {
    let image = Image::new(&program(ITERATIONS, slots, body));
    let mut best = f64::INFINITY;
    for _ in 0..5 {
        let start = Instant::now();
        let run = run_image(&image, FuncId(2), &RunOptions::default());
        let time = start.elapsed();
        assert!(run.failure.is_none(), "{:?}", run.failure);
        best = best.min(time.as_secs_f64() * 1e9 / f64::from(ITERATIONS));
    }
    println!("{name:<34} {best:>10.2} {:>10.2}", best / f64::from(ops));
}

/// A visible action of a program that is explored, and the writes that follow it: done for the first time, with a copy of
/// the state after each, and done again.
fn snapshots() {
    const ROUNDS: usize = 200_000;
    let image = Image::new(&program(i32::MAX, &[64], |lists| {
        vec![
            // An action also where there is but one thread.
            builtin(lists, Builtin::Choose, &[10], 2),
            Op::StoreSlot { width: Width::W64, src: r(2), offset: 8 },
            Op::Store { width: Width::W64, align: 3, base: r(10), src: r(0), offset: 8 },
        ]
    }));
    let basis = Basis::new(&image, FuncId(2), &RunOptions::default(), Tracked::default());
    let mut state = Explored::new(&basis).expect("a state");
    step(&mut state, Cue::Start);
    let start = state.clone();
    let mut kept = state.clone();
    for name in ["action, writes, copy", "the same again"] {
        state.clone_from(&start);
        let begin = Instant::now();
        for _ in 0..ROUNDS {
            step(&mut state, Cue::Value { value: 0, wrote: true });
            kept.clone_from(&state);
        }
        let time = begin.elapsed().as_secs_f64() * 1e9 / ROUNDS as f64;
        println!("{name:<34} {time:>10.2}");
    }
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

fn step(state: &mut Explored<Action>, cue: Cue) {
    state.step(ThreadId::MAIN, cue, &[0], 0, &Plain).expect("an action");
}
