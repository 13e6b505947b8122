//! All states that threads were ever in, each once and numbered.

use std::collections::HashMap;
use std::hash::{Hash, Hasher};
use std::sync::Arc;

use crate::vm::hash::{FastHash, FastHasher};
use crate::vm::memory::{Table, Values};
use crate::vm::thread::Thread;

use super::frozen::Frozen;
use super::mark::Mark;

/// A state of a thread: an index into [`Threads`].
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub struct ThreadState(pub u32);

impl ThreadState {
    /// There is no such thread.
    pub const NONE: ThreadState = ThreadState(0);
}

#[derive(Debug)]
struct Node<A> {
    frozen: Arc<Frozen>,
    mark: Mark,
    /// What its pending action is to whoever explores.
    action: Option<A>,
    /// Another state with the same hash, or 0.
    next: u32,
}

/// States of threads, each once.
#[derive(Debug)]
pub struct Threads<A> {
    /// From 1 on.
    nodes: Vec<Node<A>>,
    by_hash: HashMap<u64, u32, FastHash>,
    bytes: usize,
}

impl<A> Default for Threads<A> {
    fn default() -> Threads<A> {
        Threads { nodes: Vec::new(), by_hash: HashMap::default(), bytes: 0 }
    }
}

impl<A: Copy> Threads<A> {
    #[inline]
    fn node(&self, state: ThreadState) -> Option<&Node<A>> {
        self.nodes.get((state.0 as usize).wrapping_sub(1))
    }

    /// A state, none if there is no such thread.
    #[inline]
    pub fn get(&self, state: ThreadState) -> Option<&Arc<Frozen>> {
        self.node(state).map(|node| &node.frozen)
    }

    /// What the pending action of a thread is to whoever explores.
    #[inline]
    pub fn action(&self, state: ThreadState) -> Option<A> {
        self.node(state)?.action
    }

    pub fn set_action(&mut self, state: ThreadState, action: A) {
        if let Some(node) = self.nodes.get_mut((state.0 as usize).wrapping_sub(1)) {
            node.action = Some(action);
        }
    }

    /// By what a loop recognises a state.
    #[inline]
    pub fn mark(&self, state: ThreadState) -> Mark {
        self.node(state).map_or_else(Mark::default, |node| node.mark)
    }

    /// The number of a state.
    pub fn intern(&mut self, thread: &Thread, table: &Table, values: &Values) -> ThreadState {
        let mut hasher = FastHasher::default();
        (thread, table).hash(&mut hasher);
        let hash = hasher.finish();
        let first = self.by_hash.get(&hash).copied().unwrap_or(0);
        let mut at = ThreadState(first);
        while let Some(node) = self.node(at) {
            if node.frozen.thread == *thread && node.frozen.table == *table {
                return at;
            }
            at = ThreadState(node.next);
        }
        let frozen = Arc::new(Frozen { thread: thread.clone(), table: table.clone() });
        self.bytes += frozen.bytes() + size_of::<Node<A>>() + 16;
        let mark = Mark::of(thread, table, values);
        self.nodes.push(Node { frozen, mark, action: None, next: first });
        let number = self.nodes.len() as u32;
        self.by_hash.insert(hash, number);
        ThreadState(number)
    }

    /// Roughly how many bytes they take.
    pub fn bytes(&self) -> usize {
        self.bytes
    }
}
