//! Writes the code of one function: registers, the frame, labels, lists.
//!
//! Jump targets are labels until [`Emitter::finish`] puts the places they stand for in their stead.

use dpor_engine::program::address::MAX_FRAME;
use dpor_engine::program::{
    BinOp, Function, IntTy, Link, List, Op, Origin, Pc, PlaceId, Quiet, Reg, Slot, SwitchTable, Target, Unwind,
    ValidRange, Width,
};

/// A place in the code that may not be known yet.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Label(u32);

/// The address of a function or a global, and a distance from there.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Address {
    pub base: u64,
    pub offset: u64,
}

/// The bytes between two slots of a frame: an access that runs over the end of a slot hits them.
const RED_ZONE: u32 = 16;
/// Frames are kept somewhat below the largest size, so that temporaries always fit.
const FRAME_BUDGET: u32 = MAX_FRAME - 2048;
/// Locals above this size get memory of their own.
const LARGEST_SLOT: u64 = 4096;

/// Memory of the current frame.
#[derive(Clone, Copy, Debug)]
pub enum FrameMemory {
    /// In the frame.
    Slot(u16),
    /// Too large for it: allocated by [`Op::BigSlot`], its address in the register.
    Big(Reg),
}

/// The code of a function while it is written.
pub struct Emitter {
    code: Vec<Op>,
    code_places: Vec<PlaceId>,
    labels: Vec<Option<Pc>>,
    lists: Vec<u16>,
    switches: Vec<SwitchTable>,
    ranges: Vec<ValidRange>,
    links: Vec<Link>,
    slots: Vec<Slot>,
    frame_size: u32,
    next_register: u32,
    registers: u32,
    /// The place of the operations that follow.
    pub place: PlaceId,
}

impl Emitter {
    pub fn new(place: PlaceId) -> Emitter {
        Emitter {
            code: Vec::new(),
            code_places: Vec::new(),
            labels: Vec::new(),
            lists: Vec::new(),
            switches: Vec::new(),
            ranges: Vec::new(),
            links: Vec::new(),
            slots: Vec::new(),
            frame_size: 0,
            next_register: 0,
            registers: 0,
            place,
        }
    }

    /// Appends an operation.
    pub fn op(&mut self, op: Op) {
        self.code.push(op);
        self.code_places.push(self.place);
    }

    /// `count` neighbouring registers, until [`Emitter::release`].
    pub fn registers(&mut self, count: u16) -> Reg {
        let first = self.next_register;
        self.next_register += u32::from(count);
        self.registers = self.registers.max(self.next_register);
        // A function with too many registers is recognised in `finish`.
        Reg(first.min(u32::from(u16::MAX)) as u16)
    }

    /// One register, until [`Emitter::release`].
    pub fn register(&mut self) -> Reg {
        self.registers(1)
    }

    /// What [`Emitter::release`] goes back to.
    pub fn mark(&self) -> u32 {
        self.next_register
    }

    /// Frees all registers taken since `mark`.
    pub fn release(&mut self, mark: u32) {
        self.next_register = mark;
    }

    /// Memory in the frame. Emits nothing: memory of its own must be made alive with [`Op::BigSlot`].
    pub fn frame_memory(&mut self, size: u64, align: u64, live_at_start: bool, name: &str) -> FrameMemory {
        if size <= LARGEST_SLOT && align <= 4096 {
            let size = size as u32;
            let start = (self.frame_size + RED_ZONE + size.min(256)).next_multiple_of(align as u32);
            // An odd multiple: aligned as asked for and no better.
            let start =
                if (start / align as u32).is_multiple_of(2) && align <= 64 { start + align as u32 } else { start };
            if start + size + RED_ZONE <= FRAME_BUDGET {
                self.frame_size = start + size;
                let offset = start as u16;
                self.slots.push(Slot { offset, size: size as u16, live_at_start, name: name.to_owned() });
                return FrameMemory::Slot(offset);
            }
        }
        FrameMemory::Big(self.register())
    }

    /// A label that is not placed yet.
    pub fn label(&mut self) -> Label {
        self.labels.push(None);
        Label(self.labels.len() as u32 - 1)
    }

    /// The label stands for the next operation.
    pub fn bind(&mut self, label: Label) {
        self.labels[label.0 as usize] = Some(self.code.len() as Pc);
    }

    pub fn jump(&mut self, to: Label) {
        self.op(Op::Jump { to: to.0 });
    }

    pub fn jump_if(&mut self, cond: Reg, to: Label) {
        self.op(Op::JumpIf { cond, to: to.0 });
    }

    pub fn jump_if_not(&mut self, cond: Reg, to: Label) {
        self.op(Op::JumpIfNot { cond, to: to.0 });
    }

    pub fn jump_cmp_imm(&mut self, op: BinOp, ty: IntTy, a: Reg, imm: i32, to: Label) {
        self.op(Op::JumpCmpImm { op, ty, a, imm, to: to.0 });
    }

    pub fn cleanup(label: Label) -> Unwind {
        Unwind::cleanup(label.0)
    }

    pub fn switch(&mut self, src: Reg, cases: Vec<(u64, Label)>, otherwise: Label) {
        let mut cases: Vec<_> = cases.into_iter().map(|(value, label)| (value, label.0)).collect();
        cases.sort_unstable_by_key(|case| case.0);
        self.switches.push(SwitchTable { cases, otherwise: otherwise.0 });
        self.op(Op::Switch { src, table: self.switches.len() as u32 - 1 });
    }

    pub fn list(&mut self, registers: &[Reg]) -> List {
        let start = self.lists.len() as u32;
        self.lists.push(registers.len() as u16);
        self.lists.extend(registers.iter().map(|reg| reg.0));
        List(start)
    }

    pub fn check_range(&mut self, src: Reg, start: u64, end: u64, type_name: &str) {
        let same = |range: &ValidRange| range.start == start && range.end == end && range.type_name == type_name;
        let range = self.ranges.iter().position(same).unwrap_or_else(|| {
            self.ranges.push(ValidRange { start, end, type_name: type_name.to_owned() });
            self.ranges.len() - 1
        });
        self.op(Op::CheckRange { src, range: range as u32 });
    }

    pub fn imm(&mut self, dst: Reg, value: u64) {
        self.op(Op::Imm { dst, value });
    }

    /// An address: that of a function or a global, or something beside it.
    pub fn address(&mut self, dst: Reg, Address { base, offset }: Address) {
        self.links.push(Link { at: self.code.len() as Pc, to: Target::Address(base) });
        self.imm(dst, base.wrapping_add(offset));
    }

    /// The number of a message.
    pub fn message(&mut self, dst: Reg, number: u32) {
        self.links.push(Link { at: self.code.len() as Pc, to: Target::Message });
        self.imm(dst, number.into());
    }

    pub fn mov(&mut self, dst: Reg, src: Reg) {
        if dst != src {
            self.op(Op::Mov { dst, src });
        }
    }

    /// `dst = src + value`, as addresses.
    pub fn add_imm(&mut self, dst: Reg, src: Reg, value: i64) {
        if value == 0 {
            self.mov(dst, src);
        } else if let Ok(imm) = i32::try_from(value) {
            self.op(Op::BinImm { op: BinOp::Add, ty: IntTy::U64, dst, a: src, imm });
        } else {
            let constant = self.register();
            self.imm(constant, value as u64);
            self.op(Op::Bin { op: BinOp::Add, ty: IntTy::U64, dst, a: src, b: constant });
        }
    }

    pub fn load(&mut self, width: Width, align: u8, dst: Reg, base: Reg, offset: i32) {
        self.op(Op::Load { width, align, dst, base, offset });
    }

    /// The finished function, or `None` where it needs more registers than there are.
    pub fn finish(
        mut self,
        name: String,
        origin: Origin,
        params: u16,
        results: u8,
        place: PlaceId,
    ) -> Option<Function> {
        let registers = u16::try_from(self.registers.max(u32::from(params) + u32::from(results))).ok()?;
        let end = self.code.len() as Pc;
        let labels: Vec<Pc> = self.labels.iter().map(|label| label.unwrap_or(end)).collect();
        for op in &mut self.code {
            resolve(op, &labels);
        }
        for table in &mut self.switches {
            for case in &mut table.cases {
                case.1 = labels[case.1 as usize];
            }
            table.otherwise = labels[table.otherwise as usize];
        }
        let frame_size = if self.slots.is_empty() { 0 } else { self.frame_size + RED_ZONE };
        Some(Function {
            name,
            origin,
            quiet: Quiet::Inherited,
            registers,
            params,
            results,
            frame_size: frame_size as u16,
            slots: self.slots,
            code: self.code,
            code_places: self.code_places,
            lists: self.lists,
            switches: self.switches,
            ranges: self.ranges,
            links: self.links,
            place,
        })
    }
}

fn resolve(op: &mut Op, labels: &[Pc]) {
    match op {
        Op::Jump { to }
        | Op::JumpIf { to, .. }
        | Op::JumpIfNot { to, .. }
        | Op::JumpCmp { to, .. }
        | Op::JumpCmpImm { to, .. } => *to = labels[*to as usize],
        Op::Call { unwind, .. } | Op::CallPtr { unwind, .. } | Op::Builtin { unwind, .. } => {
            if let Some(label) = unwind.target() {
                *unwind = Unwind::cleanup(labels[label as usize]);
            }
        }
        _ => {}
    }
}
