//! Concurrency bugs that real crates shipped, each as a small program of its pattern.
//!
//! Every module has one bug: a test with the mistake, whose error has its kind and line (`// ERROR: kind`, see the package
//! `explored`), and the same with the fix, which passes. Where the original waits in a loop, the program here waits once, or
//! assumes that it need not wait.
//!
//! The package `loom-bugs` is the same with loom's types (`--cfg loom`), as crates have it that test themselves with loom.
#![cfg(test)]
#![allow(clippy::undocumented_unsafe_blocks, reason = "some unsafe blocks are wrong by design")]

#[cfg(loom)]
use loom::{sync, thread};
#[cfg(not(loom))]
use std::{sync, thread};

mod arc_get_mut;
mod arc_swap_list;
mod atomic_waker;
mod channel_block;
mod deque_buffer;
mod event_notify;
mod index_set_fences;
mod latch_lifetime;
mod lazy_box;
mod ms_queue;
mod oneshot_close;
mod parker_token;
mod plain;
mod rw_spinlock;
mod scope_data;
mod thread_local_iter;
mod word_lock;
