//! Execution graphs (§3.1 of the TruSt paper): events with program order, reads-from, coherence and insertion order.
//!
//! A graph is kept flat. Events are numbered in insertion order, which always linearises porf; each thread is a chain
//! through its events; each location has its coherence order and its reads as lists; the views of all events are one
//! array. Hence the graph is cheap to extend and to shorten at its end ([`extend`]), which is all that exploring forward
//! needs, and to copy in part ([`restrict`]), which is what a backward revisit needs. Nothing is allocated per event
//! once the buffers have grown to the size of the program.
//!
//! What is guaranteed: the lists, chains and views always agree with the events. What is not: that the graph is
//! consistent; that is for [`crate::model`] to say.

mod action;
mod alike;
mod event;
mod extend;
mod ids;
mod key;
mod layers;
mod restrict;
mod threads;
mod ties;
mod view;

pub use crate::program::RmwOp;
pub use action::{Action, Boundary, Bounds, LOCKED, MemOrder, Test, Then, UNLOCKED, Width};
pub use event::{Event, Snapshot};
pub(crate) use extend::Effect;
pub use ids::{EventId, Loc, ThreadId, Value};
pub use key::GraphKey;
pub(crate) use restrict::Renaming;
pub(crate) use threads::Asleep;
pub use threads::{Origin, Thread};
pub use ties::Ties;
pub use view::{View, contains, join};

/// How many views an event has: porf, hb and rel.
const VIEWS: usize = 3;

/// What happened at a location.
#[derive(Clone, Debug, Default)]
pub struct Location {
    /// The value that the initialising write put there.
    pub init: Value,
    /// Its writes in coherence order, the initialising write first. Under reads-from equivalence that is a witness: some
    /// order with which the graph is consistent.
    pub co: Vec<EventId>,
    /// Its reads in insertion order, read-modify-writes included.
    pub reads: Vec<EventId>,
    /// How many writes are not tied to the one before them, as far as is known.
    loose: u32,
}

impl Location {
    /// Whether no event accesses it.
    #[inline]
    pub fn is_untouched(&self) -> bool {
        self.co.len() <= 1 && self.reads.is_empty()
    }

    /// Whether every witness has its writes in the same order.
    #[inline]
    pub(crate) fn is_settled(&self) -> bool {
        self.loose == 0
    }

    /// The last write in coherence order.
    #[inline]
    pub fn co_max(&self) -> EventId {
        self.co.last().copied().unwrap_or(EventId::INIT)
    }
}

/// An execution graph.
#[derive(Clone, Debug)]
pub struct Graph {
    events: Vec<Event>,
    /// The views of event `e` begin at `e * VIEWS * stride`.
    views: Vec<u32>,
    /// Entries per view: at least the number of threads.
    stride: usize,
    threads: Vec<Thread>,
    /// Threads in the order in which they are preferred when an event is to be added (`<_next` in the paper).
    preference: Vec<ThreadId>,
    locations: Vec<Location>,
    /// The sequentially consistent accesses and fences, in insertion order.
    sc: Vec<EventId>,
    sc_fences: u32,
    plain_accesses: u32,
    /// The number of blind updates.
    blind: u32,
    /// Whether a thread has had to wait for what depends on a write.
    has_after: bool,
    /// Which orders of writes hold in every witness.
    ties: Ties,
    /// How many writes are not tied to the one before them, as far as is known.
    loose: u32,
    /// How many events there are by which keepers leave.
    departures: u32,
}

impl Graph {
    /// The graph of a program that begins with this many threads: only the initialising event.
    pub fn new(threads: usize) -> Graph {
        let stride = threads.max(1);
        Graph {
            events: vec![Event::init()],
            views: vec![0; VIEWS * stride],
            stride,
            threads: (0..threads).map(Thread::root).collect(),
            preference: (0..threads).map(ThreadId::new).collect(),
            locations: Vec::new(),
            sc: Vec::new(),
            sc_fences: 0,
            plain_accesses: 0,
            blind: 0,
            has_after: false,
            ties: Ties::Fixed,
            loose: 0,
            departures: 0,
        }
    }

    /// The number of events, the initialising one included.
    #[inline]
    pub fn len(&self) -> usize {
        self.events.len()
    }

    /// Whether nothing has happened yet.
    pub fn is_empty(&self) -> bool {
        self.events.len() == 1
    }

    /// The latest event added.
    #[inline]
    pub fn last(&self) -> EventId {
        EventId::new(self.events.len() - 1)
    }

    /// An event.
    #[inline]
    pub fn event(&self, id: EventId) -> &Event {
        &self.events[id.index()]
    }

    #[inline]
    pub(crate) fn event_mut(&mut self, id: EventId) -> &mut Event {
        &mut self.events[id.index()]
    }

    /// All events but the initialising one, in insertion order.
    pub fn events(&self) -> impl DoubleEndedIterator<Item = (EventId, &Event)> {
        self.events.iter().enumerate().skip(1).map(|(i, e)| (EventId::new(i), e))
    }

    /// The events by which all who could have written a location left, if that is what ended the wait of an event.
    pub(crate) fn leaves(&self, id: EventId) -> impl Iterator<Item = EventId> {
        extend::leaves(&self.events, self.event(id))
    }

    /// All locations, by number.
    pub fn locations(&self) -> impl ExactSizeIterator<Item = (Loc, &Location)> {
        self.locations.iter().enumerate().map(|(i, l)| (Loc::new(i), l))
    }

    /// A location that was touched.
    #[inline]
    pub fn location(&self, loc: Loc) -> &Location {
        &self.locations[loc.index()]
    }

    /// The value that a write wrote to `loc`.
    #[inline]
    pub fn written(&self, write: EventId, loc: Loc) -> Value {
        if write == EventId::INIT { self.locations[loc.index()].init } else { self.event(write).written }
    }

    /// The last value of a location in coherence order, if any event accesses it.
    pub fn last_value(&self, loc: Loc) -> Option<Value> {
        let location = self.locations.get(loc.index()).filter(|l| !l.is_untouched());
        location.map(|l| self.written(l.co_max(), loc))
    }

    /// The place in coherence order that a write got when it was added: among the writes that were there then.
    pub(crate) fn place_when_added(&self, id: EventId) -> u32 {
        let event = self.event(id);
        let before = &self.location(event.loc).co[..event.co_pos as usize];
        before.iter().filter(|&&write| write < id).count() as u32
    }

    /// The position in coherence order of the write that a read reads from, or of a write itself.
    #[inline]
    pub fn co_position(&self, id: EventId) -> u32 {
        let event = self.event(id);
        if event.is_write { event.co_pos } else { self.event(event.rf).co_pos }
    }

    #[inline]
    fn view(&self, id: EventId, which: usize) -> &View {
        let start = (id.index() * VIEWS + which) * self.stride;
        &self.views[start..start + self.stride]
    }

    /// What the event causally depends on, itself included.
    #[inline]
    pub fn porf(&self, id: EventId) -> &View {
        self.view(id, 0)
    }

    /// What happens before the event, itself included.
    #[inline]
    pub fn hb(&self, id: EventId) -> &View {
        self.view(id, 1)
    }

    /// What an acquiring reader of this write synchronises with.
    #[inline]
    pub fn rel(&self, id: EventId) -> &View {
        self.view(id, 2)
    }

    /// Whether `a` is `b` or causally before it.
    #[inline]
    pub fn is_porf_before(&self, a: EventId, b: EventId) -> bool {
        a == EventId::INIT || contains(self.porf(b), self.event(a))
    }

    /// Whether `a` is `b` or happens before it.
    #[inline]
    pub fn is_hb_before(&self, a: EventId, b: EventId) -> bool {
        a == EventId::INIT || contains(self.hb(b), self.event(a))
    }

    /// Whether a thread may have had to wait for what depends on a write.
    #[inline]
    pub(crate) fn has_after(&self) -> bool {
        self.has_after
    }

    /// Whether the pending read of a thread may read from this write, as far as what it waits for goes.
    #[inline]
    pub(crate) fn may_read(&self, thread: ThreadId, source: EventId) -> bool {
        let after = self.thread(thread).after;
        !after.is_some() || (source != EventId::INIT && self.is_porf_before(after, source))
    }

    /// The sequentially consistent accesses and fences, in insertion order.
    #[inline]
    pub fn sc_events(&self) -> &[EventId] {
        &self.sc
    }

    /// The latest sequentially consistent event of a thread up to one of its events.
    #[inline]
    pub fn latest_sc(&self, last: EventId) -> EventId {
        if !last.is_some() {
            return EventId::NONE;
        }
        let event = self.event(last);
        if event.order.is_sc() { last } else { event.sc_before }
    }

    /// The number of sequentially consistent fences.
    #[inline]
    pub fn sc_fences(&self) -> u32 {
        self.sc_fences
    }

    /// Whether some access is not atomic.
    #[inline]
    pub fn has_plain_accesses(&self) -> bool {
        self.plain_accesses > 0
    }

    /// The bytes that the graph's buffers take.
    pub fn bytes(&self) -> usize {
        use std::mem::size_of;
        let lists: usize = self.locations.iter().map(|l| l.co.capacity() + l.reads.capacity()).sum();
        self.events.capacity() * size_of::<Event>()
            + self.views.capacity() * size_of::<u32>()
            + self.threads.capacity() * size_of::<Thread>()
            + self.locations.capacity() * size_of::<Location>()
            + lists * size_of::<EventId>()
    }
}
