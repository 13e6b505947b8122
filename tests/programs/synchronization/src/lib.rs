//! What the standard library synchronizes with. How many executions there are follows from the models that
//! `docs/synchronization.md` describes.
//!
//! `// COUNT: model executions …` in a test says how many executions it has, `n+m` where `m` more are blocked; where the
//! number comes from stands above. The line of an error ends with `// ERROR: kind`. A test with neither must pass.
#![cfg(test)]
#![allow(clippy::undocumented_unsafe_blocks, reason = "system calls, as libc would make them")]

mod barriers;
mod channels;
mod condvars;
mod fences;
mod futexes;
mod locks;
mod once;
mod panics;
mod reactors;
mod results;
mod rwlocks;
mod threads;
mod time;
