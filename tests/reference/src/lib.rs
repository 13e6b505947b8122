//! A brute-force reference for the explorer: it enumerates all candidate executions of a small program and keeps those
//! that the axioms of a model allow. It shares no code with the explorer, and is as slow as it looks.

pub mod accesses;
pub mod agreement;
pub mod alike;
pub mod axioms;
pub mod candidate;
pub mod commuting;
pub mod generate;
pub mod loops;
pub mod program;
pub mod readers;
pub mod relation;
pub mod soak;
pub mod swaps;
pub mod traces;

use axioms::{Model, has_race, is_consistent};
use candidate::{Key, Skeleton};
use program::Prog;
use std::collections::BTreeSet;
use traces::{Step, Trace, all_traces};

/// Programs with more combinations of traces than this are not enumerated.
const LIMIT: usize = 60_000;

/// What the reference says about a program under a model.
#[derive(Clone, Debug, Default)]
pub struct Expected {
    pub graphs: BTreeSet<Key>,
    pub races: bool,
}

/// The consistent executions of a program under each of the models; none if there are too many to enumerate.
pub fn enumerate(prog: &Prog, models: &[Model]) -> Option<Vec<Expected>> {
    let traces = all_traces(prog, LIMIT)?;
    let mut expected = vec![Expected::default(); models.len()];
    let mut pick = vec![0; traces.len()];
    loop {
        let chosen: Vec<&Trace> = traces.iter().zip(&pick).map(|(t, &p)| &t[p]).collect();
        if let Some(skeleton) = reads_are_written(&chosen).then(|| Skeleton::new(&chosen, prog.spawned)).flatten() {
            skeleton.candidates(&mut |candidate, key| {
                for (expected, &model) in expected.iter_mut().zip(models) {
                    if is_consistent(candidate, model) {
                        let fresh = expected.graphs.insert(key());
                        assert!(fresh, "the reference found a graph twice");
                        expected.races |= has_race(candidate);
                    }
                }
            });
        }
        let Some(next) = (0..pick.len()).find(|&i| pick[i] + 1 < traces[i].len()) else { return Some(expected) };
        pick[next] += 1;
        pick[..next].fill(0);
    }
}

/// Whether every value that is read is also written, or 0: if not, there is no need to look any closer.
fn reads_are_written(traces: &[&Trace]) -> bool {
    let steps = || traces.iter().flat_map(|t| &t.steps);
    let is_written = |at: u8, v: u64| {
        let writes = |s: &Step| match *s {
            Step::Write { loc, value, .. } | Step::Update { loc, written: value, .. } => loc == at && value == v,
            _ => false,
        };
        v == 0 || steps().any(writes)
    };
    steps().all(|s| match *s {
        Step::Read { loc, value, .. } | Step::Update { loc, read: value, .. } => is_written(loc, value),
        _ => true,
    })
}
