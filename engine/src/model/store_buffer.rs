//! TSO and PSO, with store buffers that may be bounded (Zhang, Kusano, Wang: Dynamic Partial Order Reduction for
//! Relaxed Memory Models, PLDI 2015, §4 and §5).
//!
//! Each location is sequentially consistent by itself, and `ppo ∪ rfe ∪ co ∪ fr` is acyclic. The preserved program
//! order is program order without write→read under TSO, and without write→write to another location too under PSO;
//! fences and read-modify-writes keep it whole. A bound of K is one more clause: a write is ordered before every event
//! that follows its K-th next write (to the same location under PSO), because that one has pushed it out of the full
//! buffer. With K = 0 that is all of program order, and the model is SC.
//!
//! [`Mapping`] says what Rust's orderings mean to the machine; docs/memory-models.md has the table.

use super::ghb::{Counts, Kind, Ppo};
use super::witness::{Description, describe_global};
use super::{Model, Scratch, Site, coherence};
use crate::graph::{Action, Event, EventId, Graph, MemOrder, Then, Thread, Ties};

/// What the orderings of a program mean to the machine.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Mapping {
    /// As a compiler maps Rust's: a SeqCst store is followed by a full fence, and under PSO release stores and fences
    /// order earlier writes before later ones.
    Rust,
    /// The program is the machine's own: only SeqCst fences and read-modify-writes order anything.
    Hardware,
}

/// TSO or PSO.
#[derive(Clone, Copy, Debug)]
pub struct StoreBuffer {
    /// One buffer for each location (PSO) or one for all (TSO).
    pub per_location: bool,
    /// At most this many delayed stores per buffer.
    pub bound: Option<usize>,
    /// What orderings mean.
    pub mapping: Mapping,
}

impl StoreBuffer {
    /// Total store order.
    pub fn tso(bound: Option<usize>, mapping: Mapping) -> StoreBuffer {
        StoreBuffer { per_location: false, bound, mapping }
    }

    /// Partial store order.
    pub fn pso(bound: Option<usize>, mapping: Mapping) -> StoreBuffer {
        StoreBuffer { per_location: true, bound, mapping }
    }

    fn store_kind(&self, order: MemOrder) -> Kind {
        match self.mapping {
            Mapping::Rust if order.is_sc() => Kind::FencedWrite,
            Mapping::Rust if order.is_release() => Kind::ReleaseWrite,
            _ => Kind::Write,
        }
    }

    fn fence_kind(&self, order: MemOrder) -> Kind {
        match self.mapping {
            _ if order.is_sc() => Kind::Full,
            Mapping::Rust if order.is_release() => Kind::WriteFence,
            _ => Kind::Nothing,
        }
    }
}

/// A walk back along a thread from an event, which finds what is ordered before it.
struct Walk<'a> {
    /// What the event is, as far as writes before it go: whether all, or none of them, are ordered before it.
    all_writes: bool,
    /// Whether the event writes, so that a write fence orders the writes before that.
    is_write: bool,
    /// Whether a read was found: it covers the reads before it.
    read_found: bool,
    counts: &'a mut Counts,
}

impl Ppo for StoreBuffer {
    const INTERNAL_RF: bool = false;

    fn kind(&self, action: &Action) -> Kind {
        match *action {
            Action::Load { .. } => Kind::Read,
            Action::Store { order, .. } => self.store_kind(order),
            Action::Rmw { .. } | Action::Cas { .. } | Action::Try { .. } | Action::Pick { .. } => Kind::Full,
            // It takes what is still to be had, of which there is but one: no earlier one can be seen.
            Action::Await { then: Then::Replace { .. }, .. } => Kind::Read,
            Action::Reach { .. } => Kind::Read,
            Action::Await { .. } | Action::Leave { .. } => Kind::Full,
            Action::Fence { order } => self.fence_kind(order),
            Action::Spawn | Action::Join(_) | Action::Gather | Action::Model(_) => Kind::Full,
            Action::Choose(_) | Action::End | Action::Block | Action::Spin { .. } | Action::Exit | Action::Fail => {
                Kind::Nothing
            }
        }
    }

    fn kind_of(&self, event: &Event) -> Kind {
        match event.action {
            Action::Await { then: Then::Replace { .. }, .. } if event.is_write => Kind::Full,
            action if fails_by_loading(&action, event.is_write) => Kind::Read,
            _ => self.kind(&event.action),
        }
    }

    fn before(&self, graph: &Graph, kind: Kind, last: EventId, counts: &mut Counts, mut found: impl FnMut(EventId)) {
        let writes = matches!(kind, Kind::Write | Kind::ReleaseWrite | Kind::FencedWrite);
        let mut walk = Walk {
            all_writes: kind == Kind::Full || (writes && (!self.per_location || kind != Kind::Write)),
            is_write: writes,
            read_found: false,
            counts,
        };
        let mut id = last;
        while id.is_some() {
            if self.step(graph, id, &mut walk, &mut found) {
                return;
            }
            id = graph.event(id).po_prev;
        }
    }
}

/// Whether an attempt that does not write is but a load: it looks before it tries, unless it is sequentially consistent.
fn fails_by_loading(action: &Action, writes: bool) -> bool {
    matches!(action, Action::Try { then, failure, .. } if *then != Then::Read && !failure.is_sc() && !writes)
}

impl StoreBuffer {
    /// One step of the walk; says whether what was found covers all that is left.
    fn step(&self, graph: &Graph, id: EventId, walk: &mut Walk<'_>, found: &mut impl FnMut(EventId)) -> bool {
        let event = graph.event(id);
        match self.kind_of(event) {
            Kind::Full | Kind::FencedWrite => {
                found(id);
                return true;
            }
            Kind::Read => {
                if !walk.read_found {
                    walk.read_found = true;
                    found(id);
                }
                return !walk.all_writes && self.bound.is_none() && !(self.per_location && walk.is_write);
            }
            Kind::WriteFence => walk.all_writes |= walk.is_write,
            Kind::Nothing => {}
            Kind::Write | Kind::ReleaseWrite => {
                if walk.all_writes || self.is_pushed_out(event.loc, walk) {
                    found(id);
                    return !self.per_location;
                }
            }
        }
        false
    }

    /// Whether the bound has made the write leave its buffer; counts it as met.
    fn is_pushed_out(&self, loc: crate::graph::Loc, walk: &mut Walk<'_>) -> bool {
        let Some(bound) = self.bound else { return false };
        let buffer = if self.per_location { loc } else { crate::graph::Loc::new(0) };
        let entry = walk.counts.iter().position(|&(l, _)| l == buffer).unwrap_or_else(|| {
            walk.counts.push((buffer, 0));
            walk.counts.len() - 1
        });
        let newer = &mut walk.counts[entry].1;
        *newer += 1;
        *newer > bound
    }
}

impl Model for StoreBuffer {
    fn floor(&self, graph: &Graph, site: &Site, scratch: &mut Scratch) -> usize {
        if graph.location(site.loc).co.len() == 1 {
            return 0;
        }
        let own = coherence::floor_of_thread(graph, site);
        let Thread { spawn, .. } = *graph.thread(site.thread);
        let kind = match fails_by_loading(&site.action, site.updates) {
            true => Kind::Read,
            false => self.kind(&site.action),
        };
        own.max(scratch.reach.floor(self, graph, kind, site.po_prev, spawn, site.loc))
    }

    fn ties(&self) -> Ties {
        match self.mapping {
            Mapping::Rust => Ties::HappensBefore,
            // Orderings mean nothing to the machine, so that happens-before does not either.
            Mapping::Hardware => Ties::ProgramOrder,
        }
    }

    fn describe(&self, description: &mut Description<'_>) {
        describe_global(self, description);
    }
}
