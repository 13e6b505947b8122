//! What must hold of the explorer, given what the reference says: it finds exactly the consistent executions, each
//! once.

use std::collections::BTreeSet;

use dpor_engine::explore::{AwaitLevel, Config, Ending, Equivalence, Failure, Observer, Report, explore_with};
use dpor_engine::graph::Graph;
use dpor_engine::litmus::{Litmus, LitmusError, LitmusState};
use dpor_engine::model::{Mapping, MemoryModel};
use proptest::prelude::*;
use proptest::test_runner::TestCaseError;

use crate::axioms::Model;
use crate::candidate::Key;
use crate::program::Prog;
use crate::{Expected, enumerate};

type Agreed = Result<(), TestCaseError>;

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

/// The models for programs with loops.
pub const LOOP_MODELS: [Model; 5] = [
    Model::Rc11,
    Model::Sc,
    Model::Tso { bound: None, rust: true },
    Model::Pso { bound: None, rust: true },
    Model::Pso { bound: Some(1), rust: true },
];

/// The explorer, under an equivalence.
#[derive(Clone, Copy)]
struct Explorer(Equivalence);

/// Collects the keys of all graphs, in the order in which they are found.
struct Keys {
    equivalence: Equivalence,
    threads: usize,
    keys: Vec<Key>,
}

impl Observer<Litmus> for Keys {
    fn full(&mut self, graph: &Graph, _: &LitmusState, ending: Ending) {
        let key = Key::of(graph, self.threads, ending == Ending::Blocked);
        self.keys.push(key.under(self.equivalence));
    }
}

fn config(model: Model, workers: usize, awaiting: AwaitLevel, equivalence: Equivalence) -> Config {
    let mapping = |rust| if rust { Mapping::Rust } else { Mapping::Hardware };
    let (name, buffer_bound, mapping) = match model {
        Model::Sc => (MemoryModel::Sc, None, Mapping::Rust),
        Model::Rc11 => (MemoryModel::Rc11, None, Mapping::Rust),
        Model::Tso { bound, rust } => (MemoryModel::Tso, bound, mapping(rust)),
        Model::Pso { bound, rust } => (MemoryModel::Pso, bound, mapping(rust)),
    };
    Config { buffer_bound, mapping, workers, awaiting, equivalence, ..Config::new(name) }
}

impl Explorer {
    fn explore(self, prog: &Prog, model: Model, workers: usize, level: AwaitLevel) -> (Report<LitmusError>, Vec<Key>) {
        let observer = || Keys { equivalence: self.0, threads: prog.threads.len(), keys: Vec::new() };
        let config = config(model, workers, level, self.0);
        let (report, observers) = explore_with(&prog.litmus(), &config, None, observer);
        (report, observers.into_iter().flat_map(|o| o.keys).collect())
    }

    /// What is to be found.
    fn wanted(self, expected: &Expected) -> BTreeSet<Key> {
        expected.graphs.iter().map(|key| key.clone().under(self.0)).collect()
    }

    /// It finds what it should, each once.
    fn agrees(self, prog: &Prog, model: Model, workers: usize, expected: &Expected) -> Agreed {
        let (report, keys) = self.explore(prog, model, workers, AwaitLevel::Full);
        let (found, expected) = (BTreeSet::from_iter(keys.iter().cloned()), self.wanted(expected));
        prop_assert_eq!(found.len(), keys.len(), "{:?}, {} workers: a graph was found twice", model, workers);
        let missing: Vec<_> = expected.difference(&found).collect();
        let extra: Vec<_> = found.difference(&expected).collect();
        prop_assert!(missing.is_empty(), "{:?}, {} workers: missing {:#?}", model, workers, missing[0]);
        prop_assert!(extra.is_empty(), "{:?}, {} workers: inconsistent {:#?}", model, workers, extra[0]);
        let blocked = expected.iter().filter(|key| key.blocked).count();
        prop_assert_eq!(report.stats.blocked, blocked as u64);
        prop_assert_eq!(report.stats.executions, (expected.len() - blocked) as u64);
        prop_assert!(report.complete && report.errors.is_empty());
        Ok(())
    }

    /// It finds all complete executions, each once, whatever it does about waiting.
    fn agrees_on_complete(
        self,
        prog: &Prog,
        model: Model,
        level: AwaitLevel,
        workers: usize,
        expected: &Expected,
    ) -> Agreed {
        let (report, keys) = self.explore(prog, model, workers, level);
        let keys: Vec<Key> = keys.into_iter().filter(|key| !key.blocked).collect();
        let found: BTreeSet<Key> = keys.iter().cloned().collect();
        prop_assert_eq!(found.len(), keys.len(), "{:?}, {:?}, {} workers: found twice", model, level, workers);
        let expected: BTreeSet<Key> = self.wanted(expected).into_iter().filter(|key| !key.blocked).collect();
        let missing: Vec<_> = expected.difference(&found).collect();
        let extra: Vec<_> = found.difference(&expected).collect();
        prop_assert!(missing.is_empty(), "{:?}, {:?}, {} workers: missing {:#?}", model, level, workers, missing[0]);
        prop_assert!(extra.is_empty(), "{:?}, {:?}, {} workers: inconsistent {:#?}", model, level, workers, extra[0]);
        prop_assert!(report.complete && report.errors.is_empty());
        Ok(())
    }
}

/// In all models, with any number of workers.
pub fn agrees_in_all(prog: &Prog) -> Agreed {
    agrees_in(prog, &MODELS, &[1, 2, 4])
}

pub fn agrees_in(prog: &Prog, models: &[Model], workers: &[usize]) -> Agreed {
    for_each(prog, models, |explorer, model, expected| {
        workers.iter().try_for_each(|&workers| explorer.agrees(prog, model, workers, expected))
    })
}

/// Where threads wait for one location at a time. Those that wait for ever have read the latest in some coherence
/// order; there may also be others.
pub fn agrees_on_waiting(prog: &Prog) -> Agreed {
    for_each(prog, &LOOP_MODELS, |explorer, model, expected| {
        for workers in [1, 2, 4] {
            let (_, keys) = explorer.explore(prog, model, workers, AwaitLevel::Full);
            let (found, wanted) = (BTreeSet::from_iter(keys.iter().cloned()), explorer.wanted(expected));
            prop_assert_eq!(found.len(), keys.len(), "{:?}, {} workers: found twice", model, workers);
            let missing: Vec<_> = wanted.difference(&found).collect();
            prop_assert!(missing.is_empty(), "{:?}, {} workers: missing {:#?}", model, workers, missing[0]);
            explorer.agrees_on_complete(prog, model, AwaitLevel::Full, workers, expected)?;
        }
        let levels = [AwaitLevel::Off, AwaitLevel::Stale, AwaitLevel::InPlace];
        levels.into_iter().try_for_each(|level| explorer.agrees_on_complete(prog, model, level, 1, expected))
    })
}

/// Where loops may be of any kind: complete executions, at every level, and with any number of workers.
pub fn agrees_on_loops(prog: &Prog) -> Agreed {
    for_each(prog, &LOOP_MODELS, |explorer, model, expected| {
        for level in AwaitLevel::ALL {
            explorer.agrees_on_complete(prog, model, level, 1, expected)?;
        }
        let full = |workers| explorer.agrees_on_complete(prog, model, AwaitLevel::Full, workers, expected);
        [2, 4].into_iter().try_for_each(full)
    })
}

/// A race is reported just if some consistent execution has one, and always the same.
pub fn agrees_on_races(prog: &Prog) -> Agreed {
    for_each(prog, &MODELS, |explorer, model, expected| {
        if !expected.races {
            return explorer.agrees(prog, model, 1, expected);
        }
        let mut reports = Vec::new();
        for workers in [1, 2, 4] {
            let (report, _) = explorer.explore(prog, model, workers, AwaitLevel::Full);
            let found = report.errors.first().map(|e| (e.failure.clone(), e.path.clone(), e.graph.key()));
            prop_assert!(matches!(found, Some((Failure::Race(_), ..))), "{:?}: the race was missed", model);
            reports.push((found, report.stats.executions, report.stats.blocked));
        }
        prop_assert!(reports.iter().all(|r| *r == reports[0]), "the report depends on the number of workers");
        Ok(())
    })
}

/// Under both equivalences, in each model; programs with too many executions are rejected.
fn for_each(prog: &Prog, models: &[Model], check: impl Fn(Explorer, Model, &Expected) -> Agreed) -> Agreed {
    let Some(expected) = enumerate(prog, models) else { return Err(TestCaseError::reject("too large")) };
    for (&model, expected) in models.iter().zip(&expected) {
        check(Explorer(Equivalence::Trace), model, expected)?;
        check(Explorer(Equivalence::ReadsFrom), model, expected)?;
    }
    Ok(())
}

/// So many programs, and at most as many that are rejected.
pub fn cases(cases: u32) -> ProptestConfig {
    ProptestConfig { cases, max_global_rejects: cases, failure_persistence: None, ..ProptestConfig::default() }
}
