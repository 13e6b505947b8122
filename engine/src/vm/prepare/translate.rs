//! One function, instruction by instruction.

use crate::program::{
    AtomicWidth, FuncId, Function, IntTy, Op, OverflowOp, PlaceId, Program, Reg, SwitchTable, Unwind,
};
use crate::vm::code::{CallSite, Callee, CasSite, Code, Inst, NEAR_REGISTERS, R, SCRATCH, WINDOW, physical};
use crate::vm::int128;
use crate::vm::memory::LIVE;

use super::body::Body;
use super::liveness::{Liveness, Set};
use super::select;

/// Translates a function. Where it is known what is read later, the code says so for all places where it may stop.
pub fn translate(
    program: &Program,
    func: FuncId,
    body: &Body,
    overflow_jumps: &[bool],
    liveness: Option<&Liveness>,
) -> Code {
    let mut translator = Translator::new(program.function(func), body);
    let mut skipped = None;
    for (pc, line) in body.lines.iter().enumerate() {
        translator.starts.push(translator.insts.len() as u32);
        let Some(op) = line.op else { continue };
        if skipped == Some(pc) {
            continue;
        }
        translator.place = line.place;
        translator.scope = line.scope;
        if overflow_jumps.get(pc).is_some_and(|marked| *marked)
            && let Some(jump) = (pc + 1..body.lines.len()).find(|next| body.lines[*next].op.is_some())
            && translator.overflow_jump(&op, body.lines[jump].op)
        {
            skipped = Some(jump);
            continue;
        }
        translator.op(&op);
        if let Some(liveness) = liveness
            && may_stop(&op)
        {
            let live = match op {
                // The function that catches is called later.
                Op::CatchUnwind { .. } => liveness.before(pc),
                _ => liveness.during(program, body, pc),
            };
            translator.live.push((translator.insts.len() as u32, live));
        }
    }
    translator.finish(func)
}

/// Whether a thread may stop, or call another function, in an operation.
fn may_stop(op: &Op) -> bool {
    matches!(
        op,
        Op::Call { .. }
            | Op::CallPtr { .. }
            | Op::CatchUnwind { .. }
            | Op::Builtin { .. }
            | Op::AtomicLoad { .. }
            | Op::AtomicStore { .. }
            | Op::AtomicRmw { .. }
            | Op::AtomicCas { .. }
            | Op::Fence { .. }
    )
}

struct Translator<'a> {
    function: &'a Function,
    body: &'a Body,
    insts: Vec<Inst>,
    places: Vec<PlaceId>,
    scope_of: Vec<u16>,
    /// The first instruction of each operation.
    starts: Vec<u32>,
    consts: Vec<u64>,
    sites: Vec<CallSite>,
    cas_sites: Vec<CasSite>,
    place: PlaceId,
    scope: u16,
    scratch: R,
    live: Vec<(u32, Set)>,
    /// Scratch registers that are moved to where they belong after the operation.
    moves: Vec<(R, u16)>,
}

impl<'a> Translator<'a> {
    fn new(function: &'a Function, body: &'a Body) -> Translator<'a> {
        Translator {
            function,
            body,
            insts: Vec::with_capacity(body.lines.len()),
            places: Vec::with_capacity(body.lines.len()),
            scope_of: Vec::with_capacity(body.lines.len()),
            starts: Vec::with_capacity(body.lines.len()),
            consts: Vec::new(),
            sites: Vec::new(),
            cas_sites: Vec::new(),
            live: Vec::new(),
            place: function.place,
            scope: 0,
            scratch: SCRATCH,
            moves: Vec::new(),
        }
    }

    /// An operation that reports overflow and the jump after it, if there is one instruction for both.
    fn overflow_jump(&mut self, op: &Op, jump: Option<Op>) -> bool {
        let (Op::BinOverflow { op, ty, dst, a, b, .. }, Some(Op::JumpIf { to, .. })) = (*op, jump) else {
            return false;
        };
        if ![dst, a, b].into_iter().all(|register| self.is_near(register, 1)) {
            return false;
        }
        match select::overflow_jump(op, ty, dst.0 as R, a.0 as R, b.0 as R, to) {
            Some(inst) => {
                self.emit(inst);
                true
            }
            None => false,
        }
    }

    fn emit(&mut self, inst: Inst) {
        self.insts.push(inst);
        self.places.push(self.place);
        self.scope_of.push(self.scope);
    }

    fn take_scratch(&mut self) -> R {
        let register = self.scratch;
        self.scratch = self.scratch.wrapping_add(1);
        register
    }

    fn is_near(&self, register: Reg, count: u16) -> bool {
        register.0 + count <= NEAR_REGISTERS
    }

    /// A register that is read.
    fn get(&mut self, register: Reg) -> R {
        self.get_many(register, 1)
    }

    /// Two neighbouring registers that are read.
    fn get2(&mut self, register: Reg) -> R {
        self.get_many(register, 2)
    }

    fn get_many(&mut self, register: Reg, count: u16) -> R {
        if self.is_near(register, count) {
            return register.0 as R;
        }
        let first = self.scratch;
        for index in 0..count {
            let dst = self.take_scratch();
            let from = physical(register.0 + index);
            // Of neighbours on both sides of the limit the first is near.
            self.emit(match R::try_from(from) {
                Ok(src) => Inst::Mov { dst, src },
                Err(_) => Inst::FarGet { dst, far: from as u16 },
            });
        }
        first
    }

    /// Registers that are written.
    fn set_many(&mut self, register: Reg, count: u16) -> R {
        if self.is_near(register, count) {
            return register.0 as R;
        }
        let first = self.scratch;
        for index in 0..count {
            let src = self.take_scratch();
            self.moves.push((src, physical(register.0 + index) as u16));
        }
        first
    }

    fn set(&mut self, register: Reg) -> R {
        self.set_many(register, 1)
    }

    fn set2(&mut self, register: Reg) -> R {
        self.set_many(register, 2)
    }

    /// A number in a register.
    fn number(&mut self, dst: R, value: u64) {
        match i32::try_from(value as i64) {
            Ok(value) => self.emit(Inst::Imm { dst, value }),
            Err(_) => {
                let index = self.constant(value);
                self.emit(Inst::Const { dst, index });
            }
        }
    }

    fn constant(&mut self, value: u64) -> u32 {
        self.consts.push(value);
        (self.consts.len() - 1) as u32
    }

    fn op(&mut self, op: &Op) {
        self.scratch = SCRATCH;
        match *op {
            Op::Imm { dst, value } => {
                let dst = self.set(dst);
                self.number(dst, value);
            }
            Op::Mov { dst, src } => {
                let (src, dst) = (self.get(src), self.set(dst));
                self.emit(Inst::Mov { dst, src });
            }
            Op::Mov2 { dst, src } => {
                let (src, dst) = (self.get2(src), self.set2(dst));
                self.emit(Inst::Mov2 { dst, src });
            }
            Op::Jump { .. } | Op::JumpIf { .. } | Op::JumpIfNot { .. } | Op::JumpCmp { .. } | Op::JumpCmpImm { .. } => {
                self.jump(op);
            }
            Op::Switch { src, table } => {
                let src = self.get(src);
                self.emit(Inst::Switch { src, table });
            }
            Op::Return => self.emit(Inst::Return),
            Op::Resume => self.emit(Inst::Resume),
            Op::Unreachable { kind, message } => self.emit(Inst::Unreachable { kind, message }),
            Op::Unsupported { message } => self.emit(Inst::Unsupported { message }),
            Op::Call { .. } | Op::CallPtr { .. } | Op::CatchUnwind { .. } | Op::Builtin { .. } => self.call(op),
            Op::AtomicLoad { .. }
            | Op::AtomicStore { .. }
            | Op::AtomicRmw { .. }
            | Op::AtomicCas { .. }
            | Op::Fence { .. } => self.atomic(op),
            Op::Bin128 { .. }
            | Op::BinOverflow128 { .. }
            | Op::BinUnchecked128 { .. }
            | Op::Un128 { .. }
            | Op::Widen128 { .. }
            | Op::Select128 { .. } => self.wide(op),
            Op::FloatBin { .. }
            | Op::FloatUn { .. }
            | Op::FloatMulAdd { .. }
            | Op::FloatPowi { .. }
            | Op::FloatScale { .. }
            | Op::FloatCast { .. }
            | Op::IntToFloat { .. }
            | Op::IntToFloat128 { .. }
            | Op::FloatToInt { .. }
            | Op::FloatToInt128 { .. } => self.float(op),
            Op::F128Bin { .. }
            | Op::F128Un { .. }
            | Op::F128MulAdd { .. }
            | Op::F128Powi { .. }
            | Op::F128Scale { .. }
            | Op::FloatToF128 { .. }
            | Op::F128ToFloat { .. }
            | Op::IntToF128 { .. }
            | Op::Int128ToF128 { .. }
            | Op::F128ToInt { .. }
            | Op::F128ToInt128 { .. } => self.quad(op),
            Op::Bin { .. }
            | Op::BinImm { .. }
            | Op::BinOverflow { .. }
            | Op::BinUnchecked { .. }
            | Op::Un { .. }
            | Op::Cast { .. }
            | Op::Select { .. }
            | Op::CheckRange { .. } => self.integer(op),
            _ => self.memory(op),
        }
        for (src, to) in std::mem::take(&mut self.moves) {
            self.emit(match R::try_from(to) {
                Ok(dst) => Inst::Mov { dst, src },
                Err(_) => Inst::FarSet { src, far: to },
            });
        }
    }

    fn integer(&mut self, op: &Op) {
        match *op {
            Op::Bin { op, ty, dst, a, b } => {
                let (a, b, dst) = (self.get(a), self.get(b), self.set(dst));
                self.emit(select::bin(op, ty, dst, a, b));
            }
            Op::BinImm { op, ty, dst, a, imm } => {
                let value = i64::from(imm) as u64 & ty.width.mask();
                let (a, dst) = (self.get(a), self.set(dst));
                if let Some(inst) = select::bin_imm(op, ty, dst, a, value) {
                    return self.emit(inst);
                }
                let b = self.take_scratch();
                self.number(b, value);
                self.emit(select::bin(op, ty, dst, a, b));
            }
            Op::BinOverflow { op, ty, dst, flag, a, b } => {
                let (a, b, dst, flag) = (self.get(a), self.get(b), self.set(dst), self.set(flag));
                self.emit(select::overflow(op, ty, dst, flag, a, b));
            }
            Op::BinUnchecked { op, ty, dst, a, b } => {
                let (a, b, dst) = (self.get(a), self.get(b), self.set(dst));
                self.emit(Inst::Unchecked { op, ty, dst, a, b });
            }
            Op::Un { op, ty, dst, src } => {
                let (src, dst) = (self.get(src), self.set(dst));
                self.emit(Inst::Un { op, ty, dst, src });
            }
            Op::Cast { from, to, dst, src } => {
                let (src, dst) = (self.get(src), self.set(dst));
                self.emit(select::cast(from, to, dst, src));
            }
            Op::Select { dst, cond, a, b } => {
                let (cond, a, b, dst) = (self.get(cond), self.get(a), self.get(b), self.set(dst));
                self.emit(Inst::Select { dst, cond, a, b });
            }
            Op::CheckRange { src, range } => {
                let src = self.get(src);
                self.emit(Inst::CheckRange { src, range });
            }
            _ => unreachable!("not an operation on integers"),
        }
    }

    fn wide(&mut self, op: &Op) {
        match *op {
            Op::Bin128 { op, signed, dst, a, b } => {
                let a = self.get2(a);
                let b = if int128::takes_amount(op) { self.get(b) } else { self.get2(b) };
                let dst = if int128::gives_one_register(op) { self.set(dst) } else { self.set2(dst) };
                self.emit(Inst::Bin128 { op, signed, dst, a, b });
            }
            Op::BinOverflow128 { op, signed, dst, flag, a, b } => {
                let a = self.get2(a);
                let b = if is_shift(op) { self.get(b) } else { self.get2(b) };
                let (dst, flag) = (self.set2(dst), self.set(flag));
                self.emit(Inst::Overflow128 { op, signed, dst, flag, a, b });
            }
            Op::BinUnchecked128 { op, signed, dst, a, b } => {
                let a = self.get2(a);
                let b = if is_shift(op) { self.get(b) } else { self.get2(b) };
                let dst = self.set2(dst);
                self.emit(Inst::Unchecked128 { op, signed, dst, a, b });
            }
            Op::Un128 { op, dst, src } => {
                let src = self.get2(src);
                let dst = if int128::counts(op) { self.set(dst) } else { self.set2(dst) };
                self.emit(Inst::Un128 { op, dst, src });
            }
            Op::Widen128 { from, dst, src } => {
                let (src, dst) = (self.get(src), self.set2(dst));
                self.emit(Inst::Widen128 { from, dst, src });
            }
            Op::Select128 { dst, cond, a, b } => {
                let (cond, a, b, dst) = (self.get(cond), self.get2(a), self.get2(b), self.set2(dst));
                self.emit(Inst::Select128 { dst, cond, a, b });
            }
            _ => unreachable!("not an operation on 128 bits"),
        }
    }

    fn float(&mut self, op: &Op) {
        match *op {
            Op::FloatBin { op, ty, dst, a, b } => {
                let (a, b, dst) = (self.get(a), self.get(b), self.set(dst));
                self.emit(select::float_bin(op, ty, dst, a, b));
            }
            Op::FloatUn { op, ty, dst, src } => {
                let (src, dst) = (self.get(src), self.set(dst));
                self.emit(Inst::FloatUn { op, ty, dst, src });
            }
            Op::FloatMulAdd { ty, dst, a, b, c } => {
                let (a, b, c, dst) = (self.get(a), self.get(b), self.get(c), self.set(dst));
                self.emit(Inst::FloatMulAdd { ty, dst, a, b, c });
            }
            Op::FloatPowi { ty, dst, src, exp } => {
                let (src, exp, dst) = (self.get(src), self.get(exp), self.set(dst));
                self.emit(Inst::FloatPowi { ty, dst, src, exp });
            }
            Op::FloatScale { ty, dst, src, exp } => {
                let (src, exp, dst) = (self.get(src), self.get(exp), self.set(dst));
                self.emit(Inst::FloatScale { ty, dst, src, exp });
            }
            Op::FloatCast { from, to, dst, src } => {
                let (src, dst) = (self.get(src), self.set(dst));
                self.emit(Inst::FloatCast { from, to, dst, src });
            }
            Op::IntToFloat { from, to, dst, src } => {
                let (src, dst) = (self.get(src), self.set(dst));
                self.emit(Inst::IntToFloat { from, to, dst, src });
            }
            Op::IntToFloat128 { signed, to, dst, src } => {
                let (src, dst) = (self.get2(src), self.set(dst));
                self.emit(Inst::IntToFloat128 { signed, to, dst, src });
            }
            Op::FloatToInt { from, to, dst, src } => {
                let (src, dst) = (self.get(src), self.set(dst));
                self.emit(Inst::FloatToInt { from, to, dst, src });
            }
            Op::FloatToInt128 { from, signed, dst, src } => {
                let (src, dst) = (self.get(src), self.set2(dst));
                self.emit(Inst::FloatToInt128 { from, signed, dst, src });
            }
            _ => unreachable!("not an operation on floats"),
        }
    }

    fn quad(&mut self, op: &Op) {
        match *op {
            Op::F128Bin { op, dst, a, b } => {
                let (a, b) = (self.get2(a), self.get2(b));
                let dst = if op.compares() { self.set(dst) } else { self.set2(dst) };
                self.emit(Inst::F128Bin { op, dst, a, b });
            }
            Op::F128Un { op, dst, src } => {
                let (src, dst) = (self.get2(src), self.set2(dst));
                self.emit(Inst::F128Un { op, dst, src });
            }
            Op::F128MulAdd { dst, a, b, c } => {
                let (a, b, c, dst) = (self.get2(a), self.get2(b), self.get2(c), self.set2(dst));
                self.emit(Inst::F128MulAdd { dst, a, b, c });
            }
            Op::F128Powi { dst, src, exp } => {
                let (src, exp, dst) = (self.get2(src), self.get(exp), self.set2(dst));
                self.emit(Inst::F128Powi { dst, src, exp });
            }
            Op::F128Scale { dst, src, exp } => {
                let (src, exp, dst) = (self.get2(src), self.get(exp), self.set2(dst));
                self.emit(Inst::F128Scale { dst, src, exp });
            }
            Op::FloatToF128 { from, dst, src } => {
                let (src, dst) = (self.get(src), self.set2(dst));
                self.emit(Inst::FloatToF128 { from, dst, src });
            }
            Op::F128ToFloat { to, dst, src } => {
                let (src, dst) = (self.get2(src), self.set(dst));
                self.emit(Inst::F128ToFloat { to, dst, src });
            }
            Op::IntToF128 { from, dst, src } => {
                let (src, dst) = (self.get(src), self.set2(dst));
                self.emit(Inst::IntToF128 { from, dst, src });
            }
            Op::Int128ToF128 { signed, dst, src } => {
                let (src, dst) = (self.get2(src), self.set2(dst));
                self.emit(Inst::Int128ToF128 { signed, dst, src });
            }
            Op::F128ToInt { to, dst, src } => {
                let (src, dst) = (self.get2(src), self.set(dst));
                self.emit(Inst::F128ToInt { to, dst, src });
            }
            Op::F128ToInt128 { signed, dst, src } => {
                let (src, dst) = (self.get2(src), self.set2(dst));
                self.emit(Inst::F128ToInt128 { signed, dst, src });
            }
            _ => unreachable!("not an operation on floats of 128 bits"),
        }
    }

    fn memory(&mut self, op: &Op) {
        match *op {
            Op::Load { width, align, dst, base, offset } => {
                let (base, dst) = (self.get(base), self.set(dst));
                let low = self.alignment(base, align, false, offset);
                self.emit(select::load(width, dst, base, low, offset));
            }
            Op::Store { width, align, base, src, offset } => {
                let (base, src) = (self.get(base), self.get(src));
                let low = self.alignment(base, align, true, offset);
                self.emit(select::store(width, src, base, low, offset));
            }
            Op::LoadSlot { width, dst, offset } => {
                let dst = self.set(dst);
                self.emit(select::load_slot(width, dst, offset));
            }
            Op::LoadPadding { width, align, dst, base, offset } => {
                let (base, dst) = (self.get(base), self.set(dst));
                let shape = align.min(15) | (width as u8) << 4;
                self.emit(Inst::LoadPadding { dst, base, shape, offset });
            }
            Op::LoadSlotPadding { width, dst, offset } => {
                let dst = self.set(dst);
                self.emit(Inst::LoadSlotPadding { dst, width, offset });
            }
            Op::StoreSlot { width, src, offset } => {
                let src = self.get(src);
                self.emit(select::store_slot(width, src, offset));
            }
            Op::SlotAddr { dst, offset } => {
                let dst = self.set(dst);
                self.emit(Inst::SlotAddr { dst, offset });
            }
            Op::BigSlot { dst, size, align } => {
                let dst = self.set(dst);
                let size = self.constant(size);
                self.emit(Inst::BigSlot { dst, align, size });
            }
            Op::BigSlotDead { slot } => {
                let slot = self.get(slot);
                self.emit(Inst::BigSlotDead { slot });
            }
            Op::StorageLive { offset, size } => self.emit(Inst::StorageLive { offset, size }),
            Op::StorageDead { offset, size } => self.emit(Inst::StorageDead { offset, size }),
            Op::Index { dst, base, index, scale } => {
                let (base, index, dst) = (self.get(base), self.get(index), self.set(dst));
                self.emit(Inst::Index { dst, base, index, scale });
            }
            Op::ThreadLocal { dst, index } => {
                let dst = self.set(dst);
                self.emit(Inst::ThreadLocal { dst, index });
            }
            _ => self.block(op),
        }
    }

    /// Operations on many bytes.
    fn block(&mut self, op: &Op) {
        match *op {
            Op::Copy { align, dst, src, size } => {
                let (dst, src) = (self.get(dst), self.get(src));
                self.emit(Inst::Copy { align, dst, src, size });
            }
            Op::CopyToSlot { align, dst, src, size } => {
                let src = self.get(src);
                self.emit(Inst::CopyToSlot { align, src, dst, size: size as u16 });
            }
            Op::CopyFromSlot { align, dst, src, size } => {
                let dst = self.get(dst);
                self.emit(Inst::CopyFromSlot { align, dst, src, size: size as u16 });
            }
            Op::CopySlots { dst, src, size } => self.emit(Inst::CopySlots { dst, src, size: size as u16 }),
            Op::CopyNonOverlapping { align, dst, src, len } => {
                let (dst, src, len) = (self.get(dst), self.get(src), self.get(len));
                self.emit(Inst::CopyNonOverlapping { align, dst, src, len });
            }
            Op::CopyOverlapping { align, dst, src, len } => {
                let (dst, src, len) = (self.get(dst), self.get(src), self.get(len));
                self.emit(Inst::CopyOverlapping { align, dst, src, len });
            }
            Op::Fill { align, dst, value, len } => {
                let (dst, value, len) = (self.get(dst), self.get(value), self.get(len));
                self.emit(Inst::Fill { align, dst, value, len });
            }
            Op::Repeat { dst, size, count } => {
                let dst = self.get(dst);
                let size = self.constant(u64::from(size));
                self.constant(u64::from(count));
                self.emit(Inst::Repeat { dst, size });
            }
            Op::Compare { dst, a, b, len } => {
                let (a, b, len, dst) = (self.get(a), self.get(b), self.get(len), self.set(dst));
                self.emit(Inst::Compare { dst, a, b, len });
            }
            Op::Deinit { dst, size } => {
                let dst = self.get(dst);
                self.emit(Inst::Deinit { dst, size });
            }
            _ => unreachable!("not an operation on memory"),
        }
    }

    /// The low bits of an address that the access itself checks; more than those are checked before.
    fn alignment(&mut self, base: R, align: u8, write: bool, offset: i32) -> u8 {
        if align < 8 {
            return ((1u32 << align) - 1) as u8;
        }
        self.emit(Inst::CheckAlign { base, align, write, offset });
        0
    }

    fn atomic(&mut self, op: &Op) {
        let pair = |width: AtomicWidth| if width == AtomicWidth::W128 { 2 } else { 1 };
        match *op {
            Op::AtomicLoad { width, ordering, dst, ptr } => {
                let (ptr, dst) = (self.get(ptr), self.set_many(dst, pair(width)));
                self.emit(Inst::AtomicLoad { width, ordering, dst, ptr });
            }
            Op::AtomicStore { width, ordering, ptr, src } => {
                let (ptr, src) = (self.get(ptr), self.get_many(src, pair(width)));
                self.emit(Inst::AtomicStore { width, ordering, ptr, src });
            }
            Op::AtomicRmw { op, width, ordering, dst, ptr, src } => {
                let (ptr, src) = (self.get(ptr), self.get_many(src, pair(width)));
                let dst = self.set_many(dst, pair(width));
                self.emit(Inst::AtomicRmw { op, width, ordering, dst, ptr, src });
            }
            Op::AtomicCas { width, success, failure, weak, dst, ptr, expected, new } => {
                let ptr = self.get(ptr);
                let (expected, new) = (self.get_many(expected, pair(width)), self.get_many(new, pair(width)));
                let dst = self.set_many(dst, pair(width) + 1);
                self.cas_sites.push(CasSite { width, success, failure, weak, dst, ptr, expected, new });
                self.emit(Inst::AtomicCas { site: (self.cas_sites.len() - 1) as u32 });
            }
            Op::Fence { ordering } => self.emit(Inst::Fence { ordering }),
            _ => unreachable!("not an atomic operation"),
        }
    }

    fn jump(&mut self, op: &Op) {
        match *op {
            Op::Jump { to } => self.emit(Inst::Jump { to }),
            Op::JumpIf { cond, to } => {
                let cond = self.get(cond);
                self.emit(Inst::JumpIf { cond, to });
            }
            Op::JumpIfNot { cond, to } => {
                let cond = self.get(cond);
                self.emit(Inst::JumpIfNot { cond, to });
            }
            Op::JumpCmp { op, ty, a, b, to } => {
                let (a, b) = (self.get(a), self.get(b));
                self.compare_and_jump(op, ty, a, b, to);
            }
            Op::JumpCmpImm { op, ty, a, imm, to } => {
                let value = i64::from(imm) as u64 & ty.width.mask();
                let a = self.get(a);
                if let Some(inst) = select::jump_imm(op, ty, a, value, to) {
                    return self.emit(inst);
                }
                let b = self.take_scratch();
                self.number(b, value);
                self.compare_and_jump(op, ty, a, b, to);
            }
            _ => unreachable!("not a jump"),
        }
    }

    fn compare_and_jump(&mut self, op: crate::program::BinOp, ty: IntTy, a: R, b: R, to: u32) {
        if let Some(inst) = select::jump(op, ty, a, b, to) {
            return self.emit(inst);
        }
        let cond = self.take_scratch();
        self.emit(select::bin(op, ty, cond, a, b));
        self.emit(Inst::JumpIf { cond, to });
    }

    fn call(&mut self, op: &Op) {
        match *op {
            Op::Call { func, args, dst, unwind } => {
                let site = self.site(Callee::Func(func), args, dst, unwind);
                self.emit(Inst::Call { site });
            }
            Op::CallPtr { ptr, args, dst, unwind, .. } => {
                let site = self.site(Callee::Pointer(physical(ptr.0) as u16), args, dst, unwind);
                self.emit(Inst::CallPtr { site });
            }
            Op::Builtin { builtin, args, dst, unwind } => {
                let site = self.site(Callee::Builtin(builtin), args, dst, unwind);
                self.emit(Inst::Builtin { site });
            }
            Op::CatchUnwind { dst, try_fn, data, catch_fn } => {
                let (try_fn, data, catch_fn) = (self.get(try_fn), self.get(data), self.get(catch_fn));
                let dst = self.set(dst);
                self.emit(Inst::CatchUnwind { dst, try_fn, data, catch_fn });
            }
            _ => unreachable!("not a call"),
        }
    }

    fn site(&mut self, callee: Callee, args: crate::program::List, dst: Reg, unwind: Unwind) -> u32 {
        let args = self.body.list(args).iter().map(|register| physical(*register) as u16).collect();
        self.sites.push(CallSite { callee, args, dst: dst.0, unwind });
        (self.sites.len() - 1) as u32
    }

    /// Where loops are: whatever runs round goes back somewhere, and is between the two ends of such a jump, or of
    /// several that overlap.
    fn loops(&mut self, switches: &[SwitchTable]) -> Box<[(u32, u32)]> {
        let mut back = Vec::new();
        for (pc, inst) in (0..).zip(&mut self.insts) {
            let mut leads_to = |to: u32| {
                if to <= pc {
                    back.push((to, pc));
                }
            };
            if let Some(to) = select::target_mut(inst) {
                leads_to(*to);
            }
            match *inst {
                Inst::Switch { table, .. } => {
                    let table = &switches[table as usize];
                    table.cases.iter().map(|(_, to)| *to).chain([table.otherwise]).for_each(leads_to);
                }
                Inst::Call { site } | Inst::CallPtr { site } | Inst::Builtin { site } => {
                    self.sites[site as usize].unwind.target().into_iter().for_each(leads_to);
                }
                _ => {}
            }
        }
        merge(back)
    }

    fn finish(mut self, func: FuncId) -> Code {
        let starts = &self.starts;
        let target = |pc: u32| starts.get(pc as usize).copied().unwrap_or(u32::MAX);
        for inst in &mut self.insts {
            if let Some(to) = select::target_mut(inst) {
                *to = target(*to);
            }
        }
        for site in &mut self.sites {
            if let Some(pc) = site.unwind.target() {
                site.unwind = Unwind::cleanup(target(pc));
            }
        }
        let mut switches = self.body.switches.clone();
        for table in &mut switches {
            table.otherwise = target(table.otherwise);
            table.cases.iter_mut().for_each(|(_, pc)| *pc = target(*pc));
        }
        let loops = self.loops(&switches);
        let function = self.function;
        let registers = self.body.registers;
        let scratch = if registers > NEAR_REGISTERS { WINDOW as u32 - u32::from(NEAR_REGISTERS) } else { 0 };
        Code {
            func,
            insts: self.insts.into(),
            places: self.places.into(),
            scope_of: self.scope_of.into(),
            scopes: self.body.scopes.clone(),
            consts: self.consts,
            sites: self.sites,
            cas_sites: self.cas_sites,
            live: self.live.into(),
            loops,
            switches,
            ranges: self.body.ranges.clone(),
            registers: u32::from(registers) + scratch,
            params: function.params,
            results: function.results,
            shadow: initial_shadow(function),
            user: function.origin.is_shown(),
            quiet: function.quiet,
        }
    }
}

/// Puts ranges in order, and those together that overlap.
fn merge(mut ranges: Vec<(u32, u32)>) -> Box<[(u32, u32)]> {
    ranges.sort_unstable();
    let mut merged: Vec<(u32, u32)> = Vec::new();
    for (first, last) in ranges {
        match merged.last_mut() {
            Some(before) if first <= before.1 => before.1 = before.1.max(last),
            _ => merged.push((first, last)),
        }
    }
    merged.into()
}

fn is_shift(op: OverflowOp) -> bool {
    matches!(op, OverflowOp::Shl | OverflowOp::Shr)
}

/// The shadow of a new frame: the slots that are alive from the start.
fn initial_shadow(function: &Function) -> Box<[u8]> {
    let mut shadow = vec![0; usize::from(function.frame_size)];
    for slot in function.slots.iter().filter(|slot| slot.live_at_start) {
        let start = usize::from(slot.offset);
        shadow[start..start + usize::from(slot.size)].fill(LIVE);
    }
    shadow.into()
}
