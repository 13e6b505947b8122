//! Updates that commute, against the reference: the executions up to swaps of such updates, each exactly once, in every
//! model and with any number of workers.

use dpor_engine::explore::{Config, explore};
use dpor_engine::graph::{MemOrder, Test, Then};
use dpor_engine::model::MemoryModel;
use dpor_reference::agreement::{LOOP_MODELS, agrees_on_commuting, cases};
use dpor_reference::commuting::{compare, kinds};
use dpor_reference::generate::commuting;
use dpor_reference::program::{Prog, Stmt, Val};
use dpor_reference::readers;
use proptest::prelude::*;

proptest! {
    #![proptest_config(cases(2_000))]

    #[test]
    fn counters_and_loads(prog in programs(0)) {
        compare(&prog, kinds()[0].1)?;
    }

    #[test]
    fn counters_whose_results_matter(prog in programs(1)) {
        compare(&prog, kinds()[1].1)?;
    }

    #[test]
    fn counters_among_others(prog in programs(2)) {
        compare(&prog, kinds()[2].1)?;
    }

    #[test]
    fn counters_of_spawned_threads(prog in programs(3)) {
        compare(&prog, kinds()[3].1)?;
    }
}

proptest! {
    #![proptest_config(cases(700))]

    #[test]
    fn readers_of_a_lock(prog in readers::programs(0)) {
        readers::compare(&prog)?;
    }

    #[test]
    fn readers_that_may_race(prog in readers::programs(1)) {
        readers::compare(&prog)?;
    }

    #[test]
    fn readers_that_come_again(prog in readers::programs(2)) {
        readers::compare(&prog)?;
    }
}

/// Behind a release fence, a reader that locks releases to those that lock after it. So not every order of readers fits what
/// they load; if both have such a fence, one of them sees what the other has stored.
#[test]
fn readers_behind_release_fences() {
    let (lock, x, y) = (0, 1, 2);
    let locks = Stmt::Await { reg: 3, loc: lock, test: Test::Below(9), then: Then::Add(1), order: MemOrder::Acquire };
    let unlocks = Stmt::Count { loc: lock, k: u64::MAX, order: MemOrder::Release, test: None };
    let fence = Stmt::Fence { order: MemOrder::Release };
    let store = |loc| Stmt::Store { loc, val: Val::Const(1), order: MemOrder::Relaxed };
    let load = |loc| Stmt::Load { reg: 0, loc, order: MemOrder::Relaxed };
    let behind = |own, other| vec![store(own), fence.clone(), locks.clone(), load(other)];
    let without = vec![locks.clone(), load(x), unlocks];
    for threads in [vec![behind(x, y), without], vec![behind(x, y), behind(y, x)]] {
        readers::compare(&Prog { threads, spawned: false }).unwrap();
    }
}

fn programs(kind: usize) -> impl Strategy<Value = Prog> {
    let (shape, counters) = kinds()[kind];
    commuting(shape, counters)
}

fn count(loc: u8, test: Option<(u8, u64)>) -> Stmt {
    Stmt::Count { loc, k: 1, order: MemOrder::Release, test }
}

fn executions(threads: Vec<Vec<Stmt>>, commute: bool) -> Vec<u64> {
    let prog = Prog { threads, spawned: false };
    let config = |model| Config { commute, ..Config::new(model) };
    MemoryModel::ALL.map(|model| explore(&prog.litmus(), &config(model)).stats.executions).to_vec()
}

/// Nothing tells the orders apart: there is one execution instead of n!.
#[test]
fn counters_that_nobody_looks_at() {
    for n in 1..=7 {
        let threads = || vec![vec![count(0, None)]; n];
        assert_eq!(executions(threads(), true), [1; 4]);
        assert_eq!(executions(threads(), false), [(1..=n as u64).product::<u64>(); 4]);
    }
}

/// Only the last of n threads finds the value n - 1, and does something then: n executions.
#[test]
fn the_last_one_finds_out() {
    for n in 1..=6u8 {
        let shows = Stmt::Store { loc: 1, val: Val::Const(1), order: MemOrder::Relaxed };
        let last = Stmt::If { reg: 0, equals: 1, then: vec![shows], otherwise: Vec::new() };
        let thread = vec![count(0, Some((0, u64::from(n) - 1))), last];
        assert_eq!(executions(vec![thread; usize::from(n)], true), [u64::from(n); 4], "{n} threads");
    }
}

/// A load sees any of the 2^n sets of n counters.
#[test]
fn a_load_sees_some_of_the_counters() {
    for n in 1..=5 {
        let mut threads = vec![vec![count(0, None)]; n];
        threads.push(vec![Stmt::Load { reg: 0, loc: 0, order: MemOrder::Relaxed }]);
        assert_eq!(executions(threads, true), [1 << n; 4], "{n} counters");
    }
}

/// The fence makes the first thread acquire from what comes before its update, so the other's update comes after it where
/// the main thread's store comes before that of the other thread.
#[test]
fn the_order_that_is_shown_fits_the_fences() {
    let store = || Stmt::Store { loc: 1, val: Val::Const(1), order: MemOrder::Relaxed };
    let fences = vec![
        Stmt::Count { loc: 0, k: 1, order: MemOrder::Relaxed, test: None },
        Stmt::Fence { order: MemOrder::AcqRel },
    ];
    let releases = vec![store(), Stmt::Add { reg: 0, loc: 0, k: 1, order: MemOrder::Release }];
    let main = vec![Stmt::Spawn { thread: 1 }, Stmt::Spawn { thread: 2 }, Stmt::Join { thread: 1 }, store()];
    let prog = Prog { threads: vec![main, fences, releases], spawned: true };
    agrees_on_commuting(&prog, &LOOP_MODELS, false).unwrap();
}

/// The main thread hands a handle to each of n threads, and drops its own: n + 1 executions, one for each that may be last.
#[test]
fn handles_that_are_handed_out() {
    let drops = || {
        let shows = Stmt::Store { loc: 1, val: Val::Const(1), order: MemOrder::Relaxed };
        let count = Stmt::Count { loc: 0, k: u64::MAX, order: MemOrder::Release, test: Some((0, 0)) };
        [count, Stmt::If { reg: 0, equals: 1, then: vec![shows], otherwise: Vec::new() }]
    };
    for n in 1..=5u8 {
        let hand_out = |thread| [count(0, None), Stmt::Spawn { thread }];
        let main = (1..=n).flat_map(hand_out).chain(drops()).collect();
        let threads = [main].into_iter().chain((1..=n).map(|_| drops().to_vec())).collect();
        let prog = Prog { threads, spawned: true };
        let config = |model| Config { commute: true, ..Config::new(model) };
        let found = MemoryModel::ALL.map(|model| explore(&prog.litmus(), &config(model)).stats.executions);
        assert_eq!(found, [u64::from(n) + 1; 4], "{n} threads");
    }
}
