//! Programs whose number of executions is known. Every number says where it comes from.

mod programs;

use dpor_engine::explore::{Config, Stats, estimate, explore};
use dpor_engine::litmus::Litmus;
use dpor_engine::model::MemoryModel;
use programs::*;

const ALL: [MemoryModel; 4] = MemoryModel::ALL;

fn stats(program: &Litmus, model: MemoryModel) -> Stats {
    let report = explore(program, &Config::new(model));
    assert!(report.complete && report.errors.is_empty(), "{:?}", report.errors.first().map(|e| &e.failure));
    report.stats
}

/// The program has this many executions under each of these models, and none of them blocks.
fn check(program: &Litmus, models: &[MemoryModel], executions: u64) {
    for &model in models {
        let stats = stats(program, model);
        assert_eq!((stats.executions, stats.blocked), (executions, 0), "{model}");
    }
}

fn factorial(n: u64) -> u64 {
    (1..=n).product()
}

/// An execution is an order of the updates: n!.
#[test]
fn ainc_has_one_execution_for_each_order_of_updates() {
    (1..=7).for_each(|n| check(&ainc(n as usize), &ALL, factorial(n)));
}

/// The orders at the two locations are independent: (n!)².
#[test]
fn binc_has_one_execution_for_each_pair_of_orders() {
    (1..=5).for_each(|n| check(&binc(n as usize), &ALL, factorial(n).pow(2)));
}

/// The reads and writes of n threads with one location can be arranged in (n!)² ways: 518,400 for 6 threads, which
/// GenMC counts too.
#[test]
fn inc() {
    (1..=5).for_each(|n| check(&programs::inc(n as usize), &ALL, factorial(n).pow(2)));
}

/// 1,200 for 4 threads is what GenMC counts, under RC11, SC and TSO.
#[test]
fn casw() {
    check(&programs::casw(4), &ALL, 1_200);
}

/// 8,597 for 9 threads and 38,486 for 10 are what GenMC and Nidhugg count. Small ones by hand: with one thread the
/// compare-and-swap reads 0; with two, the second reads 0, or 1 from the first.
#[test]
fn casrot() {
    for (n, executions) in [(1, 1), (2, 2), (9, 8_597), (10, 38_486)] {
        check(&programs::casrot(n), &ALL, executions);
    }
}

/// Each reader reads 0 or 1: 2^n.
#[test]
fn readers() {
    (1..=10).for_each(|n| check(&programs::readers(n), &ALL, 1 << n));
}

/// (n + 3)·2^(n − 2): the formula of the RFSC and TruSt papers; 3,328 for 10.
#[test]
fn lastzero() {
    (2..=10).for_each(|n| check(&programs::lastzero(n), &ALL, (n as u64 + 3) << (n - 2)));
}

/// 34,205 under RC11 and TSO, 19,605 under SC, for 4 rounds: GenMC's counts. Under PSO each thread writes one location
/// only, so that PSO is TSO here.
#[test]
fn fib_bench() {
    let program = programs::fib_bench(4);
    check(&program, &[MemoryModel::Rc11, MemoryModel::Tso, MemoryModel::Pso], 34_205);
    check(&program, &[MemoryModel::Sc], 19_605);
}

/// Each read sees the initial value or the store; under SC not all can see the initial value, since the thread whose
/// read comes first has stored before: 2^n − 1.
#[test]
fn sb_ring() {
    for n in 2..=9 {
        check(&programs::sb_ring(n), &[MemoryModel::Rc11, MemoryModel::Tso, MemoryModel::Pso], 1 << n);
        check(&programs::sb_ring(n), &[MemoryModel::Sc], (1 << n) - 1);
    }
}

/// With SeqCst accesses every model is as strong as SC here: 2^n − 1.
#[test]
fn sb_ring_with_seq_cst() {
    (2..=9).for_each(|n| check(&sb_ring_sc(n), &ALL, (1 << n) - 1));
}

/// An execution is a coherence order: n!.
#[test]
fn n_writers() {
    (1..=7).for_each(|n| check(&programs::n_writers(n as usize), &ALL, factorial(n)));
}

/// The same, the last load being determined: n!.
#[test]
fn lastwrite() {
    (1..=7).for_each(|n| check(&programs::lastwrite(n as usize), &ALL, factorial(n)));
}

/// An order of the n updates of one location, and of the 2 updates of the other: 2·n!.
#[test]
fn exp_mem() {
    (1..=6).for_each(|n| check(&programs::exp_mem(n as usize), &ALL, 2 * factorial(n)));
}

/// An execution is an order of the critical sections, n!, and no thread that waits for the lock makes an execution of
/// its own.
#[test]
fn mutex() {
    (1..=6).for_each(|n| check(&programs::mutex(n as usize), &ALL, factorial(n)));
}

/// Where thread i, from 0, reads is one of the n − i stores from its own on, and the threads that read the same store
/// write the same location in any order: 10,395 = 11·9·7·5·3 for 6, the product of the odd numbers below 2n, as the RFSC
/// paper has it.
#[test]
fn sigma() {
    for n in 1..=6u64 {
        let odd: u64 = (1..=n).map(|i| 2 * i - 1).product();
        check(&programs::sigma(n as usize), &ALL, odd);
    }
}

/// The load takes any place in the coherence order of the n stores: (n + 1)!.
#[test]
fn floating_read() {
    (1..=5).for_each(|n| check(&programs::floating_read(n as usize), &ALL, factorial(n + 1)));
}

/// Memory is bounded by the size of the program: 63 times as many executions, or more, take hardly more of it.
#[test]
fn memory_does_not_grow_with_executions() {
    let small = stats(&programs::exp_mem(5), MemoryModel::Rc11);
    let large = stats(&programs::exp_mem(8), MemoryModel::Rc11);
    assert_eq!(large.executions, 336 * small.executions);
    assert!(large.peak_bytes < 5 * small.peak_bytes, "{} and {}", small.peak_bytes, large.peak_bytes);
    assert!(large.peak_bytes < 1 << 20, "{}", large.peak_bytes);
}

/// Random descents are an unbiased estimate; with this seed it comes within three standard errors of the truth, which
/// the tests above establish. The programs are small: trees of larger ones are so uneven that this takes many descents.
#[test]
fn estimates_come_close() {
    let cases: [(&str, Litmus, f64); 5] = [
        ("readers", programs::readers(12), 4_096.0),
        ("inc", programs::inc(3), 36.0),
        ("binc", programs::binc(3), 36.0),
        ("lastzero", programs::lastzero(4), 28.0),
        ("mutex", programs::mutex(4), 24.0),
    ];
    for (name, program, executions) in cases {
        let estimate = estimate(&program, &Config::new(MemoryModel::Rc11), 20_000, 7);
        let off = (estimate.mean() - executions).abs();
        assert!(off <= 3.0 * estimate.standard_error() + 1e-6, "{name}: {estimate:?}, {}", estimate.mean());
        assert!(estimate.standard_error() < executions / 10.0, "{name}: the estimate says little: {estimate:?}");
    }
}
