//! Programs whose number of executions under reads-from equivalence is known. Every number says where it comes from.

mod programs;

use dpor_engine::explore::{Config, Equivalence, Stats, explore};
use dpor_engine::graph::MemOrder::SeqCst;
use dpor_engine::litmus::Litmus;
use dpor_engine::model::MemoryModel;
use programs::*;

const ALL: [MemoryModel; 4] = MemoryModel::ALL;

fn stats(program: &Litmus, model: MemoryModel, workers: usize) -> Stats {
    let report = explore(program, &Config { equivalence: Equivalence::ReadsFrom, workers, ..Config::new(model) });
    assert!(report.complete && report.errors.is_empty(), "{:?}", report.errors.first().map(|e| &e.failure));
    report.stats
}

/// The program has this many executions under each of these models, and none of them blocks.
fn check(program: &Litmus, models: &[MemoryModel], executions: u64) {
    for &model in models {
        for workers in [1, 2] {
            let stats = stats(program, model, workers);
            assert_eq!((stats.executions, stats.blocked), (executions, 0), "{model}");
            assert_eq!(stats.witness_searches, 0, "{model}: the greedy attempt was not enough");
        }
    }
}

fn factorial(n: u64) -> u64 {
    (1..=n).product()
}

/// Nobody reads: one execution.
#[test]
fn n_writers() {
    (1..=9).for_each(|n| check(&programs::n_writers(n), &ALL, 1));
}

/// Main reads one of the n stores: n, which the RFSC paper has, too.
#[test]
fn lastwrite() {
    (1..=9).for_each(|n| check(&programs::lastwrite(n), &ALL, n as u64));
}

/// The load reads one of the n stores, or the initial value: n + 1.
#[test]
fn floating_read() {
    (1..=9).for_each(|n| check(&programs::floating_read(n), &ALL, n as u64 + 1));
}

/// Thread i, from 0, reads one of the n − i stores from its own on: n!.
#[test]
fn sigma() {
    (1..=7).for_each(|n| check(&programs::sigma(n as usize), &ALL, factorial(n)));
}

/// What a thread reads was written by another one that does not depend on it, or by nobody: the rooted forests of n
/// nodes, of which there are (n + 1)^(n − 1) (Cayley's formula). All are consistent: the stores that depend on one can
/// come after it one by one, each with all that depends on it, once everybody has read it.
#[test]
fn inc() {
    (1..=6u64).for_each(|n| check(&programs::inc(n as usize), &ALL, (n + 1).pow(n as u32 - 1)));
}

/// The updates of a location are ordered by what they read: as under trace equivalence.
#[test]
fn updates() {
    (1..=7).for_each(|n| check(&ainc(n as usize), &ALL, factorial(n)));
    (1..=5).for_each(|n| check(&binc(n as usize), &ALL, factorial(n).pow(2)));
    (1..=6).for_each(|n| check(&exp_mem(n as usize), &ALL, 2 * factorial(n)));
    (1..=6).for_each(|n| check(&mutex(n as usize), &ALL, factorial(n)));
}

/// 8,597 for 9 threads and 38,486 for 10 are what Nidhugg counts.
#[test]
fn casrot() {
    check(&programs::casrot(9), &ALL, 8_597);
    check(&programs::casrot(10), &[MemoryModel::Rc11, MemoryModel::Sc], 38_486);
}

/// Each reader reads 0 or 1: 2^n.
#[test]
fn readers() {
    (1..=10).for_each(|n| check(&programs::readers(n), &ALL, 1 << n));
}

/// (n + 3)·2^(n − 2): the formula of the RFSC and TruSt papers; 7,168 for 11, which Nidhugg counts.
#[test]
fn lastzero() {
    (2..=11).for_each(|n| check(&programs::lastzero(n), &ALL, (n as u64 + 3) << (n - 2)));
}

/// 19,605 for 4 rounds is what Nidhugg counts under SC. With SeqCst accesses every model is as strong as SC here.
#[test]
fn fib_bench() {
    check(&fib_bench_with(4, SeqCst, SeqCst), &ALL, 19_605);
}

/// One write for each location: as under trace equivalence.
#[test]
fn sb_ring() {
    for n in 2..=9 {
        check(&programs::sb_ring(n), &[MemoryModel::Rc11, MemoryModel::Tso, MemoryModel::Pso], 1 << n);
        check(&programs::sb_ring(n), &[MemoryModel::Sc], (1 << n) - 1);
        check(&sb_ring_sc(n), &ALL, (1 << n) - 1);
    }
}

/// Memory is bounded by the size of the program.
#[test]
fn memory_does_not_grow_with_executions() {
    let small = stats(&programs::inc(4), MemoryModel::Rc11, 1);
    let large = stats(&programs::inc(7), MemoryModel::Rc11, 1);
    assert_eq!((small.executions, large.executions), (125, 262_144));
    assert!(large.peak_bytes < 5 * small.peak_bytes, "{} and {}", small.peak_bytes, large.peak_bytes);
}
