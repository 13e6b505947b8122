//! Tests of the machine on programs written by hand.

mod asm;
mod basics;
mod blocks;
mod builtins;
mod compute;
mod errors;
mod floats;
mod integers;
mod optimization;
mod quads;
mod snapshots;
mod threads;
mod unwinding;
mod wide;
