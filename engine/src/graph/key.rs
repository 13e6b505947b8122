//! What makes two graphs the same up to insertion order (`≈` in the paper): events, reads-from and coherence.

use super::Graph;
use super::action::Action;
use super::ids::{EventId, Loc, Value};

/// An event by thread and place in program order; nothing for the initialising one.
pub type Name = Option<(u32, u32)>;

/// A graph without its insertion order. Two graphs are `≈` just if their keys are equal.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct GraphKey {
    /// For each thread and each of its events: the action, its answer, and what it reads from.
    pub threads: Vec<Vec<(Action, Value, Name)>>,
    /// For each location that has writes, its coherence order without the initialising write.
    pub co: Vec<(Loc, Vec<Name>)>,
}

impl Graph {
    /// An event by thread and place in program order.
    pub fn name(&self, id: EventId) -> Name {
        (id.is_some() && id != EventId::INIT).then(|| {
            let event = self.event(id);
            (event.thread.index() as u32, event.index)
        })
    }

    /// The graph without its insertion order.
    pub fn key(&self) -> GraphKey {
        let mut threads = vec![Vec::new(); self.thread_count()];
        for (_, event) in self.events() {
            threads[event.thread.index()].push((event.action, event.answer, self.name(event.rf)));
        }
        let names = |co: &[EventId]| co[1..].iter().map(|&w| self.name(w)).collect();
        let co = self.locations().filter(|(_, l)| l.co.len() > 1).map(|(loc, l)| (loc, names(&l.co))).collect();
        GraphKey { threads, co }
    }
}
