//! Concurrent programs with known numbers of executions, and with errors that only some executions have.
//!
//! `// COUNT: model executions …` in a test says how many executions it has, `n+m` where `m` more are blocked; where the
//! number comes from stands above. The line of an error ends with `// ERROR: kind`; where only some models have it,
//! `// MODELS: model …` says which. Under others, and without, a test must pass.
#![cfg(test)]
#![allow(clippy::undocumented_unsafe_blocks, reason = "some unsafe blocks are wrong by design")]

mod arcs;
mod assembly;
mod attempts;
mod barriers;
mod bytes;
mod channels;
mod choices;
mod commuting;
mod condvars;
mod deadlocks;
mod futexes;
mod left_out;
mod lifetimes;
mod litmus;
mod locks;
mod memory;
mod models;
mod once;
mod operations;
mod own_atomics;
mod parking;
mod races;
mod races_after_releases;
mod races_in_loops;
mod races_with_statics;
mod reads_from;
mod rwlocks;
mod seen_in_loops;
mod sizes;
mod spins;
mod structures;
mod support;
mod tables;
mod thread_locals;
mod threads;
mod unpublished;
mod waiting;
