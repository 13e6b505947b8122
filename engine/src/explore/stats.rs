//! What an exploration counts.

use serde::{Deserialize, Serialize};
use std::ops::AddAssign;

/// Counts of an exploration: the same for every number of workers, but for the peak of memory and for how often
/// witnesses were looked for, which depends on the witnesses that were there.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Stats {
    /// Complete executions, one for each consistent execution graph, and the one that failed.
    pub executions: u64,
    /// Executions in which some thread waits for ever or an assumption failed.
    pub blocked: u64,
    /// Executions with an error that the program [allows](super::Program::allows). The thread that has failed stops there.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub allowed: u64,
    /// Executions that were given up because a thread waits in them that has read something old.
    pub cut: u64,
    /// Events added to graphs, those added again after a revisit not counted.
    pub events: u64,
    /// Reads that a new write could have revisited: same location, not causally before it.
    pub revisits_tried: u64,
    /// Backward revisits made.
    pub revisits_done: u64,
    /// Under reads-from equivalence: how often it was asked whether some coherence order, other than the one at
    /// hand, makes a graph consistent.
    pub witness_tests: u64,
    /// How often that took a search: saturation found no contradiction, and the greedy attempt failed.
    pub witness_searches: u64,
    /// Bytes that graphs, saved states and pending choices took at most, over all workers.
    pub peak_bytes: u64,
}

impl AddAssign for Stats {
    fn add_assign(&mut self, other: Stats) {
        self.executions += other.executions;
        self.blocked += other.blocked;
        self.allowed += other.allowed;
        self.cut += other.cut;
        self.events += other.events;
        self.revisits_tried += other.revisits_tried;
        self.revisits_done += other.revisits_done;
        self.witness_tests += other.witness_tests;
        self.witness_searches += other.witness_searches;
        self.peak_bytes += other.peak_bytes;
    }
}

fn is_zero(count: &u64) -> bool {
    *count == 0
}
