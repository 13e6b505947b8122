//! What an exploration reports: errors, limits, counts; the same for any number of workers and on every run.

mod programs;

use dpor_engine::explore::{
    Answer, Config, Ending, Equivalence, Failure, Observer, Program, Progress, Report, explore, explore_with,
};
use dpor_engine::graph::{Action, EventId, Graph, Loc, MemOrder, RmwOp, ThreadId, Value};
use dpor_engine::litmus::{BinOp, Code, Litmus, LitmusError, LitmusState};
use dpor_engine::model::MemoryModel;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

const WORKERS: [usize; 4] = [1, 2, 3, 4];

fn config(workers: usize) -> Config {
    Config { workers, ..Config::new(MemoryModel::Rc11) }
}

/// `n` threads add powers of two with plain loads and stores, and each asserts that it did not read `bad`.
fn fragile(n: usize, bad: &[u64]) -> Litmus {
    let thread = |i: usize| {
        let mut code = Code::new();
        let r = code.load(Loc::new(0), MemOrder::Relaxed);
        for &value in bad {
            let fine = code.bin(BinOp::Ne, r, value);
            code.assert(fine);
        }
        let sum = code.bin(BinOp::Add, r, 1 << i);
        code.store(Loc::new(0), sum, MemOrder::Relaxed);
        code
    };
    Litmus::new((0..n).map(thread).collect(), vec![])
}

fn first_error(report: &Report<LitmusError>) -> (Failure<LitmusError>, Vec<u32>) {
    let error = report.errors.first().expect("there is an error");
    (error.failure.clone(), error.path.clone())
}

#[test]
fn the_same_error_for_any_number_of_workers() {
    // Only the sum of all others but the first: deep in the tree.
    let program = fragile(5, &[0b11110, 0b1010]);
    let reference = explore(&program, &config(1));
    assert_eq!(reference.errors.len(), 1);
    for workers in WORKERS.repeat(8) {
        let report = explore(&program, &config(workers));
        assert_eq!(first_error(&report), first_error(&reference), "{workers} workers");
        let counts = |r: &Report<LitmusError>| {
            (r.stats.executions, r.stats.blocked, r.stats.events, r.stats.revisits_tried, r.stats.revisits_done)
        };
        assert_eq!(counts(&report), counts(&reference), "{workers} workers");
        assert!(report.complete);
    }
}

#[test]
fn the_same_counts_for_any_number_of_workers() {
    for program in [programs::inc(5), programs::casw(4), programs::mutex(5), programs::lastzero(9), programs::sigma(5)]
    {
        let reference = explore(&program, &config(1)).stats;
        for workers in WORKERS {
            let mut stats = explore(&program, &config(workers)).stats;
            stats.peak_bytes = reference.peak_bytes;
            assert_eq!(stats, reference, "{workers} workers");
        }
    }
}

/// Under reads-from equivalence too, but for how often witnesses were looked for; and the witness of an error is the same.
#[test]
fn the_same_reads_for_any_number_of_workers() {
    let config = |workers| Config { equivalence: Equivalence::ReadsFrom, ..config(workers) };
    let programs = [programs::inc(5), programs::casw(4), programs::lastwrite(6), fragile(5, &[0b11110, 0b1010])];
    for program in programs {
        let reference = explore(&program, &config(1));
        for workers in WORKERS.repeat(4) {
            let report = explore(&program, &config(workers));
            let error = |report: &Report<LitmusError>| {
                report.errors.first().map(|found| (found.failure.clone(), found.path.clone(), found.graph.key()))
            };
            assert_eq!(error(&report), error(&reference), "{workers} workers");
            let counts = |r: &Report<LitmusError>| (r.stats.executions, r.stats.blocked, r.stats.revisits_done);
            assert_eq!(counts(&report), counts(&reference), "{workers} workers");
        }
    }
}

#[test]
fn going_on_finds_every_distinct_error() {
    let program = fragile(4, &[0b0110, 0b0011]);
    let mut reference = None;
    for workers in WORKERS {
        let report = explore(&program, &Config { keep_going: true, ..config(workers) });
        let errors: Vec<_> = report.errors.iter().map(|e| (e.failure.clone(), e.path.clone())).collect();
        let distinct = errors.iter().enumerate().all(|(i, (failure, _))| errors[..i].iter().all(|(f, _)| f != failure));
        assert!(distinct && errors.len() > 2, "{errors:?}");
        assert!(errors.is_sorted_by_key(|(_, path)| path.clone()));
        let found = (errors, report.stats.executions);
        assert_eq!(*reference.get_or_insert_with(|| found.clone()), found, "{workers} workers");
    }
}

/// Threads that several threads spawn have ids that do not depend on who explores.
#[test]
fn threads_are_called_the_same_for_any_number_of_workers() {
    // Three threads update a location and spawn a thread that does so too.
    let update = |fails_at: Option<u64>| {
        let mut code = Code::new();
        let r = code.rmw(RmwOp::Add, Loc::new(0), 1, MemOrder::AcqRel);
        if let Some(value) = fails_at {
            let fine = code.bin(BinOp::Ne, r, value);
            code.assert(fine);
        }
        code
    };
    let program = |fails_at| {
        let spawner = |i: usize| {
            let mut code = update(None);
            let child = code.spawn(3 + i);
            code.join(child);
            code
        };
        let codes = (0..3).map(spawner).chain((0..3).map(|_| update(fails_at))).collect();
        Litmus::with_spawned(codes, 3, vec![])
    };
    // Six updates, of which three pairs are ordered: 6! / 2³.
    for model in MemoryModel::ALL {
        assert_eq!(explore(&program(None), &Config::new(model)).stats.executions, 90, "{model}");
    }
    let keep_going = |workers| Config { keep_going: true, ..config(workers) };
    let reference = explore(&program(Some(4)), &keep_going(1));
    let failures =
        |r: &Report<LitmusError>| r.errors.iter().map(|e| (e.failure.clone(), e.path.clone())).collect::<Vec<_>>();
    assert!(failures(&reference).len() >= 2, "{:?}", failures(&reference));
    for workers in WORKERS.repeat(20) {
        assert_eq!(
            failures(&explore(&program(Some(4)), &keep_going(workers))),
            failures(&reference),
            "{workers} workers"
        );
    }
}

/// A later thread that races is found, whoever explores: the least race is reported.
#[test]
fn the_same_race_for_any_number_of_workers() {
    let thread = |i: usize| {
        let mut code = Code::new();
        let r = code.rmw(RmwOp::Add, Loc::new(0), 1, MemOrder::AcqRel);
        let wrong = code.bin(BinOp::Eq, r, 3);
        let skip = code.unless(wrong);
        code.store(Loc::new(1), i as u64, MemOrder::NotAtomic);
        code.land(skip);
        code.load(Loc::new(1), MemOrder::NotAtomic);
        code
    };
    let program = Litmus::new((0..5).map(thread).collect(), vec![]);
    let reference = first_error(&explore(&program, &config(1)));
    assert!(matches!(reference.0, Failure::Race(_)));
    for workers in WORKERS {
        assert_eq!(first_error(&explore(&program, &config(workers))), reference);
    }
}

#[test]
fn a_limit_on_executions_is_exact() {
    for workers in WORKERS {
        let limited = |max| explore(&programs::ainc(5), &Config { max_executions: Some(max), ..config(workers) });
        let report = limited(50);
        assert_eq!((report.stats.executions, report.complete), (50, false));
        let report = limited(120);
        assert_eq!((report.stats.executions, report.complete), (120, true));
    }
}

#[test]
fn a_limit_on_time_is_kept() {
    for workers in [1, 2] {
        let begin = Instant::now();
        let timeout = Some(Duration::from_millis(100));
        let report = explore(&programs::ainc(12), &Config { timeout, ..config(workers) });
        assert!(!report.complete && report.stats.executions > 0);
        assert!(begin.elapsed() < Duration::from_secs(20), "{:?}", begin.elapsed());
    }
}

#[test]
fn choices_and_assumptions() {
    // Two threads choose 0, 1 or 2 and store it; the first assumes that the sum it sees is not 0.
    let thread = |assumes: bool| {
        let mut code = Code::new();
        let mine = code.choose(3);
        code.store(Loc::new(usize::from(assumes)), mine, MemOrder::Relaxed);
        if assumes {
            let other = code.load(Loc::new(0), MemOrder::Relaxed);
            let sum = code.bin(BinOp::Add, mine, other);
            code.assume(sum);
        }
        code
    };
    let program = Litmus::new(vec![thread(true), thread(false)], vec![]);
    for model in MemoryModel::ALL {
        let stats = explore(&program, &Config::new(model)).stats;
        // 3 · 3 choices, and the load sees the initial 0 or the other's choice. Blocked: mine is 0, and so is what is
        // seen, which is the initial value (3 ways for the other) or a chosen 0.
        assert_eq!((stats.executions, stats.blocked), (18 - 4, 4), "{model}");
    }
}

#[test]
fn deadlock_is_a_blocked_execution() {
    let thread = |first: usize| {
        let mut code = Code::new();
        code.lock(Loc::new(first));
        code.lock(Loc::new(1 - first));
        code.unlock(Loc::new(1 - first));
        code.unlock(Loc::new(first));
        code
    };
    let program = Litmus::new(vec![thread(0), thread(1)], vec![]);
    for model in MemoryModel::ALL {
        let stats = explore(&program, &Config::new(model)).stats;
        // One thread after the other, twice; or each has one lock.
        assert_eq!((stats.executions, stats.blocked), (2, 1), "{model}");
    }
}

#[test]
fn progress_is_reported_while_exploring() {
    let progress = Progress::default();
    let done = AtomicBool::new(false);
    let program = programs::inc(5);
    std::thread::scope(|scope| {
        let watcher = scope.spawn(|| {
            let mut seen = 0;
            while !done.load(Ordering::Relaxed) {
                assert!(progress.executions() >= seen, "progress goes forward");
                seen = progress.executions();
                std::thread::yield_now();
            }
        });
        let (report, _) = explore_with(&program, &config(2), Some(&progress), || ());
        done.store(true, Ordering::Relaxed);
        assert!(watcher.join().is_ok());
        assert_eq!(progress.executions(), report.stats.executions);
    });
}

/// The first worker estimates between the executions that it explores. One worker explores all of them; of two, the other
/// may be done before the first has begun.
#[test]
fn the_number_of_executions_is_estimated_while_exploring() {
    let progress = Progress::default();
    explore_with(&programs::inc(5), &config(1), Some(&progress), || ());
    assert!(progress.estimate().samples > 0);
    assert!(progress.estimate().mean() > 0.0);
}

/// A panic in one worker ends the others too, and goes on.
#[test]
fn a_panic_does_not_hang() {
    struct Panics(std::sync::atomic::AtomicUsize);

    impl Observer<Litmus> for &Panics {
        fn full(&mut self, _: &Graph, _: &LitmusState, _: Ending) {
            assert!(self.0.fetch_add(1, Ordering::Relaxed) < 5_000, "enough");
        }
    }

    for workers in WORKERS {
        let panics = Panics(std::sync::atomic::AtomicUsize::new(0));
        let run = || explore_with(&programs::ainc(8), &config(workers), None, || &panics).0.stats;
        assert!(std::panic::catch_unwind(std::panic::AssertUnwindSafe(run)).is_err(), "{workers} workers");
    }
}

/// A program that is not what it was when it is run again is an internal error, never ignored.
#[test]
fn nondeterminism_is_detected() {
    struct Fickle(AtomicBool);

    impl Program for Fickle {
        type State = [u32; 2];
        type Error = ();

        fn threads(&self) -> usize {
            2
        }

        fn initial(&self) -> [u32; 2] {
            [0; 2]
        }

        fn start(&self, _: &mut [u32; 2], thread: ThreadId, _: EventId, _: &Graph) -> Action {
            match thread.index() {
                0 => Action::Load { loc: Loc::new(0), order: MemOrder::Relaxed },
                _ => Action::Store { loc: Loc::new(1), order: MemOrder::Relaxed, value: 1 },
            }
        }

        fn resume(&self, state: &mut [u32; 2], thread: ThreadId, _: Answer<'_>) -> Action {
            state[thread.index()] += 1;
            match (thread.index(), state[1]) {
                (1, 1) => {
                    let value = Value::from(self.0.swap(true, Ordering::Relaxed));
                    Action::Store { loc: Loc::new(0), order: MemOrder::Relaxed, value }
                }
                _ => Action::End,
            }
        }

        fn initial_value(&self, _: &[u32; 2], _: Loc) -> Value {
            0
        }

        fn error(&self, _: &[u32; 2], _: &Graph, _: ThreadId) {}

        fn finish(&self, _: &[u32; 2], _: &Graph, _: Ending) -> Result<(), ()> {
            Ok(())
        }
    }

    let report = explore(&Fickle(AtomicBool::new(false)), &config(1));
    assert_eq!(report.errors.len(), 1);
    assert_eq!(report.errors[0].failure, Failure::Nondeterminism(ThreadId::new(1)));
}
