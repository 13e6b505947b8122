//! Random concurrent programs: generated, written as Rust, and translated to what the explorer runs without a compiler.
//!
//! All of a program follows from its seed. The two forms must have the same executions under every model: then the driver,
//! the machine and the adapter between machine and explorer do what the source says.

mod generate;
mod litmus;
mod program;
mod source;

pub use generate::program;
pub use litmus::litmus;
pub use program::Program;
pub use source::library;
