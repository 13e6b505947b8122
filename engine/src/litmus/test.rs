//! Checks litmus tests: explores them and compares.

use super::compile::{Compiled, Observed, compile};
use super::format::{FormatError, LitmusTest};
use super::machine::{Litmus, LitmusState};
use crate::explore::{Config, Ending, Equivalence, Failure, Observer, explore_with};
use crate::graph::Graph;
use crate::model::{Mapping, MemoryModel};
use serde::Serialize;
use std::collections::BTreeSet;

/// What a litmus test gave under a model.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LitmusResult {
    pub model: MemoryModel,
    pub executions: u64,
    pub blocked: u64,
    /// Whether a data race was found.
    pub races: bool,
    /// The final states, sorted; none where a race was found.
    pub states: Option<Vec<Vec<i64>>>,
    /// Whether that is what the test says; none if it says nothing about the model.
    pub expected: Option<Verdict>,
}

/// Whether a test gave what it says.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Verdict {
    Match,
    Mismatch,
}

/// Collects final states.
struct States<'a> {
    compiled: &'a Compiled,
    found: BTreeSet<Vec<i64>>,
}

impl States<'_> {
    fn look(&mut self, graph: &Graph, state: &LitmusState) {
        let look = |observed: &Observed| match *observed {
            Observed::Register(thread, reg) => self.compiled.program.register(state, thread, reg) as i64,
            Observed::Location(loc) => graph.last_value(loc).unwrap_or(self.compiled.init[loc.index()]) as i64,
        };
        let final_state: Vec<i64> = self.compiled.observed.iter().map(look).collect();
        if !self.found.contains(&final_state) {
            self.found.insert(final_state);
        }
    }
}

impl Observer<Litmus> for States<'_> {
    fn full(&mut self, graph: &Graph, state: &LitmusState, _: Ending) {
        self.look(graph, state);
    }

    fn also(&mut self, graph: &Graph, state: &LitmusState, _: Ending) {
        self.look(graph, state);
    }
}

/// Explores a test under a model. TSO and PSO take the hardware's view: orderings of accesses mean nothing.
pub fn check(
    test: &LitmusTest,
    model: MemoryModel,
    equivalence: Equivalence,
    workers: usize,
) -> Result<LitmusResult, FormatError> {
    let compiled = compile(test)?;
    let config = Config { mapping: Mapping::Hardware, workers, equivalence, ..Config::new(model) };
    let observer = || States { compiled: &compiled, found: BTreeSet::new() };
    let (report, observers) = explore_with(&compiled.program, &config, None, observer);
    let races = report.errors.iter().any(|e| matches!(e.failure, Failure::Race(_)));
    let states: BTreeSet<Vec<i64>> = observers.into_iter().flat_map(|o| o.found).collect();
    let mut result = LitmusResult {
        model,
        executions: report.stats.executions,
        blocked: report.stats.blocked,
        races,
        states: (!races).then(|| states.into_iter().collect()),
        expected: None,
    };
    result.expected = compare(test, &result, equivalence);
    Ok(result)
}

fn compare(test: &LitmusTest, result: &LitmusResult, equivalence: Equivalence) -> Option<Verdict> {
    let allowed: BTreeSet<&Vec<i64>> = test.allowed.get(&result.model)?.iter().collect();
    let states_match =
        || result.states.as_ref().is_some_and(|states| states.iter().collect::<BTreeSet<_>>() == allowed);
    // The test counts execution graphs, coherence included.
    let is_counted = equivalence == Equivalence::Trace;
    let counts_match = || !is_counted || test.executions.get(&result.model).is_none_or(|&n| n == result.executions);
    let matches = test.races == result.races && (test.races || (states_match() && counts_match()));
    Some(if matches { Verdict::Match } else { Verdict::Mismatch })
}
