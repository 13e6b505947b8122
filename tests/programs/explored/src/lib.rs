//! Concurrent programs with known numbers of executions, and with errors that only some executions have.
//!
//! `// COUNT: model executions …` in a test says how many executions it has; where the number comes from stands above.
//! After `blocked` stands how many executions are blocked, if there are any.
//! The line of an error ends with `// ERROR: kind`. A test with neither must pass.
#![cfg(test)]
#![allow(clippy::undocumented_unsafe_blocks, reason = "some unsafe blocks are wrong by design")]

mod atomics;
mod channels;
mod condvars;
mod futexes;
mod locks;
mod once;
mod races;
mod rwlocks;
mod threads;
