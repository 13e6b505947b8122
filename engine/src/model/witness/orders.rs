//! Two orders that constrain each other: the coherence order of each location, and an order of events that a model wants
//! to be acyclic (`ghb` of SC, TSO and PSO; `psc` of RC11).
//!
//! Some of the events, the *nodes*, enter a location at a write and leave it at another: an access enters where it writes
//! or reads, and a write leaves at itself, because of `co ∪ fr`; an SC fence enters wherever something is accessed that
//! happens after it. If `p` enters at `a`, `q` leaves at `b`, and `a` is coherence-before `b`, then `p` is before `q`; so if
//! `q` is before `p`, then `b` is coherence-before `a`. Both orders are kept transitive, and whatever follows from a new
//! pair is added at once: *saturation*. Where all writes of each location are ordered, and neither order has a cycle, the
//! graph is consistent with that coherence order.

use super::bits::{Bits, for_each};

/// A write, the initialising write of a location included.
pub(super) type WriteId = u32;
/// An event of the other order.
pub(super) type NodeId = u32;

/// There is a cycle.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Cycle;

/// Where a node leaves a location.
#[derive(Clone, Copy, Debug)]
struct Exit {
    at: u32,
    /// Only for those that enter from a fence.
    from_fences: bool,
}

/// Lists of small things, by number.
#[derive(Clone, Debug)]
struct Lists<T> {
    lists: Vec<Vec<T>>,
}

impl<T> Default for Lists<T> {
    fn default() -> Lists<T> {
        Lists { lists: Vec::new() }
    }
}

impl<T> Lists<T> {
    fn reset(&mut self, size: usize) {
        if self.lists.len() < size {
            self.lists.resize_with(size, Vec::new);
        }
        self.lists[..size].iter_mut().for_each(Vec::clear);
    }
}

/// The two orders, as far as they are known.
#[derive(Clone, Debug, Default)]
pub(super) struct Orders {
    /// `a` is coherence-before `b`.
    before: Bits,
    /// `b` is coherence-before `a`.
    after: Bits,
    /// Where the writes of each location begin; they come in the order of the last witness.
    starts: Vec<u32>,
    /// For each write, its location's number.
    location: Vec<u32>,
    /// For each read-modify-write, what it reads from; for others themselves.
    source: Vec<WriteId>,
    /// For each write, the read-modify-write that reads from it; themselves where there is none.
    update: Vec<WriteId>,
    /// `b` is before `a`, for nodes.
    nodes: Bits,
    node_count: usize,
    is_fence: Vec<bool>,
    /// Where nodes enter, and who enters at a write.
    enters: Lists<WriteId>,
    entered_by: Lists<NodeId>,
    /// Where nodes leave, and who leaves from a write.
    leaves: Lists<Exit>,
    left_by: Lists<Exit>,
    /// What is to be added.
    writes_todo: Vec<(WriteId, WriteId)>,
    nodes_todo: Vec<(NodeId, NodeId)>,
    row: Vec<u64>,
}

impl Orders {
    /// Begins anew, with this many writes and nodes and nothing known about them.
    pub fn reset(&mut self, writes: usize, nodes: usize) {
        self.before.reset(writes);
        self.after.reset(writes);
        self.starts.clear();
        self.location.clear();
        self.source.clear();
        self.source.extend(0..writes as u32);
        self.update.clear();
        self.update.extend(0..writes as u32);
        self.nodes.reset(nodes);
        self.node_count = nodes;
        self.is_fence.clear();
        self.is_fence.resize(nodes, false);
        self.enters.reset(nodes);
        self.entered_by.reset(writes);
        self.leaves.reset(nodes);
        self.left_by.reset(writes);
        self.writes_todo.clear();
        self.nodes_todo.clear();
    }

    /// The next writes belong to another location, the first of them being the initialising one.
    pub fn add_location(&mut self, writes: usize) {
        let start = self.location.len();
        let number = self.starts.len() as u32;
        self.starts.push(start as u32);
        self.location.resize(start + writes, number);
        for write in start + 1..start + writes {
            self.writes_todo.push((start as u32, write as u32));
        }
    }

    /// A write is a read-modify-write that reads from another.
    pub fn set_source(&mut self, update: WriteId, source: WriteId) {
        self.source[update as usize] = source;
        self.update[source as usize] = update;
        self.writes_todo.push((source, update));
    }

    /// A node enters its locations from a fence.
    pub fn set_fence(&mut self, node: NodeId) {
        self.is_fence[node as usize] = true;
    }

    /// A node enters a location at a write.
    pub fn enter(&mut self, node: NodeId, at: WriteId) {
        if !self.enters.lists[node as usize].contains(&at) {
            self.enters.lists[node as usize].push(at);
            self.entered_by.lists[at as usize].push(node);
        }
    }

    /// A node leaves a location at a write; perhaps only if it was entered from a fence.
    pub fn leave(&mut self, node: NodeId, at: WriteId, from_fences: bool) {
        self.leaves.lists[node as usize].push(Exit { at, from_fences });
        self.left_by.lists[at as usize].push(Exit { at: node, from_fences });
    }

    /// A write is coherence-before another of the same location.
    pub fn order_writes(&mut self, a: WriteId, b: WriteId) {
        self.writes_todo.push((a, b));
    }

    /// A node is before another.
    pub fn order_nodes(&mut self, a: NodeId, b: NodeId) {
        self.nodes_todo.push((a, b));
    }

    /// A node comes right after another, whose own order is complete: nothing comes after it yet.
    pub fn append_node(&mut self, node: NodeId, before: NodeId) {
        self.nodes.join(node as usize, before as usize);
        self.nodes.set(node as usize, before as usize);
    }

    /// Takes what follows from the order of nodes into account, where that was given by [`Orders::append_node`].
    pub fn begin(&mut self) {
        for node in 0..self.node_count as u32 {
            if !self.enters.lists[node as usize].is_empty() {
                let mut row = std::mem::take(&mut self.row);
                row.clear();
                row.extend_from_slice(self.nodes.row(node as usize));
                for_each(&row, |before| self.follow_nodes(before as u32, node));
                self.row = row;
            }
        }
    }

    /// How many locations there are.
    pub fn locations(&self) -> usize {
        self.starts.len()
    }

    /// The writes of a location.
    pub fn writes(&self, location: usize) -> std::ops::Range<u32> {
        let end = self.starts.get(location + 1).copied().unwrap_or(self.location.len() as u32);
        self.starts[location]..end
    }

    /// Whether a write is coherence-before another.
    #[inline]
    pub fn is_before(&self, a: WriteId, b: WriteId) -> bool {
        self.before.get(a as usize, b as usize)
    }

    /// How many writes are known to be before this one.
    pub fn rank(&self, write: WriteId) -> u32 {
        self.after.row(write as usize).iter().map(|bits| bits.count_ones()).sum()
    }

    /// Adds all that is to be added, and what follows from it.
    pub fn saturate(&mut self) -> Result<(), Cycle> {
        loop {
            if let Some((a, b)) = self.writes_todo.pop() {
                self.add_writes(a, b)?;
            } else if let Some((a, b)) = self.nodes_todo.pop() {
                self.add_nodes(a, b)?;
            } else {
                return Ok(());
            }
        }
    }

    fn add_writes(&mut self, a: WriteId, b: WriteId) -> Result<(), Cycle> {
        if self.is_before(a, b) {
            return Ok(());
        }
        if a == b || self.is_before(b, a) {
            return Err(Cycle);
        }
        let mut row = std::mem::take(&mut self.row);
        row.clear();
        row.extend_from_slice(self.before.row(b as usize));
        row[b as usize / 64] |= 1 << (b % 64);
        for first in self.writes(self.location[a as usize] as usize) {
            if first == a || self.is_before(first, a) {
                self.add_after(first, &row);
            }
        }
        self.row = row;
        Ok(())
    }

    /// Puts a write before all of these, of which none is known to be before it; whatever is before it is before them.
    pub fn put_before(&mut self, first: WriteId, others: &[WriteId]) {
        let mut row = std::mem::take(&mut self.row);
        row.clear();
        row.resize(self.before.row(first as usize).len(), 0);
        others.iter().for_each(|&other| row[other as usize / 64] |= 1 << (other % 64));
        self.add_after(first, &row);
        self.row = row;
    }

    /// A write is coherence-before all of these.
    fn add_after(&mut self, first: WriteId, row: &[u64]) {
        let Orders { before, after, entered_by, left_by, is_fence, nodes_todo, writes_todo, update, source, .. } = self;
        before.add(first as usize, row, |second| {
            after.set(second, first as usize);
            for &node in &entered_by.lists[first as usize] {
                let fence = is_fence[node as usize];
                let exits = left_by.lists[second].iter().filter(|exit| fence || !exit.from_fences);
                nodes_todo.extend(exits.map(|exit| (node, exit.at)));
            }
            let second = second as u32;
            let (next, before) = (update[first as usize], source[second as usize]);
            if next != first && next != second {
                writes_todo.push((next, second));
            }
            if before != second && before != first {
                writes_todo.push((first, before));
            }
        });
    }

    fn add_nodes(&mut self, a: NodeId, b: NodeId) -> Result<(), Cycle> {
        if self.nodes.get(b as usize, a as usize) {
            return Ok(());
        }
        if a == b || self.nodes.get(a as usize, b as usize) {
            return Err(Cycle);
        }
        let mut row = std::mem::take(&mut self.row);
        row.clear();
        row.extend_from_slice(self.nodes.row(a as usize));
        row[a as usize / 64] |= 1 << (a % 64);
        for last in 0..self.node_count as u32 {
            if last == b || self.nodes.get(last as usize, b as usize) {
                self.add_before(last, &row);
            }
        }
        self.row = row;
        Ok(())
    }

    /// All of these are before a node.
    fn add_before(&mut self, last: NodeId, row: &[u64]) {
        let mut nodes = std::mem::take(&mut self.nodes);
        if self.enters.lists[last as usize].is_empty() {
            nodes.add(last as usize, row, |_| {});
        } else {
            nodes.add(last as usize, row, |first| self.follow_nodes(first as u32, last));
        }
        self.nodes = nodes;
    }

    /// What follows from a node being before another: where it leaves is before where the other enters.
    fn follow_nodes(&mut self, first: NodeId, last: NodeId) {
        let Orders { enters, leaves, location, is_fence, writes_todo, .. } = self;
        let fence = is_fence[last as usize];
        for exit in leaves.lists[first as usize].iter().filter(|exit| fence || !exit.from_fences) {
            for &entry in &enters.lists[last as usize] {
                if entry != exit.at && location[entry as usize] == location[exit.at as usize] {
                    writes_todo.push((exit.at, entry));
                }
            }
        }
    }
}
