//! The memory of a checked program: what is at an address, and whether it may be accessed.
//!
//! Addresses are plain numbers laid out by [`crate::program::address`]. Behind a stack address is the contiguous stack
//! of a thread ([`stack`]); behind any other an allocation of a region ([`heap`]). Beside every byte lies a *shadow*
//! byte ([`shadow`]): whether it is accessible and initialized. Every access is checked; one that may not be made is a
//! [`Fault`] that says what is wrong and, where that is known, who allocated and who freed the memory ([`explain`]).
//!
//! [`Space`] is the memory as one running thread sees it: its own stack at hand, everything else one step away.

mod alloc;
mod explain;
mod heap;
mod races;
mod region;
mod shadow;
mod space;
mod stack;
mod track;

pub(in crate::vm) use alloc::{Alloc, AllocKind};
pub(in crate::vm) use explain::Access;
pub(in crate::vm) use heap::{AllocError, Found, Heap};
pub(in crate::vm) use shadow::{INIT, LIVE};
pub(in crate::vm) use space::Space;
pub(in crate::vm) use stack::{MemFrame, Stack};
pub(in crate::vm) use track::{PlainStore, Tracking};
pub use track::{Site, Tracked};
