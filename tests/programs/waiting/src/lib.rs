//! Programs that wait in loops, as crates write them: with known numbers of executions, and with errors that only some
//! executions have; and programs whose loops only seem to wait.
//!
//! `// COUNT: model executions …` in a test says how many executions it has, `n+m` where `m` more are blocked;
//! `// LEVELS: level executions …` the same under RC11 for the values of `--await`. Where a number comes from stands above.
//! The line of an error ends with `// ERROR: kind`; where only some models have it, `// MODELS: model …` says which. Under
//! others, and without, a test must pass.
//!
//! An iteration that ends where it began is as good as none, so that of a loop that waits only the last iteration counts.
//! Where not all such iterations are recognised, `n..` says that more than the `n` executions are explored that there are
//! without them.
#![cfg(test)]
#![allow(clippy::undocumented_unsafe_blocks, reason = "some unsafe blocks are wrong by design")]

mod benchmarks;
mod chase_lev;
mod conditions;
mod confirmations;
mod crates;
mod effects;
mod harris;
mod ms_queue;
mod never;
mod queue_locks;
mod readers_writers;
mod rendezvous;
mod ring;
mod spin_locks;
mod spinning;
mod support;
mod traps;
mod treiber;
mod unpublished;
mod vyukov;
