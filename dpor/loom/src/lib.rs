//! loom's interface, on the standard library.
//!
//! Tests that are written for [loom](https://docs.rs/loom/0.7.2) run under `cargo dpor` with this crate in its
//! place, unchanged:
//!
//! ```toml
//! [patch.crates-io]
//! loom = { path = "…/cargo-dpor/dpor/loom" }
//! ```
//!
//! ```sh
//! RUSTFLAGS="--cfg loom" cargo dpor test --all-tests
//! ```
//!
//! Types are those of the standard library, or wrap them without anything added, so that `cargo dpor` explores the
//! program as it is with the standard library. [`model`](model()) explores a closure for itself. Under plain `cargo
//! test` it runs the closure once. `docs/loom.md` says what differs from loom.

#![warn(missing_docs)]

pub mod alloc;
pub mod cell;
#[cfg(feature = "futures")]
pub mod future;
pub mod hint;
pub mod lazy_static;
mod macros;
pub mod model;
pub mod sync;
pub mod thread;

#[doc(inline)]
pub use crate::model::model;

/// How many threads a model of loom's can have. Here there is no such limit.
pub const MAX_THREADS: usize = 5;

/// Tells loom to explore from here on. Here everything is explored.
pub fn explore() {}

/// Tells loom not to explore from here on. Here everything is explored.
pub fn stop_exploring() {}

/// Tells loom not to explore this execution from here on. Here everything is explored.
pub fn skip_branch() {}
