//! Reads-from equivalence against the brute-force reference: on random programs the explorer must find exactly what the
//! consistent executions read, each once, in every model, with several buffer bounds, and with any number of workers.

mod reference;

use dpor_engine::explore::{AwaitLevel, Config, Ending, Equivalence, Failure, Observer, Report, explore_with};
use dpor_engine::graph::Graph;
use dpor_engine::litmus::{Litmus, LitmusError, LitmusState};
use dpor_engine::model::{Mapping, MemoryModel};
use proptest::prelude::*;
use proptest::test_runner::TestCaseError;
use reference::axioms::Model;
use reference::candidate::Key;
use reference::generate::{Loops, Shape, counting, program};
use reference::program::Prog;
use reference::{Expected, enumerate};
use std::collections::BTreeSet;

/// Collects the keys of all graphs, without coherence, in the order in which they are found.
struct Keys {
    threads: usize,
    keys: Vec<Key>,
}

impl Observer<Litmus> for Keys {
    fn full(&mut self, graph: &Graph, _: &LitmusState, ending: Ending) {
        self.keys.push(without_coherence(&Key::of(graph, self.threads, ending == Ending::Blocked)));
    }
}

/// A key that says who writes, but not in which order.
fn without_coherence(key: &Key) -> Key {
    let mut key = key.clone();
    key.co.values_mut().for_each(|writes| writes.sort());
    key
}

/// What executions read, according to the reference.
fn project(expected: &Expected) -> BTreeSet<Key> {
    expected.graphs.iter().map(without_coherence).collect()
}

fn config(model: Model, workers: usize, awaiting: AwaitLevel) -> Config {
    let mapping = |rust| if rust { Mapping::Rust } else { Mapping::Hardware };
    let (name, buffer_bound, mapping) = match model {
        Model::Sc => (MemoryModel::Sc, None, Mapping::Rust),
        Model::Rc11 => (MemoryModel::Rc11, None, Mapping::Rust),
        Model::Tso { bound, rust } => (MemoryModel::Tso, bound, mapping(rust)),
        Model::Pso { bound, rust } => (MemoryModel::Pso, bound, mapping(rust)),
    };
    let equivalence = Equivalence::ReadsFrom;
    Config { buffer_bound, mapping, workers, awaiting, equivalence, ..Config::new(name) }
}

fn explore(prog: &Prog, model: Model, workers: usize, level: AwaitLevel) -> (Report<LitmusError>, Vec<Key>) {
    let observer = || Keys { threads: prog.threads.len(), keys: Vec::new() };
    let (report, observers) = explore_with(&prog.litmus(), &config(model, workers, level), None, observer);
    (report, observers.into_iter().flat_map(|o| o.keys).collect())
}

/// The explorer finds what it should, each once.
fn agrees(prog: &Prog, model: Model, workers: usize, expected: &BTreeSet<Key>) -> Result<(), TestCaseError> {
    let (report, keys) = explore(prog, model, workers, AwaitLevel::Full);
    let found: BTreeSet<Key> = keys.iter().cloned().collect();
    prop_assert_eq!(found.len(), keys.len(), "{:?}, {} workers: found twice", model, workers);
    let missing: Vec<_> = expected.difference(&found).collect();
    let extra: Vec<_> = found.difference(expected).collect();
    prop_assert!(missing.is_empty(), "{:?}, {} workers: missing {:#?}", model, workers, missing[0]);
    prop_assert!(extra.is_empty(), "{:?}, {} workers: inconsistent {:#?}", model, workers, extra[0]);
    let blocked = expected.iter().filter(|key| key.blocked).count();
    prop_assert_eq!(report.stats.blocked, blocked as u64);
    prop_assert_eq!(report.stats.executions, (expected.len() - blocked) as u64);
    prop_assert!(report.complete && report.errors.is_empty());
    Ok(())
}

/// The explorer finds all complete executions, each once, whatever it does about waiting.
fn agrees_on_complete(
    prog: &Prog,
    model: Model,
    level: AwaitLevel,
    workers: usize,
    expected: &BTreeSet<Key>,
) -> Result<(), TestCaseError> {
    let (report, keys) = explore(prog, model, workers, level);
    let keys: Vec<Key> = keys.into_iter().filter(|key| !key.blocked).collect();
    let found: BTreeSet<Key> = keys.iter().cloned().collect();
    prop_assert_eq!(found.len(), keys.len(), "{:?}, {:?}, {} workers: found twice", model, level, workers);
    let expected: BTreeSet<Key> = expected.iter().filter(|key| !key.blocked).cloned().collect();
    let missing: Vec<_> = expected.difference(&found).collect();
    let extra: Vec<_> = found.difference(&expected).collect();
    prop_assert!(missing.is_empty(), "{:?}, {:?}, {} workers: missing {:#?}", model, level, workers, missing[0]);
    prop_assert!(extra.is_empty(), "{:?}, {:?}, {} workers: inconsistent {:#?}", model, level, workers, extra[0]);
    prop_assert!(report.complete && report.errors.is_empty());
    Ok(())
}

const MODELS: [Model; 12] = [
    Model::Rc11,
    Model::Sc,
    Model::Tso { bound: None, rust: true },
    Model::Tso { bound: None, rust: false },
    Model::Tso { bound: Some(0), rust: false },
    Model::Tso { bound: Some(1), rust: false },
    Model::Tso { bound: Some(2), rust: true },
    Model::Pso { bound: None, rust: true },
    Model::Pso { bound: None, rust: false },
    Model::Pso { bound: Some(0), rust: false },
    Model::Pso { bound: Some(1), rust: true },
    Model::Pso { bound: Some(1), rust: false },
];

const LOOP_MODELS: [Model; 5] = [
    Model::Rc11,
    Model::Sc,
    Model::Tso { bound: None, rust: true },
    Model::Pso { bound: None, rust: true },
    Model::Pso { bound: Some(1), rust: true },
];

fn agrees_in_all(prog: &Prog) -> Result<(), TestCaseError> {
    let Some(expected) = enumerate(prog, &MODELS) else { return Err(TestCaseError::reject("too large")) };
    for (&model, expected) in MODELS.iter().zip(&expected) {
        for workers in [1, 2, 4] {
            agrees(prog, model, workers, &project(expected))?;
        }
    }
    Ok(())
}

fn cases(cases: u32) -> ProptestConfig {
    ProptestConfig { cases, max_global_rejects: cases, failure_persistence: None, ..ProptestConfig::default() }
}

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
        let Some(expected) = enumerate(&prog, &[Model::Rc11]) else { return Err(TestCaseError::reject("too large")) };
        agrees(&prog, Model::Rc11, 1, &project(&expected[0]))?;
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
}

proptest! {
    #![proptest_config(cases(600))]

    /// Where threads wait for one location at a time. Those that wait for ever have read the latest in some coherence
    /// order; there may also be others.
    #[test]
    fn loops_that_wait(
        prog in program(Shape { threads: 3, locations: 2, events: 8, reads: 5, loops: Loops::Waiting, ..Shape::plain_atomics() })
    ) {
        let Some(expected) = enumerate(&prog, &LOOP_MODELS) else { return Err(TestCaseError::reject("too large")) };
        for (&model, expected) in LOOP_MODELS.iter().zip(&expected) {
            let expected = project(expected);
            for workers in [1, 2, 4] {
                let (_, keys) = explore(&prog, model, workers, AwaitLevel::Full);
                let found: BTreeSet<Key> = keys.iter().cloned().collect();
                prop_assert_eq!(found.len(), keys.len(), "{:?}, {} workers: found twice", model, workers);
                let missing: Vec<_> = expected.difference(&found).collect();
                prop_assert!(missing.is_empty(), "{:?}, {} workers: missing {:#?}", model, workers, missing[0]);
                agrees_on_complete(&prog, model, AwaitLevel::Full, workers, &expected)?;
            }
            for level in [AwaitLevel::Off, AwaitLevel::Stale, AwaitLevel::InPlace] {
                agrees_on_complete(&prog, model, level, 1, &expected)?;
            }
        }
    }

    /// Failed attempts are left out, in both forms.
    #[test]
    fn loops_that_retry(
        prog in counting(Shape { threads: 3, locations: 2, events: 8, reads: 8, ..Shape::plain_atomics() })
    ) {
        let Some(expected) = enumerate(&prog, &LOOP_MODELS) else { return Err(TestCaseError::reject("too large")) };
        for (&model, expected) in LOOP_MODELS.iter().zip(&expected) {
            for workers in [1, 2, 4] {
                agrees(&prog, model, workers, &project(expected))?;
            }
        }
    }

    #[test]
    fn loops_of_all_kinds(
        prog in program(Shape { threads: 3, locations: 2, events: 9, reads: 6, loops: Loops::All, ..Shape::plain_atomics() })
    ) {
        let Some(expected) = enumerate(&prog, &LOOP_MODELS) else { return Err(TestCaseError::reject("too large")) };
        for (&model, expected) in LOOP_MODELS.iter().zip(&expected) {
            for level in AwaitLevel::ALL {
                agrees_on_complete(&prog, model, level, 1, &project(expected))?;
            }
            for workers in [2, 4] {
                agrees_on_complete(&prog, model, AwaitLevel::Full, workers, &project(expected))?;
            }
        }
    }

    /// A race is reported just if some consistent execution has one.
    #[test]
    fn data_races(prog in program(Shape { events: 8, reads: 5, plain: true, ..Shape::plain_atomics() })) {
        let Some(expected) = enumerate(&prog, &MODELS) else { return Err(TestCaseError::reject("too large")) };
        for (&model, expected) in MODELS.iter().zip(&expected) {
            if !expected.races {
                agrees(&prog, model, 1, &project(expected))?;
                continue;
            }
            let mut reports = Vec::new();
            for workers in [1, 2, 4] {
                let (report, _) = explore(&prog, model, workers, AwaitLevel::Full);
                let found = report.errors.first().map(|e| (e.failure.clone(), e.path.clone(), e.graph.key()));
                prop_assert!(matches!(found, Some((Failure::Race(_), _, _))), "{:?}: the race was missed", model);
                reports.push((found, report.stats.executions, report.stats.blocked));
            }
            prop_assert!(reports.iter().all(|r| *r == reports[0]), "the report depends on the number of workers");
        }
    }
}
