//! Memory models: which execution graphs are consistent.
//!
//! All models share that porf is acyclic (events only ever read from events already there), coherence, and the atomicity
//! of read-modify-writes; the explorer sees to the first and the last. What a model adds is asked incrementally, about
//! one event that is to be added at the end of its thread:
//!
//! - [`Model::floor`]: the coherence-latest write of the location that the event must not ignore. A read may read from
//!   it and from everything after it in coherence order; a write goes somewhere after it. This is exact for coherence,
//!   SC, TSO and PSO, because an event that has just been added has edges out only along coherence: a cycle must leave
//!   through a coherence-later write and come back through what is ordered before the event.
//! - [`Model::admits`]: whether the event, now that it is there, closes a cycle that the floor does not know of. Only
//!   RC11's psc needs this, and only for events that were not added maximally.
//!
//! Adding an event maximally (reading from, or going to, the coherence-last place) is always consistent, and removing
//! events from the end of a graph keeps it so: the two properties that TruSt asks of a model (§3.1).

mod coherence;
mod ghb;
mod psc;
mod race;
mod rc11;
mod sc;
mod store_buffer;

pub use race::{Race, find_race};
pub use rc11::Rc11;
pub use sc::Sc;
pub use store_buffer::{Mapping, StoreBuffer};

use crate::graph::{Action, EventId, Graph, Loc, ThreadId};
use serde::{Deserialize, Serialize};
use std::fmt;
use std::str::FromStr;

/// The memory models by name.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum MemoryModel {
    Rc11,
    Sc,
    Tso,
    Pso,
}

impl MemoryModel {
    /// Every model, the default first.
    pub const ALL: [MemoryModel; 4] = [MemoryModel::Rc11, MemoryModel::Sc, MemoryModel::Tso, MemoryModel::Pso];

    /// The name users see.
    pub fn name(self) -> &'static str {
        match self {
            MemoryModel::Rc11 => "rc11",
            MemoryModel::Sc => "sc",
            MemoryModel::Tso => "tso",
            MemoryModel::Pso => "pso",
        }
    }
}

impl fmt::Display for MemoryModel {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

/// The text names no memory model.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("unknown memory model `{0}`: expected one of rc11, sc, tso, pso")]
pub struct UnknownModel(pub String);

impl FromStr for MemoryModel {
    type Err = UnknownModel;

    fn from_str(text: &str) -> Result<MemoryModel, UnknownModel> {
        let known = MemoryModel::ALL.into_iter().find(|model| model.name() == text);
        known.ok_or_else(|| UnknownModel(text.to_owned()))
    }
}

/// Where an access is about to be added, or was.
#[derive(Clone, Copy, Debug)]
pub struct Site {
    /// The thread.
    pub thread: ThreadId,
    /// The event before it in program order.
    pub po_prev: EventId,
    /// The same, or the event that spawned the thread if there is none.
    pub tip: EventId,
    /// The action.
    pub action: Action,
    /// The location it accesses.
    pub loc: Loc,
}

impl Site {
    /// Where the pending action of a thread will be.
    pub fn pending(graph: &Graph, thread: ThreadId, loc: Loc) -> Site {
        let slot = graph.thread(thread);
        Site { thread, po_prev: slot.last, tip: slot.tip(), action: slot.pending, loc }
    }

    /// Where an access is.
    pub fn of(graph: &Graph, id: EventId) -> Site {
        let event = graph.event(id);
        let spawn = graph.thread(event.thread).spawn;
        let tip = if event.po_prev.is_some() { event.po_prev } else { spawn };
        Site { thread: event.thread, po_prev: event.po_prev, tip, action: event.action, loc: event.loc }
    }
}

/// Buffers that the checks work in, so that they allocate nothing.
#[derive(Debug, Default)]
pub struct Scratch {
    pub(crate) reach: ghb::Reach,
    pub(crate) psc: psc::PscScratch,
}

/// A memory model.
pub trait Model: Clone + Send + Sync {
    /// The coherence position of the latest write that an access at this site must not ignore.
    fn floor(&self, graph: &Graph, site: &Site, scratch: &mut Scratch) -> usize;

    /// Whether [`Model::admits`] can say no about an action of this thread, were it not added maximally.
    fn must_ask(&self, graph: &Graph, thread: ThreadId) -> bool {
        let _ = (graph, thread);
        false
    }

    /// Whether the graph, consistent without `event`, is so with it. The event has no program-order successor.
    fn admits(&self, graph: &Graph, event: EventId, scratch: &mut Scratch) -> bool {
        let _ = (graph, event, scratch);
        true
    }

    /// Whether the graph, in which a write was just read by an earlier read, is consistent as far as the floors of
    /// both do not tell.
    fn admits_revisit(&self, graph: &Graph, scratch: &mut Scratch) -> bool {
        let _ = (graph, scratch);
        true
    }
}
