//! The instructions of the virtual machine.
//!
//! A function works on 64-bit registers and on a frame of addressable bytes for the locals whose address is taken.
//! A scalar of less than 64 bits sits zero-extended in a register (also a signed one: operations extend the sign where
//! it matters); a 128-bit one takes two neighbouring registers, low half first. A register always holds initialized
//! data: loading uninitialized bytes into one is an error of the program.
//!
//! Jump targets are indices into the code of the function.

use serde::{Deserialize, Serialize};

use super::Builtin;
use crate::verdict::ErrorKind;

/// A register of the current frame.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
pub struct Reg(pub u16);

/// An index into the code of a function.
pub type Pc = u32;

/// A function of the program.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
pub struct FuncId(pub u32);

/// Where a list of registers starts in [`super::Function::lists`]: its length comes first.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct List(pub u32);

/// The size of a scalar in memory.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
pub enum Width {
    W8,
    W16,
    W32,
    W64,
}

impl Width {
    /// The width of so many bytes.
    pub fn from_bytes(bytes: u64) -> Option<Width> {
        match bytes {
            1 => Some(Width::W8),
            2 => Some(Width::W16),
            4 => Some(Width::W32),
            8 => Some(Width::W64),
            _ => None,
        }
    }

    /// How many bytes.
    #[inline(always)]
    pub const fn bytes(self) -> u32 {
        1 << (self as u32)
    }

    /// How many bits.
    #[inline(always)]
    pub const fn bits(self) -> u32 {
        8 << (self as u32)
    }

    /// The bits of a register that a scalar of this width uses.
    #[inline(always)]
    pub const fn mask(self) -> u64 {
        u64::MAX >> (64 - self.bits())
    }
}

/// An integer type of up to 64 bits.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct IntTy {
    pub width: Width,
    pub signed: bool,
}

impl IntTy {
    pub const U8: IntTy = IntTy { width: Width::W8, signed: false };
    pub const U64: IntTy = IntTy { width: Width::W64, signed: false };
}

/// A floating-point type of up to 64 bits.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub enum FloatTy {
    F16,
    F32,
    F64,
}

/// A binary operation on integers; results wrap around to the type.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub enum BinOp {
    Add,
    Sub,
    Mul,
    /// Division by zero, and the overflow of a signed division, are undefined behaviour.
    Div,
    Rem,
    And,
    Or,
    Xor,
    /// Shifts take the amount modulo the width of the type.
    Shl,
    Shr,
    Eq,
    Ne,
    Lt,
    Le,
    Gt,
    Ge,
    /// -1, 0 or 1 as an `i8`.
    Cmp,
}

/// A binary operation whose overflow is of interest. A shift overflows where the amount is not below the width.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub enum OverflowOp {
    Add,
    Sub,
    Mul,
    Shl,
    Shr,
}

/// A unary operation on integers.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub enum UnOp {
    Neg,
    Not,
    CountOnes,
    /// The width where the operand is zero.
    LeadingZeros,
    TrailingZeros,
    SwapBytes,
    ReverseBits,
}

/// A binary operation on floats. Comparisons give 0 or 1.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub enum FloatBinOp {
    Add,
    Sub,
    Mul,
    Div,
    Rem,
    Eq,
    Ne,
    Lt,
    Le,
    Gt,
    Ge,
    /// As `f64::min`: a NaN operand is ignored.
    Min,
    Max,
    /// As `f64::minimum`: a NaN operand is the result, and -0 is less than +0.
    Minimum,
    Maximum,
    CopySign,
    Pow,
    Atan2,
    Hypot,
    /// The difference, or zero where it is negative.
    Dim,
}

impl FloatBinOp {
    /// Whether the result is 0 or 1.
    pub const fn compares(self) -> bool {
        use FloatBinOp::{Eq, Ge, Gt, Le, Lt, Ne};
        matches!(self, Eq | Ne | Lt | Le | Gt | Ge)
    }
}

/// A unary operation on floats.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub enum FloatUnOp {
    Neg,
    Abs,
    Sqrt,
    Floor,
    Ceil,
    Trunc,
    Round,
    RoundTiesEven,
    Exp,
    Exp2,
    ExpM1,
    Ln,
    Ln1p,
    Log2,
    Log10,
    Sin,
    Cos,
    Tan,
    Asin,
    Acos,
    Atan,
    Sinh,
    Cosh,
    Tanh,
    Asinh,
    Acosh,
    Atanh,
    Cbrt,
    Gamma,
    LnGamma,
    Erf,
    Erfc,
    /// As a number of at least 1/2 and less than 1, times two to the power of [`FloatUnOp::Exponent`].
    Significand,
    Exponent,
}

/// A binary operation on floats of 128 bits, as [`FloatBinOp`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub enum F128BinOp {
    Add,
    Sub,
    Mul,
    Div,
    Rem,
    Eq,
    Ne,
    Lt,
    Le,
    Gt,
    Ge,
    Min,
    Max,
    Minimum,
    Maximum,
    CopySign,
    Dim,
}

impl F128BinOp {
    /// Whether the result is 0 or 1, in one register.
    pub const fn compares(self) -> bool {
        use F128BinOp::{Eq, Ge, Gt, Le, Lt, Ne};
        matches!(self, Eq | Ne | Lt | Le | Gt | Ge)
    }
}

/// A unary operation on floats of 128 bits.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub enum F128UnOp {
    Neg,
    Abs,
    Sqrt,
    Floor,
    Ceil,
    Trunc,
    Round,
    RoundTiesEven,
}

/// How an atomic access or a fence is ordered.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub enum Ordering {
    Relaxed,
    Release,
    Acquire,
    AcqRel,
    SeqCst,
}

/// The operation of an atomic read-modify-write.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub enum RmwOp {
    Xchg,
    Add,
    Sub,
    And,
    Nand,
    Or,
    Xor,
    /// Signed.
    Max,
    Min,
    /// Unsigned.
    UMax,
    UMin,
}

impl RmwOp {
    /// The value written, given the value read and the operand; all have so many bits.
    #[inline]
    pub fn apply(self, bits: u32, old: u128, operand: u128) -> u128 {
        let unused = 128 - bits;
        let unsigned = |value: u128| value << unused >> unused;
        let signed = |value: u128| (value << unused) as i128 >> unused;
        unsigned(match self {
            RmwOp::Xchg => operand,
            RmwOp::Add => old.wrapping_add(operand),
            RmwOp::Sub => old.wrapping_sub(operand),
            RmwOp::And => old & operand,
            RmwOp::Nand => !(old & operand),
            RmwOp::Or => old | operand,
            RmwOp::Xor => old ^ operand,
            RmwOp::Max => signed(old).max(signed(operand)) as u128,
            RmwOp::Min => signed(old).min(signed(operand)) as u128,
            RmwOp::UMax => unsigned(old).max(unsigned(operand)),
            RmwOp::UMin => unsigned(old).min(unsigned(operand)),
        })
    }
}

/// The size of an atomic access. A 128-bit one takes register pairs.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub enum AtomicWidth {
    W8,
    W16,
    W32,
    W64,
    W128,
}

impl AtomicWidth {
    /// The width of so many bytes.
    pub fn from_bytes(bytes: u64) -> Option<AtomicWidth> {
        match bytes {
            1 => Some(AtomicWidth::W8),
            2 => Some(AtomicWidth::W16),
            4 => Some(AtomicWidth::W32),
            8 => Some(AtomicWidth::W64),
            16 => Some(AtomicWidth::W128),
            _ => None,
        }
    }

    /// How many bytes.
    pub const fn bytes(self) -> u32 {
        1 << (self as u32)
    }
}

/// What a call does when the callee unwinds.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Unwind(u32);

impl Unwind {
    /// The frame is left, too.
    pub const CONTINUE: Unwind = Unwind(u32::MAX);
    /// Cannot happen: undefined behaviour.
    pub const UNREACHABLE: Unwind = Unwind(u32::MAX - 1);

    /// The cleanup code at `pc` runs and ends with [`Op::Resume`] (or does not end).
    pub fn cleanup(pc: Pc) -> Unwind {
        Unwind(pc)
    }

    /// Where the cleanup code starts, if there is any.
    pub fn target(self) -> Option<Pc> {
        (self.0 < u32::MAX - 1).then_some(self.0)
    }
}

/// One instruction. `dst` is written, other registers are read, unless said otherwise.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub enum Op {
    // Scalars
    Imm {
        dst: Reg,
        value: u64,
    },
    Mov {
        dst: Reg,
        src: Reg,
    },
    /// Moves the two registers from `src` on.
    Mov2 {
        dst: Reg,
        src: Reg,
    },
    Bin {
        op: BinOp,
        ty: IntTy,
        dst: Reg,
        a: Reg,
        b: Reg,
    },
    /// The second operand is `imm`, sign-extended to 64 bits and cut to the width of `ty`.
    BinImm {
        op: BinOp,
        ty: IntTy,
        dst: Reg,
        a: Reg,
        imm: i32,
    },
    /// The wrapped result, and 1 in `flag` where it overflowed.
    BinOverflow {
        op: OverflowOp,
        ty: IntTy,
        dst: Reg,
        flag: Reg,
        a: Reg,
        b: Reg,
    },
    /// Overflow is undefined behaviour.
    BinUnchecked {
        op: OverflowOp,
        ty: IntTy,
        dst: Reg,
        a: Reg,
        b: Reg,
    },
    Un {
        op: UnOp,
        ty: IntTy,
        dst: Reg,
        src: Reg,
    },
    /// Extends from `from` (by its sign if it is signed), then cuts to the width of `to`.
    Cast {
        from: IntTy,
        to: Width,
        dst: Reg,
        src: Reg,
    },
    /// `dst = if cond != 0 { a } else { b }`
    Select {
        dst: Reg,
        cond: Reg,
        a: Reg,
        b: Reg,
    },
    /// The value must be in the (wrapping) range of [`super::Function::ranges`]; otherwise: undefined behaviour.
    CheckRange {
        src: Reg,
        range: u32,
    },

    // 128-bit integers: register pairs. Comparisons give one register. Shifts take the amount from one register.
    Bin128 {
        op: BinOp,
        signed: bool,
        dst: Reg,
        a: Reg,
        b: Reg,
    },
    /// Writes the pair `dst` and the register `flag`.
    BinOverflow128 {
        op: OverflowOp,
        signed: bool,
        dst: Reg,
        flag: Reg,
        a: Reg,
        b: Reg,
    },
    BinUnchecked128 {
        op: OverflowOp,
        signed: bool,
        dst: Reg,
        a: Reg,
        b: Reg,
    },
    /// Counting operations write one register, the others a pair.
    Un128 {
        op: UnOp,
        dst: Reg,
        src: Reg,
    },
    /// Extends to 128 bits.
    Widen128 {
        from: IntTy,
        dst: Reg,
        src: Reg,
    },
    Select128 {
        dst: Reg,
        cond: Reg,
        a: Reg,
        b: Reg,
    },

    // Floats
    FloatBin {
        op: FloatBinOp,
        ty: FloatTy,
        dst: Reg,
        a: Reg,
        b: Reg,
    },
    FloatUn {
        op: FloatUnOp,
        ty: FloatTy,
        dst: Reg,
        src: Reg,
    },
    /// `a * b + c`, rounded once.
    FloatMulAdd {
        ty: FloatTy,
        dst: Reg,
        a: Reg,
        b: Reg,
        c: Reg,
    },
    /// `src` to the power of the `i32` in `exp`.
    FloatPowi {
        ty: FloatTy,
        dst: Reg,
        src: Reg,
        exp: Reg,
    },
    /// `src` times two to the power of the `i32` in `exp`, rounded once.
    FloatScale {
        ty: FloatTy,
        dst: Reg,
        src: Reg,
        exp: Reg,
    },
    FloatCast {
        from: FloatTy,
        to: FloatTy,
        dst: Reg,
        src: Reg,
    },
    IntToFloat {
        from: IntTy,
        to: FloatTy,
        dst: Reg,
        src: Reg,
    },
    IntToFloat128 {
        signed: bool,
        to: FloatTy,
        dst: Reg,
        src: Reg,
    },
    /// Saturates; NaN gives 0.
    FloatToInt {
        from: FloatTy,
        to: IntTy,
        dst: Reg,
        src: Reg,
    },
    FloatToInt128 {
        from: FloatTy,
        signed: bool,
        dst: Reg,
        src: Reg,
    },

    // Floats of 128 bits: register pairs. Comparisons give one register.
    F128Bin {
        op: F128BinOp,
        dst: Reg,
        a: Reg,
        b: Reg,
    },
    F128Un {
        op: F128UnOp,
        dst: Reg,
        src: Reg,
    },
    /// `a * b + c`, rounded once.
    F128MulAdd {
        dst: Reg,
        a: Reg,
        b: Reg,
        c: Reg,
    },
    /// `src` to the power of the `i32` in `exp`.
    F128Powi {
        dst: Reg,
        src: Reg,
        exp: Reg,
    },
    /// `src` times two to the power of the `i32` in `exp`, rounded once.
    F128Scale {
        dst: Reg,
        src: Reg,
        exp: Reg,
    },
    FloatToF128 {
        from: FloatTy,
        dst: Reg,
        src: Reg,
    },
    F128ToFloat {
        to: FloatTy,
        dst: Reg,
        src: Reg,
    },
    IntToF128 {
        from: IntTy,
        dst: Reg,
        src: Reg,
    },
    Int128ToF128 {
        signed: bool,
        dst: Reg,
        src: Reg,
    },
    /// Saturates; NaN gives 0.
    F128ToInt {
        to: IntTy,
        dst: Reg,
        src: Reg,
    },
    F128ToInt128 {
        signed: bool,
        dst: Reg,
        src: Reg,
    },

    // Memory. `align` is the log2 of the required alignment.
    Load {
        width: Width,
        align: u8,
        dst: Reg,
        base: Reg,
        offset: i32,
    },
    Store {
        width: Width,
        align: u8,
        base: Reg,
        src: Reg,
        offset: i32,
    },
    /// Loads what may be the unused part of an enum: uninitialized bytes read as zero.
    LoadPadding {
        width: Width,
        align: u8,
        dst: Reg,
        base: Reg,
        offset: i32,
    },
    LoadSlotPadding {
        width: Width,
        dst: Reg,
        offset: u16,
    },
    /// Loads from the frame.
    LoadSlot {
        width: Width,
        dst: Reg,
        offset: u16,
    },
    StoreSlot {
        width: Width,
        src: Reg,
        offset: u16,
    },
    /// The address of a byte of the frame.
    SlotAddr {
        dst: Reg,
        offset: u16,
    },
    /// Allocates a local that is not in the frame; it is freed when the frame is left, at the latest.
    /// Executed again for the same `dst` (in a loop), it frees the one before.
    BigSlot {
        dst: Reg,
        size: u64,
        align: u8,
    },
    /// A local that [`Op::BigSlot`] allocated dies: it is freed, if it is still there.
    BigSlotDead {
        slot: Reg,
    },
    /// The slot at `offset` comes to life, uninitialized.
    StorageLive {
        offset: u16,
        size: u16,
    },
    /// The slot dies: accesses to it through pointers are errors.
    StorageDead {
        offset: u16,
        size: u16,
    },
    /// `dst = base + index * scale`
    Index {
        dst: Reg,
        base: Reg,
        index: Reg,
        scale: u32,
    },
    /// Copies `size` bytes as they are, initialized or not. The ranges are equal or do not overlap.
    Copy {
        align: u8,
        dst: Reg,
        src: Reg,
        size: u32,
    },
    CopyToSlot {
        align: u8,
        dst: u16,
        src: Reg,
        size: u32,
    },
    CopyFromSlot {
        align: u8,
        dst: Reg,
        src: u16,
        size: u32,
    },
    CopySlots {
        dst: u16,
        src: u16,
        size: u32,
    },
    /// `len` bytes; overlap is undefined behaviour.
    CopyNonOverlapping {
        align: u8,
        dst: Reg,
        src: Reg,
        len: Reg,
    },
    /// `len` bytes, which may overlap.
    CopyOverlapping {
        align: u8,
        dst: Reg,
        src: Reg,
        len: Reg,
    },
    /// Fills `len` bytes with the low byte of `value`.
    Fill {
        align: u8,
        dst: Reg,
        value: Reg,
        len: Reg,
    },
    /// Repeats the `size` bytes at `dst` so that there are `count` copies of them, one after the other.
    Repeat {
        dst: Reg,
        size: u32,
        count: u32,
    },
    /// Compares `len` bytes as unsigned numbers: negative, zero or positive as an `i32`.
    Compare {
        dst: Reg,
        a: Reg,
        b: Reg,
        len: Reg,
    },
    /// Marks bytes of memory as uninitialized (a value moved out, or `MaybeUninit::uninit`).
    Deinit {
        dst: Reg,
        size: u32,
    },
    /// The address of the current thread's copy of a thread-local: an index into [`super::Program::thread_locals`].
    ThreadLocal {
        dst: Reg,
        index: u32,
    },

    // Atomics and fences: the visible actions.
    AtomicLoad {
        width: AtomicWidth,
        ordering: Ordering,
        dst: Reg,
        ptr: Reg,
    },
    AtomicStore {
        width: AtomicWidth,
        ordering: Ordering,
        ptr: Reg,
        src: Reg,
    },
    /// `dst` gets the old value.
    AtomicRmw {
        op: RmwOp,
        width: AtomicWidth,
        ordering: Ordering,
        dst: Reg,
        ptr: Reg,
        src: Reg,
    },
    /// `dst` gets the old value, the register after it 1 or 0 for success or failure.
    AtomicCas {
        width: AtomicWidth,
        success: Ordering,
        failure: Ordering,
        weak: bool,
        dst: Reg,
        ptr: Reg,
        expected: Reg,
        new: Reg,
    },
    Fence {
        ordering: Ordering,
    },

    // Control
    Jump {
        to: Pc,
    },
    /// Jumps where `cond` is not zero.
    JumpIf {
        cond: Reg,
        to: Pc,
    },
    JumpIfNot {
        cond: Reg,
        to: Pc,
    },
    /// Jumps where the comparison holds.
    JumpCmp {
        op: BinOp,
        ty: IntTy,
        a: Reg,
        b: Reg,
        to: Pc,
    },
    JumpCmpImm {
        op: BinOp,
        ty: IntTy,
        a: Reg,
        imm: i32,
        to: Pc,
    },
    /// Jumps as [`super::Function::switches`] says.
    Switch {
        src: Reg,
        table: u32,
    },
    /// Calls with the arguments in `args`; the results go to `dst` and the registers after it.
    Call {
        func: FuncId,
        args: List,
        dst: Reg,
        unwind: Unwind,
    },
    /// Calls the function at the address in `ptr`, which has so many results.
    CallPtr {
        ptr: Reg,
        args: List,
        dst: Reg,
        results: u8,
        unwind: Unwind,
    },
    /// Calls `try_fn(data)`; `dst` gets 0. If it unwinds with an exception `e`: calls `catch_fn(data, e)`; `dst` gets
    /// 1.
    CatchUnwind {
        dst: Reg,
        try_fn: Reg,
        data: Reg,
        catch_fn: Reg,
    },
    /// A function of the machine.
    Builtin {
        builtin: Builtin,
        args: List,
        dst: Reg,
        unwind: Unwind,
    },
    /// Returns the first [`super::Function::results`] registers.
    Return,
    /// Goes on unwinding, at the end of cleanup code.
    Resume,
    /// Reaching this is an error of the program; `message` is an index into [`super::Program::messages`].
    Unreachable {
        kind: ErrorKind,
        message: u32,
    },
    /// Reaching this ends the check as unsupported, for the reason in [`super::Program::messages`].
    Unsupported {
        message: u32,
    },
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ops_are_small() {
        assert!(size_of::<Op>() <= 16);
    }
}
