//! Memory that steps of the exploration use again and again, and that means nothing between them.

use super::reads_from::Parts;
use crate::graph::{EventId, Renaming};
use crate::model::Scratch;

/// What a step of the exploration works with.
pub(super) struct Buffers {
    /// For the memory model.
    pub scratch: Scratch,
    /// The names of events in a copy of a graph.
    pub renaming: Renaming,
    /// What the write that looks for revisits depends on.
    pub porf: Vec<u32>,
    /// What the pending read of a thread may read from.
    pub sources: Vec<EventId>,
    /// A copy of a part of a graph.
    pub parts: Parts,
}

impl Buffers {
    pub fn new() -> Buffers {
        Buffers {
            scratch: Scratch::default(),
            renaming: Renaming::default(),
            porf: Vec::new(),
            sources: Vec::new(),
            parts: Parts::new(),
        }
    }
}
