//! Programs with memory errors that the checker must find, each with its kind and line.
//!
//! The line that must be reported ends with `// ERROR: kind`, or has that comment above it; it belongs to the test above
//! it. A test without such a line must pass: it is a correct twin of another, or it says itself which error it expects. `// OUTCOME: name`
//! is for outcomes other than a failure.
#![cfg(test)]
#![allow(internal_features, incomplete_features, reason = "what intrinsics are promised, and what is not stable yet")]
#![feature(core_intrinsics, custom_mir, explicit_tail_calls, maybe_dangling, portable_simd)]
#![allow(clippy::undocumented_unsafe_blocks, reason = "the unsafe blocks are wrong by design")]

mod aborts;
mod bounds;
mod expectations;
mod frees;
mod leaks;
mod lifetimes;
mod limits;
mod overwritten;
mod pointers;
mod promises;
mod provenance;
mod uninitialized;
mod validity;
mod values;
mod vectors;
