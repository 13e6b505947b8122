//! Saved program states: a stack whose entries are reused.

/// A stack of states; what is popped keeps its buffers for the next push.
#[derive(Clone, Debug)]
pub(super) struct Snapshots<S> {
    slots: Vec<S>,
    used: usize,
}

impl<S: Clone> Snapshots<S> {
    pub fn new() -> Snapshots<S> {
        Snapshots { slots: Vec::new(), used: 0 }
    }

    /// Saves a state and says where.
    pub fn push(&mut self, state: &S) -> usize {
        match self.slots.get_mut(self.used) {
            Some(slot) => slot.clone_from(state),
            None => self.slots.push(state.clone()),
        }
        self.used += 1;
        self.used - 1
    }

    /// A saved state.
    pub fn get(&self, slot: usize) -> &S {
        &self.slots[slot]
    }

    /// Forgets all states saved after the first `used`.
    pub fn truncate(&mut self, used: usize) {
        self.used = self.used.min(used);
    }

    /// Every state there was room for.
    pub fn all(&self) -> &[S] {
        &self.slots
    }
}
