//! Atomics that no other thread can have seen yet, while a program is explored.
//!
//! A thread that allocates a node and stores to its `next` before a compare-and-swap publishes the node is alone with
//! it until then. Its loads and stores of atomics there are done in memory at once and are no events, as if they were
//! not atomic: a failed attempt to publish leaves nothing behind that others could see.
//!
//! Memory is *published* when the thread that has allocated it writes its address where others can read it, or spawns a
//! thread; with it goes all that it points to. From then on accesses to its atomics are events. What the graph then has
//! for the initial value is what the thread has stored last. This is exact if whoever accesses the memory comes after
//! all that the thread did while it was alone with it: no earlier value can be read then, and there is nothing left to
//! synchronise with. Two things may be otherwise, and both are noticed, since accesses that are no events are recorded
//! like other memory's: somebody comes by the address in a way that was not noticed, or is not ordered after one of
//! those accesses. Then the exploration begins again, and all accesses to the atomics in memory from that place are
//! events ([`Observable::Seen`]).
//!
//! Whether an access is an event depends on what the thread itself did before, and on nothing else: as long as memory
//! is not published nobody else accesses it.
//!
//! Updates, and what is `SeqCst`, are always events: these order other accesses of their thread, in some models.

use crate::program::Ordering;
use crate::program::address::{HEAP_REGION, REGION_BITS};
use crate::vm::action::{Action, Answer};
use crate::vm::failure::Fault;
use crate::vm::image::Globals;
use crate::vm::thread::ThreadId;
use crate::vm::trap::{Checked, Trap};

use super::alloc::{Alloc, AllocKind, Sharing};
use super::explain::Access;
use super::heap::Heap;
use super::objects::{Deed, ObjectId, Touch};
use super::races::Kind;
use super::shadow::{IN_GRAPH, INIT};
use super::space::Space;
use super::track::{Observable, Source, Target};

/// Programs may keep something else in the upper bits of a pointer.
const POINTER: u64 = (1 << 47) - 1;

/// A load or a store to memory that may be a thread's own.
#[derive(Clone, Copy, Debug)]
struct OwnAccess {
    address: u64,
    len: u64,
    /// What is stored.
    stored: Option<u64>,
}

impl OwnAccess {
    fn of(action: Action) -> Option<OwnAccess> {
        let (address, width, ordering, stored) = match action {
            Action::Load { address, width, ordering } => (address, width, ordering, None),
            Action::Store { address, width, ordering, value } => (address, width, ordering, Some(value as u64)),
            _ => return None,
        };
        let len = u64::from(width.bytes());
        (ordering != Ordering::SeqCst && len <= 8).then_some(OwnAccess { address, len, stored })
    }

    fn access(self) -> Access {
        if self.stored.is_some() { Access::Write } else { Access::Read }
    }
}

impl Space<'_> {
    /// Makes an atomic access at once, if it is to memory that no other thread can have seen.
    pub fn perform_unseen(&mut self, action: Action) -> Checked<Option<Answer>> {
        let Some(access) = OwnAccess::of(action).filter(|_| self.tracking) else { return Ok(None) };
        match self.shared(access.address, access.len)? {
            Some(target) if target.tracked && self.is_own(target) => self.perform_own(access, target).map(Some),
            _ => Ok(None),
        }
    }

    /// Whether the thread has not published its memory, and made no accesses there that are events.
    fn is_own(&mut self, target: Target) -> bool {
        let Some((object, alloc)) = self.heap.object(target.address, self.globals) else { return false };
        let (is_own, source) = (alloc.is_unpublished() && alloc.thread == self.thread, alloc.source());
        let seen = self.is_seen(source);
        let objects = &mut self.heap.objects;
        objects.note_shape(object);
        if !is_own || seen {
            return false;
        }
        let has_events = objects.noted_atoms(target.piece, &objects.noted).next().is_some();
        objects.log.unique |= has_events;
        !has_events && self.untracked_range(target.address, target.size()).is_ok()
    }

    fn perform_own(&mut self, access: OwnAccess, target: Target) -> Checked<Answer> {
        let OwnAccess { address, len, stored } = access;
        self.check_align(address, len - 1, access.access())?;
        let (write, place) = (stored.is_some(), self.place());
        self.note_access(target, Kind::own(write), place, true)?;
        self.log(Touch { piece: target.piece, deed: Deed::Own { write }, place });
        match stored {
            Some(value) => {
                let (data, shadow) = self.untracked_range_mut(address, len)?;
                data.copy_from_slice(&value.to_le_bytes()[..len as usize]);
                shadow.fill(INIT);
                Ok(Answer::Done)
            }
            None => {
                self.check_initialized(address, len)?;
                let (data, _) = self.untracked_range(address, len)?;
                Ok(Answer::Value(data.iter().rev().fold(0, |value, byte| value << 8 | u128::from(*byte))))
            }
        }
    }

    /// Whether all accesses to memory from there are events.
    pub fn is_seen(&self, source: Source) -> bool {
        self.heap.tracking.as_ref().is_some_and(|tracking| tracking.tracked.is_seen(source))
    }

    /// Whether the thread alone uses memory, while a program is explored, and no access to it is an event.
    pub fn is_nobody_elses(&mut self, address: u64, len: u64) -> Checked<bool> {
        if !self.tracking || self.shared(address, len)?.is_some() || self.is_constant(address) {
            return Ok(false);
        }
        Ok(self.untracked_range(address, len).is_ok_and(|(_, shadow)| !shadow.contains(&IN_GRAPH)))
    }

    /// Others see memory before they should.
    #[cold]
    pub fn learn_seen(&mut self, object: ObjectId) -> Box<Trap> {
        let owned = self.heap.objects.owned(object).map(|index| self.heap.owned_mut(index).source());
        match owned.or_else(|| self.heap.objects.origin(object)) {
            Some(source) => Trap::learn(Observable::Seen(source)),
            None => Fault::unsupported("memory that is seen by others and comes from nowhere").into(),
        }
    }

    /// The thread writes a value where others can read it.
    pub fn publish(&mut self, value: u64) {
        if self.tracking {
            self.heap.publish(self.thread, value, self.globals);
        }
    }
}

impl Heap {
    /// A thread lets others know of a value: if that is the address of memory which it has allocated, others can access
    /// that from now on, and all that it points to.
    fn publish(&mut self, thread: ThreadId, value: u64, globals: &Globals) {
        let mut values = vec![value];
        while let Some(value) = values.pop() {
            let address = value & POINTER;
            if (address >> REGION_BITS).checked_sub(HEAP_REGION) != Some(u64::from(thread.0)) {
                continue;
            }
            let Some((_, alloc)) = self.object(address, globals) else { continue };
            if alloc.is_unpublished()
                && let Some(index) = self.own(address, globals)
            {
                let alloc = self.owned_mut(index);
                alloc.published = true;
                values.extend(alloc.words());
            }
        }
    }

    /// A thread stops: publishes what it has written addresses of where others can read them.
    pub fn publish_written(&mut self, thread: ThreadId, globals: &Globals) {
        let mut values = Vec::new();
        for at in 0..self.objects.log.changed.len() {
            let Some(index) = self.objects.owned(self.objects.log.changed[at]) else { continue };
            let alloc = self.owned_mut(index);
            if !alloc.is_unpublished() || alloc.thread != thread {
                values.extend(alloc.words());
            }
        }
        values.into_iter().for_each(|value| self.publish(thread, value, globals));
    }

    /// Publishes all memory of a thread.
    pub fn publish_all(&mut self, thread: ThreadId, globals: &Globals) {
        if self.tracking.is_none() {
            return;
        }
        let objects: Vec<ObjectId> = self.objects.own_blocks(thread).map(|index| ObjectId(index as u32)).collect();
        for object in objects {
            if let Some(base) = self.base(object) {
                self.publish(thread, base, globals);
            }
        }
    }

    /// Where the block begins that an object is.
    fn base(&self, object: ObjectId) -> Option<u64> {
        match self.objects.owned(object) {
            Some(index) => self.written().get(index as usize).map(|alloc| alloc.base),
            None => self.objects.block(self.objects.version(object)).map(|alloc| alloc.base),
        }
    }
}

impl Alloc {
    /// Whether others may access it, but cannot know where it is.
    pub fn is_unpublished(&self) -> bool {
        self.sharing == Sharing::Tracked && self.kind != AllocKind::Static && !self.published
    }

    /// All that may be pointers in it.
    fn words(&self) -> impl Iterator<Item = u64> {
        let words = self.data().as_chunks::<8>().0.iter();
        words.map(|bytes| u64::from_le_bytes(*bytes)).filter(|word| *word != 0)
    }
}
