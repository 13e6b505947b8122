//! Why an exploration is large: where its alternatives come from, and which places threads come back to.
//!
//! Both are seen in random descents, as the [estimate](super::estimate) makes them: an alternative on the way down stands for
//! a whole part of the tree that is not taken.

use super::clock::Clock;
use super::estimate::{Descents, Estimate};
use super::lessons::Lessons;
use super::program::Program;
use super::visit::{Item, Visitor};
use super::{Config, Equivalence, UnderModel, with_model};
use crate::graph::ThreadId;
use crate::model::Model;
use crate::verdict::Location;
use std::collections::HashMap;
use std::time::{Duration, Instant};

/// So many descents are made, if there is time.
const DESCENTS: u64 = 128;
/// They take no more than this where there is no other limit.
const PATIENCE: Duration = Duration::from_secs(1);
/// So many places are named.
const PLACES: usize = 5;
/// A place that a thread comes back to so often in an execution is in a loop.
const LOOP: u32 = 5;

/// Where a thread makes its next step: the place in the source and what it accesses.
#[derive(Clone, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Spot {
    pub location: Location,
    /// The variable, where there is one.
    pub variable: Option<String>,
}

/// What random descents have shown of an exploration.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Survey {
    /// How many executions there are.
    pub estimate: Estimate,
    /// Where alternatives come from, and how many there were in all descents: the most first.
    pub hot: Vec<(Spot, u64)>,
    /// The places that threads come back to, and how often in one execution at most: the most first.
    pub loops: Vec<(Location, u32)>,
    /// How many alternatives there were in all.
    pub alternatives: u64,
    /// How many executions there are under reads-from equivalence, where they were explored under another.
    pub reads_from: Option<Estimate>,
}

/// Looks at an exploration that was not finished, as long as there is time.
/// It began with this root, or with the program.
pub(super) fn survey<P: Program>(
    program: &P,
    config: &Config,
    lessons: &Lessons,
    root: Option<Item<P::State>>,
    deadline: Option<Instant>,
) -> Survey {
    let compares = config.equivalence == Equivalence::Trace && root.is_none();
    let mut survey = with_model(config, Surveying { program, config, lessons, root, deadline });
    if compares {
        let config = &Config { equivalence: Equivalence::ReadsFrom, ..config.clone() };
        let by_reads = with_model(config, Surveying { program, config, lessons, root: None, deadline });
        survey.reads_from = Some(by_reads.estimate);
    }
    survey
}

struct Surveying<'a, P: Program> {
    program: &'a P,
    config: &'a Config,
    lessons: &'a Lessons,
    root: Option<Item<P::State>>,
    deadline: Option<Instant>,
}

impl<P: Program> UnderModel for Surveying<'_, P> {
    type Output = Survey;

    fn under<M: Model>(self, model: M) -> Survey {
        let ties = self.config.equivalence.ties(&model);
        let patience = Instant::now() + PATIENCE;
        let deadline = self.deadline.map_or(patience, |deadline| deadline.min(patience));
        let mut visitor = Visitor::new(self.program, model, self.lessons, ties);
        visitor.deadline = Clock::new(Some(deadline), self.config.interrupt.clone());
        let whole = || Visitor::<P, M>::root_item(self.program, self.lessons, ties);
        let mut descents = Descents::new(visitor, self.root.unwrap_or_else(whole), 1);
        descents.tally = Some(Tally::default());
        let estimate = descents.sample(DESCENTS);
        descents.tally.take().unwrap_or_default().conclude(estimate)
    }
}

/// Counts where descents come by.
#[derive(Debug, Default)]
pub(super) struct Tally {
    alternatives: HashMap<Spot, u64>,
    /// In the current descent.
    visits: HashMap<(ThreadId, Location), u32>,
    /// The most that any descent had.
    most: HashMap<Location, u32>,
}

impl Tally {
    /// A descent begins.
    pub fn begin(&mut self) {
        self.visits.clear();
    }

    /// A thread makes a step that can happen in so many ways.
    pub fn count(&mut self, thread: ThreadId, spot: Option<Spot>, ways: u64) {
        let Some(spot) = spot else { return };
        let visits = self.visits.entry((thread, spot.location.clone())).or_default();
        *visits += 1;
        let most = self.most.entry(spot.location.clone()).or_default();
        *most = (*most).max(*visits);
        if ways > 1 {
            *self.alternatives.entry(spot).or_default() += ways - 1;
        }
    }

    fn conclude(self, estimate: Estimate) -> Survey {
        let alternatives = self.alternatives.values().sum();
        let mut hot: Vec<_> = self.alternatives.into_iter().collect();
        hot.sort_by(|(a, m), (b, n)| (n, a).cmp(&(m, b)));
        hot.truncate(PLACES);
        let mut loops: Vec<_> = self.most.into_iter().filter(|(_, times)| *times >= LOOP).collect();
        loops.sort_by(|(a, m), (b, n)| (n, a).cmp(&(m, b)));
        loops.truncate(PLACES);
        Survey { estimate, hot, loops, alternatives, reads_from: None }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn spot(line: u32) -> Option<Spot> {
        let location = Location { file: "a".into(), line, column: 1 };
        Some(Spot { location, variable: None })
    }

    #[test]
    fn the_most_alternatives_come_first() {
        let mut tally = Tally::default();
        let thread = ThreadId::new(0);
        for _ in 0..2 {
            tally.begin();
            (0..6).for_each(|_| tally.count(thread, spot(1), 1));
            tally.count(thread, spot(2), 3);
            tally.count(thread, spot(3), 9);
        }
        let survey = tally.conclude(Estimate::default());
        let hot: Vec<_> = survey.hot.iter().map(|(spot, count)| (spot.location.line, *count)).collect();
        assert_eq!((hot, survey.alternatives), (vec![(3, 16), (2, 4)], 20));
        let loops: Vec<_> = survey.loops.iter().map(|(location, times)| (location.line, *times)).collect();
        assert_eq!(loops, [(1, 6)]);
    }
}
