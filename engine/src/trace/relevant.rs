//! Which steps of an execution matter for its error.

use std::collections::{HashMap, HashSet};

use crate::vm::{Object, ThreadId, Variable};

use super::{Deed, End, Step, Trace, Waits};

/// Of a thread with more steps than this, the last are shown.
const MAX_STEPS: usize = 24;

impl Trace {
    /// The numbers of the steps that matter: not what the library does for itself, not what nobody who fails or waits has
    /// learned of, or who is the other side of a race, and not what is long ago.
    pub fn relevant(&self) -> HashSet<u32> {
        let marks = self.remarks.iter().flat_map(|remark| remark.named());
        let marked: HashSet<u32> = marks.chain(self.rival).collect();
        let causes = self.causes(&marked);
        let is_relevant = |step: &&Step| {
            let learned_of = causes.contains(&step.number);
            let unwinds = step.unwinding && self.fails(step.thread);
            let of_interest = !is_bookkeeping(step) && !self.is_private(step) && !unwinds;
            marked.contains(&step.number) || (learned_of && of_interest)
        };
        let mut relevant: HashSet<u32> = HashSet::new();
        for thread in &self.threads {
            let steps: Vec<&Step> = self.steps_of(thread.number).filter(is_relevant).collect();
            let late = steps.len().saturating_sub(MAX_STEPS);
            let shown = steps.iter().enumerate().filter(|(at, step)| *at >= late || marked.contains(&step.number));
            relevant.extend(shown.map(|(_, step)| step.number));
        }
        let spawns = self.threads.iter().filter(|thread| {
            let racing = self.racing.iter().chain(&self.panics).any(|other| other.thread == thread.number);
            let is_shown = |step: &Step| relevant.contains(&step.number);
            racing || thread.end == End::Failed || self.steps_of(thread.number).any(is_shown)
        });
        relevant.extend(spawns.filter_map(|thread| thread.spawned_by).collect::<Vec<_>>());
        let holders = self.threads.iter().filter_map(|thread| match &thread.end {
            End::Waits(Waits::For { holders, .. }) => Some(holders.iter().filter_map(|holder| holder.since)),
            _ => None,
        });
        relevant.extend(holders.flatten().collect::<Vec<_>>());
        relevant
    }

    /// The last step of a thread, without what it does after the panic that is the error.
    fn last_before_error(&self, thread: ThreadId) -> Option<u32> {
        let fails = self.fails(thread);
        self.steps_of(thread).rfind(|step| !(fails && step.unwinding)).map(|step| step.number)
    }

    /// Whether a thread has the error.
    fn fails(&self, thread: ThreadId) -> bool {
        self.threads.iter().any(|other| other.number == thread && other.end == End::Failed)
    }

    /// The steps that those threads depend on which fail or wait, and those that are marked.
    fn causes(&self, marked: &HashSet<u32>) -> HashSet<u32> {
        let fails = self.threads.iter().any(|thread| thread.end == End::Failed);
        let concerned = |thread: ThreadId| {
            let is_it = |end: &End| if fails { *end == End::Failed } else { matches!(end, End::Waits(_)) };
            self.threads.iter().any(|other| other.number == thread && is_it(&other.end))
        };
        let none_concerned = !self.threads.iter().any(|thread| concerned(thread.number));
        let mut synchronizes: HashMap<u32, Vec<u32>> = HashMap::new();
        self.sw.iter().for_each(|(from, to)| synchronizes.entry(*to).or_default().push(*from));
        let mut causes = HashSet::new();
        // A step comes after all that it depends on.
        for step in self.steps.iter().rev() {
            let last = self.last_before_error(step.thread) == Some(step.number);
            let other_side = self.racing.as_ref().is_some_and(|racing| racing.after == Some(step.number));
            let seed =
                none_concerned || marked.contains(&step.number) || other_side || (last && concerned(step.thread));
            if !seed && !causes.contains(&step.number) {
                continue;
            }
            causes.insert(step.number);
            let before = self.steps_of(step.thread).rfind(|earlier| earlier.number < step.number);
            causes.extend(before.map(|earlier| earlier.number));
            causes.extend(step.read.and_then(|read| read.from));
            causes.extend(synchronizes.get(&step.number).into_iter().flatten());
        }
        causes
    }

    /// Whether only one thread ever accesses the variable of a step, and it has always the same value.
    fn is_private(&self, step: &Step) -> bool {
        let Some(variable) = &step.variable else { return false };
        let same = |other: &&Step| other.variable.as_ref().is_some_and(|other| is_same(other, variable));
        let is_lock = matches!(step.deed, Deed::Await { .. } | Deed::TryLock | Deed::Unlock);
        !is_lock
            && self.steps.iter().filter(same).all(|other| other.thread == step.thread && other.written.is_none())
            && step.read.is_some_and(|read| read.from.is_none())
            && self.threads.iter().all(|thread| thread.number != step.thread || thread.end == End::Ended)
    }
}

fn is_same(a: &Variable, b: &Variable) -> bool {
    let address = |variable: &Variable| match &variable.object {
        Object::Heap { address, .. } | Object::Other { address } => Some(*address),
        Object::Static { .. } | Object::Local { .. } => None,
    };
    a.offset == b.offset && (a.object == b.object || (address(a).is_some() && address(a) == address(b)))
}

/// Whether a step is what the library does for itself: it counts references, and looks whether a lock is poisoned.
pub fn is_bookkeeping(step: &Step) -> bool {
    let part = step.variable.as_ref().and_then(|variable| variable.part.as_ref());
    let counts = |via: &str| via.contains("std::sync::Arc<") || via.contains("std::sync::Weak<");
    let via = || step.place.as_ref().and_then(|place| place.via.as_deref());
    match part {
        _ if matches!(step.deed, Deed::TakeTurn { .. }) => true,
        Some(part) => part.bookkeeping,
        None => via().is_some_and(counts),
    }
}
