//! Random executions: all of them can happen, all that can happen come up, and they are the same for any number of workers.

mod programs;

use dpor_engine::explore::{Config, Ending, Observer, Report, Sampling, explore_with, sample_with};
use dpor_engine::graph::{Graph, GraphKey, Loc, MemOrder};
use dpor_engine::litmus::{BinOp, Code, Litmus, LitmusError, LitmusState};
use dpor_engine::model::MemoryModel;
use programs::*;
use std::collections::HashSet;

/// The executions that were seen.
#[derive(Default)]
struct Seen(HashSet<GraphKey>);

impl Observer<Litmus> for Seen {
    fn full(&mut self, graph: &Graph, _: &LitmusState, _: Ending) {
        self.0.insert(graph.key());
    }
}

fn union(seen: Vec<Seen>) -> HashSet<GraphKey> {
    seen.into_iter().flat_map(|seen| seen.0).collect()
}

fn sampled(program: &Litmus, config: &Config, samples: u64, seed: u64) -> (Report<LitmusError>, HashSet<GraphKey>) {
    let (report, seen) = sample_with(program, config, Sampling { samples, seed }, Seen::default);
    (report, union(seen))
}

/// Two stores and two loads the other way round: what the models differ in.
fn store_buffering() -> Litmus {
    let thread = |i: usize| {
        let mut code = Code::new();
        code.store(Loc::new(i), 1, MemOrder::Relaxed);
        code.load(Loc::new(1 - i), MemOrder::Relaxed);
        code
    };
    Litmus::new((0..2).map(thread).collect(), vec![0, 0])
}

#[test]
fn every_execution_of_small_programs_comes_up_and_no_other() {
    for (number, program) in [store_buffering(), inc(2), casw(2), ainc(3), readers(3), casrot(3)].iter().enumerate() {
        for model in MemoryModel::ALL {
            let config = Config::new(model);
            let (report, seen) = explore_with(program, &config, None, Seen::default);
            let all = union(seen);
            assert_eq!(all.len() as u64, report.stats.executions + report.stats.blocked);
            let (report, random) = sampled(program, &config, 2000, 1);
            assert!(report.errors.is_empty() && report.complete);
            assert_eq!(random, all, "program {number} under {model}");
        }
    }
}

/// Each thread asserts that it reads no sum in which all others are: deep in the tree, and nothing for few context switches.
fn fragile(n: usize) -> Litmus {
    let thread = |i: usize| {
        let mut code = Code::new();
        let r = code.load(Loc::new(0), MemOrder::Relaxed);
        let fine = code.bin(BinOp::Ne, r, (1 << n) - 1 - (1 << i));
        code.assert(fine);
        let sum = code.bin(BinOp::Add, r, 1 << i);
        code.store(Loc::new(0), sum, MemOrder::Relaxed);
        code
    };
    Litmus::new((0..n).map(thread).collect(), vec![])
}

#[test]
fn the_same_error_and_counts_for_any_number_of_workers() {
    let run = |workers, seed| {
        let config = Config { workers, ..Config::new(MemoryModel::Rc11) };
        let (report, _) = sampled(&fragile(4), &config, 10_000, seed);
        let error = report.errors.first().expect("there is an error");
        let last = error.graph.event(error.graph.last()).thread;
        (error.path.clone(), last.index(), report.stats.executions, report.stats.blocked)
    };
    for seed in 0..4 {
        let reference = run(1, seed);
        for workers in [2, 3, 4] {
            assert_eq!(run(workers, seed), reference, "{workers} workers");
        }
    }
    assert!((0..8).map(|seed| run(1, seed)).collect::<HashSet<_>>().len() > 1, "the seed makes a difference");
}

#[test]
fn all_executions_that_are_wanted_are_run() {
    let config = Config { workers: 2, ..Config::new(MemoryModel::Tso) };
    let (report, _) = sampled(&binc(4), &config, 500, 3);
    assert_eq!(report.stats.executions + report.stats.blocked + report.stats.cut, 500);
}
