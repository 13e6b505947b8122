//! Programs made of the actions that primitives of synchronization are modelled with: how many executions there are.

use dpor_engine::explore::{Config, explore};
use dpor_engine::graph::{Loc, MemOrder, RmwOp, Test, Then};
use dpor_engine::litmus::{Code, Litmus};
use dpor_engine::model::MemoryModel;

const RLX: MemOrder = MemOrder::Relaxed;

fn factorial(n: u64) -> u64 {
    (1..=n).product()
}

fn loc(n: usize) -> Loc {
    Loc::new(n)
}

/// Complete and blocked executions, the same in every model and for any number of workers.
fn counts(codes: Vec<Code>) -> (u64, u64) {
    let program = Litmus::new(codes, vec![0; 4]);
    let run = |model, workers| {
        let report = explore(&program, &Config { workers, ..Config::new(model) });
        assert!(report.complete && report.errors.is_empty());
        (report.stats.executions, report.stats.blocked)
    };
    let expected = run(MemoryModel::Rc11, 1);
    for model in MemoryModel::ALL {
        for workers in [1, 2, 4] {
            assert_eq!(run(model, workers), expected, "{model}, {workers} workers");
        }
    }
    expected
}

/// Threads count up, and go on when all have: only the order in which they come matters, not that in which they go on.
#[test]
fn a_barrier_has_one_execution_for_each_order_of_arrival() {
    for n in 1..=5 {
        let thread = || {
            let mut code = Code::new();
            code.rmw(RmwOp::Add, loc(0), 1, MemOrder::AcqRel);
            code.reach(loc(0), Test::AtLeast(n), MemOrder::Acquire);
            code
        };
        assert_eq!(counts((0..n).map(|_| thread()).collect()), (factorial(n), 0));
    }
}

/// A thread sets its bit, and sleeps until somebody clears it.
fn sleeper(bit: u64) -> Code {
    let mut code = Code::new();
    code.rmw(RmwOp::Or, loc(0), bit, RLX);
    code.reach(loc(0), Test::Clear(bit), RLX);
    code
}

/// Once both sleep, each is woken: 2 orders in which they went to sleep, and 2 choices of who is woken first.
#[test]
fn two_sleepers_woken_one_by_one() {
    let mut waker = Code::new();
    waker.reach(loc(0), Test::Is(3), RLX);
    waker.pick(loc(0), RLX);
    waker.pick(loc(0), RLX);
    assert_eq!(counts(vec![sleeper(1), sleeper(2), waker]), (4, 0));
}

/// As before, but one is never woken.
#[test]
fn one_of_two_sleepers_woken() {
    let mut waker = Code::new();
    waker.reach(loc(0), Test::Is(3), RLX);
    waker.pick(loc(0), RLX);
    assert_eq!(counts(vec![sleeper(1), sleeper(2), waker]), (0, 4));
}

/// Who wakes all does so at once: only the order of going to sleep is left.
#[test]
fn two_sleepers_woken_together() {
    let mut waker = Code::new();
    waker.reach(loc(0), Test::Is(3), RLX);
    waker.rmw(RmwOp::Xchg, loc(0), 0, RLX);
    assert_eq!(counts(vec![sleeper(1), sleeper(2), waker]), (2, 0));
}

/// The waker may come too early: then nobody is woken.
#[test]
fn a_wake_up_may_be_lost() {
    let mut waker = Code::new();
    waker.pick(loc(0), RLX);
    assert_eq!(counts(vec![sleeper(1), waker]), (1, 1));
}

/// Locks to read and unlocks, so often.
fn reader(sections: usize) -> Code {
    let mut code = Code::new();
    for _ in 0..sections {
        code.await_then(loc(0), Test::Below(9), Then::Add(1), MemOrder::Acquire);
        code.rmw(RmwOp::Add, loc(0), u64::MAX, MemOrder::Release);
    }
    code
}

/// Locks to write and unlocks.
fn writer() -> Code {
    let mut code = Code::new();
    code.await_then(loc(0), Test::Is(0), Then::Set(9), MemOrder::Acquire);
    code.store(loc(0), 0, MemOrder::Release);
    code
}

/// Readers exclude writers, not each other: the 2n steps of n readers interleave in (2n)! / 2^n ways.
#[test]
fn readers_and_writers() {
    assert_eq!(counts(vec![reader(1), reader(1)]), (6, 0));
    assert_eq!(counts(vec![reader(1), reader(1), reader(1)]), (90, 0));
    assert_eq!(counts(vec![reader(1), writer()]), (2, 0));
    assert_eq!(counts(vec![writer(), writer(), writer()]), (6, 0));
    // A writer before, between (twice) or after two readers, which interleave in 6 ways, in 2 of them one after another.
    assert_eq!(counts(vec![reader(1), reader(1), writer()]), (6 + 6 + 2, 0));
}

/// In which order readers lock and unlock makes no difference: only which of them come before a writer does.
#[test]
fn readers_and_writers_that_commute() {
    let count = |readers: usize, sections: usize, writers: usize, first: bool| {
        let readers = || (0..readers).map(|_| reader(sections));
        let writers = || (0..writers).map(|_| writer());
        let program = match first {
            true => Litmus::new(writers().chain(readers()).collect(), vec![0; 4]),
            false => Litmus::new(readers().chain(writers()).collect(), vec![0; 4]),
        };
        let counts = MemoryModel::ALL.map(|model| {
            let run = |workers| explore(&program, &Config { workers, commute: true, ..Config::new(model) });
            let (report, other) = (run(1), run(2));
            assert!(report.complete && report.errors.is_empty());
            assert_eq!((report.stats.executions, report.stats.blocked), (other.stats.executions, 0));
            report.stats.executions
        });
        assert!(counts.iter().all(|&count| count == counts[0]), "{counts:?}");
        counts[0]
    };
    // Whoever comes first in the order of threads.
    let all = |readers, sections, writers| {
        let counts = [true, false].map(|first| count(readers, sections, writers, first));
        assert_eq!(counts[0], counts[1]);
        counts[0]
    };
    for n in 1..=5 {
        assert_eq!(all(n, 1, 0), 1);
        assert_eq!(all(n, 1, 1), 1 << n);
        assert_eq!(all(n, 1, 2), 2 * 3u64.pow(n as u32));
    }
    // A writer before, between or after the two sections of each reader.
    assert_eq!(all(2, 2, 0), 1);
    assert_eq!(all(2, 2, 1), 9);
    assert_eq!(all(3, 2, 1), 27);
    // Of each reader, two sections among three writers: 10 ways.
    assert_eq!(all(2, 2, 3), 6 * 100);
}

/// Of n threads that all want to do something once, one does, and the others see that it was done.
#[test]
fn once() {
    for n in 1..=4 {
        let thread = || {
            let mut code = Code::new();
            let then = Then::Replace { test: Test::Is(0), new: 1 };
            let seen = code.await_then(loc(0), Test::IsNot(1), then, MemOrder::Acquire);
            let first = code.bin(dpor_engine::litmus::BinOp::Eq, seen, 0);
            let otherwise = code.unless(first);
            code.store(loc(0), 2, MemOrder::Release);
            code.land(otherwise);
            code
        };
        assert_eq!(counts((0..n).map(|_| thread()).collect()), (n, 0));
    }
}

/// A weak compare-and-swap succeeds or fails, whatever it reads.
#[test]
fn spurious_failures() {
    let mut code = Code::new();
    code.cas_weak(loc(0), 0, 1, RLX, RLX);
    assert_eq!(counts(vec![code]), (2, 0));
}
