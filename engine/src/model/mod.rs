//! Memory models: which execution graphs are consistent.
//!
//! All models share that porf is acyclic (events only ever read from events already there), coherence, and the atomicity
//! of read-modify-writes; the explorer sees to the first and the last. What a model adds is asked incrementally, about
//! one access that is to be added at the end of its thread: [`Model::floor`] is the coherence-latest write of the location
//! that the access must not ignore. A read may read from that and from everything after it in coherence order; a write
//! goes somewhere after it.
//!
//! This is exact, for every model here, because an event that has just been added has edges out only along coherence: a
//! cycle must leave through a coherence-later access, and come back through something that is ordered before the event
//! whatever it reads from. It is exact too for a write `w` and a read `r` that is made to read from it: both floors,
//! taken without the two, must be below the place of `w`.
//!
//! Adding an event maximally (reading from, or going to, the coherence-last place) is always consistent, and removing
//! events from the end of a graph keeps it so: the two properties that TruSt asks of a model (§3.1).

mod coherence;
mod ghb;
mod psc;
mod psc_reach;
mod race;
mod rc11;
mod sc;
mod store_buffer;
mod witness;

pub use race::{Race, find_race};
pub use rc11::Rc11;
pub use sc::Sc;
pub use store_buffer::{Mapping, StoreBuffer};

pub(crate) use coherence::floor as coherence_floor;
pub(crate) use witness::Last;

use crate::graph::{Action, EventId, Graph, Loc, MemOrder, ThreadId, Ties};
use serde::{Deserialize, Serialize};
use std::fmt;
use std::str::FromStr;
use witness::{Description, Witness};

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

    /// Whether stores go through buffers, which can be bounded.
    pub fn has_buffers(self) -> bool {
        matches!(self, MemoryModel::Tso | MemoryModel::Pso)
    }
}

impl Default for MemoryModel {
    fn default() -> MemoryModel {
        MemoryModel::ALL[0]
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
    /// The ordering it has there.
    pub order: MemOrder,
    /// Whether a read-modify-write does write.
    pub updates: bool,
}

impl Site {
    /// Where the pending access of a thread will be; `updates` says whether a read-modify-write does write.
    pub fn pending(graph: &Graph, thread: ThreadId, loc: Loc, updates: bool) -> Site {
        let slot = graph.thread(thread);
        let (action, order) = (slot.pending, slot.pending.order(updates));
        Site { thread, po_prev: slot.last, tip: slot.tip(), action, loc, order, updates }
    }

    /// Where an access is; `updates` says whether a read-modify-write is to write.
    pub fn of(graph: &Graph, id: EventId, updates: bool) -> Site {
        let event = graph.event(id);
        let spawn = graph.thread(event.thread).spawn;
        let tip = if event.po_prev.is_some() { event.po_prev } else { spawn };
        let (action, order) = (event.action, event.action.order(updates));
        Site { thread: event.thread, po_prev: event.po_prev, tip, action, loc: event.loc, order, updates }
    }
}

/// Buffers that the checks work in, so that they allocate nothing.
#[derive(Debug, Default)]
pub struct Scratch {
    pub(crate) reach: ghb::Reach,
    pub(crate) psc: psc::PscScratch,
    pub(crate) psc_reach: psc_reach::PscReach,
    pub(crate) witness: Witness,
}

/// A memory model.
pub trait Model: Clone + Send + Sync {
    /// The coherence position of the latest write that an access at this site must not ignore.
    fn floor(&self, graph: &Graph, site: &Site, scratch: &mut Scratch) -> usize;

    /// Whether the floor of an access at this site depends on the coherence order of its own location only.
    fn is_local(&self, graph: &Graph, site: &Site) -> bool {
        let _ = (graph, site);
        false
    }

    /// Whether the order of blind updates takes part in whether graphs are consistent, even if there are no fences.
    fn orders_updates(&self) -> bool {
        true
    }

    /// Whether it is known what the model makes of this graph, though blind updates have no order.
    fn admits_blind(&self, graph: &Graph) -> bool {
        let _ = graph;
        true
    }

    /// What can be known of the order of writes without a search.
    fn ties(&self) -> Ties;

    /// Says what is known of the coherence order of a graph, and what must not have cycles.
    fn describe(&self, description: &mut Description<'_>);
}
