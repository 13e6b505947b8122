//! Happens-before as it would be if orderings were stronger.

use crate::graph::{Action, Event, EventId, Graph, MemOrder, ThreadId};

/// Some events with other orderings than they have.
pub type Changes<'a> = &'a [(EventId, MemOrder)];

/// How many events of each thread happen before something.
type Clock = Vec<u32>;

/// For each event, what happens before what follows it.
pub struct Clocks<'g> {
    graph: &'g Graph,
    hb: Vec<Clock>,
}

/// What is known of the events so far.
struct Pass<'c> {
    changes: Changes<'c>,
    /// For each write, what its readers synchronize with.
    released: Vec<Clock>,
    /// For each thread, the clock of its latest release fence.
    fences: Vec<Clock>,
    /// For each thread, what an acquire fence would acquire.
    readable: Vec<Clock>,
}

impl<'g> Clocks<'g> {
    /// The clocks of an execution in which the orderings of some events are changed.
    pub fn with(graph: &'g Graph, changes: Changes<'_>) -> Clocks<'g> {
        let threads = graph.thread_count();
        let count = graph.events().last().map_or(1, |(id, _)| id.index() + 1);
        let none = |count: usize| vec![vec![0; threads]; count];
        let mut clocks = Clocks { graph, hb: none(count) };
        let mut pass = Pass { changes, released: none(count), fences: none(threads), readable: none(threads) };
        for (id, event) in graph.events() {
            clocks.add(id, event, &mut pass);
        }
        clocks
    }

    fn add(&mut self, id: EventId, event: &Event, pass: &mut Pass) {
        let (thread, order) = (event.thread.index(), pass.order(id, event));
        let mut hb = self.before(event);
        hb[thread] = event.index + 1;
        if event.is_read && event.rf != EventId::INIT {
            let source = &pass.released[event.rf.index()];
            if order.is_acquire() {
                join(&mut hb, source);
            }
            if order.is_atomic() {
                join(&mut pass.readable[thread], source);
            }
        }
        match event.action {
            Action::Fence { .. } => {
                if order.is_acquire() {
                    join(&mut hb, &pass.readable[thread]);
                }
                if order.is_release() {
                    pass.fences[thread].clone_from(&hb);
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
            pass.release(id, event, order, &hb);
        }
        self.hb[id.index()] = hb;
    }

    /// The clock of what is before an event in its thread.
    fn before(&self, event: &Event) -> Clock {
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

impl Pass<'_> {
    fn order(&self, id: EventId, event: &Event) -> MemOrder {
        self.changes.iter().find(|(changed, _)| *changed == id).map_or(event.order, |(_, order)| *order)
    }

    /// Notes what readers of a write synchronize with.
    fn release(&mut self, id: EventId, event: &Event, order: MemOrder, hb: &[u32]) {
        let mut clock = if order.is_release() { hb.to_vec() } else { self.fences[event.thread.index()].clone() };
        if event.is_read && event.rf != EventId::INIT {
            join(&mut clock, &self.released[event.rf.index()]);
        }
        self.released[id.index()] = clock;
    }
}

fn join(clock: &mut [u32], other: &[u32]) {
    for (mine, theirs) in clock.iter_mut().zip(other) {
        *mine = (*mine).max(*theirs);
    }
}
