//! What must not happen: checks every execution of a test that the memory model allows.
//!
//! A [`Subject`] is a lowered test as a program that the explorer can explore: it runs the machine from one visible
//! action to the next, and answers atomics from the execution graph instead of from memory.
//!
//! Which memory threads share is learned: exploring begins anew whenever more is found, with accesses to it tracked.

mod locations;
mod subject;
mod trail;

use std::sync::Arc;
use std::time::Duration;

use crate::explore::{self, Config, Stats};
use crate::graph::Graph;
use crate::program::FuncId;
use crate::verdict::Outcome;
use crate::vm::{Failure, Image, RunOptions, Tracked};

pub use subject::{Issue, Subject};

/// What a check found out.
#[derive(Clone, Debug)]
pub struct Checked {
    pub outcome: Outcome,
    /// Why it did not pass, the least failure in the order of exploration.
    pub failure: Option<Arc<Failure>>,
    /// The failing execution.
    pub graph: Option<Graph>,
    pub stats: Stats,
    pub time: Duration,
}

/// Explores every execution of a function without arguments, such as the entry of a test.
pub fn check(image: &Arc<Image>, entry: FuncId, options: &RunOptions, config: &Config) -> Checked {
    let start = std::time::Instant::now();
    let mut tracked = Tracked::default();
    let (report, issue) = loop {
        let subject = Subject::new(image, entry, options, tracked.clone());
        let mut report = explore::explore(&subject, config);
        let issues: Vec<_> = report.errors.drain(..).map(|found| (subject.issue(found.failure), found.graph)).collect();
        let shared: Vec<_> = issues.iter().filter_map(|(issue, _)| issue.shared()).collect();
        if shared.is_empty() {
            break (report, issues.into_iter().next());
        }
        shared.into_iter().for_each(|site| tracked.insert(site));
    };
    let (failure, graph) = match issue {
        Some((Issue::Failure(failure), graph)) => (Some(failure), Some(graph)),
        _ => (None, None),
    };
    let outcome = match &failure {
        Some(failure) => failure.kind.outcome(),
        None if report.complete => Outcome::Passed,
        None => Outcome::Incomplete,
    };
    Checked { outcome, failure, graph, stats: report.stats, time: start.elapsed() }
}
