//! Programs whose outcome and output under the checker must equal the native ones.
//!
//! Each test is an ordinary program that prints what it computes. The tests of the workspace run every one of them
//! twice, natively and under `cargo dpor`, and compare what was printed and how it ended. Programs print nothing that
//! Rust leaves open: no addresses, no order of hash maps, no times.
//!
//! The tests in [`failures`] fail by design: there the messages are compared.
#![cfg(test)]
#![allow(internal_features, incomplete_features, reason = "vectors of odd lengths, calls at the end")]
#![feature(core_intrinsics, explicit_tail_calls, f16, f128, portable_simd, repr_simd)]

mod algorithms;
mod cells;
mod checksums;
mod closures;
mod collections;
mod constants;
mod environment;
mod errors;
mod failures;
mod floats;
mod formats;
mod formatting;
mod futures;
mod generics;
mod integers;
mod interpreters;
mod iterators;
mod layouts;
mod locations;
mod memory;
mod panics;
mod parameters;
mod patterns;
mod reactors;
mod recursion;
mod slices;
mod statics;
mod strings;
mod structures;
mod threads;
mod traits;
mod vectors;
