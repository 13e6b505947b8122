//! From the functions of a program to the code that the interpreter runs.
//!
//! [`translate`] chooses instructions by type, keeps tables beside the code, and moves registers that an instruction
//! cannot name in and out. Every instruction keeps the place of the operation it comes from.

mod select;
mod translate;

pub(super) use translate::translate;
