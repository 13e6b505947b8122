//! The engine of cargo-dpor: everything that needs no compiler.
//!
//! Data flows one way: a [`program`] (plain data, lowered from Rust's MIR) runs in the [`vm`]; its visible actions become
//! events of a [`graph`]; a [`model`] says which graphs are consistent, and [`explore`] visits them. A [`subject`] is a lowered
//! test as a program to explore; a failing execution is described as a [`trace`]; [`check`] puts these together and ends in a
//! [`verdict`]. [`litmus`] programs, small ones written as data, run on the same explorer.

#![forbid(unsafe_code)]

pub mod check;
pub mod explore;
pub mod graph;
pub mod interrupt;
pub mod litmus;
pub mod memory;
pub mod model;
pub mod program;
pub mod subject;
pub mod trace;
pub mod verdict;
pub mod vm;

/// Tells this build of the engine from others: by its source.
pub const BUILD: &str = env!("DPOR_ENGINE_BUILD");
