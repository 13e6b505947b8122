//! What must hold of the explorer, given what the reference says: it finds exactly the consistent executions, each
//! once.

use std::collections::BTreeSet;

use dpor_engine::explore::{AwaitLevel, Config, Ending, Equivalence, Failure, Observer, Report, explore_with};
use dpor_engine::graph::{Event, Graph};
use dpor_engine::litmus::{Litmus, LitmusError, LitmusState};
use dpor_engine::model::{Mapping, MemoryModel};
use proptest::prelude::*;
use proptest::test_runner::TestCaseError;

use crate::axioms::Model;
use crate::candidate::Key;
use crate::program::Prog;
use crate::{Expected, enumerate, readers, swaps};

type Agreed = Result<(), TestCaseError>;

pub const MODELS: [Model; 12] = [
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

/// The explorer, in one of the ways in which executions can count as the same.
#[derive(Clone, Copy)]
struct Explorer {
    equivalence: Equivalence,
    /// Whether it does not matter which of the threads that are alike is which.
    symmetry: bool,
}

/// Collects the keys of all graphs, in the order in which they are found.
struct Keys {
    threads: usize,
    keys: Vec<Key>,
}

impl Observer<Litmus> for Keys {
    fn full(&mut self, graph: &Graph, _: &LitmusState, ending: Ending) {
        self.keys.push(Key::of(graph, self.threads, ending == Ending::Blocked));
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
        let observer = || Keys { threads: prog.threads.len(), keys: Vec::new() };
        let config = Config { symmetry: self.symmetry, ..config(model, workers, level, self.equivalence) };
        let (report, observers) = explore_with(&prog.litmus(), &config, None, observer);
        (report, observers.into_iter().flat_map(|o| o.keys).map(|key| self.class(prog, key)).collect())
    }

    /// What executions that count as the same have in common.
    fn class(self, prog: &Prog, key: Key) -> Key {
        let key = key.under(self.equivalence);
        if self.symmetry { key.up_to_permutation(&prog.classes()) } else { key }
    }

    /// What is to be found.
    fn wanted(self, prog: &Prog, expected: &Expected) -> BTreeSet<Key> {
        expected.graphs.iter().map(|key| self.class(prog, key.clone())).collect()
    }

    /// It finds what it should, each once.
    fn agrees(self, prog: &Prog, model: Model, workers: usize, expected: &Expected) -> Agreed {
        let (report, keys) = self.explore(prog, model, workers, AwaitLevel::Full);
        let (found, expected) = (BTreeSet::from_iter(keys.iter().cloned()), self.wanted(prog, expected));
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
        let expected: BTreeSet<Key> = self.wanted(prog, expected).into_iter().filter(|key| !key.blocked).collect();
        let missing: Vec<_> = expected.difference(&found).collect();
        let extra: Vec<_> = found.difference(&expected).collect();
        prop_assert!(missing.is_empty(), "{:?}, {:?}, {} workers: missing {:#?}", model, level, workers, missing[0]);
        prop_assert!(extra.is_empty(), "{:?}, {:?}, {} workers: inconsistent {:#?}", model, level, workers, extra[0]);
        prop_assert!(report.complete && report.errors.is_empty());
        Ok(())
    }
}

/// In all models, with any number of workers, where updates that commute are explored in one order only: what can be had from
/// the executions found by swapping such updates is just what there is. If `exact`, none of them can be had from another.
pub fn agrees_on_commuting(prog: &Prog, models: &[Model], exact: bool) -> Agreed {
    let Some(expected) = enumerate(prog, models) else { return Err(TestCaseError::reject("too large")) };
    for (&model, expected) in models.iter().zip(&expected) {
        for workers in [1, 2, 4] {
            let threads = prog.threads.len();
            let observer = || Swappable { threads, keys: Vec::new() };
            let config = Config { commute: true, ..config(model, workers, AwaitLevel::Full, Equivalence::Trace) };
            let (report, observers) = explore_with(&prog.litmus(), &config, None, observer);
            let found: Vec<_> = observers.into_iter().flat_map(|o| o.keys).collect();
            prop_assert!(report.complete && report.errors.is_empty());
            let mut reached = BTreeSet::new();
            for (key, counters) in &found {
                prop_assert!(
                    expected.graphs.contains(key),
                    "{:?}, {} workers: inconsistent {:#?}",
                    model,
                    workers,
                    key
                );
                let class = swaps::class(key, counters, &expected.graphs);
                let again = exact && class.iter().any(|key| reached.contains(key));
                prop_assert!(!again, "{:?}, {} workers: found twice {:#?}", model, workers, key);
                reached.extend(class);
            }
            let distinct: BTreeSet<&Key> = found.iter().map(|(key, _)| key).collect();
            prop_assert_eq!(distinct.len(), found.len(), "{:?}, {} workers: a graph was found twice", model, workers);
            let missing = expected.graphs.difference(&reached).next();
            prop_assert!(missing.is_none(), "{:?}, {} workers: missing {:#?}", model, workers, missing);
        }
    }
    Ok(())
}

/// In all models, with any number of workers, where the order of readers that share a lock is not explored: what is found is
/// what there is, up to that order, and a race just if there is one. Where all readers unlock, each is found once.
pub fn agrees_on_readers(prog: &Prog, models: &[Model]) -> Agreed {
    let Some(expected) = enumerate(prog, models) else { return Err(TestCaseError::reject("too large")) };
    let (shared, unlock) = (readers::readers_of(prog), readers::all_unlock(prog));
    let class = |key: &Key| readers::class(key.clone(), &shared);
    for (&model, expected) in models.iter().zip(&expected) {
        let wanted: BTreeSet<Key> = expected.graphs.iter().map(class).collect();
        for workers in [1, 2, 4] {
            let observer = || Keys { threads: prog.threads.len(), keys: Vec::new() };
            let config = Config { commute: true, ..config(model, workers, AwaitLevel::Full, Equivalence::Trace) };
            let (report, observers) = explore_with(&prog.litmus(), &config, None, observer);
            prop_assert!(report.complete);
            let races = report.errors.iter().any(|error| matches!(error.failure, Failure::Race(_)));
            prop_assert_eq!(races, expected.races, "{:?}, {} workers: races", model, workers);
            if races {
                continue;
            }
            prop_assert!(report.errors.is_empty());
            let keys: Vec<Key> = observers.into_iter().flat_map(|o| o.keys).collect();
            let unreal = keys.iter().find(|key| !expected.graphs.contains(key));
            prop_assert!(unreal.is_none(), "{:?}, {} workers: inconsistent {:#?}", model, workers, unreal);
            let found: BTreeSet<Key> = keys.iter().map(class).collect();
            let missing = wanted.difference(&found).next();
            prop_assert!(missing.is_none(), "{:?}, {} workers: missing {:#?}", model, workers, missing);
            let learned = |text: &str| report.restarts.iter().any(|restart| restart.lesson.contains(text));
            let distinct = match learned("readers that share a lock") && !learned("makes a difference") {
                true if !unlock => keys.len(),
                true => found.len(),
                false => BTreeSet::from_iter(&keys).len(),
            };
            prop_assert_eq!(distinct, keys.len(), "{:?}, {} workers: found twice", model, workers);
        }
    }
    Ok(())
}

/// Collects the keys of all graphs, and which events are updates that may commute, with what they add.
struct Swappable {
    threads: usize,
    keys: Vec<(Key, swaps::Counters)>,
}

impl Observer<Litmus> for Swappable {
    fn full(&mut self, graph: &Graph, _: &LitmusState, ending: Ending) {
        let counts = |event: &Event| event.is_write && event.action.may_be_blind();
        let name = |event: &Event| (event.thread.index(), event.index as usize);
        let counters = graph.events().filter(|(_, event)| counts(event));
        let counters = counters.map(|(_, event)| (name(event), event.written.wrapping_sub(event.answer))).collect();
        self.keys.push((Key::of(graph, self.threads, ending == Ending::Blocked), counters));
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
            let (found, wanted) = (BTreeSet::from_iter(keys.iter().cloned()), explorer.wanted(prog, expected));
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

const SYMMETRIC: &[Explorer] = &[Explorer { equivalence: Equivalence::Trace, symmetry: true }];

/// Under both equivalences, in each model; programs with too many executions are rejected.
fn for_each(prog: &Prog, models: &[Model], check: impl Fn(Explorer, Model, &Expected) -> Agreed) -> Agreed {
    let explorers = Equivalence::ALL.map(|equivalence| Explorer { equivalence, symmetry: false });
    for_each_with(prog, models, &explorers, check)
}

fn for_each_with(
    prog: &Prog,
    models: &[Model],
    explorers: &[Explorer],
    check: impl Fn(Explorer, Model, &Expected) -> Agreed,
) -> Agreed {
    let Some(expected) = enumerate(prog, models) else { return Err(TestCaseError::reject("too large")) };
    for (&model, expected) in models.iter().zip(&expected) {
        explorers.iter().try_for_each(|&explorer| check(explorer, model, expected))?;
    }
    Ok(())
}

/// Where several threads have the same code: the same executions up to permutations of these, each once.
pub fn agrees_up_to_permutation(prog: &Prog, models: &[Model], workers: &[usize]) -> Agreed {
    for_each_with(prog, models, SYMMETRIC, |explorer, model, expected| {
        workers.iter().try_for_each(|&workers| explorer.agrees(prog, model, workers, expected))
    })
}

/// The same of complete executions, at every level of waiting.
pub fn agrees_on_loops_up_to_permutation(prog: &Prog, models: &[Model], workers: &[usize]) -> Agreed {
    for_each_with(prog, models, SYMMETRIC, |explorer, model, expected| {
        for level in AwaitLevel::ALL {
            for &workers in workers {
                explorer.agrees_on_complete(prog, model, level, workers, expected)?;
            }
        }
        Ok(())
    })
}

/// So many programs that are compared. Others may be too large for that, but not nearly all of them.
pub fn cases(cases: u32) -> ProptestConfig {
    ProptestConfig { cases, max_global_rejects: 20 * cases, failure_persistence: None, ..ProptestConfig::default() }
}
