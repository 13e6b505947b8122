//! Which threads of a test are alike, and whether the program tells them apart.
//!
//! Threads are alike if the same thread spawned them at the same place, one after the other, and they [began with the
//! same](crate::vm::Birth). They are told apart by a thread that
//!
//! - accesses memory that threads share between spawning one and the other, or between joining one and the other; or
//!   asks what time it is there, which depends on how long threads that it has joined have slept;
//! - joins them and finds that not the same is left of both: they return something else, or one has panicked;
//! - joins one of them and not the other before the execution ends: it may have looked at what is left of the one
//!   (`explore/symmetry.rs`);
//! - waits for one of them in another way, or wakes it: that is an event in the memory that it has begun with;
//! - asks for the id or the name of a thread (`check/identity.rs`).
//!
//! Then exploring begins again, and they are explored in every order.

use std::sync::Arc;

use crate::graph::{self, Graph, ThreadId};
use crate::vm::{self, Birth, Explored};

/// A thread that has begun.
#[derive(Clone, Debug)]
struct Newborn {
    birth: Arc<Birth>,
    /// The nearest before it that is alike.
    like: Option<ThreadId>,
    /// What one that is alike has begun with, if there is one.
    other: Option<Arc<Birth>>,
    /// Whether the thread that spawned it has looked at what threads share before it did anything else.
    parent_looked: bool,
    /// What was left of it when it was joined.
    remains: Option<u64>,
}

/// The threads that have begun, by number.
#[derive(Clone, Debug, Default)]
pub struct Births(Arc<Vec<Option<Newborn>>>);

impl Births {
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    fn get(&self, thread: ThreadId) -> Option<&Newborn> {
        self.0.get(thread.index())?.as_ref()
    }

    /// A thread begins. `parent_looked` says whether the thread that spawned it has looked at what threads share since.
    pub fn begin(&mut self, vm: &Explored<graph::Action>, graph: &Graph, thread: ThreadId, parent_looked: bool) {
        let birth = vm.birth(vm::ThreadId(thread.index() as u16)).map(Arc::new);
        let like = birth.as_ref().and_then(|birth| self.like_of(birth, graph, thread));
        let births = Arc::make_mut(&mut self.0);
        births.resize(births.len().max(thread.index() + 1), None);
        let known = like.and_then(|like| births[like.index()].as_mut());
        let other = known.map(|known| {
            known.other = known.other.take().or_else(|| birth.clone());
            Arc::clone(&known.birth)
        });
        births[thread.index()] = birth.map(|birth| Newborn { birth, like, other, parent_looked, remains: None });
    }

    /// The nearest thread before a new one that has begun with the same.
    fn like_of(&self, birth: &Birth, graph: &Graph, thread: ThreadId) -> Option<ThreadId> {
        for elder in graph.elder_siblings(thread) {
            let known = self.get(elder).filter(|known| !known.parent_looked)?;
            if birth.is_like(&known.birth) {
                return Some(elder);
            }
        }
        None
    }

    /// The nearest thread before a new one that is alike.
    pub fn like(&self, thread: ThreadId) -> Option<ThreadId> {
        self.get(thread)?.like
    }

    /// A thread is joined; says whether it can be told from others that were.
    pub fn join(&mut self, vm: &Explored<graph::Action>, thread: ThreadId) -> bool {
        let Some(Newborn { birth, other: Some(other), .. }) = self.get(thread) else { return false };
        let remains = vm.remains(birth, other);
        if let Some(newborn) = &mut Arc::make_mut(&mut self.0)[thread.index()] {
            newborn.remains = Some(remains);
        }
        self.0.iter().flatten().any(|newborn| {
            let like = newborn.like.and_then(|like| self.get(like)?.remains);
            matches!((newborn.remains, like), (Some(one), Some(two)) if one != two)
        })
    }

    /// Whether an address is in memory by which a thread can be told from another that is alike.
    pub fn is_personal(&self, address: u64) -> bool {
        self.0.iter().flatten().any(|newborn| {
            let other = newborn.other.as_ref();
            other.is_some_and(|other| newborn.birth.has_own(other, address))
        })
    }
}
