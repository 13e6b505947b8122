//! Trying out what a thread would do, on copies of the program's state.
//!
//! Whether a loop waits, or a failed attempt makes a difference, is found out by letting the thread run. A [`Course`]
//! is what its actions are answered with, from the current state or a saved one; [`leads_to`](Visitor::leads_to) says
//! where that takes it, and [`leads_to_the_same`](Visitor::leads_to_the_same) whether two courses take it to one and
//! the same place. That is a proof for these answers, and for the memory that is there: from equal states a thread goes
//! on in the same way, whatever it is answered next. It says nothing about other answers; whoever needs these has to
//! try them, too.

use super::confirm::Head;
use super::lessons::Lesson;
use super::program::{Answer, Program};
use super::transient::Overlay;
use super::visit::Visitor;
use crate::graph::{Action, ThreadId, Value};
use crate::model::Model;

/// The states in which threads try things out, and what else that takes: all of it is used again and again.
pub(super) struct Trials<S> {
    pub state: S,
    /// The state in which every thread is at its first action, once it was needed.
    pub first: Option<S>,
    /// Another one, to compare.
    pub other: S,
    /// States in which a thread is at the head of a loop; of those that are there, the first `known` are in use.
    heads: Vec<S>,
    known: usize,
    /// What the thread has written.
    pub overlay: Overlay,
    /// What happens before its next step.
    pub clock: Vec<u32>,
}

impl<S: Clone> Trials<S> {
    pub fn new(state: S) -> Trials<S> {
        let (other, heads) = (state.clone(), Vec::new());
        Trials { state, first: None, other, heads, known: 0, overlay: Overlay::default(), clock: Vec::new() }
    }

    /// Exchanges the state with the one to compare it with.
    pub fn swap(&mut self) {
        std::mem::swap(&mut self.state, &mut self.other);
    }

    /// The states at the head of a loop that are known.
    pub fn heads(&self) -> &[S] {
        &self.heads[..self.known]
    }

    /// Forgets them.
    pub fn clear_heads(&mut self) {
        self.known = 0;
    }

    /// Adds the state that was tried last to them.
    pub fn add_head(&mut self) {
        match self.heads.get_mut(self.known) {
            Some(head) => head.clone_from(&self.state),
            None => self.heads.push(self.state.clone()),
        }
        self.known += 1;
    }
}

/// Where a course begins.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Origin {
    /// In the current state.
    Now,
    /// In the state that was saved in this slot.
    Saved(usize),
    /// In this one of the states at the head of a loop.
    Head(usize),
}

/// What an action is answered with.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Reply {
    pub value: Value,
    pub wrote: bool,
}

impl Reply {
    /// Reads this, and writes nothing.
    pub fn reads(value: Value) -> Reply {
        Reply { value, wrote: false }
    }
}

/// What the actions of a thread are answered with, one after the other.
#[derive(Clone, Copy, Debug)]
pub(super) struct Course<'a> {
    pub from: Origin,
    pub replies: &'a [Reply],
}

/// Where a course leads.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Place {
    /// What the thread does next.
    pub next: Action,
    /// Whether it has changed, on the way, what others have, or has made accesses that others could race with.
    pub has_effect: bool,
}

impl<P: Program, M: Model> Visitor<'_, P, M> {
    /// Whether a thread that has been tried out is back at the head of its loop, without having had an effect: in this
    /// state, at this place.
    pub(super) fn is_back(&self, head: &Head, state: &P::State, place: Place) -> bool {
        place.next == head.action && !place.has_effect && self.is_at_head(head, state)
    }

    /// Whether a thread is at the head of its loop, and not at another place that does the same.
    pub(super) fn is_at_head(&self, head: &Head, state: &P::State) -> bool {
        let origin = match head.from {
            Origin::Saved(slot) => self.snapshots.get(slot),
            Origin::Head(number) => &self.trials.heads[number],
            Origin::Now => &self.state,
        };
        self.program.is_at_same_place(state, origin, head.thread)
    }

    /// Copies a state to try something out.
    pub(super) fn begin_trial(&mut self, from: Origin) {
        match from {
            Origin::Saved(slot) => self.trials.state.clone_from(self.snapshots.get(slot)),
            Origin::Head(number) => self.trials.state.clone_from(&self.trials.heads[number]),
            Origin::Now => {
                self.program.share(&mut self.state);
                self.trials.state.clone_from(&self.state);
            }
        }
    }

    /// What happens before the next step of a thread, as it is now.
    pub(super) fn begin_clock(&mut self, thread: ThreadId) {
        let Visitor { levels, trials, .. } = self;
        let graph = levels.current();
        trials.clock.clear();
        trials.clock.extend_from_slice(graph.hb(graph.thread(thread).tip()));
    }

    /// Where a course takes a thread.
    pub(super) fn leads_to(&mut self, thread: ThreadId, course: Course<'_>) -> Place {
        self.begin_trial(course.from);
        let mut place = Place { next: Action::Fail, has_effect: false };
        self.begin_clock(thread);
        for reply in course.replies {
            let Visitor { program, levels, trials, .. } = self;
            let graph = levels.current();
            trials.clock[thread.index()] += 1;
            let (clock, causes) = (&trials.clock, graph.porf(graph.thread(thread).tip()));
            let answer = Answer { value: reply.value, wrote: reply.wrote, initial: false, clock, causes, graph };
            place.next = program.resume(&mut trials.state, thread, answer);
            place.has_effect |= program.has_effect(&trials.state);
            if place.next == Action::Fail {
                self.learn_from_trial(thread);
                break;
            }
        }
        place
    }

    /// Whether two courses lead to the same state, for everybody.
    pub(super) fn leads_to_equal(&mut self, thread: ThreadId, one: Course<'_>, other: Course<'_>) -> bool {
        let first = self.leads_to(thread, one);
        std::mem::swap(&mut self.trials.state, &mut self.trials.other);
        let second = self.leads_to(thread, other);
        first.next == second.next
            && first.next != Action::Fail
            && self.program.is_same(&self.trials.state, &self.trials.other, thread)
    }

    /// A trial has failed: that may be because the program has to know something from the start.
    pub(super) fn learn_from_trial(&mut self, thread: ThreadId) {
        let error = self.program.error(&self.trials.state, self.graph(), thread);
        if self.program.is_lesson_of_trial(&error) {
            self.learn(Lesson::Program(error));
        }
    }

    /// The place that two courses take a thread to, if it is the same: the thread goes on alike from there.
    pub(super) fn leads_to_the_same(&mut self, thread: ThreadId, one: Course<'_>, other: Course<'_>) -> Option<Place> {
        let first = self.leads_to(thread, one);
        self.trials.swap();
        let second = self.leads_to(thread, other);
        self.is_same(thread, first, second).then_some(second)
    }

    /// Whether the places that the two latest courses have taken a thread to are the same.
    pub(super) fn is_same(&self, thread: ThreadId, first: Place, second: Place) -> bool {
        first.next == second.next
            && first.next != Action::Fail
            && self.program.is_alike(&self.trials.state, &self.trials.other, thread)
    }
}
