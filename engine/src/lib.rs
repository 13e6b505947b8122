//! The engine of cargo-dpor: everything that needs no compiler.
//!
//! Data goes one way: a [`program`] (plain data, lowered from Rust's MIR) runs in the [`vm`], whose visible actions become
//! events of a [`graph`]; what the models allow ([`model`]) is explored ([`explore`]); what must not happen ends in a
//! [`verdict`]; and a failing execution is told as a [`trace`]. [`litmus`] programs, small ones written as data, run on the very same explorer.

#![forbid(unsafe_code)]

pub mod check;
pub mod explore;
pub mod graph;
pub mod interrupt;
pub mod litmus;
pub mod memory;
pub mod model;
pub mod program;
pub mod trace;
pub mod verdict;
pub mod vm;

/// Tells this build of the engine from others: by its source.
pub const BUILD: &str = env!("DPOR_ENGINE_BUILD");
