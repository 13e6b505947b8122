//! What an exploration should have known from the start.
//!
//! Some of what is left out relies on facts that nobody can know beforehand: that the writes to a location are causally
//! ordered, say. Such a fact is taken for granted until an execution refutes it. That is a [`Lesson`]: the exploration
//! ends there, whatever it has found so far is void, and it begins again with what it has learned. Lessons are never
//! forgotten, and there are finitely many, so this ends. This holds for what is known of locations also where the program
//! itself has to be [another one](Lesson::Program): it then begins with what was learned before. A lesson that is no
//! longer needed only makes the exploration more careful.
//!
//! Which lesson comes first is decided by the order of exploration, as it is for errors; so what is learned, and all
//! counts, are the same for any number of workers.

use std::borrow::Cow;

use serde::{Deserialize, Serialize};

use super::stats::Stats;
use super::transient::Transient;
use super::{AwaitLevel, Config};
use crate::graph::Loc;

/// Why an exploration has to begin again.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Lesson<E> {
    /// Writes to a location that threads wait for are not causally ordered.
    Unordered(Loc),
    /// A location that threads confirm has the same value twice: a confirmation may succeed though something was
    /// written in between.
    Repeated(Loc),
    /// Something may be left of an attempt that fails, or of an iteration that counts, and reads this location: whether
    /// it makes a difference has to be [looked at](super::audit) in every execution.
    Unproven(Loc),
    /// An attempt that fails, or an iteration that counts, makes a difference: those that read this location are
    /// explored.
    Explicit(Loc),
    /// A loop writes something and takes it back: everybody who accesses the location must be looked at.
    Transient(Loc, Transient),
    /// The order in which updates of this location take place makes a difference, or it is not known that it does not:
    /// it is explored.
    Ordered(Loc),
    /// The same for all locations.
    AllOrdered,
    /// Several readers lock this location at once: their order makes no difference.
    Shared(Loc),
    /// Under reads-from equivalence, a graph of a program with loops has several witnesses: what is done about threads
    /// that wait beyond [`AwaitLevel::Stale`] relies on there being one.
    Unsettled,
    /// Somebody may notice what a loop writes and takes back: the program must not say then that it
    /// [takes it back](super::Program::may_undo). This is for whoever explores the program to deal with.
    Noticed(Loc),
    /// Threads that are alike are told apart by one that joins them: they are explored in every order.
    ToldApart,
    /// What the program [has learned](super::Program::is_lesson), for whoever explores it.
    Program(E),
}

/// An exploration that began again: what was explored by then does not count.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Restart {
    /// What was learned.
    pub lesson: Cow<'static, str>,
    /// What was explored up to there.
    pub stats: Stats,
}

impl<E> Lesson<E> {
    /// What is learned, in words.
    pub fn describe(&self) -> &'static str {
        match self {
            Lesson::Unordered(_) => "writes that a loop waits for are not ordered by happens-before",
            Lesson::Repeated(_) => "a location that is confirmed by `compare_exchange` has the same value twice",
            Lesson::Unproven(_) => "a failed attempt may have an effect: every execution is looked at",
            Lesson::Explicit(_) => "a failed attempt has an effect: failed attempts are explored",
            Lesson::Transient(..) => "a loop writes something and takes it back",
            Lesson::Ordered(_) => "the order of updates of a location makes a difference",
            Lesson::AllOrdered => "the order of updates makes a difference",
            Lesson::Shared(_) => "the order of readers that share a lock makes no difference",
            Lesson::Unsettled => "the order of writes is open in a program that waits in loops",
            Lesson::Noticed(_) => "other threads may notice what a loop writes and takes back",
            Lesson::ToldApart => "identical threads are told apart by the one that joins them",
            Lesson::Program(_) => "threads share memory, or wait in a loop, where that was not known",
        }
    }
}

/// What was learned so far.
#[derive(Clone, Debug)]
pub struct Lessons {
    /// What is done about threads that wait.
    pub(super) level: AwaitLevel,
    /// Locations whose writes are not causally ordered.
    pub(super) unordered: Locs,
    /// Locations that threads confirm, and that have the same value more than once.
    pub(super) repeated: Locs,
    /// Locations of which failed attempts and counting iterations are looked at in every execution.
    pub(super) audited: Locs,
    /// Locations of which they are explored.
    pub(super) explicit: Locs,
    /// Whether threads that are alike are explored in one order only.
    pub(super) symmetry: bool,
    /// What loops write and take back.
    pub(super) transients: Vec<(Loc, Transient)>,
    /// Whether updates that commute are explored in one order only.
    pub(super) commute: bool,
    /// Locations of which they are explored in all.
    pub(super) ordered: Locs,
    /// Locations that several readers lock at once.
    pub(super) shared: Locs,
    /// Whether ways to go round in a loop that cover others are gone once for all of them.
    pub(super) share_rounds: bool,
}

impl Lessons {
    pub fn new(config: &Config) -> Lessons {
        Lessons {
            level: config.awaiting,
            symmetry: config.symmetry,
            commute: config.commute,
            ordered: Locs::default(),
            shared: Locs::default(),
            unordered: Locs::default(),
            repeated: Locs::default(),
            audited: Locs::default(),
            explicit: Locs::default(),
            transients: Vec::new(),
            share_rounds: config.share_rounds,
        }
    }

    /// Learns; gives back what is not for the explorer to deal with.
    pub fn learn<E>(&mut self, lesson: Lesson<E>) -> Option<Lesson<E>> {
        match lesson {
            Lesson::Unordered(loc) => self.unordered.insert(loc),
            Lesson::Repeated(loc) => self.repeated.insert(loc),
            Lesson::Unproven(loc) => self.audited.insert(loc),
            Lesson::Explicit(loc) => self.explicit.insert(loc),
            Lesson::Transient(loc, transient) => self.transients.push((loc, transient)),
            Lesson::Ordered(loc) => self.ordered.insert(loc),
            Lesson::Shared(loc) => self.shared.insert(loc),
            Lesson::AllOrdered => self.commute = false,
            Lesson::ToldApart => self.symmetry = false,
            Lesson::Unsettled => self.level = AwaitLevel::Stale,
            Lesson::Noticed(_) | Lesson::Program(_) => {
                // The program changes, and what its loops take back with it.
                self.transients.clear();
                return Some(lesson);
            }
        }
        None
    }
}

/// A set of locations.
#[derive(Clone, Debug, Default)]
pub(super) struct Locs(Vec<bool>);

impl Locs {
    pub fn insert(&mut self, loc: Loc) {
        if self.0.len() <= loc.index() {
            self.0.resize(loc.index() + 1, false);
        }
        self.0[loc.index()] = true;
    }

    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    pub fn contains(&self, loc: Loc) -> bool {
        self.0.get(loc.index()).copied().unwrap_or(false)
    }
}
