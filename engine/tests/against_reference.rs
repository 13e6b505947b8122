//! The explorer against the brute-force reference: on random programs it must find exactly the consistent executions,
//! each once, in every model, with several buffer bounds, under both equivalences, and with any number of workers.
//! Under reads-from equivalence, these are the executions without the order of writes.

use dpor_engine::graph::{MemOrder, Test, Then};
use dpor_reference::agreement::{
    LOOP_MODELS, MODELS, agrees_in, agrees_in_all, agrees_on_loops, agrees_on_races, agrees_on_waiting, cases,
};
use dpor_reference::axioms::Model;
use dpor_reference::generate::{Loops, Shape, counting, program};
use dpor_reference::program::{Prog, Stmt, Val};
use proptest::prelude::*;

proptest! {
    #![proptest_config(cases(2_000))]

    #[test]
    fn accesses_fences_and_branches(prog in program(Shape::plain_atomics())) {
        agrees_in_all(&prog)?;
    }
}

proptest! {
    #![proptest_config(cases(600))]

    /// RC11's psc has the most intricate definition of all: a test of its own.
    #[test]
    fn sequentially_consistent_accesses_and_fences(
        prog in program(Shape { strong: true, ..Shape::plain_atomics() })
    ) {
        agrees_in(&prog, &[Model::Rc11], &[1])?;
    }

    /// Threads that compete for one location: under reads-from equivalence, updates leave the least freedom to the order of
    /// writes, and stores the most.
    #[test]
    fn updates_among_stores(
        prog in program(Shape { locations: 1, events: 8, reads: 6, updates: true, ..Shape::plain_atomics() })
    ) {
        agrees_in(&prog, &MODELS, &[1])?;
    }

    #[test]
    fn locks_choices_and_assumptions(
        prog in program(Shape { threads: 3, locations: 2, events: 10, reads: 5, waiting: true, ..Shape::plain_atomics() })
    ) {
        agrees_in_all(&prog)?;
    }

    #[test]
    fn spawned_and_joined_threads(
        prog in program(Shape { threads: 3, events: 8, reads: 5, spawned: true, ..Shape::plain_atomics() })
    ) {
        agrees_in_all(&prog)?;
    }

    #[test]
    fn spawned_threads_with_locks(
        prog in program(Shape {
            threads: 3, locations: 2, events: 7, reads: 4, spawned: true, waiting: true, ..Shape::plain_atomics()
        })
    ) {
        agrees_in_all(&prog)?;
    }

    #[test]
    fn primitives_that_wait_and_what_happens_in_several_ways(
        prog in program(Shape { threads: 3, locations: 2, events: 8, reads: 6, primitives: true, ..Shape::plain_atomics() })
    ) {
        agrees_in_all(&prog)?;
    }

    #[test]
    fn loops_that_wait(
        prog in program(Shape { threads: 3, locations: 2, events: 8, reads: 5, loops: Loops::Waiting, ..Shape::plain_atomics() })
    ) {
        agrees_on_waiting(&prog)?;
    }

    /// Failed attempts are left out, in both forms.
    #[test]
    fn loops_that_retry(
        prog in counting(Shape { threads: 3, locations: 2, events: 8, reads: 8, ..Shape::plain_atomics() })
    ) {
        agrees_in(&prog, &LOOP_MODELS, &[1, 2, 4])?;
    }

    #[test]
    fn loops_of_all_kinds(
        prog in program(Shape { threads: 3, locations: 2, events: 9, reads: 6, loops: Loops::All, ..Shape::plain_atomics() })
    ) {
        agrees_on_loops(&prog)?;
    }

    #[test]
    fn data_races(prog in program(Shape { events: 8, reads: 5, plain: true, ..Shape::plain_atomics() })) {
        agrees_on_races(&prog)?;
    }
}

/// A store comes between what a thread has loaded and its confirmation, and what waits for the confirmation comes
/// before it.
#[test]
fn confirmations_among_stores() {
    let order = MemOrder::Relaxed;
    let one = |loc| Stmt::Store { loc, val: Val::Const(1), order };
    let wait = Stmt::Await { reg: 0, loc: 1, test: Test::IsNot(0), then: Then::Read, order };
    let cas = Stmt::Cas { reg: 0, loc: 1, expected: 0, new: 2, order, failure: order, weak: false };
    let threads = vec![
        vec![Stmt::Store { loc: 0, val: Val::Const(2), order }, wait, one(1)],
        vec![Stmt::Confirm { reg: 0, loc: 0, order }, one(1)],
        vec![cas, Stmt::Confirm { reg: 1, loc: 1, order }],
    ];
    let prog = Prog { threads, spawned: false };
    agrees_on_loops(&prog).unwrap();
}

/// A thread is blocked forever that has loaded before anything was written: that another has waited, and then finds
/// something else than it has waited for, must not hide that.
#[test]
fn blocked_beside_one_that_has_waited() {
    let order = MemOrder::Relaxed;
    let (x, y) = (0, 1);
    let until = |loc| Stmt::Until { reg: 2, loc, equals: 1, order };
    let threads = vec![
        vec![Stmt::Store { loc: x, val: Val::Const(1), order }, Stmt::Add { reg: 0, loc: x, k: 1, order }],
        vec![Stmt::Load { reg: 0, loc: x, order }, until(y)],
        vec![until(x), Stmt::Cas { reg: 0, loc: x, expected: 1, new: 1, order, failure: order, weak: false }],
    ];
    let prog = Prog { threads, spawned: false };
    agrees_on_waiting(&prog).unwrap();
}

/// Under reads-from equivalence: a chain of updates, of which the last belongs to a thread that has stored before, and a
/// load that reads from it.
#[test]
fn a_chain_of_updates_between_stores() {
    let order = MemOrder::Relaxed;
    let store = Stmt::Store { loc: 0, val: Val::Const(1), order };
    let exchange = |value| Stmt::Xchg { reg: 0, loc: 0, val: Val::Const(value), order };
    let cas = Stmt::Cas { reg: 0, loc: 0, expected: 2, new: 1, order, failure: order, weak: false };
    let threads = vec![
        vec![store.clone(), store.clone()],
        vec![exchange(2), Stmt::Load { reg: 0, loc: 0, order }],
        vec![store, exchange(1)],
        vec![cas],
    ];
    agrees_in_all(&Prog { threads, spawned: false }).unwrap();
}
