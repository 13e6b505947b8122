//! shuttle's interface, on the standard library.
//!
//! Tests that are written for [shuttle](https://docs.rs/shuttle/0.8.1) run under `cargo dpor` with this crate in its
//! place, unchanged, and every execution is explored instead of some:
//!
//! ```toml
//! [patch.crates-io]
//! shuttle = { path = "…/cargo-dpor/dpor/shuttle" }
//! ```
//!
//! ```sh
//! cargo dpor test --all-tests
//! ```
//!
//! `docs/shuttle.md` says what is here, and what differs from shuttle.

#![forbid(unsafe_code)]
#![warn(missing_docs)]

pub mod future;
pub mod lazy_static;
pub mod rand;
mod runner;
pub mod scheduler;
pub mod sync;
pub mod thread;

/// Hints.
pub mod hint {
    #[doc(no_inline)]
    pub use std::hint::*;
}

pub use loom::thread_local;
pub use runner::{
    check_dfs, check_pct, check_random, check_random_with_seed, check_uncontrolled_nondeterminism, Config,
    FailurePersistence, MaxSteps, PortfolioRunner, Runner,
};
