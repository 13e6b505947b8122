//! Atomics of several sizes in the same memory, while a program is explored.
//!
//! Each of them is a location of its own in the execution graph. Those that overlap are *rivals*. Accesses to rivals
//! race if one of them writes, unless one happens before the other; so when a rival is about to be accessed for the
//! first time, all writes to those that were accessed before are known, and what they have written is put into memory:
//! there the graph finds the initial value of the new location. From the first write to it on, the others are no more:
//! should their memory be accessed as they were again, that is another *life* of them, with new locations.
//!
//! No event is needed for that: whoever comes first of several threads that are not ordered finds the same in the
//! graph.

use crate::program::PlaceId;
use crate::program::address::STACK_BIT;
use crate::vm::failure::Fault;
use crate::vm::note::RacingPair;
use crate::vm::trap::{Checked, Trap};

use super::heap::Found;
use super::objects::{AtomId, Deed, Touch, is_noted};
use super::races::{Kind, Record};
use super::shadow::{IN_GRAPH, INIT};
use super::space::Space;
use super::track::{Observable, Target, access, address_of};

/// What whoever explores knows of atomics.
pub trait Atomics {
    /// What was written last to an atomic in one of its lives, if it was accessed.
    fn value(&self, address: u64, len: u32, life: u32) -> Option<u64>;

    /// Whether this memory was ever accessed as another atomic that overlaps with this one.
    fn is_mixed(&self, address: u64, len: u32) -> bool;
}

impl Space<'_> {
    /// In which of its lives an atomic is.
    pub fn life(&mut self, address: u64, len: u64) -> Checked<u32> {
        let Some(target) = self.shared(address, len)? else { return Ok(0) };
        let objects = &self.heap.objects;
        Ok(objects.find_atom(target.piece).map_or(0, |atom| objects.lives.get(atom)))
    }

    /// An atomic access is about to be made, which may be made: in which of its lives the atomic is.
    pub fn ask_atomic(&mut self, address: u64, len: u64, atomics: &impl Atomics) -> Checked<u32> {
        let Some(target) = self.shared(address, len)? else {
            return self.ask_own_atomic(address, len, atomics).map(|()| 0);
        };
        let objects = &mut self.heap.objects;
        let atom = objects.atom(target.piece);
        let life = objects.lives.get(atom);
        if objects.is_unsteady(target.piece.object) {
            self.log(Touch { piece: target.piece, deed: Deed::Asked { atom, life }, place: PlaceId(0) });
            self.get_values(target, atom, atomics)?;
        }
        Ok(life)
    }

    /// An atomic access is about to be made to memory of the thread's own. What is accessed in another way besides is
    /// shared memory from the start, where that is looked after.
    fn ask_own_atomic(&mut self, address: u64, len: u64, atomics: &impl Atomics) -> Checked<()> {
        let (data, shadow) = self.untracked_range(address, len)?;
        let in_graph = shadow.iter().all(|byte| *byte == IN_GRAPH);
        let value = data.iter().take(8).rev().fold(0, |value, byte| value << 8 | u64::from(*byte));
        if !in_graph {
            // What comes of it depends on the graph.
            self.heap.objects.log.unique = true;
        }
        let is_stale = || !in_graph && atomics.value(address, len as u32, 0).is_some_and(|known| known != value);
        match atomics.is_mixed(address, len as u32) || is_stale() {
            true => Err(self.share_own(address)),
            false => Ok(()),
        }
    }

    /// An atomic of the thread's own is as the graph has it, until something else is written there.
    pub fn note_own_atomic(&mut self, address: u64, len: u64) -> Checked<()> {
        let exploring = self.heap.tracking.is_some();
        let (_, shadow) = self.untracked_range(address, len)?;
        if !exploring || shadow.iter().all(|byte| *byte == IN_GRAPH) {
            return Ok(());
        }
        // A constant stays as it is.
        if let Ok((_, shadow)) = self.untracked_range_mut(address, len) {
            shadow.fill(IN_GRAPH);
        }
        Ok(())
    }

    /// Puts what was written to the rivals of an atomic into memory, if it was not accessed before.
    fn get_values(&mut self, target: Target, atom: AtomId, atomics: &impl Atomics) -> Checked<()> {
        let rivals = self.rivals_of(target, atom)?;
        if rivals.is_empty() || is_noted(&self.heap.objects.noted, atom) {
            return Ok(());
        }
        // It races with them, or will not when it takes place: then another thread has done this before.
        let place = self.place();
        if self.racing_atomic(target, Kind::atomic(false), place).is_some() {
            return Ok(());
        }
        for rival in rivals {
            let objects = &self.heap.objects;
            let (address, len) = address_of(target, objects.piece(rival));
            if let Some(value) = atomics.value(address, len, objects.lives.get(rival)) {
                let (data, shadow) = self.untracked_range_mut(address, u64::from(len))?;
                data.copy_from_slice(&value.to_le_bytes()[..len as usize]);
                shadow.fill(INIT);
            }
        }
        Ok(())
    }

    /// The rivals of an atomic that were accessed. Accesses to statics must be watched then.
    fn rivals_of(&mut self, target: Target, atom: AtomId) -> Checked<Vec<AtomId>> {
        let objects = &mut self.heap.objects;
        let rivals: Vec<AtomId> = objects.rivals(atom, &objects.noted).collect();
        objects.log.unique |= !rivals.is_empty();
        match target.global {
            Some(global) if !rivals.is_empty() && !self.is_watched(global) => {
                Err(Trap::learn(Observable::Static(global)))
            }
            _ => Ok(rivals),
        }
    }

    /// An access that an atomic one races with.
    fn racing_atomic(&self, target: Target, kind: Kind, place: PlaceId) -> Option<Record> {
        let tracking = self.heap.tracking.as_deref().filter(|_| target.tracked)?;
        let record =
            Record { piece: target.piece, thread: self.thread, kind, event: tracking.events, place, left_out: false };
        self.heap.objects.races.racing(&record, &tracking.clock).filter(|other| !other.left_out)
    }

    /// An atomic is accessed, and written or not: then its rivals are no more.
    pub fn replace_rivals(&mut self, target: Target, atom: AtomId, writes: bool) -> Checked<()> {
        if !self.heap.objects.is_unsteady(target.piece.object) {
            return Ok(());
        }
        let rivals = self.rivals_of(target, atom)?;
        if writes {
            rivals.into_iter().for_each(|rival| self.heap.objects.forget_atom(rival));
        }
        Ok(())
    }

    /// Memory that the thread keeps for itself has atomics of several sizes: as shared memory it is looked after.
    #[cold]
    fn share_own(&self, address: u64) -> Box<Trap> {
        let site = if address & STACK_BIT != 0 {
            self.stack.frame(address).map(|frame| Observable::Frame(frame.func))
        } else {
            match self.heap.look(address, self.globals) {
                Found::Live(alloc) if alloc.quiet => Some(Observable::Quiet(alloc.place)),
                Found::Live(alloc) => Some(Observable::Place(alloc.place)),
                _ => None,
            }
        };
        let is_new =
            |site: &Observable| self.heap.tracking.as_ref().is_some_and(|tracking| !tracking.tracked.contains(*site));
        match site.filter(is_new) {
            Some(site) => Trap::learn(site),
            None => Fault::unsupported(
                "atomic and non-atomic accesses, or atomic accesses of several sizes, to memory of this kind",
            )
            .into(),
        }
    }
}

/// Two atomic accesses of different sizes, or to different bytes that overlap, are not ordered.
#[cold]
pub fn mixed_size_race(this: Kind, other: &Record) -> Fault {
    let pair = RacingPair { this: access(this), that: access(other.kind), other: other.thread, mixed_sizes: true };
    Fault::race(pair, other.place, other.event)
}
