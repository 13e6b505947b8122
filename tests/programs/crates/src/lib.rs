//! Programs that use crates from the registry, unmodified; under the checker they must do what they do natively.
//!
//! As with the programs without dependencies, each test prints what it computes, and nothing that is left open.
#![cfg(test)]

mod atomics;
mod buffers;
mod documents;
mod maps;
mod runtimes;
mod sequences;
mod vectors;
