//! Tests of the machine on programs written by hand.

mod asm;
mod basics;
mod blocks;
mod builtins;
mod compute;
mod errors;
mod f128;
mod floats;
mod int128;
mod integers;
mod optimization;
mod snapshots;
mod threads;
mod unwinding;
