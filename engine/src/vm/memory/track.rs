//! Tracking accesses to shared memory, while a program is explored.
//!
//! Memory that one thread alone uses is not tracked: the fast paths see nothing else. Which memory is shared is learned:
//! when a thread touches what another one allocated and nobody tracked, the run ends ([`Heap::learned`]), and exploring
//! begins again with the memory that is allocated at that place tracked from the start. Statics are always tracked.
//!
//! In tracked memory atomics are noted. Their value is in the execution graph: a plain read of one must ask for it
//! ([`Heap::refresh`]), a plain write tells it ([`Heap::plain_stores`]).

use std::collections::BTreeSet;
use std::sync::Arc;

use serde::{Deserialize, Serialize};

use crate::program::address::{FRAME_BITS, STACK_BIT};
use crate::program::{FuncId, PlaceId};
use crate::verdict::ErrorKind;
use crate::vm::failure::{Fault, race_texts};
use crate::vm::thread::ThreadId;

use super::alloc::{Alloc, AllocKind};
use super::explain::Access;
use super::heap::Found;
use super::races::{Races, Record};
use super::space::{Space, stack_thread};

type Checked<T> = Result<T, Box<Fault>>;

/// Where memory comes from.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Site {
    /// Allocated by the user's code at this place.
    Place(PlaceId),
    /// In the frames of this function.
    Frame(FuncId),
}

/// The memory that is tracked.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Tracked {
    pub places: BTreeSet<PlaceId>,
    pub functions: BTreeSet<FuncId>,
}

impl Tracked {
    /// Tracks more.
    pub fn insert(&mut self, site: Site) {
        match site {
            Site::Place(place) => self.places.insert(place),
            Site::Frame(func) => self.functions.insert(func),
        };
    }
}

/// What tracking is about, for the thread that runs.
#[derive(Clone, Debug)]
pub struct Tracking {
    pub tracked: Arc<Tracked>,
    /// What happens before the thread's next step.
    pub clock: Vec<u32>,
    /// How many events the thread has.
    pub events: u32,
}

/// A plain write to an atomic, of which other threads have not been told yet.
#[derive(Clone, Copy, Debug)]
pub struct PlainStore {
    pub address: u64,
    pub len: u32,
    /// Where it was made.
    pub place: PlaceId,
}

/// An access that the thread makes.
#[derive(Clone, Copy, Debug)]
pub struct Touch {
    pub address: u64,
    pub len: u64,
    pub access: Access,
    pub atomic: bool,
}

impl Alloc {
    /// Whether a thread may access it without further ado.
    pub fn is_free_for(&self, thread: ThreadId) -> bool {
        self.exempt
            || self.kind == AllocKind::Constant
            || (self.races.is_none() && self.thread == thread && !self.is_static())
    }

    fn is_static(&self) -> bool {
        self.kind == AllocKind::Static
    }
}

impl Space<'_> {
    /// Checks and records an access, if it is to memory that threads share.
    #[inline]
    pub fn track(&mut self, address: u64, len: u64, access: Access) -> Checked<()> {
        if !self.tracking || self.quiet || len == 0 {
            return Ok(());
        }
        self.touch(Touch { address, len, access, atomic: false })
    }

    /// As [`Space::track`], for a thread that is explored.
    pub fn touch(&mut self, touch: Touch) -> Checked<()> {
        if touch.address & STACK_BIT != 0 {
            return self.touch_stack(touch);
        }
        let Found::Live(alloc) = self.heap.look(touch.address, self.globals) else { return Ok(()) };
        if alloc.is_free_for(self.thread) {
            return Ok(());
        }
        if alloc.races.is_none() && !alloc.is_static() {
            let site = Site::Place(alloc.place);
            return Err(self.learn(site));
        }
        if alloc.locate(touch.address, touch.len).is_none() {
            return Ok(());
        }
        let start = (touch.address - alloc.base) as u32;
        let Some(index) = self.heap.own(touch.address, self.globals) else { return Ok(()) };
        let record = self.record(touch);
        let (alloc, tracking) = self.heap.tracked_mut(index);
        let Some(tracking) = tracking else { return Ok(()) };
        let races = alloc.races.get_or_insert_default();
        let base = touch.address - u64::from(start);
        let result = access_races(races, start, touch, record, &tracking.clock);
        self.finish(result, base, touch)
    }

    fn touch_stack(&mut self, touch: Touch) -> Checked<()> {
        let serial = touch.address >> FRAME_BITS;
        let base = serial << FRAME_BITS;
        let start = (touch.address - base) as u32;
        let record = self.record(touch);
        let own = self.stack.owns(touch.address);
        let thread = stack_thread(touch.address);
        let Some(tracking) = self.heap.tracking.as_deref() else { return Ok(()) };
        let stack = if own {
            &mut *self.stack
        } else {
            match self.threads.get_mut(thread).and_then(Option::as_mut) {
                Some(other) => &mut other.get_mut().stack,
                None => return Ok(()),
            }
        };
        let Some(func) = stack.frame(touch.address).map(|frame| frame.func) else { return Ok(()) };
        match stack.races_mut(touch.address) {
            Some(races) => {
                let result = access_races(races, start, touch, record, &tracking.clock);
                self.finish(result, base, touch)
            }
            None if own => Ok(()),
            None => Err(self.learn(Site::Frame(func))),
        }
    }

    fn record(&self, touch: Touch) -> Record {
        let event = self.heap.tracking.as_ref().map_or(0, |tracking| tracking.events);
        let write = touch.access == Access::Write;
        Record { thread: self.thread, event, place: self.place(), write, atomic: touch.atomic }
    }

    /// What an access to tracked memory led to.
    fn finish(&mut self, result: Result<Touched, Record>, base: u64, touch: Touch) -> Checked<()> {
        match result {
            Err(record) => Err(race(touch, record)),
            Ok(Touched::Done) => Ok(()),
            Ok(Touched::Stale { start, len }) => {
                self.heap.refresh = Some((base + u64::from(start), len));
                Err(Fault::limit("the value of an atomic is in the graph"))
            }
            Ok(Touched::Overwrites(atomics)) => {
                let place = self.place();
                for (start, len) in atomics {
                    let store = PlainStore { address: base + u64::from(start), len, place };
                    self.heap.plain_stores.retain(|other| (other.address, other.len) != (store.address, store.len));
                    self.heap.plain_stores.push(store);
                }
                Ok(())
            }
        }
    }

    /// Freeing memory counts as a write to all of it.
    pub fn track_free(&mut self, address: u64, len: u64) -> Checked<()> {
        self.track(address, len, Access::Write)?;
        // Nobody needs the values of the atomics in it any more.
        self.heap.plain_stores.retain(|store| store.address < address || store.address >= address + len);
        Ok(())
    }

    #[cold]
    fn learn(&mut self, site: Site) -> Box<Fault> {
        self.heap.learned = Some(site);
        Fault::limit("memory is shared that was not tracked")
    }

    /// Notes an atomic access that took place; `writes` where it wrote.
    pub fn track_atomic(&mut self, address: u64, len: u64, writes: bool) -> Checked<()> {
        if self.heap.tracking.is_none() {
            return Ok(());
        }
        let access = if writes { Access::Write } else { Access::Read };
        self.touch(Touch { address, len, access, atomic: true })
    }

    /// The memory of an atomic now has its value.
    pub fn set_fresh(&mut self, address: u64, len: u64) {
        if address & STACK_BIT != 0 {
            let start = (address & ((1 << FRAME_BITS) - 1)) as u32;
            let thread = stack_thread(address);
            let stack = if self.stack.owns(address) {
                Some(&mut *self.stack)
            } else {
                self.threads.get_mut(thread).and_then(Option::as_mut).map(|other| &mut other.get_mut().stack)
            };
            if let Some(races) = stack.and_then(|stack| stack.races_mut(address)) {
                races.note_atomic(start, len as u32, true);
            }
            return;
        }
        let Some(index) = self.heap.own(address, self.globals) else { return };
        let alloc = self.heap.owned_mut(index);
        let start = (address - alloc.base) as u32;
        if let Some(races) = &mut alloc.races {
            races.note_atomic(start, len as u32, true);
        }
    }
}

/// What an access to tracked memory leads to.
enum Touched {
    Done,
    /// An atomic is read whose value memory does not have.
    Stale {
        start: u32,
        len: u32,
    },
    /// Atomics are overwritten.
    Overwrites(Vec<(u32, u32)>),
}

fn access_races(races: &mut Races, start: u32, touch: Touch, record: Record, clock: &[u32]) -> Result<Touched, Record> {
    let end = start + touch.len as u32;
    if touch.atomic {
        races.access(start, end, record, clock)?;
        // Where another thread writes, memory may not have the last value.
        races.note_atomic(start, touch.len as u32, !record.write);
        return Ok(Touched::Done);
    }
    let whole = |atomic: &super::races::AtomicRange| atomic.start >= start && atomic.start + atomic.len <= end;
    let needs_value = |atomic: &&super::races::AtomicRange| !atomic.fresh && !(record.write && whole(atomic));
    if let Some(atomic) = races.atomics(start, end).find(needs_value) {
        return Ok(Touched::Stale { start: atomic.start, len: atomic.len });
    }
    races.access(start, end, record, clock)?;
    if record.write {
        let atomics: Vec<_> = races.atomics(start, end).map(|atomic| (atomic.start, atomic.len)).collect();
        for (start, len) in &atomics {
            races.note_atomic(*start, *len, true);
        }
        if !atomics.is_empty() {
            return Ok(Touched::Overwrites(atomics));
        }
    }
    Ok(Touched::Done)
}

#[cold]
fn race(touch: Touch, other: Record) -> Box<Fault> {
    let name = |write: bool, atomic: bool| match (write, atomic) {
        (true, true) => "atomic write",
        (true, false) => "write",
        (false, true) => "atomic read",
        (false, false) => "read",
    };
    let this = name(touch.access == Access::Write, touch.atomic);
    let that = name(other.write, other.atomic);
    let (message, note) = race_texts(this, that, other.thread);
    Fault::new(ErrorKind::DataRace, message).note(note, Some(other.place), Some(other.thread))
}
