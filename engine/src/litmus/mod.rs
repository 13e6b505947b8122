//! Litmus programs: small concurrent programs written as data.
//!
//! [`code`] is a little register machine, [`machine`] runs it as a [`crate::explore::Program`], [`format`] reads tests in
//! JSON, and [`test`] checks them: it explores a test under a model and compares what it finds with what the test says.

pub mod code;
mod compile;
pub mod format;
pub mod machine;
mod test;

pub use code::{BinOp, Code, Head, Operand, Place, Reg};
pub use format::{FormatError, LitmusTest, parse_line};
pub use machine::{Litmus, LitmusError, LitmusState};
pub use test::{LitmusResult, Verdict, check};
