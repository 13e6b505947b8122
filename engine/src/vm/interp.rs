//! The interpreter: runs the code of a thread until something needs the rest of the machine.
//!
//! The loop keeps the program counter and the window of registers at hand, does arithmetic, memory accesses, jumps,
//! calls and returns itself, and leaves ([`Exit`]) for everything else: visible actions, builtins, unwinding, errors.
//! The saved program counter of a frame is always that of the next instruction.
//!
//! A *step* is a jump that is taken, or a call: code without either ends by itself.

use crate::program::address::code_index;
use crate::program::{FuncId, OverflowOp, Quiet};

use super::arith::{self, sign_extend};
use super::code::{Callee, Code, Inst, NEAR_REGISTERS, WINDOW, physical};
use super::failure::Fault;
use super::float;
use super::float::f128;
use super::frame::{Frame, FrameKind};
use super::image::Image;
use super::int128;
use super::memory::{Access, Heap, LIVE, NO_SLOTS, Space, Stack};
use super::thread::ThreadId;
use super::trap::{Checked, Trap};

/// Why the interpreter left its loop. The instruction is the one before the saved program counter.
pub enum Exit {
    /// It is for the rest of the machine to run.
    Slow,
    /// It cannot be carried out.
    Trap(Box<Trap>),
    /// No steps are left. The instruction had no effect: it can be run again.
    OutOfSteps,
    /// It has come back to where it was, and has done nothing in between.
    Circle,
}

/// Deeper recursion than this is a stack overflow.
pub const MAX_FRAMES: usize = 200_000;
/// A larger stack than this is a stack overflow.
pub const MAX_STACK: usize = 8 << 20;

type Window = [u64; WINDOW];

#[inline(always)]
fn window(registers: &mut [u64], base: u32) -> &mut Window {
    registers[base as usize..].first_chunk_mut().expect("a frame has a whole window of registers")
}

/// Makes room for a window at `base`.
#[inline(always)]
pub fn reserve(registers: &mut Vec<u64>, base: u32, count: u32) {
    let needed = base as usize + (count as usize).max(WINDOW);
    if registers.len() < needed {
        registers.resize(needed.next_power_of_two().max(4 * WINDOW), 0);
    }
}

#[inline(always)]
fn wide_at(window: &Window, register: u8) -> u128 {
    u128::from(window[usize::from(register)]) | u128::from(window[usize::from(register.wrapping_add(1))]) << 64
}

#[inline(always)]
fn set_wide(window: &mut Window, register: u8, value: u128) {
    window[usize::from(register)] = value as u64;
    window[usize::from(register.wrapping_add(1))] = (value >> 64) as u64;
}

/// Runs from the saved program counter of the last frame on. There is a frame.
pub fn execute(
    registers: &mut Vec<u64>,
    frames: &mut Vec<Frame>,
    space: &mut Space,
    image: &Image,
    steps_left: &mut u64,
) -> Exit {
    let mut steps = *steps_left;
    'frame: loop {
        let top = frames.len() - 1;
        let Frame { func, pc, base, user, quiet, .. } = frames[top];
        let code = image.code(func);
        let insts = &*code.insts;
        let mut pc = pc as usize;
        let slots = space.stack.slots_base();
        if space.tracking {
            space.enter_frame(frames, user, quiet);
        }
        let mut r = window(registers, base);

        macro_rules! leave {
            ($exit:expr) => {{
                frames[top].pc = pc as u32;
                *steps_left = steps;
                return $exit;
            }};
        }
        macro_rules! check {
            ($result:expr) => {
                match $result {
                    Ok(value) => value,
                    Err(trap) => leave!(Exit::Trap(trap)),
                }
            };
        }
        macro_rules! jump {
            ($to:expr) => {{
                // Before it jumps: the report is of the jump.
                if steps == 0 {
                    leave!(Exit::OutOfSteps);
                }
                steps -= 1;
                pc = $to as usize;
            }};
        }
        macro_rules! get {
            ($register:expr) => {
                r[usize::from($register)]
            };
        }
        macro_rules! bin {
            ($dst:expr, $a:expr, $b:expr, |$x:ident, $y:ident| $result:expr) => {{
                let ($x, $y): (u64, u64) = (r[usize::from($a)], r[usize::from($b)]);
                r[usize::from($dst)] = $result;
            }};
        }
        macro_rules! bin_imm {
            ($dst:expr, $a:expr, $imm:expr, |$x:ident, $y:ident| $result:expr) => {{
                let ($x, $y): (u64, u64) = (r[usize::from($a)], i64::from($imm) as u64);
                r[usize::from($dst)] = $result;
            }};
        }
        macro_rules! overflow {
            ($dst:expr, $flag:expr, $a:expr, $b:expr, $int:ty, $method:ident, $wide:ty) => {{
                let (result, overflow) = (r[usize::from($a)] as $int).$method(r[usize::from($b)] as $int);
                r[usize::from($dst)] = u64::from(result as $wide);
                r[usize::from($flag)] = u64::from(overflow);
            }};
        }
        macro_rules! jump_cmp {
            ($a:expr, $b:expr, $to:expr, |$x:ident, $y:ident| $holds:expr) => {{
                let ($x, $y): (u64, u64) = (r[usize::from($a)], r[usize::from($b)]);
                if $holds {
                    jump!($to);
                }
            }};
        }
        macro_rules! jump_imm {
            ($a:expr, $imm:expr, $to:expr, |$x:ident, $y:ident| $holds:expr) => {{
                let ($x, $y): (u64, i64) = (r[usize::from($a)], i64::from($imm));
                if $holds {
                    jump!($to);
                }
            }};
        }
        macro_rules! jump_overflow {
            ($dst:expr, $a:expr, $b:expr, $to:expr, $int:ty, $method:ident, $wide:ty) => {{
                let (result, overflow) = (r[usize::from($a)] as $int).$method(r[usize::from($b)] as $int);
                // Before anything is written: the instruction may be run again.
                if overflow && steps == 0 {
                    leave!(Exit::OutOfSteps);
                }
                r[usize::from($dst)] = u64::from(result as $wide);
                if overflow {
                    jump!($to);
                }
            }};
        }
        macro_rules! load {
            ($n:literal, $dst:expr, $base:expr, $low:expr, $offset:expr) => {{
                let address = get!($base).wrapping_add(i64::from($offset) as u64);
                space.pc = pc as u32;
                r[usize::from($dst)] = check!(space.load::<$n>(address, u64::from($low)));
            }};
        }
        macro_rules! store {
            ($n:literal, $src:expr, $base:expr, $low:expr, $offset:expr) => {{
                let address = get!($base).wrapping_add(i64::from($offset) as u64);
                space.pc = pc as u32;
                check!(space.store::<$n>(address, get!($src), u64::from($low)));
            }};
        }
        macro_rules! load_slot {
            ($n:literal, $dst:expr, $offset:expr) => {
                match space.stack.load_at::<$n>(slots + usize::from($offset)) {
                    Some(value) => r[usize::from($dst)] = value,
                    None => {
                        space.pc = pc as u32;
                        r[usize::from($dst)] = check!(space.load_slot_slow($offset, $n));
                    }
                }
            };
        }
        macro_rules! store_slot {
            ($n:literal, $src:expr, $offset:expr) => {
                if space.stack.store_at::<$n>(slots + usize::from($offset), get!($src)).is_none() {
                    space.pc = pc as u32;
                    check!(space.store_slot_slow($offset, get!($src), $n));
                }
            };
        }

        loop {
            let inst = insts[pc];
            pc += 1;
            match inst {
                Inst::Imm { dst, value } => get!(dst) = i64::from(value) as u64,
                Inst::Const { dst, index } => get!(dst) = code.consts[index as usize],
                Inst::Mov { dst, src } => get!(dst) = get!(src),
                Inst::Mov2 { dst, src } => {
                    let value = wide_at(r, src);
                    set_wide(r, dst, value);
                }
                Inst::FarGet { .. } | Inst::FarSet { .. } => {
                    move_far(registers, base, inst);
                    r = window(registers, base);
                }

                Inst::Add64 { dst, a, b } => bin!(dst, a, b, |a, b| a.wrapping_add(b)),
                Inst::Sub64 { dst, a, b } => bin!(dst, a, b, |a, b| a.wrapping_sub(b)),
                Inst::Mul64 { dst, a, b } => bin!(dst, a, b, |a, b| a.wrapping_mul(b)),
                Inst::Shl64 { dst, a, b } => bin!(dst, a, b, |a, b| a << (b & 63)),
                Inst::ShrU64 { dst, a, b } => bin!(dst, a, b, |a, b| a >> (b & 63)),
                Inst::ShrS64 { dst, a, b } => bin!(dst, a, b, |a, b| (a as i64 >> (b & 63)) as u64),
                Inst::Add32 { dst, a, b } => bin!(dst, a, b, |a, b| u64::from((a as u32).wrapping_add(b as u32))),
                Inst::Sub32 { dst, a, b } => bin!(dst, a, b, |a, b| u64::from((a as u32).wrapping_sub(b as u32))),
                Inst::Mul32 { dst, a, b } => bin!(dst, a, b, |a, b| u64::from((a as u32).wrapping_mul(b as u32))),
                Inst::Shl32 { dst, a, b } => bin!(dst, a, b, |a, b| u64::from((a as u32) << (b & 31))),
                Inst::ShrU32 { dst, a, b } => bin!(dst, a, b, |a, b| a >> (b & 31)),
                Inst::ShrS32 { dst, a, b } => bin!(dst, a, b, |a, b| u64::from((a as i32 >> (b & 31)) as u32)),
                Inst::And { dst, a, b } => bin!(dst, a, b, |a, b| a & b),
                Inst::Or { dst, a, b } => bin!(dst, a, b, |a, b| a | b),
                Inst::Xor { dst, a, b } => bin!(dst, a, b, |a, b| a ^ b),
                Inst::Eq { dst, a, b } => bin!(dst, a, b, |a, b| u64::from(a == b)),
                Inst::Ne { dst, a, b } => bin!(dst, a, b, |a, b| u64::from(a != b)),
                Inst::LtU { dst, a, b } => bin!(dst, a, b, |a, b| u64::from(a < b)),
                Inst::LeU { dst, a, b } => bin!(dst, a, b, |a, b| u64::from(a <= b)),
                Inst::LtS64 { dst, a, b } => bin!(dst, a, b, |a, b| u64::from((a as i64) < b as i64)),
                Inst::LeS64 { dst, a, b } => bin!(dst, a, b, |a, b| u64::from(a as i64 <= b as i64)),
                Inst::LtS32 { dst, a, b } => bin!(dst, a, b, |a, b| u64::from((a as i32) < b as i32)),
                Inst::LeS32 { dst, a, b } => bin!(dst, a, b, |a, b| u64::from(a as i32 <= b as i32)),
                Inst::AddI64 { dst, a, imm } => bin_imm!(dst, a, imm, |a, b| a.wrapping_add(b)),
                Inst::AddI32 { dst, a, imm } => {
                    bin_imm!(dst, a, imm, |a, b| u64::from((a as u32).wrapping_add(b as u32)));
                }
                Inst::MulI64 { dst, a, imm } => bin_imm!(dst, a, imm, |a, b| a.wrapping_mul(b)),
                Inst::AndI { dst, a, imm } => bin_imm!(dst, a, imm, |a, b| a & b),
                Inst::OrI { dst, a, imm } => bin_imm!(dst, a, imm, |a, b| a | b),
                Inst::XorI { dst, a, imm } => bin_imm!(dst, a, imm, |a, b| a ^ b),
                Inst::ShlI64 { dst, a, imm } => bin_imm!(dst, a, imm, |a, b| a << (b & 63)),
                Inst::ShrUI64 { dst, a, imm } => bin_imm!(dst, a, imm, |a, b| a >> (b & 63)),
                Inst::ShrSI64 { dst, a, imm } => bin_imm!(dst, a, imm, |a, b| (a as i64 >> (b & 63)) as u64),
                Inst::ShlI32 { dst, a, imm } => bin_imm!(dst, a, imm, |a, b| u64::from((a as u32) << (b & 31))),
                Inst::ShrUI32 { dst, a, imm } => bin_imm!(dst, a, imm, |a, b| a >> (b & 31)),
                Inst::EqI { dst, a, imm } => bin_imm!(dst, a, imm, |a, b| u64::from(a == b)),
                Inst::NeI { dst, a, imm } => bin_imm!(dst, a, imm, |a, b| u64::from(a != b)),
                Inst::LtUI { dst, a, imm } => bin_imm!(dst, a, imm, |a, b| u64::from(a < b)),
                Inst::GtUI { dst, a, imm } => bin_imm!(dst, a, imm, |a, b| u64::from(a > b)),
                Inst::Bin { op, ty, dst, a, b } => match arith::bin(op, ty, get!(a), get!(b)) {
                    Some(value) => get!(dst) = value,
                    None => leave!(Exit::Trap(division_fault(u128::from(get!(b))))),
                },
                Inst::Overflow { op, ty, dst, flag, a, b } => {
                    let (result, overflow) = arith::overflowing(op, ty, get!(a), get!(b));
                    get!(dst) = result;
                    get!(flag) = u64::from(overflow);
                }
                Inst::OverflowAddU64 { dst, flag, a, b } => overflow!(dst, flag, a, b, u64, overflowing_add, u64),
                Inst::OverflowSubU64 { dst, flag, a, b } => overflow!(dst, flag, a, b, u64, overflowing_sub, u64),
                Inst::OverflowMulU64 { dst, flag, a, b } => overflow!(dst, flag, a, b, u64, overflowing_mul, u64),
                Inst::OverflowAddS32 { dst, flag, a, b } => overflow!(dst, flag, a, b, i32, overflowing_add, u32),
                Inst::OverflowSubS32 { dst, flag, a, b } => overflow!(dst, flag, a, b, i32, overflowing_sub, u32),
                Inst::OverflowMulS32 { dst, flag, a, b } => overflow!(dst, flag, a, b, i32, overflowing_mul, u32),
                Inst::OverflowAddU32 { dst, flag, a, b } => overflow!(dst, flag, a, b, u32, overflowing_add, u32),
                Inst::Unchecked { op, ty, dst, a, b } => {
                    let (result, overflow) = arith::overflowing(op, ty, get!(a), get!(b));
                    if overflow {
                        leave!(Exit::Trap(overflow_fault(op)));
                    }
                    get!(dst) = result;
                }
                Inst::Un { op, ty, dst, src } => get!(dst) = arith::un(op, ty, get!(src)),
                Inst::Cast { from, to, dst, src } => get!(dst) = arith::cast(from, to, get!(src)),
                Inst::SignExtend32 { dst, src } => get!(dst) = get!(src) as i32 as i64 as u64,
                Inst::Truncate32 { dst, src } => get!(dst) = u64::from(get!(src) as u32),
                Inst::Select { dst, cond, a, b } => get!(dst) = if get!(cond) != 0 { get!(a) } else { get!(b) },
                Inst::CheckRange { src, range } => {
                    let range = &code.ranges[range as usize];
                    let value = get!(src);
                    if value.wrapping_sub(range.start) > range.end.wrapping_sub(range.start) {
                        leave!(Exit::Trap(range_fault(value, &range.type_name)));
                    }
                }

                Inst::Bin128 { op, signed, dst, a, b } => {
                    let amount = if int128::takes_amount(op) { u128::from(get!(b)) } else { wide_at(r, b) };
                    match int128::bin(op, signed, wide_at(r, a), amount) {
                        Some(value) if int128::gives_one_register(op) => get!(dst) = value as u64,
                        Some(value) => set_wide(r, dst, value),
                        None => leave!(Exit::Trap(division_fault(amount))),
                    }
                }
                Inst::Overflow128 { op, signed, dst, flag, a, b } => {
                    let (result, overflow) = overflow128(r, op, signed, a, b);
                    set_wide(r, dst, result);
                    get!(flag) = u64::from(overflow);
                }
                Inst::Unchecked128 { op, signed, dst, a, b } => {
                    let (result, overflow) = overflow128(r, op, signed, a, b);
                    if overflow {
                        leave!(Exit::Trap(overflow_fault(op)));
                    }
                    set_wide(r, dst, result);
                }
                Inst::Un128 { op, dst, src } => {
                    let result = int128::un(op, wide_at(r, src));
                    if int128::counts(op) {
                        get!(dst) = result as u64;
                    } else {
                        set_wide(r, dst, result);
                    }
                }
                Inst::Widen128 { from, dst, src } => {
                    let value = get!(src);
                    let value =
                        if from.signed { i128::from(sign_extend(value, from.width)) } else { i128::from(value) };
                    set_wide(r, dst, value as u128);
                }
                Inst::Select128 { dst, cond, a, b } => {
                    let value = if get!(cond) != 0 { wide_at(r, a) } else { wide_at(r, b) };
                    set_wide(r, dst, value);
                }

                Inst::AddF64 { dst, a, b } => {
                    bin!(dst, a, b, |a, b| (f64::from_bits(a) + f64::from_bits(b)).to_bits());
                }
                Inst::SubF64 { dst, a, b } => {
                    bin!(dst, a, b, |a, b| (f64::from_bits(a) - f64::from_bits(b)).to_bits());
                }
                Inst::MulF64 { dst, a, b } => {
                    bin!(dst, a, b, |a, b| (f64::from_bits(a) * f64::from_bits(b)).to_bits());
                }
                Inst::DivF64 { dst, a, b } => {
                    bin!(dst, a, b, |a, b| (f64::from_bits(a) / f64::from_bits(b)).to_bits());
                }
                Inst::FloatBin { op, ty, dst, a, b } => get!(dst) = float_bin(op, ty, get!(a), get!(b)),
                Inst::FloatUn { op, ty, dst, src } => get!(dst) = float_un(op, ty, get!(src)),
                Inst::FloatCast { from, to, dst, src } => get!(dst) = float::cast(from, to, get!(src)),
                Inst::IntToFloat { from, to, dst, src } => get!(dst) = float::from_int(from, to, get!(src)),
                Inst::IntToFloat128 { signed, to, dst, src } => {
                    get!(dst) = float::from_int128(signed, to, wide_at(r, src));
                }
                Inst::FloatToInt { from, to, dst, src } => get!(dst) = float::to_int(from, to, get!(src)),
                Inst::FloatToInt128 { from, signed, dst, src } => {
                    let value = float::to_int128(from, signed, get!(src));
                    set_wide(r, dst, value);
                }
                Inst::FloatMulAdd { .. }
                | Inst::FloatPowi { .. }
                | Inst::FloatScale { .. }
                | Inst::F128Bin { .. }
                | Inst::F128Un { .. }
                | Inst::F128MulAdd { .. }
                | Inst::F128Powi { .. }
                | Inst::F128Scale { .. }
                | Inst::FloatToF128 { .. }
                | Inst::F128ToFloat { .. }
                | Inst::IntToF128 { .. }
                | Inst::Int128ToF128 { .. }
                | Inst::F128ToInt { .. }
                | Inst::F128ToInt128 { .. } => rare_float(r, inst),

                Inst::Load8 { dst, base, low, offset } => load!(1, dst, base, low, offset),
                Inst::Load16 { dst, base, low, offset } => load!(2, dst, base, low, offset),
                Inst::Load32 { dst, base, low, offset } => load!(4, dst, base, low, offset),
                Inst::Load64 { dst, base, low, offset } => load!(8, dst, base, low, offset),
                Inst::Store8 { src, base, low, offset } => store!(1, src, base, low, offset),
                Inst::Store16 { src, base, low, offset } => store!(2, src, base, low, offset),
                Inst::Store32 { src, base, low, offset } => store!(4, src, base, low, offset),
                Inst::Store64 { src, base, low, offset } => store!(8, src, base, low, offset),
                Inst::LoadSlot8 { dst, offset } => load_slot!(1, dst, offset),
                Inst::LoadSlot16 { dst, offset } => load_slot!(2, dst, offset),
                Inst::LoadSlot32 { dst, offset } => load_slot!(4, dst, offset),
                Inst::LoadSlot64 { dst, offset } => load_slot!(8, dst, offset),
                Inst::StoreSlot8 { src, offset } => store_slot!(1, src, offset),
                Inst::StoreSlot16 { src, offset } => store_slot!(2, src, offset),
                Inst::StoreSlot32 { src, offset } => store_slot!(4, src, offset),
                Inst::StoreSlot64 { src, offset } => store_slot!(8, src, offset),
                Inst::LoadPadding { dst, base, shape, offset } => {
                    let address = get!(base).wrapping_add(i64::from(offset) as u64);
                    let low = (1 << (shape & 15)) - 1;
                    space.pc = pc as u32;
                    get!(dst) = check!(space.load_padding(address, 1 << (shape >> 4), low));
                }
                Inst::LoadSlotPadding { dst, width, offset } => {
                    let address = space.stack.slot_address(offset);
                    space.pc = pc as u32;
                    get!(dst) = check!(space.load_padding(address, u64::from(width.bytes()), 0));
                }
                Inst::SlotAddr { dst, offset } => get!(dst) = space.stack.slot_address(offset),
                Inst::StorageLive { .. } | Inst::StorageDead { .. } if slots == NO_SLOTS => {
                    space.pc = pc as u32;
                    check!(set_storage(space, inst));
                }
                Inst::StorageLive { offset, size } => space.stack.storage_live(offset, size),
                Inst::StorageDead { offset, size } => space.stack.storage_dead(offset, size),
                Inst::Index { dst, base, index, scale } => {
                    get!(dst) = get!(base).wrapping_add(get!(index).wrapping_mul(u64::from(scale)));
                }
                Inst::CheckAlign { .. }
                | Inst::Copy { .. }
                | Inst::CopyToSlot { .. }
                | Inst::CopyFromSlot { .. }
                | Inst::CopySlots { .. }
                | Inst::CopyNonOverlapping { .. }
                | Inst::CopyOverlapping { .. }
                | Inst::Fill { .. }
                | Inst::Repeat { .. }
                | Inst::Compare { .. }
                | Inst::Deinit { .. } => {
                    space.pc = pc as u32;
                    check!(block(r, space, code, inst));
                }

                Inst::Jump { to } => jump!(to),
                Inst::JumpIf { cond, to } => {
                    if get!(cond) != 0 {
                        jump!(to);
                    }
                }
                Inst::JumpIfNot { cond, to } => {
                    if get!(cond) == 0 {
                        jump!(to);
                    }
                }
                Inst::JumpEq { a, b, to } => jump_cmp!(a, b, to, |a, b| a == b),
                Inst::JumpNe { a, b, to } => jump_cmp!(a, b, to, |a, b| a != b),
                Inst::JumpLtU { a, b, to } => jump_cmp!(a, b, to, |a, b| a < b),
                Inst::JumpLeU { a, b, to } => jump_cmp!(a, b, to, |a, b| a <= b),
                Inst::JumpLtS64 { a, b, to } => jump_cmp!(a, b, to, |a, b| (a as i64) < b as i64),
                Inst::JumpLeS64 { a, b, to } => jump_cmp!(a, b, to, |a, b| a as i64 <= b as i64),
                Inst::JumpLtS32 { a, b, to } => jump_cmp!(a, b, to, |a, b| (a as i32) < b as i32),
                Inst::JumpLeS32 { a, b, to } => jump_cmp!(a, b, to, |a, b| a as i32 <= b as i32),
                Inst::JumpEqI { a, imm, to } => jump_imm!(a, imm, to, |a, b| a == b as u64),
                Inst::JumpNeI { a, imm, to } => jump_imm!(a, imm, to, |a, b| a != b as u64),
                Inst::JumpLtUI { a, imm, to } => jump_imm!(a, imm, to, |a, b| a < b as u64),
                Inst::JumpGtUI { a, imm, to } => jump_imm!(a, imm, to, |a, b| a > b as u64),
                Inst::JumpLtSI32 { a, imm, to } => jump_imm!(a, imm, to, |a, b| i64::from(a as i32) < b),
                Inst::JumpGtSI32 { a, imm, to } => jump_imm!(a, imm, to, |a, b| i64::from(a as i32) > b),
                Inst::JumpLtSI64 { a, imm, to } => jump_imm!(a, imm, to, |a, b| (a as i64) < b),
                Inst::JumpGtSI64 { a, imm, to } => jump_imm!(a, imm, to, |a, b| a as i64 > b),
                Inst::JumpAddU64 { dst, a, b, to } => jump_overflow!(dst, a, b, to, u64, overflowing_add, u64),
                Inst::JumpAddS64 { dst, a, b, to } => jump_overflow!(dst, a, b, to, i64, overflowing_add, u64),
                Inst::JumpAddU32 { dst, a, b, to } => jump_overflow!(dst, a, b, to, u32, overflowing_add, u32),
                Inst::JumpAddS32 { dst, a, b, to } => jump_overflow!(dst, a, b, to, i32, overflowing_add, u32),
                Inst::JumpSubU64 { dst, a, b, to } => jump_overflow!(dst, a, b, to, u64, overflowing_sub, u64),
                Inst::JumpSubS64 { dst, a, b, to } => jump_overflow!(dst, a, b, to, i64, overflowing_sub, u64),
                Inst::JumpSubU32 { dst, a, b, to } => jump_overflow!(dst, a, b, to, u32, overflowing_sub, u32),
                Inst::JumpSubS32 { dst, a, b, to } => jump_overflow!(dst, a, b, to, i32, overflowing_sub, u32),
                Inst::JumpMulU64 { dst, a, b, to } => jump_overflow!(dst, a, b, to, u64, overflowing_mul, u64),
                Inst::JumpMulU32 { dst, a, b, to } => jump_overflow!(dst, a, b, to, u32, overflowing_mul, u32),
                Inst::JumpMulS32 { dst, a, b, to } => jump_overflow!(dst, a, b, to, i32, overflowing_mul, u32),
                Inst::Switch { src, table } => {
                    let table = &code.switches[table as usize];
                    let value = get!(src);
                    let to = if table.cases.len() <= 8 {
                        table.cases.iter().find(|case| case.0 == value).map(|case| case.1)
                    } else {
                        table.cases.binary_search_by_key(&value, |case| case.0).ok().map(|index| table.cases[index].1)
                    };
                    jump!(to.unwrap_or(table.otherwise));
                }

                Inst::Call { site } | Inst::CallPtr { site } => {
                    let site = &code.sites[site as usize];
                    let callee = match site.callee {
                        Callee::Func(callee) => callee,
                        Callee::Pointer(at) => {
                            check!(pointed_to(image, registers[base as usize + usize::from(at)], site.args.len()))
                        }
                        Callee::Builtin(_) => unreachable!("builtins are called by an instruction of their own"),
                    };
                    if steps == 0 {
                        leave!(Exit::OutOfSteps);
                    }
                    steps -= 1;
                    let callee = image.code(callee);
                    let new_base = base + code.registers;
                    reserve(registers, new_base, callee.registers);
                    let first = new_base as usize + usize::from(callee.results);
                    let near = usize::from(NEAR_REGISTERS - u16::from(callee.results)).min(site.args.len());
                    for (index, arg) in site.args[..near].iter().enumerate() {
                        registers[first + index] = registers[base as usize + usize::from(*arg)];
                    }
                    for (index, arg) in site.args[near..].iter().enumerate() {
                        registers[new_base as usize + WINDOW + index] = registers[base as usize + usize::from(*arg)];
                    }
                    frames[top].pc = pc as u32;
                    let Space { stack, heap, thread, .. } = space;
                    let kind = FrameKind::Plain;
                    if let Err(trap) = push(frames, stack, heap, *thread, callee, new_base, site.dst, kind) {
                        leave!(Exit::Trap(trap));
                    }
                    continue 'frame;
                }
                Inst::Return => {
                    let frame = frames[top];
                    if frame.kind != FrameKind::Plain || frame.big_slots {
                        leave!(Exit::Slow);
                    }
                    let caller = frames[top - 1].base as usize;
                    for index in 0..u16::from(code.results) {
                        registers[caller + physical(frame.dst + index)] =
                            registers[frame.base as usize + usize::from(index)];
                    }
                    if frame.memory
                        && let Some(address) = space.stack.pop()
                    {
                        space.pc = pc as u32;
                        check!(space.drop_block(address, space.place()));
                    }
                    frames.pop();
                    continue 'frame;
                }

                Inst::BigSlot { .. }
                | Inst::BigSlotDead { .. }
                | Inst::ThreadLocal { .. }
                | Inst::AtomicLoad { .. }
                | Inst::AtomicStore { .. }
                | Inst::AtomicRmw { .. }
                | Inst::AtomicCas { .. }
                | Inst::Fence { .. }
                | Inst::CatchUnwind { .. }
                | Inst::Builtin { .. }
                | Inst::Resume
                | Inst::Unreachable { .. }
                | Inst::Unsupported { .. } => leave!(Exit::Slow),
            }
        }
    }
}

/// Pushes the frame of a function whose arguments are in place.
#[inline(always)]
#[allow(clippy::too_many_arguments, reason = "parts of a thread and of a call, which are borrowed apart")]
pub fn push(
    frames: &mut Vec<Frame>,
    stack: &mut Stack,
    heap: &mut Heap,
    thread: ThreadId,
    callee: &Code,
    base: u32,
    dst: u16,
    kind: FrameKind,
) -> Checked<()> {
    let depth = frames.len();
    let user = if callee.user { depth as u32 } else { frames.last().map_or(0, |frame| frame.user) };
    let quiet = match callee.quiet {
        Quiet::Yes => true,
        Quiet::No => false,
        Quiet::Inherited => frames.last().is_some_and(|frame| frame.quiet),
    };
    let memory = !callee.shadow.is_empty();
    if depth >= MAX_FRAMES {
        return Err(stack_overflow());
    }
    if memory && heap.shares_frame(callee.func) {
        push_shared(stack, heap, thread, callee)?;
    } else if memory {
        stack.push(callee.func, &callee.shadow);
        if stack.len() > MAX_STACK {
            stack.pop();
            return Err(stack_overflow());
        }
    }
    let registers = callee.registers;
    frames.push(Frame { func: callee.func, pc: 0, base, registers, dst, kind, memory, big_slots: false, user, quiet });
    Ok(())
}

/// Pushes a frame whose memory other threads use, too.
#[cold]
fn push_shared(stack: &mut Stack, heap: &mut Heap, thread: ThreadId, callee: &Code) -> Checked<()> {
    match heap.alloc_frame(thread, callee.func, &callee.shadow) {
        Some(address) => stack.push_shared(callee.func, address),
        None => return Err(Fault::limit("the thread has made too many allocations").into()),
    }
    Ok(())
}

#[cold]
fn set_storage(space: &mut Space, inst: Inst) -> Checked<()> {
    match inst {
        Inst::StorageLive { offset, size } => space.set_storage(offset, size, LIVE),
        Inst::StorageDead { offset, size } => space.set_storage(offset, size, 0),
        _ => Ok(()),
    }
}

/// The function at an address, if it takes so many arguments.
#[inline]
pub fn pointed_to(image: &Image, address: u64, args: usize) -> Checked<FuncId> {
    let index = code_index(address).filter(|index| (*index as usize) < image.program.functions.len());
    match index {
        Some(index) if usize::from(image.program.functions[index as usize].params) == args => Ok(FuncId(index)),
        Some(index) => Err(wrong_arguments(image, FuncId(index), args)),
        None => Err(no_function(address)),
    }
}

#[cold]
fn no_function(address: u64) -> Box<Trap> {
    let fault = match address {
        0 => Fault::new(crate::verdict::ErrorKind::NullPointer, "call of a null pointer"),
        _ => Fault::undefined(format!("call of {address:#x}, which is not a function")),
    };
    fault.into()
}

#[cold]
pub fn wrong_arguments(image: &Image, func: FuncId, args: usize) -> Box<Trap> {
    let function = image.program.function(func);
    Fault::undefined(format!(
        "call of `{}` through a pointer of another type: {args} arguments in registers instead of {}",
        function.name, function.params
    ))
    .into()
}

#[cold]
fn stack_overflow() -> Box<Trap> {
    Fault::new(crate::verdict::ErrorKind::Abort, "stack overflow").into()
}

#[cold]
fn division_fault(divisor: u128) -> Box<Trap> {
    Fault::undefined(if divisor == 0 { "division by zero" } else { "overflow of a division" }).into()
}

#[cold]
fn overflow_fault(op: OverflowOp) -> Box<Trap> {
    Fault::undefined(format!("overflow of an unchecked {}", arith::name(op))).into()
}

#[cold]
fn range_fault(value: u64, type_name: &str) -> Box<Trap> {
    Fault::undefined(format!("{value:#x} is not a valid value of type `{type_name}`")).into()
}

#[inline(never)]
fn move_far(registers: &mut [u64], base: u32, inst: Inst) {
    let base = base as usize;
    match inst {
        Inst::FarGet { dst, far } => registers[base + usize::from(dst)] = registers[base + usize::from(far)],
        Inst::FarSet { src, far } => registers[base + usize::from(far)] = registers[base + usize::from(src)],
        _ => {}
    }
}

#[inline(never)]
fn float_bin(op: crate::program::FloatBinOp, ty: crate::program::FloatTy, a: u64, b: u64) -> u64 {
    float::bin(op, ty, a, b)
}

#[inline(never)]
fn float_un(op: crate::program::FloatUnOp, ty: crate::program::FloatTy, a: u64) -> u64 {
    float::un(op, ty, a)
}

/// Operations on floats of 128 bits, and those that are rare.
#[inline(never)]
fn rare_float(r: &mut Window, inst: Inst) {
    let at = |register: u8| r[usize::from(register)];
    let wide = |register: u8| wide_at(r, register);
    match inst {
        Inst::FloatMulAdd { ty, dst, a, b, c } => r[usize::from(dst)] = float::mul_add(ty, at(a), at(b), at(c)),
        Inst::FloatPowi { ty, dst, src, exp } => r[usize::from(dst)] = float::powi(ty, at(src), at(exp)),
        Inst::FloatScale { ty, dst, src, exp } => r[usize::from(dst)] = float::scale(ty, at(src), at(exp)),
        Inst::F128Bin { op, dst, a, b } if op.compares() => {
            r[usize::from(dst)] = f128::bin(op, wide(a), wide(b)) as u64
        }
        Inst::F128Bin { op, dst, a, b } => set_wide(r, dst, f128::bin(op, wide(a), wide(b))),
        Inst::F128Un { op, dst, src } => set_wide(r, dst, f128::un(op, wide(src))),
        Inst::F128MulAdd { dst, a, b, c } => set_wide(r, dst, f128::mul_add(wide(a), wide(b), wide(c))),
        Inst::F128Powi { dst, src, exp } => set_wide(r, dst, f128::powi(wide(src), at(exp))),
        Inst::F128Scale { dst, src, exp } => set_wide(r, dst, f128::scale(wide(src), at(exp))),
        Inst::FloatToF128 { from, dst, src } => set_wide(r, dst, f128::from_float(from, at(src))),
        Inst::F128ToFloat { to, dst, src } => r[usize::from(dst)] = f128::to_float(to, wide(src)),
        Inst::IntToF128 { from, dst, src } => set_wide(r, dst, f128::from_int(from, at(src))),
        Inst::Int128ToF128 { signed, dst, src } => set_wide(r, dst, f128::from_int128(signed, wide(src))),
        Inst::F128ToInt { to, dst, src } => r[usize::from(dst)] = f128::to_int(to, wide(src)),
        Inst::F128ToInt128 { signed, dst, src } => set_wide(r, dst, f128::to_int128(signed, wide(src))),
        _ => unreachable!("not a rare operation on floats"),
    }
}

fn overflow128(r: &Window, op: OverflowOp, signed: bool, a: u8, b: u8) -> (u128, bool) {
    let shift = matches!(op, OverflowOp::Shl | OverflowOp::Shr);
    let b = if shift { u128::from(r[usize::from(b)]) } else { wide_at(r, b) };
    int128::overflowing(op, signed, wide_at(r, a), b)
}

/// Operations on many bytes.
#[inline(never)]
fn block(r: &mut Window, space: &mut Space, code: &Code, inst: Inst) -> Checked<()> {
    let low = |align: u8| (1u64 << align) - 1;
    let at = |register: u8| r[usize::from(register)];
    match inst {
        Inst::CheckAlign { base, align, write, offset } => {
            let access = if write { Access::Write } else { Access::Read };
            space.check_align(at(base).wrapping_add(i64::from(offset) as u64), low(align), access)
        }
        Inst::Copy { align, dst, src, size } => {
            let (dst, src) = (at(dst), at(src));
            space.check_align(src, low(align), Access::Read)?;
            space.check_align(dst, low(align), Access::Write)?;
            space.copy_value(dst, src, u64::from(size))
        }
        Inst::CopyToSlot { align, dst, src, size } => {
            let src = at(src);
            space.check_align(src, low(align), Access::Read)?;
            let dst = space.stack.slot_address(dst);
            space.copy_value(dst, src, u64::from(size))
        }
        Inst::CopyFromSlot { align, dst, src, size } => {
            let dst = at(dst);
            space.check_align(dst, low(align), Access::Write)?;
            let src = space.stack.slot_address(src);
            space.copy_value(dst, src, u64::from(size))
        }
        Inst::CopySlots { dst, src, size } => {
            let (dst, src) = (space.stack.slot_address(dst), space.stack.slot_address(src));
            space.copy_value(dst, src, u64::from(size))
        }
        Inst::CopyNonOverlapping { align, dst, src, len } => {
            let (dst, src, len) = (at(dst), at(src), at(len));
            space.check_align(src, low(align), Access::Read)?;
            space.check_align(dst, low(align), Access::Write)?;
            space.copy_nonoverlapping(dst, src, len)
        }
        Inst::CopyOverlapping { align, dst, src, len } => {
            let (dst, src, len) = (at(dst), at(src), at(len));
            space.check_align(src, low(align), Access::Read)?;
            space.check_align(dst, low(align), Access::Write)?;
            space.copy(dst, src, len)
        }
        Inst::Fill { align, dst, value, len } => {
            space.check_align(at(dst), low(align), Access::Write)?;
            space.fill(at(dst), at(value) as u8, at(len))
        }
        Inst::Repeat { dst, size } => {
            let (size, count) = (code.consts[size as usize], code.consts[size as usize + 1]);
            space.repeat(at(dst), size, count)
        }
        Inst::Compare { dst, a, b, len } => {
            let ordering = space.compare(at(a), at(b), at(len))?;
            r[usize::from(dst)] = u64::from(ordering as i8 as i32 as u32);
            Ok(())
        }
        Inst::Deinit { dst, size } => space.deinit(at(dst), u64::from(size)),
        _ => unreachable!("not an operation on many bytes"),
    }
}
