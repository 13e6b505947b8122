//! What the first execution prints: the same for any number of workers.

use crate::explore::{Ending, Observer, Path};
use crate::graph::Graph;
use crate::vm::Output;

use super::subject::{State, Subject};

/// Keeps what the first executions of a worker print.
#[derive(Debug, Default)]
pub(super) struct FirstOutput {
    /// Where the part of the tree begins that is being explored.
    part: Path,
    complete: Option<(Path, Output)>,
    blocked: Option<(Path, Output)>,
}

impl Observer<Subject> for FirstOutput {
    const LOOKS: bool = false;

    fn begin(&mut self, path: &Path) {
        self.part.clone_from(path);
    }

    fn full(&mut self, _: &Graph, state: &State, ending: Ending) {
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

/// What the first complete execution printed; if there is none, the first one.
pub(super) fn first(workers: Vec<FirstOutput>) -> Output {
    let (complete, blocked): (Vec<_>, Vec<_>) =
        workers.into_iter().map(|worker| (worker.complete, worker.blocked)).unzip();
    let least = |outputs: Vec<Option<(Path, Output)>>| {
        outputs.into_iter().flatten().min_by(|(a, _), (b, _)| a.cmp(b)).map(|(_, output)| output)
    };
    least(complete).or_else(|| least(blocked)).unwrap_or_default()
}
