//! The threads of a graph: what each will do next, where its chain of events ends, and who started it.
//!
//! A thread is identified by its parent and by how many threads the parent spawned before it. Its [`ThreadId`] is given out
//! when it is first spawned on the way to a graph, and stays the same from there on, also where a revisit deletes the
//! spawn and it comes back. Which ids there are is a function of the place in the exploration tree: it does not depend on
//! what was explored before, or by whom.

use super::action::{Action, Boundary};
use super::ids::{EventId, Loc, ThreadId, Value};
use super::{Graph, VIEWS};
use serde::{Deserialize, Serialize};

/// That a thread waits as long as the locations it reads have these values: what was found out by letting it try.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Asleep {
    len: u8,
    seen: [(Loc, Value); 3],
}

impl Default for Asleep {
    fn default() -> Asleep {
        Asleep { len: 0, seen: [(Loc::new(0), 0); 3] }
    }
}

impl Asleep {
    /// Adds what a location had when the thread tried; says whether there is room to remember it.
    pub fn add(&mut self, loc: Loc, value: Value) -> bool {
        let known = self.seen().iter().any(|(at, _)| *at == loc);
        if !known && usize::from(self.len) < self.seen.len() {
            self.seen[usize::from(self.len)] = (loc, value);
            self.len += 1;
            return true;
        }
        known
    }

    /// Forgets everything.
    #[inline]
    pub fn clear(&mut self) {
        self.len = 0;
    }

    /// The locations and the values that they had; none where nothing is known.
    pub fn seen(&self) -> &[(Loc, Value)] {
        &self.seen[..usize::from(self.len)]
    }
}

/// When a thread that waits until all keepers have left can go on at the earliest.
#[derive(Clone, Copy, Debug, Default)]
struct Kept {
    /// How many events the graph had when the keepers were counted that had not left.
    len: u32,
    /// How many events the thread had.
    of_thread: u32,
    /// How many events by which keepers leave there must be.
    leaves: u32,
}

/// A thread of an execution graph.
#[derive(Clone, Copy, Debug)]
pub struct Thread {
    /// What it will do next.
    pub pending: Action,
    /// Its latest event.
    pub last: EventId,
    /// How many events it has.
    pub len: u32,
    /// The event that spawned it; the initialising event for the threads a program begins with.
    pub spawn: EventId,
    /// The event that joined it.
    pub join: EventId,
    /// Where its pending read was revisited by a write that makes it wait, that write: it may only read from what depends
    /// on it.
    pub after: EventId,
    /// The nearest thread before it that it is [alike](super::alike), if there is one.
    pub(crate) like: Option<ThreadId>,
    /// What it waits for, as far as that is known.
    pub(crate) asleep: Asleep,
    /// How many have to leave before it can go on, as far as that is known.
    kept: Kept,
    /// Whether it exists in this graph.
    pub alive: bool,
    parent: Option<ThreadId>,
    rank: u32,
    spawned: u32,
    /// The spawn for which the id was given out, if taking that away takes the id back.
    created_by: EventId,
}

/// Where a thread comes from: this identifies it in every graph.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Origin {
    /// The number of the thread that spawns it; none for the threads a program begins with.
    pub parent: Option<u32>,
    /// How many siblings come before it.
    pub rank: u32,
}

impl Thread {
    pub(super) fn root(rank: usize) -> Thread {
        Thread {
            pending: Action::Block,
            last: EventId::NONE,
            len: 0,
            spawn: EventId::INIT,
            join: EventId::NONE,
            after: EventId::NONE,
            like: None,
            asleep: Asleep::default(),
            kept: Kept::default(),
            alive: true,
            parent: None,
            rank: rank as u32,
            spawned: 0,
            created_by: EventId::NONE,
        }
    }

    fn child(parent: ThreadId, rank: u32) -> Thread {
        Thread { alive: false, parent: Some(parent), ..Thread::root(rank as usize) }
    }

    /// The event that its next event comes right after: its latest one, or the one that spawned it.
    #[inline]
    pub fn tip(&self) -> EventId {
        if self.last.is_some() { self.last } else { self.spawn }
    }

    /// Whether it has spawned other threads.
    #[inline]
    pub(crate) fn has_spawned(&self) -> bool {
        self.spawned > 0
    }

    /// Whether it has nothing more to do.
    #[inline]
    pub fn is_finished(&self) -> bool {
        matches!(self.pending, Action::End)
    }
}

impl Graph {
    /// A graph of a program whose threads get these numbers: of those that are not there from the start, none exists yet.
    /// None if a thread comes before the one that spawns it.
    pub(crate) fn with_threads(origins: &[Origin]) -> Option<Graph> {
        let roots = origins.iter().take_while(|origin| origin.parent.is_none()).count();
        let mut graph = Graph::new(roots);
        for (index, origin) in origins.iter().enumerate().skip(roots) {
            let parent = origin.parent.map(|parent| parent as usize).filter(|parent| *parent < index)?;
            graph.add_thread(ThreadId::new(parent), origin.rank, EventId::NONE);
        }
        Some(graph)
    }

    /// Whether all threads but this one have ended.
    pub(crate) fn is_alone(&self, id: ThreadId) -> bool {
        self.threads().all(|(other, thread)| other == id || thread.is_finished())
    }

    /// The number of the first thread whose end does not happen before the next event of this one; 0 if there is none.
    pub(crate) fn unjoined(&self, id: ThreadId) -> Value {
        let clock = self.hb(self.threads[id.index()].tip());
        let is_joined = |(other, thread): &(ThreadId, &Thread)| clock[other.index()] > thread.len;
        let mut others = self.threads().filter(|(other, _)| *other != id);
        others.find(|other| !is_joined(other)).map_or(0, |(other, _)| other.index() as Value)
    }

    /// Whether every event comes causally before the next one of this thread.
    pub(crate) fn is_before(&self, id: ThreadId) -> bool {
        let porf = self.porf(self.threads[id.index()].tip());
        self.threads().all(|(other, thread)| porf[other.index()] >= thread.len)
    }

    /// The end of a model that a thread has come to, if all others have ended.
    pub(crate) fn boundary(&self) -> Option<(ThreadId, Boundary)> {
        let at = |(id, thread): (ThreadId, &Thread)| match thread.pending {
            Action::Model(boundary) => Some((id, boundary)),
            _ => None,
        };
        self.threads().find_map(at).filter(|(id, _)| self.is_alone(*id))
    }

    /// Whether a model has begun and not ended before the next event of this thread.
    pub(crate) fn is_in_model(&self, id: ThreadId) -> bool {
        let mut next = self.threads[id.index()].last;
        while next.is_some() {
            if let Action::Model(boundary) = self.event(next).action {
                return matches!(boundary, Boundary::Begin(_));
            }
            next = self.event(next).po_prev;
        }
        false
    }

    /// Where a thread comes from.
    pub(crate) fn origin(&self, id: ThreadId) -> Origin {
        let Thread { parent, rank, .. } = self.threads[id.index()];
        Origin { parent: parent.map(|parent| parent.index() as u32), rank }
    }

    /// The number of threads known, of which some may not exist (yet).
    #[inline]
    pub fn thread_count(&self) -> usize {
        self.threads.len()
    }

    /// A thread.
    #[inline]
    pub fn thread(&self, id: ThreadId) -> &Thread {
        &self.threads[id.index()]
    }

    /// All threads that exist in this graph.
    pub fn threads(&self) -> impl Iterator<Item = (ThreadId, &Thread)> {
        self.threads.iter().enumerate().filter(|(_, t)| t.alive).map(|(i, t)| (ThreadId::new(i), t))
    }

    /// Prefers threads in another order: for graphs in which nothing is revisited.
    pub(crate) fn set_preference(&mut self, order: &[ThreadId]) {
        self.preference.clear();
        self.preference.extend_from_slice(order);
    }

    /// Threads in the order in which they are preferred.
    #[inline]
    pub(crate) fn preference(&self) -> &[ThreadId] {
        &self.preference
    }

    /// Sets what a thread will do next.
    #[inline]
    pub(crate) fn set_pending(&mut self, id: ThreadId, action: Action) {
        let thread = &mut self.threads[id.index()];
        thread.pending = action;
        thread.asleep.clear();
    }

    /// The pending read of a thread may only read from what depends on this write.
    pub(crate) fn set_after(&mut self, id: ThreadId, write: EventId) {
        self.threads[id.index()].after = write;
        self.has_after = true;
    }

    /// Whether a thread that has ended an iteration of so many events has read the latest of everything: it would read the
    /// same again. What threads write and take back in such iterations does not count.
    pub fn has_read_latest(&self, thread: &Thread, events: u32) -> bool {
        let before = |id: &EventId| Some(self.event(*id).po_prev);
        let iteration = std::iter::successors(Some(thread.last), before).take_while(|id| id.is_some());
        iteration.take(events as usize).all(|id| {
            let event = self.event(id);
            let own = event.is_read && event.rf != EventId::INIT && {
                let source = self.event(event.rf);
                source.thread == event.thread && source.index + events >= thread.len
            };
            let later = || &self.location(event.loc).co[event.co_pos as usize + 1..];
            (!event.is_read || own || self.last_value(event.loc) == Some(event.answer))
                && (!event.is_write || later().iter().all(|&write| self.is_in_vain(write)))
        })
    }

    /// Whether an event is part of an iteration that has no effect.
    fn is_in_vain(&self, id: EventId) -> bool {
        let event = self.event(id);
        let thread = self.thread(event.thread);
        matches!(thread.pending, Action::Spin { events } if event.index + events >= thread.len)
    }

    /// Remembers what a thread waits for.
    pub(crate) fn set_asleep(&mut self, id: ThreadId, asleep: Asleep) {
        self.threads[id.index()].asleep = asleep;
    }

    /// A thread waits until keepers have left, of whom so many have not.
    pub(crate) fn set_kept(&mut self, id: ThreadId, keepers: u32) {
        let (len, leaves) = (self.len() as u32, self.departures.saturating_add(keepers));
        let thread = &mut self.threads[id.index()];
        thread.kept = Kept { len, of_thread: thread.len, leaves };
    }

    /// Whether a thread waits until keepers have left, of whom some certainly have not: whatever has happened since
    /// they were counted, there were fewer events by which one leaves.
    #[inline]
    pub(crate) fn is_kept(&self, id: ThreadId) -> bool {
        let thread = &self.threads[id.index()];
        self.departures < thread.kept.leaves && thread.len == thread.kept.of_thread
    }

    /// Forgets how many keepers had not left when there were more events than these.
    #[inline]
    pub(super) fn forget_kept_since(&mut self, len: usize) {
        for thread in &mut self.threads {
            if thread.kept.len as usize > len {
                thread.kept = Kept::default();
            }
        }
    }

    /// The thread that a spawn by `parent`, at this point, starts.
    pub(super) fn begin_thread(&mut self, parent: ThreadId, spawn: EventId) -> ThreadId {
        let rank = self.threads[parent.index()].spawned;
        self.threads[parent.index()].spawned += 1;
        let known = self.threads.iter().position(|t| t.parent == Some(parent) && t.rank == rank);
        let id = known.map_or_else(|| self.add_thread(parent, rank, spawn), ThreadId::new);
        let thread = &mut self.threads[id.index()];
        thread.alive = true;
        thread.spawn = spawn;
        thread.last = EventId::NONE;
        thread.len = 0;
        thread.spawned = 0;
        thread.join = EventId::NONE;
        thread.after = EventId::NONE;
        thread.asleep.clear();
        thread.kept = Kept::default();
        thread.pending = Action::Block;
        id
    }

    /// Takes the latest spawn of `parent` back, and the child's id with it if that was given out then.
    pub(super) fn end_thread(&mut self, parent: ThreadId, child: ThreadId, spawn: EventId) {
        self.threads[parent.index()].spawned -= 1;
        let thread = &mut self.threads[child.index()];
        thread.alive = false;
        if thread.created_by == spawn {
            self.threads.truncate(child.index());
            self.preference.retain(|&id| id < child);
        }
    }

    /// Makes all ids stay, whatever is taken away.
    pub(super) fn keep_thread_ids(&mut self) {
        self.threads.iter_mut().for_each(|thread| thread.created_by = EventId::NONE);
    }

    pub(super) fn set_joined(&mut self, id: ThreadId, join: EventId) {
        self.threads[id.index()].join = join;
    }

    fn add_thread(&mut self, parent: ThreadId, rank: u32, spawn: EventId) -> ThreadId {
        let id = ThreadId::new(self.threads.len());
        self.threads.push(Thread { created_by: spawn, ..Thread::child(parent, rank) });
        if self.threads.len() > self.stride {
            self.widen((self.threads.len() + 1).next_multiple_of(4));
        }
        let path = self.thread_path(id);
        let place = self.preference.partition_point(|&other| self.thread_path(other) < path);
        self.preference.insert(place, id);
        id
    }

    /// What identifies a thread in every graph: the ranks of the thread and its ancestors among their siblings, the oldest
    /// ancestor first. A thread comes before those it spawns.
    pub fn thread_path(&self, id: ThreadId) -> Vec<u32> {
        let mut path = Vec::new();
        let mut next = Some(id);
        while let Some(id) = next {
            let thread = &self.threads[id.index()];
            path.push(thread.rank);
            next = thread.parent;
        }
        path.reverse();
        path
    }

    /// Lays the views out again for more threads.
    fn widen(&mut self, stride: usize) {
        let mut views = vec![0; self.events.len() * VIEWS * stride];
        for (new, old) in views.chunks_mut(stride).zip(self.views.chunks(self.stride)) {
            new[..self.stride].copy_from_slice(old);
        }
        self.views = views;
        self.stride = stride;
    }
}
