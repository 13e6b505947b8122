//! The engine of cargo-dpor: everything that needs no compiler.
//!
//! Data goes one way: a [`program`] (plain data, lowered from Rust's MIR) runs in the [`vm`], whose visible actions
//! become events of a graph; what the models allow is explored; what must not happen ends in a [`verdict`].

#![forbid(unsafe_code)]

pub mod program;
pub mod verdict;
pub mod vm;
