//! Threads that are alike: of the executions that differ only in which of them is which, one is explored.

use dpor_engine::explore::{Config, Equivalence, explore};
use dpor_engine::graph::{Loc, MemOrder, RmwOp};
use dpor_engine::litmus::{Code, Litmus};
use dpor_engine::model::MemoryModel;
use dpor_reference::agreement::{LOOP_MODELS, agrees_up_to_permutation, cases};
use dpor_reference::alike::{compare, shapes};
use dpor_reference::generate::alike;
use dpor_reference::program::{Prog, Stmt, Val};
use proptest::prelude::*;

proptest! {
    #![proptest_config(cases(350))]

    #[test]
    fn accesses_fences_and_branches(prog in alike(shapes()[0])) {
        compare(&prog, shapes()[0])?;
    }

    #[test]
    fn sequentially_consistent_accesses_and_fences(prog in alike(shapes()[1])) {
        compare(&prog, shapes()[1])?;
    }

    #[test]
    fn locks_choices_and_assumptions(prog in alike(shapes()[2])) {
        compare(&prog, shapes()[2])?;
    }

    #[test]
    fn spawned_and_joined_threads(prog in alike(shapes()[3])) {
        compare(&prog, shapes()[3])?;
    }

    #[test]
    fn primitives_that_wait_and_what_happens_in_several_ways(prog in alike(shapes()[4])) {
        compare(&prog, shapes()[4])?;
    }

    #[test]
    fn loops_of_all_kinds(prog in alike(shapes()[5])) {
        compare(&prog, shapes()[5])?;
    }
}

/// Two threads that are alike load; what one of them reads is coherence-earlier than what the other does, and depends
/// on that one. Under RC11 this is consistent, and coherence cannot say who comes first.
#[test]
fn coherence_against_causality() {
    let order = MemOrder::Relaxed;
    let (x, y) = (0, 1);
    let store = |loc, val| Stmt::Store { loc, val, order };
    let reader = || vec![Stmt::Load { reg: 0, loc: x, order }, store(y, Val::Plus(0, 0))];
    let threads = vec![
        reader(),
        reader(),
        vec![Stmt::Load { reg: 0, loc: y, order }, store(x, Val::Plus(0, 1))],
        vec![store(x, Val::Const(1))],
    ];
    let prog = Prog { threads, spawned: false };
    agrees_up_to_permutation(&prog, &LOOP_MODELS, &[1, 2, 4]).unwrap();
}

/// The names of registers make no difference: all three threads are alike.
#[test]
fn registers_of_other_names() {
    let locker = |reg| vec![Stmt::Choose { reg, n: 2 }, Stmt::Lock { loc: 9 }];
    let prog = Prog { threads: vec![locker(0), locker(0), locker(1)], spawned: false };
    assert_eq!(prog.classes(), [[0, 1, 2]]);
    agrees_up_to_permutation(&prog, &LOOP_MODELS, &[1, 2, 4]).unwrap();
}

fn executions(program: &Litmus, symmetry: bool) -> Vec<u64> {
    let count = |model| {
        let report = explore(program, &Config { symmetry, ..Config::new(model) });
        assert!(report.complete && report.errors.is_empty());
        report.stats.executions
    };
    MemoryModel::ALL.into_iter().map(count).collect()
}

fn copies(count: usize, write: impl Fn(&mut Code)) -> Vec<Code> {
    let mut code = Code::default();
    write(&mut code);
    vec![code; count]
}

/// n! orders, and which thread is which does not matter.
#[test]
fn counters() {
    let add = |code: &mut Code| {
        code.rmw(RmwOp::Add, Loc::new(0), 1, MemOrder::Relaxed);
    };
    assert_eq!(executions(&Litmus::new(copies(9, add), vec![0]), true), [1; 4]);
    assert_eq!(executions(&Litmus::new(copies(5, add), vec![0]), false), [120; 4]);
}

/// Each of n threads reads one of two values: how many of them read the new one.
#[test]
fn readers() {
    let mut codes = copies(6, |code| {
        code.load(Loc::new(0), MemOrder::Relaxed);
    });
    codes.extend(copies(1, |code| code.store(Loc::new(0), 1, MemOrder::Relaxed)));
    let program = Litmus::new(codes, vec![0]);
    assert_eq!(executions(&program, true), [7; 4]);
    assert_eq!(executions(&program, false), [64; 4]);
}

/// Under reads-from equivalence there is no order to compare threads by.
#[test]
fn nothing_changes_under_reads_from_equivalence() {
    let program = Litmus::new(copies(4, |code| code.store(Loc::new(0), 1, MemOrder::Relaxed)), vec![0]);
    let config = Config { symmetry: true, equivalence: Equivalence::ReadsFrom, ..Config::new(MemoryModel::Rc11) };
    assert_eq!(explore(&program, &config).stats.executions, 1);
}
