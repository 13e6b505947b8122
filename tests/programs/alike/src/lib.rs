//! Programs with threads that are alike: `// SYMMETRY: model n …` in a test says how many executions it has if those
//! that differ only in which of these threads is which count as one, `// COUNT: …` how many it has otherwise. Where
//! threads only seem to be alike, all are explored.
#![cfg(test)]

mod counted;
mod told_apart;
