//! Which graphs are consistent with some coherence order, and with which: what reads-from equivalence asks of a model.
//!
//! [`Orders::saturate`] adds what every witness must have; where that is contradictory, there is none. Then a witness is
//! built greedily: location by location, the earliest write in the last witness comes first if nothing must come before it,
//! with saturation after each decision. That has been enough where it was measured; if not, a complete search decides: it
//! orders one pair of writes one way, then the other.

mod bits;
mod global;
mod orders;
mod partial_sc;

use crate::graph::{EventId, Graph, Loc};
use orders::{Cycle, Orders, WriteId};

pub(super) use global::describe as describe_global;
pub(super) use partial_sc::describe as describe_partial_sc;

/// That a write is to be the last one of its location.
pub(crate) type Last = (Loc, EventId);

/// How often a witness was asked for.
#[derive(Clone, Copy, Debug, Default)]
pub struct Asked {
    /// How often at all.
    pub tests: u64,
    /// How often the greedy attempt failed, though nothing was contradictory.
    pub searches: u64,
}

/// Finds witnesses.
#[derive(Debug, Default)]
pub struct Witness {
    orders: Orders,
    saved: Orders,
    /// The locations that have writes, in the order in which they are numbered.
    locations: Vec<Loc>,
    /// For each location, where its writes begin.
    starts: Vec<u32>,
    /// For each event that writes, its number.
    numbers: Vec<WriteId>,
    pub asked: Asked,
}

impl Witness {
    /// Whether the graph is consistent with some coherence order in which these writes are the last; if so, finds one.
    /// Hereafter, the order can be taken over.
    pub fn find(
        &mut self,
        graph: &Graph,
        lasts: &[Last],
        describe: impl FnOnce(&mut Description<'_>),
    ) -> Option<Found<'_>> {
        self.asked.tests += 1;
        self.number(graph);
        describe(&mut Description { graph, witness: self });
        for &(loc, last) in lasts {
            let last = self.write(last, loc);
            for write in self.writes_of(graph, loc).filter(|&write| write != last) {
                self.orders.order_writes(write, last);
            }
        }
        self.orders.begin();
        self.orders.saturate().ok()?;
        self.saved.clone_from(&self.orders);
        if self.orders.complete_greedily().is_err() {
            self.asked.searches += 1;
            self.orders = search(&self.saved)?;
        }
        Some(Found { witness: self })
    }

    /// Gives the writes numbers: location by location, in the order of the last witness.
    fn number(&mut self, graph: &Graph) {
        self.locations.clear();
        self.starts.clear();
        self.starts.resize(graph.locations().len(), 0);
        self.numbers.clear();
        self.numbers.resize(graph.len(), WriteId::MAX);
        let mut next = 0;
        for (loc, location) in graph.locations().filter(|(_, location)| location.co.len() > 1) {
            self.locations.push(loc);
            self.starts[loc.index()] = next;
            for (place, &write) in location.co.iter().enumerate().skip(1) {
                self.numbers[write.index()] = next + place as u32;
            }
            next += location.co.len() as u32;
        }
    }

    fn write(&self, id: EventId, loc: Loc) -> WriteId {
        if id == EventId::INIT { self.starts[loc.index()] } else { self.numbers[id.index()] }
    }

    fn writes_of(&self, graph: &Graph, loc: Loc) -> std::ops::Range<WriteId> {
        let start = self.starts[loc.index()];
        start..start + graph.location(loc).co.len() as u32
    }
}

/// A witness that was found.
pub struct Found<'a> {
    witness: &'a mut Witness,
}

impl Found<'_> {
    /// Makes it the coherence order of the graph.
    pub fn adopt(self, graph: &mut Graph) {
        let Witness { orders, locations, .. } = self.witness;
        for (number, &loc) in locations.iter().enumerate() {
            let start = orders.writes(number).start;
            let mut order: Vec<(u32, EventId)> = (graph.location(loc).co.iter().zip(start..).skip(1))
                .map(|(&id, write)| (orders.rank(write), id))
                .collect();
            if !order.is_sorted() {
                order.sort_unstable();
                graph.set_order(loc, order.into_iter().map(|(_, id)| id));
            }
        }
    }
}

/// What a model says about a graph.
pub struct Description<'a> {
    pub graph: &'a Graph,
    witness: &'a mut Witness,
}

impl Description<'_> {
    /// Begins with this many nodes: all writes are there, read-modify-writes follow what they read from.
    fn begin(&mut self, nodes: usize) {
        let Witness { orders, locations, numbers, starts, .. } = &mut *self.witness;
        let count: usize = locations.iter().map(|&loc| self.graph.location(loc).co.len()).sum();
        orders.reset(count, nodes);
        for &loc in locations.iter() {
            orders.add_location(self.graph.location(loc).co.len());
        }
        for &loc in locations.iter() {
            for &write in &self.graph.location(loc).co[1..] {
                let event = self.graph.event(write);
                if event.is_read {
                    let initial = event.rf == EventId::INIT;
                    let source = if initial { starts[loc.index()] } else { numbers[event.rf.index()] };
                    orders.set_source(numbers[write.index()], source);
                }
            }
        }
    }

    /// Whether any event writes the location: if not, there is nothing to order.
    fn is_written(&self, loc: Loc) -> bool {
        self.graph.location(loc).co.len() > 1
    }

    /// The write that an access is, or reads from.
    fn anchor(&self, id: EventId) -> WriteId {
        let event = self.graph.event(id);
        let write = if event.is_write { id } else { event.rf };
        self.witness.write(write, event.loc)
    }

    fn orders(&mut self) -> &mut Orders {
        &mut self.witness.orders
    }
}

impl Orders {
    /// Orders all writes, each time taking the earliest one in the last witness that nothing need come before.
    fn complete_greedily(&mut self) -> Result<(), Cycle> {
        for location in 0..self.locations() {
            let writes = self.writes(location);
            let mut left: Vec<WriteId> = writes.collect();
            while left.len() > 1 {
                let is_first =
                    |&write: &WriteId| left.iter().all(|&other| other == write || !self.is_before(other, write));
                let place = left.iter().position(is_first).ok_or(Cycle)?;
                let first = left.remove(place);
                self.put_before(first, &left);
                self.saturate()?;
            }
        }
        Ok(())
    }

    /// Two writes whose order is open.
    fn open_pair(&self) -> Option<(WriteId, WriteId)> {
        let open = |a: WriteId, b: WriteId| !self.is_before(a, b) && !self.is_before(b, a);
        (0..self.locations()).find_map(|location| {
            let writes = self.writes(location);
            writes.clone().find_map(|a| (a + 1..writes.end).find(|&b| open(a, b)).map(|b| (a, b)))
        })
    }
}

/// Orders all writes, if that can be done at all.
fn search(orders: &Orders) -> Option<Orders> {
    let Some((a, b)) = orders.open_pair() else { return Some(orders.clone()) };
    [(a, b), (b, a)].into_iter().find_map(|(first, second)| {
        let mut tried = orders.clone();
        tried.order_writes(first, second);
        tried.saturate().ok()?;
        search(&tried)
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Two locations with two writes each, and nodes such that the order of the last witness at the one leaves no order at
    /// the other: the greedy attempt fails, the search finds the other order.
    fn deceptive() -> Orders {
        let mut orders = Orders::default();
        orders.reset(6, 6);
        orders.add_location(3);
        orders.add_location(3);
        let ([a, b], [c, d]) = ([1, 2], [4, 5]);
        for (node, at) in [(0, a), (2, c), (4, d)] {
            orders.enter(node, at);
        }
        for (node, at) in [(1, b), (3, d), (5, c)] {
            orders.leave(node, at, false);
        }
        for (first, second) in [(1, 2), (3, 0), (1, 4), (5, 0)] {
            orders.order_nodes(first, second);
        }
        orders
    }

    #[test]
    fn where_the_greedy_attempt_fails_the_search_goes_on() {
        let mut orders = deceptive();
        assert_eq!(orders.saturate(), Ok(()));
        assert_eq!(orders.clone().complete_greedily(), Err(Cycle));
        let found = search(&orders).expect("there is a witness");
        assert!(found.is_before(2, 1) && found.open_pair().is_none());
    }

    #[test]
    fn what_has_no_witness_is_not_given_one() {
        let mut orders = deceptive();
        orders.order_writes(1, 2);
        assert_eq!(orders.saturate(), Err(Cycle));
    }

    /// Nothing comes between a read-modify-write and what it reads from.
    #[test]
    fn read_modify_writes_stay_with_their_source() {
        let mut orders = Orders::default();
        orders.reset(4, 0);
        orders.add_location(4);
        orders.set_source(3, 1);
        orders.order_writes(1, 2);
        assert_eq!(orders.saturate(), Ok(()));
        assert!(orders.is_before(3, 2));
        orders.order_writes(2, 3);
        assert_eq!(orders.saturate(), Err(Cycle));
    }
}
