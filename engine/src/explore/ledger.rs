//! Who explored what: so that counts and errors do not depend on how the tree was shared out.
//!
//! A worker gives away the last child of its outermost node only. So what it keeps always comes before what it has
//! given away, and each item is a contiguous piece of the depth-first order. The ledger has an entry for each piece;
//! two neighbours that are both done become one, so that it does not grow with the length of the run. An error ends its
//! piece, and makes everything after it void; so does a lesson.

use super::choice::Path;
use super::stats::Stats;
use super::{Found, Lesson};
use std::collections::BTreeMap;
use std::ops::Bound;

/// What came of a piece of the tree.
#[derive(Debug)]
pub(super) struct Outcome<E> {
    pub stats: Stats,
    pub errors: Vec<Found<E>>,
    /// Why the exploration has to begin again.
    pub lesson: Option<Lesson<E>>,
}

/// The pieces of the tree by where they begin; none for those that are not done.
#[derive(Debug)]
pub(super) struct Ledger<E> {
    pieces: BTreeMap<Path, Option<Outcome<E>>>,
    keep_going: bool,
}

impl<E: Eq> Ledger<E> {
    pub fn new(keep_going: bool) -> Ledger<E> {
        Ledger { pieces: BTreeMap::new(), keep_going }
    }

    /// A piece is to be explored.
    pub fn open(&mut self, path: Path) {
        self.pieces.insert(path, None);
    }

    /// A piece is done.
    pub fn close(&mut self, path: Path, outcome: Outcome<E>) {
        self.pieces.insert(path.clone(), Some(outcome));
        if let Some(next) = self.done_after(&path) {
            self.merge(&path, next);
        }
        if let Some(previous) = self.done_before(&path) {
            self.merge(&previous, path);
        }
    }

    fn done_after(&self, path: &Path) -> Option<Path> {
        let after = (Bound::Excluded(path), Bound::Unbounded);
        self.pieces.range::<Path, _>(after).next().filter(|(_, o)| o.is_some()).map(|(p, _)| p.clone())
    }

    fn done_before(&self, path: &Path) -> Option<Path> {
        self.pieces.range::<Path, _>(..path).next_back().filter(|(_, o)| o.is_some()).map(|(p, _)| p.clone())
    }

    fn merge(&mut self, first: &Path, second: Path) {
        let Some(Some(second)) = self.pieces.remove(&second) else { return };
        if let Some(Some(outcome)) = self.pieces.get_mut(first) {
            outcome.append(second, self.keep_going);
        }
    }

    /// All that counts, in order.
    pub fn total(self) -> Outcome<E> {
        let mut total = Outcome::new(Stats::default());
        for outcome in self.pieces.into_values().flatten() {
            total.append(outcome, self.keep_going);
        }
        total
    }
}

impl<E: Eq> Outcome<E> {
    pub fn new(stats: Stats) -> Outcome<E> {
        Outcome { stats, errors: Vec::new(), lesson: None }
    }

    fn append(&mut self, later: Outcome<E>, keep_going: bool) {
        if self.lesson.is_some() || !keep_going && !self.errors.is_empty() {
            return;
        }
        self.stats += later.stats;
        self.lesson = later.lesson;
        for error in later.errors {
            self.add(error);
        }
    }

    /// Adds an error that comes later than those there, unless it is one of them.
    pub fn add(&mut self, error: Found<E>) {
        if self.errors.iter().all(|e| e.failure != error.failure) {
            self.errors.push(error);
        }
    }
}
