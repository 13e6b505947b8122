//! What runs: a program as plain data, lowered from the MIR of a test binary, with all it needs to run on a machine that
//! has no compiler.
//!
//! All addresses in a program are final: functions and globals lie where [`address`] says, so constants that point to
//! them are ordinary numbers.

pub mod address;
mod builtin;
mod config;
mod debug;
mod digest;
mod file;
mod link;
mod op;
mod reach;
pub mod sealed;

use serde::{Deserialize, Serialize};

pub use builtin::Builtin;
pub use config::{ConfigError, ShouldPanic, TestConfig};
pub use debug::{BlockType, DebugInfo, Field, Part, Shape, SlotType, StaticType, TypeInfo, TypeRef, ValueKind};
pub use digest::Digest;
pub use file::{FORMAT_VERSION, LoadError};
pub use op::{
    AtomicWidth, BinOp, F128BinOp, F128UnOp, FloatBinOp, FloatTy, FloatUnOp, FuncId, IntTy, List, Op, Ordering,
    OverflowOp, Pc, Reg, RmwOp, UnOp, Unwind, Width,
};
pub use reach::Parts;

use crate::verdict::Location;

/// A whole test binary, lowered: one copy, shared by its tests.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Program {
    /// The name of the crate under test.
    pub crate_name: String,
    pub tests: Vec<Test>,
    pub functions: Vec<Function>,
    /// Statics, constants and vtables, by increasing address.
    pub globals: Vec<Global>,
    pub thread_locals: Vec<ThreadLocal>,
    /// Names of source files.
    pub files: Vec<String>,
    /// Places in the source, each once.
    pub places: Vec<Place>,
    /// Texts of [`Op::Unsupported`] and [`Op::Unreachable`], and signatures.
    pub messages: Vec<String>,
    /// For each function its signature, a message, where it can be called through pointers of a known type.
    pub signatures: Vec<Option<u32>>,
    /// What the source calls things.
    pub debug: DebugInfo,
}

/// A test of the program.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Test {
    /// As `cargo test` prints it: `module::name`.
    pub name: String,
    /// Whether it is a `#[dpor::test]`, not a plain `#[test]`.
    pub dpor: bool,
    pub config: TestConfig,
    /// A function without arguments or results that runs the test; it panics where the test fails.
    pub entry: FuncId,
    /// Where the test is defined.
    pub place: PlaceId,
}

/// Whose code a function is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub enum Origin {
    /// The crate under test, or another of its workspace.
    User,
    /// A dependency from outside the workspace.
    Dependency,
    /// The standard library, and the `dpor` crate.
    Std,
}

impl Origin {
    /// Whether reports point into this code: everything but the standard library, because a bug may be in a dependency.
    pub fn is_shown(self) -> bool {
        self != Origin::Std
    }
}

/// Whether a function is the standard library's own bookkeeping (thread handles, panic counters, …): then its atomics
/// are no visible actions, and its accesses to memory race with nothing.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub enum Quiet {
    Yes,
    /// The user's code, and what it calls on purpose.
    #[default]
    No,
    /// As in the caller: most of the standard library.
    Inherited,
}

/// A function: its code and what the code refers to.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Function {
    /// Its path, with generic arguments.
    pub name: String,
    pub origin: Origin,
    pub quiet: Quiet,
    /// How many registers it uses. Arguments arrive in the first ones, after the results' registers:
    /// registers `0..results` are the results, `results..results + params` the arguments.
    pub registers: u16,
    pub params: u16,
    pub results: u8,
    /// The size of the frame in bytes, at most [`address::MAX_FRAME`].
    pub frame_size: u16,
    /// Parts of the frame: locals whose address matters. Bytes between slots are not accessible.
    pub slots: Vec<Slot>,
    pub code: Vec<Op>,
    /// The place of each instruction.
    pub code_places: Vec<PlaceId>,
    /// Lists of registers: the length, then the registers.
    pub lists: Vec<u16>,
    pub switches: Vec<SwitchTable>,
    pub ranges: Vec<ValidRange>,
    /// The [`Op::Imm`]s whose numbers depend on where things are in the program.
    pub links: Vec<Link>,
    /// Where the function is defined.
    pub place: PlaceId,
}

/// A number in the code of a function that depends on where something is in the program.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Link {
    pub at: Pc,
    pub to: Target,
}

/// What such a number stands for.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum Target {
    /// The address of a function or a global, which begins here; the number may be beside that.
    Address(u64),
    /// An index into [`Program::messages`].
    Message,
}

/// Eight bytes of a global that are the address of a function or a global, or of something beside it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct Pointer {
    /// Where these bytes begin.
    pub at: u32,
    /// Where the function or the global begins.
    pub base: u64,
}

/// A local in the frame.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Slot {
    pub offset: u16,
    pub size: u16,
    /// Whether it is alive from the start (otherwise from [`Op::StorageLive`] on).
    pub live_at_start: bool,
    /// The name of the variable, empty for temporaries.
    pub name: String,
}

/// Where a switch goes.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct SwitchTable {
    /// Sorted by value, each value once.
    pub cases: Vec<(u64, Pc)>,
    pub otherwise: Pc,
}

/// The valid values of a scalar: from `start` to `end`, both included, wrapping around where `start > end`.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct ValidRange {
    pub start: u64,
    pub end: u64,
    /// What the type is called, for the report.
    pub type_name: String,
}

/// A static, a constant or a vtable.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Global {
    pub address: u64,
    pub align: u64,
    pub bytes: Vec<u8>,
    /// Ranges of `bytes` (start, end) that are not initialized.
    pub uninit: Vec<(u32, u32)>,
    /// Which of `bytes` are addresses.
    pub pointers: Vec<Pointer>,
    pub mutable: bool,
    /// The path of a static; empty for constants.
    pub name: String,
}

/// A `#[thread_local]` static: each thread gets a copy when it first needs it.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct ThreadLocal {
    pub align: u64,
    pub bytes: Vec<u8>,
    pub uninit: Vec<(u32, u32)>,
    pub pointers: Vec<Pointer>,
    pub name: String,
}

/// An index into [`Program::places`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
pub struct PlaceId(pub u32);

/// A place in the source.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
pub struct Place {
    /// An index into [`Program::files`].
    pub file: u32,
    pub line: u32,
    pub column: u32,
}

impl Program {
    /// The function `id`.
    #[inline]
    pub fn function(&self, id: FuncId) -> &Function {
        &self.functions[id.0 as usize]
    }

    /// A place with the name of its file.
    pub fn location(&self, id: PlaceId) -> Location {
        let place = self.places[id.0 as usize];
        Location { file: self.files[place.file as usize].clone(), line: place.line, column: place.column }
    }
}

impl Function {
    /// The registers of a list.
    #[inline]
    pub fn list(&self, list: List) -> &[u16] {
        let start = list.0 as usize;
        let len = usize::from(self.lists[start]);
        &self.lists[start + 1..start + 1 + len]
    }
}
