//! Programs that wait in loops: how many executions there are, and how many blocked ones each level leaves.
//!
//! Numbers are those of tables 1 and 2 of the AWAMOCHE paper, or follow from a formula that is given.

use dpor_engine::explore::{AwaitLevel, Config, Equivalence, Stats, explore};
use dpor_engine::graph::{Loc, MemOrder, RmwOp};
use dpor_engine::litmus::{BinOp, Code, Litmus};
use dpor_engine::model::MemoryModel;

const RLX: MemOrder = MemOrder::Relaxed;
const ACQ: MemOrder = MemOrder::Acquire;
const REL: MemOrder = MemOrder::Release;

fn loc(n: usize) -> Loc {
    Loc::new(n)
}

fn factorial(n: u64) -> u64 {
    (1..=n).product()
}

fn run(program: &Litmus, model: MemoryModel, level: AwaitLevel, workers: usize) -> Stats {
    run_with(program, level, Config { workers, ..Config::new(model) })
}

fn run_with(program: &Litmus, awaiting: AwaitLevel, config: Config) -> Stats {
    let config = Config { awaiting, ..config };
    let report = explore(program, &config);
    assert!(report.complete && report.errors.is_empty(), "{:?}", report.errors);
    report.stats
}

/// Complete and blocked executions, which do not depend on the number of workers; nor on the equivalence, as the writes of
/// each location are ordered by what is read.
fn counts(program: &Litmus, level: AwaitLevel) -> (u64, u64) {
    let of = |stats: Stats| (stats.executions, stats.blocked);
    let one = of(run(program, MemoryModel::Rc11, level, 1));
    for workers in [2, 4] {
        assert_eq!(of(run(program, MemoryModel::Rc11, level, workers)), one, "{workers} workers");
        let equivalence = Equivalence::ReadsFrom;
        let config = Config { workers, equivalence, ..Config::new(MemoryModel::Rc11) };
        assert_eq!(of(run_with(program, level, config)), one, "{workers} workers, what is read");
    }
    one
}

/// `while x.load() != value {}`, or with another test.
fn await_until(code: &mut Code, at: usize, test: BinOp, value: u64, order: MemOrder) {
    let head = code.head(&[]);
    let read = code.load(loc(at), order);
    let done = code.bin(test, read, value);
    code.again_unless(done, head);
}

fn program(codes: Vec<Code>) -> Litmus {
    Litmus::new(codes, vec![0; 8])
}

/// N threads wait for a flag that the first one sets.
fn orch_run(n: usize) -> Litmus {
    let mut main = Code::new();
    main.store(loc(0), 1, REL);
    let waits = || {
        let mut code = Code::new();
        await_until(&mut code, 0, BinOp::Eq, 1, ACQ);
        code
    };
    program(std::iter::once(main).chain((0..n).map(|_| waits())).collect())
}

/// One thread waits until N others have counted up.
fn wait_workers(n: usize) -> Litmus {
    let mut waits = Code::new();
    await_until(&mut waits, 0, BinOp::Eq, n as u64, ACQ);
    let worker = || {
        let mut code = Code::new();
        code.rmw(RmwOp::Add, loc(0), 1, RLX);
        code
    };
    program(std::iter::once(waits).chain((0..n).map(|_| worker())).collect())
}

/// K readers wait for what the writer never writes.
fn nr_nw(k: usize, l: u64) -> Litmus {
    let reader = || {
        let mut code = Code::new();
        let head = code.head(&[]);
        let read = code.load(loc(0), RLX);
        let done = code.bin(BinOp::Lt, l, read);
        code.again_unless(done, head);
        code
    };
    let mut writer = Code::new();
    (1..=l).for_each(|value| writer.store(loc(0), value, RLX));
    program((0..k).map(|_| reader()).chain([writer]).collect())
}

/// N threads: `loop { r = x.load(); if x.cas(r, r + 1) { break } }`.
fn conf_loop(n: usize) -> Litmus {
    let thread = || {
        let mut code = Code::new();
        let head = code.head(&[]);
        let read = code.load(loc(0), RLX);
        let next = code.bin(BinOp::Add, read, 1);
        let (_, ok) = code.cas(loc(0), read, next, RLX, RLX);
        code.again_unless(ok, head);
        code
    };
    program((0..n).map(|_| thread()).collect())
}

/// N threads take a ticket and wait until it is served.
fn ticket_lock(n: usize) -> Litmus {
    let thread = || {
        let mut code = Code::new();
        let ticket = code.rmw(RmwOp::Add, loc(0), 1, RLX);
        let head = code.head(&[ticket]);
        let served = code.load(loc(1), ACQ);
        let mine = code.bin(BinOp::Eq, served, ticket);
        code.again_unless(mine, head);
        let next = code.bin(BinOp::Add, ticket, 1);
        code.store(loc(1), next, REL);
        code
    };
    program((0..n).map(|_| thread()).collect())
}

/// How a spin lock tries.
#[derive(Clone, Copy, Debug)]
enum Try {
    /// `while !CAS(0, 1) {}`
    CompareAndSwap,
    /// `while swap(1) != 0 {}`
    TestAndSet,
    /// `loop { while load != 0 {}; if swap(1) == 0 { break } }`
    TestAndTestAndSet,
}

fn spin_lock(n: usize, how: Try) -> Litmus {
    let thread = || {
        let mut code = Code::new();
        let head = code.head(&[]);
        match how {
            Try::CompareAndSwap => {
                let (_, ok) = code.cas(loc(0), 0, 1, ACQ, RLX);
                code.again_unless(ok, head);
            }
            Try::TestAndSet => {
                let old = code.rmw(RmwOp::Xchg, loc(0), 1, ACQ);
                let free = code.bin(BinOp::Eq, old, 0);
                code.again_unless(free, head);
            }
            Try::TestAndTestAndSet => {
                let seen = code.load(loc(0), RLX);
                let free = code.bin(BinOp::Eq, seen, 0);
                code.again_unless(free, head);
                let old = code.rmw(RmwOp::Xchg, loc(0), 1, ACQ);
                let free = code.bin(BinOp::Eq, old, 0);
                code.again_unless(free, head);
            }
        }
        let value = code.load(loc(1), RLX);
        let next = code.bin(BinOp::Add, value, 1);
        code.store(loc(1), next, RLX);
        code.store(loc(0), 0, REL);
        code
    };
    program((0..n).map(|_| thread()).collect())
}

#[test]
fn orch_run_never_blocks() {
    for n in 4..=6 {
        assert_eq!(counts(&orch_run(n), AwaitLevel::Off), (1, (1 << n) - 1));
        assert_eq!(counts(&orch_run(n), AwaitLevel::Stale), (1, 0));
        assert_eq!(counts(&orch_run(n), AwaitLevel::InPlace), (1, 0));
        assert_eq!(counts(&orch_run(n), AwaitLevel::Full), (1, 0));
    }
}

#[test]
fn wait_workers_has_one_execution_for_each_order() {
    for (n, blocked) in [(4, 96), (5, 600), (6, 4320)] {
        let executions = factorial(n);
        let program = wait_workers(n as usize);
        assert_eq!(counts(&program, AwaitLevel::Off), (executions, blocked));
        assert_eq!(counts(&program, AwaitLevel::Stale), (executions, blocked));
        assert_eq!(counts(&program, AwaitLevel::InPlace), (executions, 0));
        assert_eq!(counts(&program, AwaitLevel::Full), (executions, 0));
    }
}

#[test]
fn readers_of_what_is_never_written_wait_once() {
    for (k, l, off, stale) in [(3, 2, 27, 10), (5, 4, 3_125, 126), (6, 5, 46_656, 462)] {
        assert_eq!(counts(&nr_nw(k, l), AwaitLevel::Off), (0, off));
        assert_eq!(counts(&nr_nw(k, l), AwaitLevel::Stale), (0, stale));
        assert_eq!(counts(&nr_nw(k, l), AwaitLevel::InPlace), (0, 1));
        assert_eq!(counts(&nr_nw(k, l), AwaitLevel::Full), (0, 1));
    }
}

#[test]
fn confirmation_loops() {
    for (n, off, stale, in_place) in [(4, 256, 176, 124), (5, 3_905, 2_010, 1_185), (6, 75_156, 26_916, 13_086)] {
        let executions = factorial(n);
        let program = conf_loop(n as usize);
        assert_eq!(counts(&program, AwaitLevel::Off), (executions, off));
        assert_eq!(counts(&program, AwaitLevel::Stale), (executions, stale));
        assert_eq!(counts(&program, AwaitLevel::InPlace), (executions, in_place));
        assert_eq!(counts(&program, AwaitLevel::Full), (executions, 0));
    }
}

#[test]
fn locks_have_one_execution_for_each_order() {
    for n in 2..=5 {
        let executions = factorial(n);
        assert_eq!(counts(&ticket_lock(n as usize), AwaitLevel::Full), (executions, 0));
        assert_eq!(counts(&spin_lock(n as usize, Try::CompareAndSwap), AwaitLevel::Full), (executions, 0));
        assert_eq!(counts(&spin_lock(n as usize, Try::TestAndSet), AwaitLevel::Full), (executions, 0));
    }
}

#[test]
fn testing_before_setting_never_blocks() {
    for n in 2..=4 {
        let (executions, blocked) = counts(&spin_lock(n, Try::TestAndTestAndSet), AwaitLevel::Full);
        assert_eq!(blocked, 0);
        let (off, _) = counts(&spin_lock(n, Try::TestAndTestAndSet), AwaitLevel::Off);
        assert_eq!(executions, off);
    }
}

/// What is left out is not merely left uncounted: the work is in proportion to the executions.
#[test]
fn confirmations_that_fail_are_hardly_begun() {
    for n in 4..=7 {
        let stats = run(&conf_loop(n), MemoryModel::Rc11, AwaitLevel::Full, 1);
        assert!(stats.cut < 2 * stats.executions, "{stats:?}");
    }
}
