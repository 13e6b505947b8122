//! What is kept of executions that end: what the first of them prints, which is the same for any number of workers, and how
//! many come to each label.

use std::collections::BTreeMap;

use crate::explore::{Ending, Observer, Path};
use crate::graph::Graph;
use crate::vm::Output;

use super::covers::Cover;
use crate::subject::{State, Subject};

/// Keeps what the first executions of a worker print, and the labels that they come to.
#[derive(Debug, Default)]
pub(super) struct Endings {
    /// Whether there are labels.
    counts: bool,
    /// How many executions come to a label.
    covered: BTreeMap<Box<str>, u64>,
    /// Where the part of the tree begins that is being explored.
    part: Path,
    complete: Option<(Path, Output)>,
    blocked: Option<(Path, Output)>,
}

impl Endings {
    /// Counts labels, if there are some.
    pub fn new(labels: &[Cover]) -> Endings {
        Endings { counts: !labels.is_empty(), ..Endings::default() }
    }
}

impl Observer<Subject> for Endings {
    const LOOKS: bool = false;

    fn begin(&mut self, path: &Path) {
        self.part.clone_from(path);
    }

    fn end_of_model(&mut self, state: &State) {
        if self.counts {
            for label in state.vm().covered() {
                *self.covered.entry(label).or_default() += 1;
            }
        }
    }

    fn full(&mut self, _: &Graph, state: &State, ending: Ending) {
        self.end_of_model(state);
        let first = match ending {
            Ending::Complete => &mut self.complete,
            Ending::Blocked => &mut self.blocked,
        };
        // Of one part, the first that comes is the first.
        if first.as_ref().is_none_or(|(part, _)| *part > self.part) {
            *first = Some((self.part.clone(), state.vm().output()));
        }
    }
}

/// The labels, with how many executions have come to each.
pub(super) fn count(mut labels: Vec<Cover>, workers: &[Endings]) -> Vec<Cover> {
    for cover in &mut labels {
        cover.executions = workers.iter().filter_map(|worker| worker.covered.get(&*cover.label)).sum();
    }
    labels
}

/// What the first complete execution printed; if there is none, the first one.
pub(super) fn first(workers: Vec<Endings>) -> Output {
    let (complete, blocked): (Vec<_>, Vec<_>) =
        workers.into_iter().map(|worker| (worker.complete, worker.blocked)).unzip();
    let least = |outputs: Vec<Option<(Path, Output)>>| {
        outputs.into_iter().flatten().min_by(|(a, _), (b, _)| a.cmp(b)).map(|(_, output)| output)
    };
    least(complete).or_else(|| least(blocked)).unwrap_or_default()
}
