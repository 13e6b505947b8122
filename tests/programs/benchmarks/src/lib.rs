//! Concurrent programs with very many executions, to measure how fast they are explored.
//!
//! Each is written twice: with threads that are spawned and joined, and with scoped threads. How many executions each
//! has, and why, stands beside what `cargo bench -p cargo-dpor --bench explore` expects. All accesses are relaxed unless
//! said otherwise.
#![cfg(test)]
#![allow(clippy::undocumented_unsafe_blocks, reason = "the types are shared as their code intends")]

mod programs;
mod structures;

/// Threads that are spawned and joined.
mod spawned {
    use crate::programs::{self, spawned};

    #[dpor::test]
    fn ainc_9() {
        spawned(9, programs::ainc);
    }

    #[dpor::test]
    fn binc_6() {
        spawned(6, programs::binc);
    }

    #[dpor::test]
    fn inc_6() {
        spawned(6, programs::inc);
    }

    #[dpor::test]
    fn casrot_12() {
        spawned(12, programs::casrot);
    }

    #[dpor::test]
    fn fib_bench_5() {
        programs::fib_bench_spawned::<5>();
    }

    #[dpor::test]
    fn lastzero_15() {
        spawned(16, programs::lastzero::<15>);
    }

    #[dpor::test]
    fn readers_16() {
        spawned(17, programs::readers);
    }

    #[dpor::test]
    fn sb_ring_15() {
        spawned(15, programs::sb_ring::<15>);
    }

    #[dpor::test]
    fn mutex_8() {
        spawned(8, programs::mutex);
    }

    #[dpor::test]
    fn sigma_8() {
        programs::sigma_spawned(8);
    }
}

/// Scoped threads.
mod scoped {
    use crate::programs::{self, scoped};

    #[dpor::test]
    fn ainc_9() {
        scoped(9, programs::ainc);
    }

    #[dpor::test]
    fn binc_6() {
        scoped(6, programs::binc);
    }

    #[dpor::test]
    fn inc_6() {
        scoped(6, programs::inc);
    }

    #[dpor::test]
    fn casrot_12() {
        scoped(12, programs::casrot);
    }

    #[dpor::test]
    fn fib_bench_5() {
        programs::fib_bench_scoped::<5>();
    }

    #[dpor::test]
    fn lastzero_15() {
        scoped(16, programs::lastzero::<15>);
    }

    #[dpor::test]
    fn readers_16() {
        scoped(17, programs::readers);
    }

    #[dpor::test]
    fn sb_ring_15() {
        scoped(15, programs::sb_ring::<15>);
    }

    #[dpor::test]
    fn mutex_8() {
        scoped(8, programs::mutex);
    }

    #[dpor::test]
    fn sigma_8() {
        programs::sigma_scoped(8);
    }
}
