//! Tests of the machine on programs written by hand.

mod asm;
mod basics;
