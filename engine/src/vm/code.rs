//! The code that the interpreter runs: a function of the program, translated once.
//!
//! Instructions take eight bytes: one opcode per operation *and* type where that matters for speed, and register
//! numbers of one byte, so that the window of 256 registers in which a function runs needs no bounds checks. What does
//! not fit (calls, tables, large numbers) is in tables beside the code. Registers of a function that needs more than
//! [`NEAR_REGISTERS`] are moved in and out around their uses ([`Inst::FarGet`], [`Inst::FarSet`]).

use crate::program::{
    AtomicWidth, BinOp, Builtin, F128BinOp, F128UnOp, FloatBinOp, FloatTy, FloatUnOp, FuncId, IntTy, Ordering,
    OverflowOp, PlaceId, Quiet, RmwOp, SwitchTable, UnOp, Unwind, ValidRange, Width,
};
use crate::verdict::ErrorKind;

use super::prepare::Set;

/// A register of the window.
pub type R = u8;

/// Registers that instructions name directly. The others of the window are scratch.
pub const NEAR_REGISTERS: u16 = 248;
/// The registers in a window.
pub const WINDOW: usize = 256;
/// The first scratch register.
pub const SCRATCH: R = NEAR_REGISTERS as R;

/// Where a register of a function is in its window.
#[inline(always)]
pub fn physical(register: u16) -> usize {
    let register = usize::from(register);
    if register < NEAR_REGISTERS as usize { register } else { register + (WINDOW - NEAR_REGISTERS as usize) }
}

/// One instruction.
#[rustfmt::skip]
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Inst {
    Imm { dst: R, value: i32 },
    Const { dst: R, index: u32 },
    Mov { dst: R, src: R },
    Mov2 { dst: R, src: R },
    FarGet { dst: R, far: u16 },
    FarSet { src: R, far: u16 },

    // Integers: those on zero-extended values work for every width.
    Add64 { dst: R, a: R, b: R },
    Sub64 { dst: R, a: R, b: R },
    Mul64 { dst: R, a: R, b: R },
    Shl64 { dst: R, a: R, b: R },
    ShrU64 { dst: R, a: R, b: R },
    ShrS64 { dst: R, a: R, b: R },
    Add32 { dst: R, a: R, b: R },
    Sub32 { dst: R, a: R, b: R },
    Mul32 { dst: R, a: R, b: R },
    Shl32 { dst: R, a: R, b: R },
    ShrU32 { dst: R, a: R, b: R },
    ShrS32 { dst: R, a: R, b: R },
    And { dst: R, a: R, b: R },
    Or { dst: R, a: R, b: R },
    Xor { dst: R, a: R, b: R },
    Eq { dst: R, a: R, b: R },
    Ne { dst: R, a: R, b: R },
    LtU { dst: R, a: R, b: R },
    LeU { dst: R, a: R, b: R },
    LtS64 { dst: R, a: R, b: R },
    LeS64 { dst: R, a: R, b: R },
    LtS32 { dst: R, a: R, b: R },
    LeS32 { dst: R, a: R, b: R },
    /// The immediate is sign-extended to 64 bits.
    AddI64 { dst: R, a: R, imm: i32 },
    AddI32 { dst: R, a: R, imm: i32 },
    MulI64 { dst: R, a: R, imm: i32 },
    AndI { dst: R, a: R, imm: i32 },
    OrI { dst: R, a: R, imm: i32 },
    XorI { dst: R, a: R, imm: i32 },
    ShlI64 { dst: R, a: R, imm: u8 },
    ShrUI64 { dst: R, a: R, imm: u8 },
    ShrSI64 { dst: R, a: R, imm: u8 },
    ShlI32 { dst: R, a: R, imm: u8 },
    ShrUI32 { dst: R, a: R, imm: u8 },
    EqI { dst: R, a: R, imm: i32 },
    NeI { dst: R, a: R, imm: i32 },
    LtUI { dst: R, a: R, imm: i32 },
    GtUI { dst: R, a: R, imm: i32 },
    Bin { op: BinOp, ty: IntTy, dst: R, a: R, b: R },
    Overflow { op: OverflowOp, ty: IntTy, dst: R, flag: R, a: R, b: R },
    OverflowAddU64 { dst: R, flag: R, a: R, b: R },
    OverflowSubU64 { dst: R, flag: R, a: R, b: R },
    OverflowMulU64 { dst: R, flag: R, a: R, b: R },
    OverflowAddS32 { dst: R, flag: R, a: R, b: R },
    OverflowSubS32 { dst: R, flag: R, a: R, b: R },
    OverflowMulS32 { dst: R, flag: R, a: R, b: R },
    OverflowAddU32 { dst: R, flag: R, a: R, b: R },
    Unchecked { op: OverflowOp, ty: IntTy, dst: R, a: R, b: R },
    Un { op: UnOp, ty: IntTy, dst: R, src: R },
    Cast { from: IntTy, to: Width, dst: R, src: R },
    SignExtend32 { dst: R, src: R },
    Truncate32 { dst: R, src: R },
    Select { dst: R, cond: R, a: R, b: R },
    CheckRange { src: R, range: u32 },

    // 128 bits
    Bin128 { op: BinOp, signed: bool, dst: R, a: R, b: R },
    Overflow128 { op: OverflowOp, signed: bool, dst: R, flag: R, a: R, b: R },
    Unchecked128 { op: OverflowOp, signed: bool, dst: R, a: R, b: R },
    Un128 { op: UnOp, dst: R, src: R },
    Widen128 { from: IntTy, dst: R, src: R },
    Select128 { dst: R, cond: R, a: R, b: R },

    // Floats
    AddF64 { dst: R, a: R, b: R },
    SubF64 { dst: R, a: R, b: R },
    MulF64 { dst: R, a: R, b: R },
    DivF64 { dst: R, a: R, b: R },
    FloatBin { op: FloatBinOp, ty: FloatTy, dst: R, a: R, b: R },
    FloatUn { op: FloatUnOp, ty: FloatTy, dst: R, src: R },
    FloatMulAdd { ty: FloatTy, dst: R, a: R, b: R, c: R },
    FloatPowi { ty: FloatTy, dst: R, src: R, exp: R },
    FloatScale { ty: FloatTy, dst: R, src: R, exp: R },
    FloatCast { from: FloatTy, to: FloatTy, dst: R, src: R },
    IntToFloat { from: IntTy, to: FloatTy, dst: R, src: R },
    IntToFloat128 { signed: bool, to: FloatTy, dst: R, src: R },
    FloatToInt { from: FloatTy, to: IntTy, dst: R, src: R },
    FloatToInt128 { from: FloatTy, signed: bool, dst: R, src: R },
    F128Bin { op: F128BinOp, dst: R, a: R, b: R },
    F128Un { op: F128UnOp, dst: R, src: R },
    F128MulAdd { dst: R, a: R, b: R, c: R },
    F128Powi { dst: R, src: R, exp: R },
    F128Scale { dst: R, src: R, exp: R },
    FloatToF128 { from: FloatTy, dst: R, src: R },
    F128ToFloat { to: FloatTy, dst: R, src: R },
    IntToF128 { from: IntTy, dst: R, src: R },
    Int128ToF128 { signed: bool, dst: R, src: R },
    F128ToInt { to: IntTy, dst: R, src: R },
    F128ToInt128 { signed: bool, dst: R, src: R },

    // Memory: `low` are the bits of the address that must be zero.
    Load8 { dst: R, base: R, low: u8, offset: i32 },
    Load16 { dst: R, base: R, low: u8, offset: i32 },
    Load32 { dst: R, base: R, low: u8, offset: i32 },
    Load64 { dst: R, base: R, low: u8, offset: i32 },
    Store8 { src: R, base: R, low: u8, offset: i32 },
    Store16 { src: R, base: R, low: u8, offset: i32 },
    Store32 { src: R, base: R, low: u8, offset: i32 },
    Store64 { src: R, base: R, low: u8, offset: i32 },
    /// Uninitialized bytes read as zero. The alignment is in the low four bits, the log2 of the size above.
    LoadPadding { dst: R, base: R, shape: u8, offset: i32 },
    LoadSlotPadding { dst: R, width: Width, offset: u16 },
    /// For alignments that do not fit in the access itself.
    CheckAlign { base: R, align: u8, write: bool, offset: i32 },
    LoadSlot8 { dst: R, offset: u16 },
    LoadSlot16 { dst: R, offset: u16 },
    LoadSlot32 { dst: R, offset: u16 },
    LoadSlot64 { dst: R, offset: u16 },
    StoreSlot8 { src: R, offset: u16 },
    StoreSlot16 { src: R, offset: u16 },
    StoreSlot32 { src: R, offset: u16 },
    StoreSlot64 { src: R, offset: u16 },
    SlotAddr { dst: R, offset: u16 },
    /// The size is a constant.
    BigSlot { dst: R, align: u8, size: u32 },
    BigSlotDead { slot: R },
    StorageLive { offset: u16, size: u16 },
    StorageDead { offset: u16, size: u16 },
    Index { dst: R, base: R, index: R, scale: u32 },
    Copy { align: u8, dst: R, src: R, size: u32 },
    CopyToSlot { align: u8, src: R, dst: u16, size: u16 },
    CopyFromSlot { align: u8, dst: R, src: u16, size: u16 },
    CopySlots { dst: u16, src: u16, size: u16 },
    CopyNonOverlapping { align: u8, dst: R, src: R, len: R },
    CopyOverlapping { align: u8, dst: R, src: R, len: R },
    Fill { align: u8, dst: R, value: R, len: R },
    /// The size is a constant, the count the one after it.
    Repeat { dst: R, size: u32 },
    Compare { dst: R, a: R, b: R, len: R },
    Deinit { dst: R, size: u32 },
    ThreadLocal { dst: R, index: u32 },

    // Visible actions
    AtomicLoad { width: AtomicWidth, ordering: Ordering, dst: R, ptr: R },
    AtomicStore { width: AtomicWidth, ordering: Ordering, ptr: R, src: R },
    AtomicRmw { op: RmwOp, width: AtomicWidth, ordering: Ordering, dst: R, ptr: R, src: R },
    AtomicCas { site: u32 },
    Fence { ordering: Ordering },

    // Control
    Jump { to: u32 },
    JumpIf { cond: R, to: u32 },
    JumpIfNot { cond: R, to: u32 },
    JumpEq { a: R, b: R, to: u32 },
    JumpNe { a: R, b: R, to: u32 },
    JumpLtU { a: R, b: R, to: u32 },
    JumpLeU { a: R, b: R, to: u32 },
    JumpLtS64 { a: R, b: R, to: u32 },
    JumpLeS64 { a: R, b: R, to: u32 },
    JumpLtS32 { a: R, b: R, to: u32 },
    JumpLeS32 { a: R, b: R, to: u32 },
    JumpEqI { a: R, imm: i16, to: u32 },
    JumpNeI { a: R, imm: i16, to: u32 },
    JumpLtUI { a: R, imm: i16, to: u32 },
    JumpGtUI { a: R, imm: i16, to: u32 },
    JumpLtSI32 { a: R, imm: i16, to: u32 },
    JumpGtSI32 { a: R, imm: i16, to: u32 },
    JumpLtSI64 { a: R, imm: i16, to: u32 },
    JumpGtSI64 { a: R, imm: i16, to: u32 },
    // Arithmetic that jumps where it overflows.
    JumpAddU64 { dst: R, a: R, b: R, to: u32 },
    JumpSubU64 { dst: R, a: R, b: R, to: u32 },
    JumpMulU64 { dst: R, a: R, b: R, to: u32 },
    JumpAddS64 { dst: R, a: R, b: R, to: u32 },
    JumpSubS64 { dst: R, a: R, b: R, to: u32 },
    JumpAddU32 { dst: R, a: R, b: R, to: u32 },
    JumpSubU32 { dst: R, a: R, b: R, to: u32 },
    JumpMulU32 { dst: R, a: R, b: R, to: u32 },
    JumpAddS32 { dst: R, a: R, b: R, to: u32 },
    JumpSubS32 { dst: R, a: R, b: R, to: u32 },
    JumpMulS32 { dst: R, a: R, b: R, to: u32 },
    Switch { src: R, table: u32 },
    Call { site: u32 },
    CallPtr { site: u32 },
    CatchUnwind { dst: R, try_fn: R, data: R, catch_fn: R },
    Builtin { site: u32 },
    Return,
    Resume,
    Unreachable { kind: ErrorKind, message: u32 },
    Unsupported { message: u32 },
}

/// A function that instructions come from: the function itself, or one that was inlined into it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Scope {
    pub func: FuncId,
    /// The scope that it was called from, and where.
    pub parent: Option<(u16, PlaceId)>,
}

/// What a call site calls.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Callee {
    Func(FuncId),
    /// The function whose address is in this place of the window.
    Pointer(u16),
    Builtin(Builtin),
}

/// A call, in full. Registers are places in the window, except for `dst`.
#[derive(Clone, Debug, PartialEq)]
pub struct CallSite {
    pub callee: Callee,
    pub args: Box<[u16]>,
    /// The register of the function that gets the first result.
    pub dst: u16,
    /// Its target is an index into the instructions.
    pub unwind: Unwind,
}

/// A compare-and-swap, in full.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct CasSite {
    pub width: AtomicWidth,
    pub success: Ordering,
    pub failure: Ordering,
    pub weak: bool,
    pub dst: R,
    pub ptr: R,
    pub expected: R,
    pub new: R,
}

/// A function as it runs.
#[derive(Debug)]
pub struct Code {
    pub func: FuncId,
    pub insts: Box<[Inst]>,
    /// Where each instruction comes from.
    pub places: Box<[PlaceId]>,
    /// The scope of each instruction.
    pub scope_of: Box<[u16]>,
    pub scopes: Vec<Scope>,
    pub consts: Vec<u64>,
    pub sites: Vec<CallSite>,
    pub cas_sites: Vec<CasSite>,
    /// Where it may stop or call (the instruction after that), which registers are read later; empty where that is not
    /// known.
    pub live: Box<[(u32, Set)]>,
    /// The first and the last instruction of each loop, in order; loops that overlap are one.
    pub loops: Box<[(u32, u32)]>,
    pub switches: Vec<SwitchTable>,
    pub ranges: Vec<ValidRange>,
    /// How many registers it takes.
    pub registers: u32,
    pub params: u16,
    pub results: u8,
    /// The shadow of a new frame; empty where it has no memory.
    pub shadow: Box<[u8]>,
    /// Whether reports point into it: it is not the standard library's.
    pub user: bool,
    /// Whether its atomics are visible actions.
    pub quiet: Quiet,
}

impl Code {
    /// Whether a function that has stopped before this instruction, or calls another, is in a loop.
    pub fn is_in_loop(&self, pc: u32) -> bool {
        let at = pc.saturating_sub(1);
        self.loops.iter().any(|(first, last)| (*first..=*last).contains(&at))
    }

    /// The registers that are read later by a function that has stopped before this instruction, if that is known.
    pub fn live_at(&self, pc: u32) -> Option<&Set> {
        let at = self.live.binary_search_by_key(&pc, |(at, _)| *at).ok()?;
        Some(&self.live[at].1)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn instructions_take_eight_bytes() {
        assert_eq!(size_of::<Inst>(), 8);
    }
}
