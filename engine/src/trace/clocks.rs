//! Happens-before as it would be if orderings were stronger.

use crate::graph::{Action, EventId, Graph, MemOrder, ThreadId};

/// Some events with other orderings than they have.
pub type Changes<'a> = &'a [(EventId, MemOrder)];

/// For each event, how many events of each thread happen before what follows it.
pub struct Clocks<'g> {
    graph: &'g Graph,
    hb: Vec<Vec<u32>>,
}

impl<'g> Clocks<'g> {
    /// The clocks of an execution in which the orderings of some events are changed.
    pub fn with(graph: &'g Graph, changes: Changes<'_>) -> Clocks<'g> {
        let threads = graph.thread_count();
        let count = graph.events().last().map_or(1, |(id, _)| id.index() + 1);
        let mut clocks = Clocks { graph, hb: vec![vec![0; threads]; count] };
        let mut rel = vec![vec![0; threads]; count];
        for (id, _) in graph.events() {
            clocks.add(id, changes, &mut rel);
        }
        clocks
    }

    fn add(&mut self, id: EventId, changes: Changes<'_>, rel: &mut [Vec<u32>]) {
        let event = self.graph.event(id);
        let order = |id: EventId| {
            let changed = changes.iter().find(|(changed, _)| *changed == id).map(|(_, order)| *order);
            changed.unwrap_or_else(|| self.graph.event(id).order)
        };
        let mut hb = self.before(id);
        hb[event.thread.index()] = event.index + 1;
        if event.is_read && event.rf != EventId::INIT && order(id).is_acquire() {
            join(&mut hb, &rel[event.rf.index()]);
        }
        match event.action {
            Action::Fence { .. } if order(id).is_acquire() => {
                let mut before = event.po_prev;
                while before.is_some() {
                    let earlier = self.graph.event(before);
                    if earlier.is_read && earlier.order.is_atomic() && earlier.rf != EventId::INIT {
                        join(&mut hb, &rel[earlier.rf.index()]);
                    }
                    before = earlier.po_prev;
                }
            }
            Action::Join(target) => {
                join(&mut hb, &self.hb[self.graph.thread(target).tip().index()]);
                hb[target.index()] = self.graph.thread(target).len + 1;
            }
            Action::Reach { .. } => {
                for left in self.graph.leaves(id).filter(|left| *left < id) {
                    join(&mut hb, &self.hb[left.index()]);
                }
            }
            _ => {}
        }
        if event.is_write {
            rel[id.index()] = self.released(id, &order, &hb);
            if event.is_read && event.rf != EventId::INIT {
                let (head, tail) = rel.split_at_mut(id.index());
                join(&mut tail[0], &head[event.rf.index()]);
            }
        }
        self.hb[id.index()] = hb;
    }

    /// What readers of a write synchronize with.
    fn released(&self, id: EventId, order: &impl Fn(EventId) -> MemOrder, hb: &[u32]) -> Vec<u32> {
        if order(id).is_release() {
            return hb.to_vec();
        }
        let mut before = self.graph.event(id).po_prev;
        while before.is_some() {
            let earlier = self.graph.event(before);
            if earlier.is_fence() && order(before).is_release() {
                return self.hb[before.index()].clone();
            }
            before = earlier.po_prev;
        }
        vec![0; hb.len()]
    }

    /// The clock of what is before an event in its thread.
    fn before(&self, id: EventId) -> Vec<u32> {
        let event = self.graph.event(id);
        match event.po_prev.is_some() {
            true => self.hb[event.po_prev.index()].clone(),
            false => self.hb[self.graph.thread(event.thread).spawn.index()].clone(),
        }
    }

    /// Whether what a thread did when it had so many events happens before what another one does now.
    pub fn is_before_end(&self, (thread, events): (ThreadId, u32), other: ThreadId) -> bool {
        self.hb[self.graph.thread(other).tip().index()][thread.index()] > events
    }
}

fn join(clock: &mut [u32], other: &[u32]) {
    for (mine, theirs) in clock.iter_mut().zip(other) {
        *mine = (*mine).max(*theirs);
    }
}
