//! Whether an execution is one in which the threads simply take turns, and if not, why not.

use std::collections::{BTreeSet, HashMap, VecDeque};

use crate::graph::{Action, EventId, Graph};

/// Executions with more events than this are not looked at: they would not be understood anyway.
const MAX_EVENTS: usize = 3000;

/// Why one event comes before another wherever threads take turns.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Because {
    /// They are of the same thread, or one spawns or joins the thread of the other.
    Program,
    ReadsFrom,
    Coherence,
    /// The first reads something that the second overwrites.
    FromRead,
}

/// An event that comes before the next one.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Link {
    pub event: EventId,
    pub because: Because,
}

/// What an execution is.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Interleaving {
    /// Threads take turns.
    Yes,
    /// They do not: each of these events would have to come before the next one, and the last before the first.
    No(Vec<Link>),
    /// It is too long to tell.
    Unknown,
}

/// Looks whether the threads take turns in an execution.
pub fn interleaving(graph: &Graph) -> Interleaving {
    if graph.events().count() > MAX_EVENTS {
        return Interleaving::Unknown;
    }
    let edges = Edges::of(graph);
    let from_reads = edges.after.iter().flat_map(|(from, links)| {
        links.iter().filter(|(_, because)| *because == Because::FromRead).map(|(to, _)| (*from, *to))
    });
    let mut pairs: Vec<(EventId, EventId)> = from_reads.collect();
    pairs.sort();
    let cycles = pairs.into_iter().filter_map(|(read, write)| edges.path(write, read));
    match cycles.min_by_key(Vec::len) {
        Some(cycle) => Interleaving::No(cycle),
        None => Interleaving::Yes,
    }
}

/// The events in an order in which the threads take turns, if there is one; as close to their own as can be.
pub fn order(graph: &Graph) -> Option<Vec<EventId>> {
    let count = graph.events().count();
    if count > MAX_EVENTS {
        return None;
    }
    let edges = Edges::of(graph);
    let mut missing: HashMap<EventId, usize> = graph.events().map(|(id, _)| (id, 0)).collect();
    for (next, _) in edges.after.values().flatten() {
        *missing.entry(*next).or_default() += 1;
    }
    let ready = missing.iter().filter(|(_, before)| **before == 0).map(|(id, _)| *id);
    let mut ready: BTreeSet<EventId> = ready.collect();
    let mut order = Vec::with_capacity(count);
    while let Some(event) = ready.pop_first() {
        order.push(event);
        for (next, _) in edges.after.get(&event).into_iter().flatten() {
            let before = missing.entry(*next).or_default();
            *before -= 1;
            if *before == 0 {
                ready.insert(*next);
            }
        }
    }
    (order.len() == count).then_some(order)
}

/// What comes after an event, and why.
struct Edges {
    after: HashMap<EventId, Vec<(EventId, Because)>>,
}

impl Edges {
    fn of(graph: &Graph) -> Edges {
        let mut edges = Edges { after: HashMap::new() };
        for (id, event) in graph.events() {
            let before = if event.po_prev.is_some() { event.po_prev } else { graph.thread(event.thread).spawn };
            edges.add(before, id, Because::Program);
            if let Action::Join(target) = event.action {
                edges.add(graph.thread(target).tip(), id, Because::Program);
            }
            if event.is_read {
                edges.add(event.rf, id, Because::ReadsFrom);
                let co = &graph.location(event.loc).co;
                let overwrites = co.iter().position(|write| *write == event.rf).and_then(|at| co.get(at + 1));
                overwrites.into_iter().for_each(|write| edges.add(id, *write, Because::FromRead));
            }
        }
        for (_, location) in graph.locations() {
            location.co.windows(2).for_each(|pair| edges.add(pair[0], pair[1], Because::Coherence));
        }
        edges
    }

    fn add(&mut self, from: EventId, to: EventId, because: Because) {
        if from != to && from != EventId::INIT {
            self.after.entry(from).or_default().push((to, because));
        }
    }

    /// A shortest way from a write to a read that it overwrites the source of, as a cycle.
    fn path(&self, from: EventId, to: EventId) -> Option<Vec<Link>> {
        let mut came_from: HashMap<EventId, Link> = HashMap::new();
        let mut queue = VecDeque::from([from]);
        while let Some(event) = queue.pop_front() {
            if event == to {
                return Some(cycle(&came_from, from, to));
            }
            for &(next, because) in self.after.get(&event).into_iter().flatten() {
                if next != from && !came_from.contains_key(&next) {
                    came_from.insert(next, Link { event, because });
                    queue.push_back(next);
                }
            }
        }
        None
    }
}

fn cycle(came_from: &HashMap<EventId, Link>, from: EventId, to: EventId) -> Vec<Link> {
    let mut links = vec![Link { event: to, because: Because::FromRead }];
    let mut event = to;
    while event != from {
        let link = came_from[&event];
        links.push(link);
        event = link.event;
    }
    links.reverse();
    links
}
