//! Random programs with readers that share a lock: the explorer against the reference, up to the order of readers.

use std::collections::BTreeSet;

use dpor_engine::graph::{Test, Then};
use proptest::strategy::Strategy;
use proptest::test_runner::TestCaseError;

use crate::agreement::{LOOP_MODELS, agrees_on_readers};
use crate::candidate::{Key, Name};
use crate::generate::{Shape, nth, readers};
use crate::program::{Prog, Stmt};
use crate::soak::Verdict;

/// The location of the lock.
const LOCK: u8 = 0;

/// The kinds of random programs: their shape, and whether some accesses are not atomic.
pub fn kinds() -> [(Shape, bool); 3] {
    let shape = Shape { threads: 3, locations: 3, events: 7, reads: 6, ..Shape::plain_atomics() };
    [(shape, false), (shape, true), (Shape { threads: 2, events: 9, reads: 7, ..shape }, false)]
}

/// The programs of a kind.
pub fn programs(kind: usize) -> impl Strategy<Value = Prog> {
    let (shape, plain) = kinds()[kind];
    readers(shape, plain)
}

/// Whether the explorer and the reference agree on a program.
pub fn compare(program: &Prog) -> Result<(), TestCaseError> {
    agrees_on_readers(program, &LOOP_MODELS)
}

/// Compares the program of a number.
pub fn compare_nth(seed: u64, number: u64) -> Verdict<String> {
    let program = nth(programs((number % kinds().len() as u64) as usize), seed, number);
    Verdict::of(compare(&program), &program)
}

/// The events by which readers lock and unlock, in a program without branches.
pub fn readers_of(program: &Prog) -> BTreeSet<(usize, usize)> {
    let is_reader = |stmt: &Stmt| match stmt {
        Stmt::Await { loc, test: Test::Below(_), then: Then::Add(1), .. } => *loc == LOCK,
        Stmt::Count { loc, .. } => *loc == LOCK,
        _ => false,
    };
    let steps = |(thread, stmts): (usize, &Vec<Stmt>)| {
        let places = stmts.iter().enumerate().filter(|(_, stmt)| is_reader(stmt)).map(|(place, _)| place);
        places.map(move |place| (thread, place)).collect::<Vec<_>>()
    };
    program.threads.iter().enumerate().flat_map(steps).collect()
}

/// Whether all readers unlock in the end.
pub fn all_unlock(program: &Prog) -> bool {
    let events = readers_of(program);
    (0..program.threads.len()).all(|thread| events.iter().filter(|(other, _)| *other == thread).count() % 2 == 0)
}

/// What executions have in common that differ only in the order of readers between two writers.
pub fn class(mut key: Key, readers: &BTreeSet<(usize, usize)>) -> Key {
    let is_reader = |name: &Name| name.is_some_and(|name| readers.contains(&name));
    for &(thread, step) in readers {
        if let Some(step) = key.threads[thread].get_mut(step) {
            *step = (0, None);
        }
    }
    let Some(co) = key.co.get_mut(&LOCK) else { return key };
    for run in co.chunk_by_mut(|one, other| is_reader(one) && is_reader(other)) {
        run.sort();
        let last = run[run.len() - 1];
        for (_, rf) in key.threads.iter_mut().flatten().filter(|(_, rf)| rf.is_some() && run.contains(rf)) {
            *rf = last;
        }
    }
    key
}
