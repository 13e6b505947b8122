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
mod extent;
mod heap;
mod objects;
mod own;
mod races;
mod shadow;
mod sizes;
mod space;
mod stack;
mod statics;
mod table;
mod track;
mod value;

pub(in crate::vm) use alloc::{Alloc, AllocKind, Sharing};
pub use explain::{Access, Dangling};
pub(in crate::vm) use heap::{AllocError, Found, Heap, MAX_BLOCK, Request};
pub(in crate::vm) use objects::{
    AtomId, Deed, Key, Lives, Log, ObjectId, Objects, Touch, Version, is_noted, set_noted,
};
pub(in crate::vm) use races::{Kind, Piece, Races, Record};
pub(in crate::vm) use shadow::{INIT, LIVE, is_init};
pub use sizes::Atomics;
pub(in crate::vm) use space::Space;
pub(in crate::vm) use stack::{MemFrame, NO_SLOTS, Stack};
pub use statics::Statics;
pub(in crate::vm) use table::{Entry, Table};
pub use track::{Observable, Tracked};
pub(in crate::vm) use track::{PlainStore, Tracking};
pub(in crate::vm) use value::{Shape, Value, Values};
