//! Programs with the types of loom, and what must be found in them.
#![cfg(all(test, loom))]
#![allow(clippy::undocumented_unsafe_blocks, reason = "some unsafe blocks are wrong by design")]

mod items;
mod models;
mod tutorial;
mod types;
