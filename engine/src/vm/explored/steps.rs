//! What threads did before: from a state, on a cue, as long as what they looked at was the same.
//!
//! A thread is deterministic: what it does until it stops again depends on its own state, on what it is answered, and on
//! the shared objects that it looks at. All that is kept, beside what it did, and is not run again.

use std::collections::HashMap;
use std::hash::{Hash, Hasher};

use crate::vm::hash::FastHash;
use crate::vm::memory::{Log, Objects, Shape, Touch, Version};

use super::Stepped;
use super::row::{Moment, Row};
use super::threads::ThreadState;

/// What makes a thread go on, as whoever explores puts it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Cue {
    /// Nothing: it starts.
    Start,
    /// Its action has this value, and wrote something or not.
    Value { value: u64, wrote: bool },
}

impl Hash for Cue {
    #[inline]
    fn hash<H: Hasher>(&self, state: &mut H) {
        state.write_u64(match *self {
            Cue::Start => u64::MAX,
            Cue::Value { value, wrote } => value ^ u64::from(wrote) << 63,
        });
    }
}

/// A step: an index into [`Steps`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct StepId(u32);

/// What a thread did.
#[derive(Clone, Copy, Debug)]
pub struct Done<A> {
    /// The state of the thread afterwards.
    pub to: ThreadState,
    /// The state of the thread that it spawned.
    pub spawned: ThreadState,
    /// How many blocks more there are afterwards that the program must free.
    pub live: i32,
    /// How many steps of the machine it took.
    pub cost: u32,
    pub stepped: Stepped<A>,
}

#[derive(Clone, Copy, Debug)]
struct Step<A> {
    done: Done<A>,
    lists: Lists,
    /// Another one with the same beginning, or [`NONE`].
    next: u32,
}

/// What a step depends on, and does.
#[derive(Clone, Copy, Debug)]
struct Lists {
    /// Where its lists begin on the tape, and where each ends.
    start: u32,
    reads: u32,
    shapes: u32,
    writes: u32,
    /// Where its accesses to shared memory begin and end.
    touches: [u32; 2],
}

const NONE: u32 = u32::MAX;
/// How many steps with the same beginning are kept.
const MAX_VARIANTS: usize = 64;

/// Everything that threads did.
#[derive(Debug)]
pub struct Steps<A> {
    first: HashMap<(ThreadState, Cue), u32, FastHash>,
    steps: Vec<Step<A>>,
    tape: Vec<u32>,
    touches: Vec<Touch>,
}

impl<A> Default for Steps<A> {
    fn default() -> Steps<A> {
        Steps { first: HashMap::default(), steps: Vec::new(), tape: Vec::new(), touches: Vec::new() }
    }
}

impl<A: Copy> Steps<A> {
    /// The step that a thread makes from a state, if it was made before.
    #[inline]
    pub fn find(
        &mut self,
        key: (ThreadState, Cue),
        row: &Row,
        moment: Moment,
        objects: &Objects,
    ) -> Option<(StepId, &Done<A>)> {
        let first = *self.first.get(&key)?;
        let (mut at, mut before) = (first, NONE);
        while at != NONE {
            let Step { lists, next, .. } = self.steps[at as usize];
            if self.matches(&lists, row, objects) {
                if before != NONE {
                    self.move_to_front(key, at, before, first);
                }
                let admitted = self.touches(&lists).iter().all(|touch| row.admits(touch, moment, objects));
                return admitted.then_some((StepId(at), &self.steps[at as usize].done));
            }
            (before, at) = (at, next);
        }
        None
    }

    #[cold]
    fn move_to_front(&mut self, key: (ThreadState, Cue), at: u32, before: u32, first: u32) {
        self.steps[before as usize].next = self.steps[at as usize].next;
        self.steps[at as usize].next = first;
        self.first.insert(key, at);
    }

    #[inline]
    fn matches(&self, step: &Lists, row: &Row, objects: &Objects) -> bool {
        let version = |object: u32| row.versions.get(object as usize).copied().unwrap_or_default();
        let reads = self.pairs(step.start, step.reads);
        let shapes = self.pairs(step.reads, step.shapes);
        reads.iter().all(|[object, expected]| version(*object).0 == *expected)
            && shapes.iter().all(|[object, expected]| objects.values.shape(version(*object)) == Shape(*expected))
    }

    #[inline]
    fn pairs(&self, start: u32, end: u32) -> &[[u32; 2]] {
        self.tape[start as usize..end as usize].as_chunks().0
    }

    #[inline]
    fn touches(&self, step: &Lists) -> &[Touch] {
        &self.touches[step.touches[0] as usize..step.touches[1] as usize]
    }

    /// Makes a step that was found.
    #[inline]
    pub fn make(&self, id: StepId, row: &mut Row, moment: Moment) {
        let step = self.steps[id.0 as usize].lists;
        for [object, version] in self.pairs(step.shapes, step.writes) {
            let object = *object as usize;
            if row.versions.len() <= object {
                row.versions.resize(object + 1, Version::NONE);
            }
            row.versions[object] = Version(*version);
        }
        self.touches(&step).iter().for_each(|touch| row.note(touch, moment));
    }

    /// Keeps a step that a thread has just made, which led to a state.
    pub fn insert(&mut self, key: (ThreadState, Cue), log: &Log, row: &Row, done: Done<A>) {
        let start = self.tape.len() as u32;
        self.tape.extend(log.reads.iter().flat_map(|(object, version)| [object.0, version.0]));
        let reads = self.tape.len() as u32;
        self.tape.extend(log.shapes.iter().flat_map(|(object, shape)| [object.0, shape.0]));
        let shapes = self.tape.len() as u32;
        self.tape.extend(log.changed.iter().flat_map(|object| [object.0, row.versions[object.index()].0]));
        let writes = self.tape.len() as u32;
        let first = self.touches.len() as u32;
        self.touches.extend_from_slice(&log.touches);
        let touches = [first, self.touches.len() as u32];
        let number = self.steps.len() as u32;
        let next = self.first.insert(key, number).unwrap_or(NONE);
        self.steps.push(Step { done, lists: Lists { start, reads, shapes, writes, touches }, next });
        self.forget_variants(number);
    }

    /// Forgets the step with the same beginning that was not made for longest, if there are too many.
    fn forget_variants(&mut self, mut at: u32) {
        for _ in 1..MAX_VARIANTS {
            at = self.steps[at as usize].next;
            if at == NONE {
                return;
            }
        }
        self.steps[at as usize].next = NONE;
    }

    /// Roughly how many bytes they take.
    pub fn bytes(&self) -> usize {
        self.steps.len() * (size_of::<Step<A>>() + 32) + size_of_val(&self.tape[..]) + size_of_val(&self.touches[..])
    }
}
