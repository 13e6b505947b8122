//! Models: parts of a program that are explored for themselves.
//!
//! Where a thread comes to the beginning of a model, or to its end, an exploration goes no further: that is a leaf
//! of its tree. So the tree falls apart into *stages*, which are explored one after the other, each with all
//! workers:
//!
//! - the program up to the first model: every leaf at the beginning of a model is the root of a stage;
//! - a model: the first leaf at its end, in depth-first order, is the root of a stage, and the others count as
//!   executions and go no further;
//! - what follows a model, up to the next one; and so on.
//!
//! At either end of a model every other thread has ended, and all its events come causally before the next one of
//! the thread that is there ([`Graph::is_before`](crate::graph::Graph)). Hence no later write can revisit anything
//! before it, and what a stage explores is just a subtree of the whole exploration tree: every execution that is
//! explored is explored exactly once. The first leaf in depth-first order does not depend on the number of workers,
//! so nothing else does.
//!
//! A lesson makes a stage begin again, unless it is about something that is in the graph already
//! ([`Lesson::is_for_all_stages`]): then all of them do.

use super::choice::{Choice, Path};
use super::lessons::Lesson;
use super::program::Program;
use super::visit::{Item, Visitor};
use super::{Config, Report, Stats};
use crate::graph::{Action, Boundary, Bounds, EventId, Graph, Snapshot};
use crate::model::Model;
use std::time::{Duration, Instant};

/// Where stages begin that are still to be explored, the last one first.
pub(super) struct Stages<S> {
    roots: Vec<Option<Item<S>>>,
    begun: u32,
}

impl<S> Stages<S> {
    /// The whole program.
    pub fn new() -> Stages<S> {
        Stages { roots: vec![None], begun: 0 }
    }

    /// Where the next stage begins: with nothing, or with an item.
    pub fn next(&mut self) -> Option<Option<Item<S>>> {
        let root = self.roots.pop()?;
        let path = match self.begun {
            0 => Path::new(),
            // Later than all that is in the stages before.
            number => vec![u32::MAX, number],
        };
        self.begun += 1;
        Some(root.map(|root| Item { path, ..root }))
    }

    /// The stage that has begun last begins again.
    pub fn again(&mut self, root: Option<Item<S>>) {
        self.begun -= 1;
        self.roots.push(root);
    }

    /// A stage is done that has come to these leaves.
    pub fn add(&mut self, mut leaves: Vec<Leaf<S>>) {
        leaves.sort_by(|a, b| a.item.path.cmp(&b.item.path));
        let first_end = leaves.iter().position(|leaf| leaf.boundary == Boundary::End);
        let goes_on = |(index, leaf): (usize, Leaf<S>)| {
            (leaf.boundary != Boundary::End || Some(index) == first_end).then_some(Some(leaf.item))
        };
        let roots: Vec<_> = leaves.into_iter().enumerate().filter_map(goes_on).collect();
        self.roots.extend(roots.into_iter().rev());
    }
}

/// How a stage is explored.
pub(super) struct Plan {
    pub config: Config,
    pub deadline: Option<Instant>,
    /// The bounds of the model that the stage is, where they are tighter.
    is_bounded: bool,
}

impl Plan {
    /// For a stage with this root, after so many executions.
    pub fn new<S>(root: Option<&Item<S>>, config: &Config, deadline: Option<Instant>, executions: u64) -> Plan {
        let begins = |root: &Item<S>| match root.graph.boundary() {
            Some((_, Boundary::Begin(bounds))) => Some(bounds),
            _ => None,
        };
        let mut plan = Plan { config: config.clone(), deadline, is_bounded: false };
        let Some(Bounds { executions: more, milliseconds }) = root.and_then(begins) else { return plan };
        let max = executions.saturating_add(more);
        if more != u64::MAX && config.max_executions.is_none_or(|all| max < all) {
            // Which executions are explored must not depend on who is faster.
            (plan.config.max_executions, plan.config.workers, plan.is_bounded) = (Some(max), 1, true);
        }
        let end = Instant::now().checked_add(Duration::from_millis(milliseconds));
        if let Some(end) = end.filter(|end| milliseconds != u64::MAX && deadline.is_none_or(|all| *end < all)) {
            (plan.deadline, plan.is_bounded) = (Some(end), true);
        }
        plan
    }

    /// Whether a stage that was not explored entirely was not because of the bounds of the model.
    pub fn was_bounded<E>(&self, report: &Report<E>) -> bool {
        self.is_bounded && !report.complete && !self.config.interrupt.is_requested()
    }
}

/// A leaf of a stage from which another stage may go on.
pub(super) struct Leaf<S> {
    pub boundary: Boundary,
    pub item: Item<S>,
}

impl<E> Lesson<E> {
    /// Whether graphs of earlier stages would be other ones, had it been known.
    pub(super) fn is_for_all_stages(&self) -> bool {
        match self {
            Lesson::Ordered(_) | Lesson::AllOrdered | Lesson::Shared(_) | Lesson::Unsettled | Lesson::ToldApart => true,
            Lesson::Unordered(_) | Lesson::Repeated(_) | Lesson::Unproven(_) | Lesson::Explicit(_) => false,
            Lesson::Transient(..) | Lesson::Noticed(_) | Lesson::Program(_) => false,
        }
    }
}

impl<E: Eq> Report<E> {
    pub(super) fn empty() -> Report<E> {
        Report {
            stats: Stats::default(),
            errors: Vec::new(),
            lesson: None,
            complete: true,
            restarts: Vec::new(),
            survey: None,
            bounded: false,
        }
    }

    /// Whether nothing more is to be explored.
    pub(super) fn is_over(&self, config: &Config) -> bool {
        self.lesson.is_some() || !self.complete || !self.errors.is_empty() && !config.keep_going
    }

    /// Adds what a later stage found out.
    pub(super) fn append(&mut self, later: Report<E>) {
        self.stats += later.stats;
        self.complete &= later.complete;
        self.bounded |= later.bounded;
        for error in later.errors {
            if self.errors.iter().all(|known| known.failure != error.failure) {
                self.errors.push(error);
            }
        }
    }
}

/// Whether an execution in which no thread can go on counts: one in which nothing has happened since the end of a model
/// was counted there, and one that comes to the beginning of a model is not over.
pub(super) fn counts(graph: &Graph) -> bool {
    let ended = || matches!(graph.event(graph.last()).action, Action::Model(Boundary::End));
    match graph.boundary() {
        Some((_, boundary)) => boundary == Boundary::End,
        None => graph.last() == EventId::INIT || !ended(),
    }
}

impl<P: Program, M: Model> Visitor<'_, P, M> {
    /// Whether the exploration is at the end of a model.
    pub(super) fn is_at_end(&self) -> bool {
        self.graph().boundary().is_some_and(|(_, boundary)| boundary == Boundary::End)
    }

    /// The leaf that the exploration is at, if a stage may go on from here.
    pub(super) fn leaf(&mut self) -> Option<Leaf<P::State>> {
        let (thread, boundary) = self.graph().boundary()?;
        let mut graph = self.graph().clone();
        let mut snapshots = Vec::new();
        // What is there can be neither revisited nor looked at again, unless its place is still open.
        for id in (1..graph.len()).map(EventId::new) {
            let event = graph.event_mut(id);
            if event.blind && event.snapshot.is_some() {
                snapshots.push(self.snapshots.get(event.snapshot.slot as usize).clone());
                event.snapshot.slot = snapshots.len() as u32 - 1;
            } else {
                event.snapshot = Snapshot::NONE;
            }
        }
        self.program.share(&mut self.state);
        let frozen = graph.len();
        let first = Some((thread, Choice::Only));
        let item = Item { graph, state: self.state.clone(), snapshots, first, path: self.tree.path(), frozen };
        Some(Leaf { boundary, item })
    }
}
