//! A tiny assembler: programs written by hand.
//!
//! Every operation of a function gets a place of its own: in the file of the function's name, line 1 for the first.

use std::sync::Arc;

use crate::program::address::{GLOBAL_REGION, code_address, place_in_region, region_address};
use crate::program::{
    Builtin, FuncId, Function, Global, IntTy, List, Op, Origin, Pc, Place, PlaceId, Program, Quiet, Reg, Slot,
    SwitchTable, ThreadLocal, Unwind, ValidRange, Width,
};
use crate::vm::{Effort, Image, Run, RunOptions, run_image};

pub const U32: IntTy = IntTy { width: Width::W32, signed: false };
pub const I32: IntTy = IntTy { width: Width::W32, signed: true };
pub const U64: IntTy = IntTy { width: Width::W64, signed: false };

pub fn r(register: u16) -> Reg {
    Reg(register)
}

/// A program under construction.
#[derive(Default)]
pub struct Asm {
    pub program: Program,
    next_granule: u64,
}

/// A function under construction.
pub struct Func {
    function: Function,
    labels: Vec<Option<Pc>>,
}

/// A place in a function, perhaps not yet reached.
#[derive(Clone, Copy)]
pub struct Label(u32);

/// Labels are numbered from here on while they are not resolved.
const LABELS: u32 = 1 << 30;

impl Asm {
    pub fn new() -> Asm {
        Asm { program: Program { crate_name: "t".into(), ..Program::default() }, next_granule: 1 }
    }

    /// The number that the next function gets.
    pub fn next_func(&self) -> FuncId {
        FuncId(self.program.functions.len() as u32)
    }

    /// Adds a function; `build` writes its code.
    pub fn func(&mut self, name: &str, params: u16, results: u8, build: impl FnOnce(&mut Func)) -> FuncId {
        let id = self.next_func();
        let mut func = Func {
            function: Function {
                name: name.into(),
                origin: Origin::User,
                quiet: Quiet::No,
                registers: 32,
                params,
                results,
                frame_size: 0,
                slots: Vec::new(),
                code: Vec::new(),
                code_places: Vec::new(),
                links: Vec::new(),
                lists: Vec::new(),
                switches: Vec::new(),
                ranges: Vec::new(),
                place: PlaceId(0),
            },
            labels: Vec::new(),
        };
        build(&mut func);
        func.resolve();
        self.add(func.function);
        id
    }

    fn add(&mut self, mut function: Function) {
        let file = self.program.files.len() as u32;
        self.program.files.push(format!("{}.rs", function.name));
        function.place = PlaceId(self.program.places.len() as u32);
        for line in 1..=function.code.len() as u32 {
            function.code_places.push(PlaceId(self.program.places.len() as u32));
            self.program.places.push(Place { file, line, column: 1 });
        }
        self.program.functions.push(function);
    }

    /// Adds a static or a constant; its address.
    pub fn global(&mut self, bytes: &[u8], align: u64, mutable: bool) -> u64 {
        let (offset, next) = place_in_region(self.next_granule, bytes.len() as u64, align);
        self.next_granule = next;
        let address = region_address(GLOBAL_REGION, offset);
        let bytes = bytes.to_vec();
        self.program.globals.push(Global {
            address,
            align,
            bytes,
            uninit: Vec::new(),
            pointers: Vec::new(),
            mutable,
            name: String::new(),
        });
        address
    }

    pub fn thread_local(&mut self, bytes: &[u8], align: u64) -> u32 {
        let local =
            ThreadLocal { align, bytes: bytes.to_vec(), uninit: Vec::new(), pointers: Vec::new(), name: String::new() };
        self.program.thread_locals.push(local);
        (self.program.thread_locals.len() - 1) as u32
    }

    pub fn message(&mut self, text: &str) -> u32 {
        self.program.messages.push(text.into());
        (self.program.messages.len() - 1) as u32
    }

    /// Adds a main function and runs it.
    pub fn run(mut self, build: impl FnOnce(&mut Func)) -> Run {
        let main = self.func("main", 0, 0, build);
        self.run_from(main)
    }

    /// Runs a function: as it is, and with all effort to make it fast, which must not make a difference.
    pub fn run_from(self, entry: FuncId) -> Run {
        let program = Arc::new(self.program);
        let run = |effort| run_image(&Image::with_effort(&program, effort), entry, &RunOptions::default());
        let (plain, full) = (run(Effort::Plain), run(Effort::Full));
        assert_eq!((plain.outcome, &plain.failure), (full.outcome, &full.failure));
        assert_eq!(plain.output, full.output);
        full
    }
}

impl Func {
    pub fn op(&mut self, op: Op) -> &mut Func {
        self.function.code.push(op);
        self
    }

    pub fn ops(&mut self, ops: impl IntoIterator<Item = Op>) -> &mut Func {
        self.function.code.extend(ops);
        self
    }

    pub fn origin(&mut self, origin: Origin) -> &mut Func {
        self.function.origin = origin;
        self
    }

    pub fn registers(&mut self, registers: u16) -> &mut Func {
        self.function.registers = registers;
        self
    }

    /// Adds a slot that is alive from the start, at the next multiple of 16.
    pub fn slot(&mut self, name: &str, size: u16, live_at_start: bool) -> u16 {
        let offset = self.function.frame_size.next_multiple_of(16);
        self.function.slots.push(Slot { offset, size, live_at_start, name: name.into() });
        self.function.frame_size = offset + size + 8;
        offset
    }

    pub fn imm(&mut self, dst: u16, value: u64) -> &mut Func {
        self.op(Op::Imm { dst: r(dst), value })
    }

    pub fn range(&mut self, start: u64, end: u64) -> u32 {
        self.function.ranges.push(ValidRange { start, end, type_name: "bool".into() });
        (self.function.ranges.len() - 1) as u32
    }

    pub fn list(&mut self, registers: &[u16]) -> List {
        let start = self.function.lists.len() as u32;
        self.function.lists.push(registers.len() as u16);
        self.function.lists.extend(registers);
        List(start)
    }

    pub fn call(&mut self, func: FuncId, args: &[u16], dst: u16) -> &mut Func {
        self.call_unwind(func, args, dst, Unwind::CONTINUE)
    }

    pub fn call_unwind(&mut self, func: FuncId, args: &[u16], dst: u16, unwind: Unwind) -> &mut Func {
        let args = self.list(args);
        self.op(Op::Call { func, args, dst: r(dst), unwind })
    }

    pub fn builtin(&mut self, builtin: Builtin, args: &[u16], dst: u16) -> &mut Func {
        let args = self.list(args);
        self.op(Op::Builtin { builtin, args, dst: r(dst), unwind: Unwind::CONTINUE })
    }

    /// The address of a function in a register.
    pub fn func_addr(&mut self, dst: u16, func: FuncId) -> &mut Func {
        self.imm(dst, code_address(func.0))
    }

    pub fn ret(&mut self) -> &mut Func {
        self.op(Op::Return)
    }

    /// The index of the next operation.
    pub fn here(&self) -> Pc {
        self.function.code.len() as Pc
    }

    pub fn label(&mut self) -> Label {
        self.labels.push(None);
        Label(LABELS + self.labels.len() as u32 - 1)
    }

    pub fn bind(&mut self, label: Label) {
        self.labels[(label.0 - LABELS) as usize] = Some(self.here());
    }

    pub fn switch(&mut self, src: u16, cases: &[(u64, Label)], otherwise: Label) -> &mut Func {
        let cases = cases.iter().map(|(value, label)| (*value, label.0)).collect();
        self.function.switches.push(SwitchTable { cases, otherwise: otherwise.0 });
        let table = (self.function.switches.len() - 1) as u32;
        self.op(Op::Switch { src: r(src), table })
    }

    fn resolve(&mut self) {
        let labels = &self.labels;
        let fix = |to: &mut Pc| {
            if *to >= LABELS {
                *to = labels[(*to - LABELS) as usize].expect("a bound label");
            }
        };
        for op in &mut self.function.code {
            match op {
                Op::Jump { to }
                | Op::JumpIf { to, .. }
                | Op::JumpIfNot { to, .. }
                | Op::JumpCmp { to, .. }
                | Op::JumpCmpImm { to, .. } => fix(to),
                Op::Call { unwind, .. } | Op::CallPtr { unwind, .. } | Op::Builtin { unwind, .. } => {
                    if let Some(mut pc) = unwind.target() {
                        fix(&mut pc);
                        *unwind = Unwind::cleanup(pc);
                    }
                }
                _ => {}
            }
        }
        for table in &mut self.function.switches {
            fix(&mut table.otherwise);
            table.cases.iter_mut().for_each(|(_, to)| fix(to));
        }
    }
}

impl Label {
    pub fn pc(self) -> Pc {
        self.0
    }

    pub fn unwind(self) -> Unwind {
        Unwind::cleanup(self.0)
    }
}
