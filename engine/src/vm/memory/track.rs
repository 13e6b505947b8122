//! Tracking accesses to shared memory, while a program is explored.
//!
//! Memory that one thread alone uses is that thread's own: the fast paths see nothing else. Which memory is shared is
//! learned: when a thread touches what another one keeps for itself, the run ends ([`Trap::Learn`]), and exploring
//! begins again with the memory that is allocated at that place shared from the start. Statics are always shared.
//!
//! In shared memory atomics are noted. Their value is in the execution graph: a plain read of one must ask for it
//! ([`Trap::NeedValue`]), a plain write tells it ([`Heap::plain_stores`](super::Heap)).

use std::collections::{BTreeSet, HashSet};
use std::sync::Arc;

use serde::{Deserialize, Serialize};

use crate::program::address::STACK_BIT;
use crate::program::{FuncId, PlaceId};
use crate::vm::failure::Fault;
use crate::vm::note::{AccessKind, RacingPair};
use crate::vm::thread::ThreadId;
use crate::vm::trap::{Checked, Trap};

use super::alloc::{AllocKind, Sharing};
use super::explain::{self, Access};
use super::objects::{AtomId, Deed, Key, Touch, set_noted};
use super::races::{Kind, Piece, Record};
use super::sizes::mixed_size_race;
use super::space::{Space, stack_thread};
use super::statics::Statics;

/// Something that threads can observe of each other, and that is modelled from the start once a thread does: memory that
/// threads share, by where it comes from, and state that a thread asks for.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Observable {
    /// Memory allocated by the user's code at this place.
    Place(PlaceId),
    /// Memory allocated by the standard library for itself, when the user's code was at this place.
    Quiet(PlaceId),
    /// Memory in the frames of this function.
    Frame(FuncId),
    /// The static with this number, whose atomics are accessed like other memory, too.
    Static(u32),
    /// Whether channels are disconnected, without waiting for it: the order in which senders go is visible.
    Disconnection,
    /// Whether writers wait for a lock, without waiting for it: they say so.
    Writers,
    /// The hook for panics, while there are several threads: its lock is visible.
    Hook,
    /// The token of a thread, after it has waited in the standard library, which parks it.
    Token(ThreadId),
    /// What time it is, while there are several threads: time is kept in order.
    Clock,
    /// Whether threads have ended, without waiting for it: their end is visible.
    End,
    /// Who drops the result of a thread that is not joined: in which order the thread and its handle go is visible.
    Result,
    /// The same for the payload of a panic.
    Payload,
    /// What eventfds have counted: somebody reads it.
    Count,
    /// What comes of `membarrier`: compiler fences are visible.
    Barrier,
    /// Whether a thread relies on others to call `membarrier`: they do so for it.
    Relies(ThreadId),
    /// How far a thread has backed off.
    Backoff,
    /// Compare-and-swaps in loops: they may fail, and be tried again.
    Retries,
    /// A loop that may wait for other threads, by where it is, whoever calls the function that has it.
    Loop(u64),
    /// One that also writes, and takes it back.
    Undoing(u64),
    /// Somebody notices what such loops write and take back: they are explored as they are.
    Noticed,
    /// Iterations that wait access memory that threads share: what is left out has to be held against what others do.
    Touching,
    /// Threads that are alike, by something other than what they do: they are explored in every order.
    Identity,
    /// Others do something to this part of such memory that could race with that: iterations that access it are no
    /// longer left out.
    Contended { source: Source, start: u32, end: u32 },
    /// Others see memory from there before its owner has published it, or while they cannot tell what the owner did
    /// before: all accesses to its atomics are events.
    Seen(Source),
}

/// Where shared memory comes from.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Source {
    /// It is the static with this number.
    Static(u32),
    /// It is a frame of this function.
    Frame(FuncId),
    /// It was allocated at this place.
    Place(PlaceId),
}

/// The memory that is shared, and the questions that are answered.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Tracked {
    sites: BTreeSet<Observable>,
    /// Whether frames are among them.
    frames: bool,
    /// Whether loops are.
    loops: bool,
    /// Whether loops are that take back what they write.
    undoing: bool,
    /// Whether iterations that wait access memory that threads share.
    touching: bool,
    /// Whether others see memory before it is published.
    seen: bool,
    /// The parts of memory that others contend for.
    contended: Vec<(Source, u32, u32)>,
}

impl Tracked {
    /// Tracks more; says whether that was not known.
    pub fn insert(&mut self, site: Observable) -> bool {
        self.frames |= matches!(site, Observable::Frame(_));
        self.loops |= matches!(site, Observable::Loop(_) | Observable::Retries);
        self.undoing |= matches!(site, Observable::Undoing(_));
        self.touching |= site == Observable::Touching;
        self.seen |= matches!(site, Observable::Seen(_));
        if let Observable::Contended { source, start, end } = site {
            self.contended.push((source, start, end));
        }
        self.sites.insert(site)
    }

    /// Whether this is known.
    pub fn contains(&self, site: Observable) -> bool {
        self.sites.contains(&site)
    }

    /// Whether there are loops that may wait.
    #[inline]
    pub fn has_loops(&self) -> bool {
        self.loops
    }

    /// Whether there are loops that may wait, and take back what they have written.
    #[inline]
    pub fn has_undoing_loops(&self) -> bool {
        self.undoing
    }

    /// Whether iterations that wait access memory that threads share.
    #[inline]
    pub fn is_touched(&self) -> bool {
        self.touching
    }

    /// Whether there is memory that others contend for with iterations that were left out.
    #[inline]
    pub fn has_contended(&self) -> bool {
        !self.contended.is_empty()
    }

    /// Whether this part of memory from there is among it.
    pub fn is_contended(&self, from: Source, piece: Piece) -> bool {
        self.contended.iter().any(|(source, start, end)| *source == from && *start < piece.end && piece.start < *end)
    }

    /// Whether others see memory from there before it is published.
    pub fn is_seen(&self, source: Source) -> bool {
        self.seen && self.contains(Observable::Seen(source))
    }

    /// Whether the frames of a function are shared.
    #[inline(always)]
    pub fn contains_frame(&self, func: FuncId) -> bool {
        self.frames && self.contains(Observable::Frame(func))
    }
}

/// What tracking is about, for the thread that runs.
#[derive(Clone, Debug, Default)]
pub struct Tracking {
    pub tracked: Arc<Tracked>,
    /// How statics are accessed, and what this machine has told of that.
    pub statics: Arc<Statics>,
    pub told: HashSet<(u64, u64, bool)>,
    /// What happens before the thread's next step.
    pub clock: Vec<u32>,
    /// What that step causally depends on, if threads ask what time it is.
    pub causes: Vec<u32>,
    /// How many events the thread has.
    pub events: u32,
    /// Atomics whose bytes in memory are their value, until the thread stops: their addresses and sizes.
    pub fresh: Vec<(u64, u32)>,
}

/// A plain write to an atomic, of which other threads have not been told yet.
#[derive(Clone, Copy, Debug)]
pub struct PlainStore {
    pub address: u64,
    pub len: u32,
    /// Where it was made.
    pub place: PlaceId,
}

/// A piece of shared memory that is accessed.
#[derive(Clone, Copy, Debug)]
pub struct Target {
    pub address: u64,
    pub piece: Piece,
    /// Whether races are looked for.
    pub tracked: bool,
    /// The number of a static.
    pub global: Option<u32>,
    /// Whether not all of the block may be accessible.
    partial: bool,
}

impl Target {
    pub fn size(&self) -> u64 {
        u64::from(self.piece.end - self.piece.start)
    }
}

impl Space<'_> {
    /// Checks and notes an access, if it is to memory that threads share.
    #[inline]
    pub fn track(&mut self, address: u64, len: u64, access: Access) -> Checked<()> {
        if !self.tracking || len == 0 {
            return Ok(());
        }
        let deed = if access == Access::Write { Deed::Write } else { Deed::Read };
        match self.shared(address, len)? {
            Some(target) => self.touch(target, deed),
            None => Ok(()),
        }
    }

    /// The shared memory at an address; none where the memory is the thread's own, or constant, or cannot be accessed.
    pub fn shared(&mut self, address: u64, len: u64) -> Checked<Option<Target>> {
        if address & STACK_BIT != 0 {
            return if self.stack.owns(address) { Ok(None) } else { self.look_at_other_stack(address) };
        }
        if self.heap.recent(address, self.globals).is_some() {
            return Ok(None);
        }
        let Some((object, alloc)) = self.heap.object(address, self.globals) else {
            return self.look_at_other_heap(address);
        };
        let is_static = alloc.kind == AllocKind::Static;
        let (unpublished, source) = (alloc.is_unpublished() && alloc.thread != self.thread, alloc.source());
        let tracked = is_static || alloc.sharing == Sharing::Tracked;
        let partial = matches!(alloc.kind, AllocKind::Frame(_));
        let Some(start) = alloc.offset(address, len) else { return Ok(None) };
        if unpublished && !self.is_seen(source) {
            return Err(self.learn_seen(object));
        }
        let piece = Piece { object, start: start as u32, end: (start as u64 + len) as u32 };
        let global = match self.heap.objects.key(object) {
            Key::Static(global) => Some(global),
            _ => None,
        };
        Ok(Some(Target { address, piece, tracked, global, partial }))
    }

    #[cold]
    fn look_at_other_stack(&mut self, address: u64) -> Checked<Option<Target>> {
        let Some(Some(other)) = self.heap.objects.others.get(stack_thread(address)) else { return Ok(None) };
        match other.thread.stack.frame(address).map(|frame| frame.func) {
            Some(func) => Err(Trap::learn(Observable::Frame(func))),
            None => Ok(None),
        }
    }

    fn look_at_other_heap(&mut self, address: u64) -> Checked<Option<Target>> {
        let Some(alloc) = self.heap.foreign(address, self.globals) else { return Ok(None) };
        let site = if alloc.quiet { Observable::Quiet(alloc.place) } else { Observable::Place(alloc.place) };
        Err(Trap::learn(site))
    }

    /// An access races with one that was left out.
    #[cold]
    fn learn_contended(&self, piece: Piece) -> Box<Trap> {
        match self.heap.objects.origin(piece.object) {
            Some(source) => Trap::learn(Observable::Contended { source, start: piece.start, end: piece.end }),
            None => Fault::unsupported("a race with memory that comes from nowhere").into(),
        }
    }

    fn touch(&mut self, target: Target, deed: Deed) -> Checked<()> {
        // Whatever other threads will do comes later.
        if self.heap.alone {
            return Ok(());
        }
        if !self.quiet {
            self.tell_of_static(target, false);
        }
        let atoms: Vec<AtomId> = match self.heap.objects.has_atoms(target.piece.object) {
            true => self.heap.objects.noted_atoms(target.piece, &self.heap.objects.noted).collect(),
            false => Vec::new(),
        };
        if !atoms.is_empty() {
            self.need_values(target, deed, &atoms)?;
        }
        if target.tracked && !self.quiet {
            self.note_plain(target, deed)?;
        } else if target.tracked {
            self.heap.objects.note_quiet(target.piece);
        }
        if deed == Deed::Write {
            atoms.iter().for_each(|atom| self.overwrite(target, *atom));
        }
        Ok(())
    }

    /// A plain access to atomics: those that it reads, or overwrites in part, must have their value.
    fn need_values(&mut self, target: Target, deed: Deed, atoms: &[AtomId]) -> Checked<()> {
        if let Some(global) = target.global
            && !self.is_watched(global)
            && !self.quiet
        {
            return Err(Trap::learn(Observable::Static(global)));
        }
        if deed == Deed::Free {
            return Ok(());
        }
        self.heap.objects.log.unique = true;
        for atom in atoms {
            let piece = self.heap.objects.piece(*atom);
            let whole = piece.start >= target.piece.start && piece.end <= target.piece.end;
            let (address, len) = address_of(target, piece);
            let fresh = self.heap.tracking.as_ref().is_some_and(|tracking| tracking.fresh.contains(&(address, len)));
            if !fresh && !(deed == Deed::Write && whole) {
                return Err(Trap::need_value(address, len));
            }
        }
        Ok(())
    }

    /// Tells of an access to a static, unless all accesses to it are kept.
    #[inline]
    fn tell_of_static(&mut self, target: Target, atomic: bool) {
        let Some(global) = target.global else { return };
        if let Some(tracking) = self.heap.tracking.as_deref_mut()
            && tracking.told.insert((target.address, target.size(), atomic))
            && !tracking.tracked.contains(Observable::Static(global))
        {
            tracking.statics.note((target.address, target.size()), global, atomic);
        }
    }

    /// Whether accesses to the atomics in a static are kept.
    pub fn is_watched(&self, global: u32) -> bool {
        self.heap.tracking.as_ref().is_some_and(|tracking| tracking.tracked.contains(Observable::Static(global)))
    }

    /// Other threads must learn what was written to an atomic.
    fn overwrite(&mut self, target: Target, atom: AtomId) {
        let (address, len) = address_of(target, self.heap.objects.piece(atom));
        let store = PlainStore { address, len, place: self.place() };
        self.heap.plain_stores.retain(|other| (other.address, other.len) != (address, len));
        self.heap.plain_stores.push(store);
        self.set_fresh(address, len);
    }

    fn note_plain(&mut self, target: Target, deed: Deed) -> Checked<()> {
        let place = self.place();
        if deed == Deed::Free {
            return self.end(target.piece, target.address, place);
        }
        let kind = if deed == Deed::Alloc { Kind::ALLOCATION } else { Kind::plain(deed == Deed::Write) };
        self.note_access(target, kind, place, true)?;
        self.log(Touch { piece: target.piece, deed, place });
        Ok(())
    }

    /// Looks for an access that this one races with; `kept` where later ones may race with it.
    pub fn note_access(&mut self, target: Target, kind: Kind, place: PlaceId, kept: bool) -> Checked<()> {
        let Some(tracking) = self.heap.tracking.as_deref() else { return Ok(()) };
        let piece = target.piece;
        let record = Record { piece, thread: self.thread, kind, event: tracking.events, place, left_out: false };
        if let Some(other) = self.heap.objects.races.racing(&record, &tracking.clock) {
            if other.left_out {
                return Err(self.learn_contended(piece));
            }
            if kind.own || other.kind.own {
                return Err(self.learn_seen(piece.object));
            }
            let fault = match kind.atomic && other.kind.atomic {
                true => mixed_size_race(kind, &other),
                false => race(access(kind), &other),
            };
            let skipped = other.piece.start.saturating_sub(piece.start);
            return Err(fault.about(target.address + u64::from(skipped)).into());
        }
        if kept {
            self.heap.objects.races.note(record);
        }
        Ok(())
    }

    pub fn log(&mut self, touch: Touch) {
        self.heap.objects.log.add(touch);
    }

    /// A piece of shared memory, which begins at an address, is gone: what other threads did to it must have come
    /// before.
    fn end(&mut self, piece: Piece, address: u64, place: PlaceId) -> Checked<()> {
        let Some(tracking) = self.heap.tracking.as_deref() else { return Ok(()) };
        let kind = Kind::plain(true);
        let record = Record { piece, thread: self.thread, kind, event: tracking.events, place, left_out: false };
        if let Some(other) = self.heap.objects.races.racing(&record, &tracking.clock) {
            if other.left_out {
                return Err(self.learn_contended(piece));
            }
            if other.kind.own {
                return Err(self.learn_seen(piece.object));
            }
            let at = address - u64::from(piece.start) + u64::from(other.piece.start.max(piece.start));
            let (fault, late) = explain::end(self, at, &other, place);
            self.heap.late = Some(late);
            return Err(fault.into());
        }
        self.heap.objects.races.clear(piece);
        self.log(Touch { piece, deed: Deed::Free, place });
        Ok(())
    }

    /// Allocating memory counts as a write to all of it.
    pub fn track_alloc(&mut self, address: u64, len: u64) -> Checked<()> {
        if !self.tracking || self.quiet || self.heap.alone || len == 0 {
            return Ok(());
        }
        match self.shared(address, len)? {
            Some(target) if target.tracked => self.note_plain(target, Deed::Alloc),
            _ => Ok(()),
        }
    }

    /// Freeing memory counts as a write to all of it.
    pub fn track_free(&mut self, address: u64, len: u64) -> Checked<()> {
        if !self.tracking || len == 0 {
            return Ok(());
        }
        if let Some(target) = self.shared(address, len)? {
            self.touch(target, Deed::Free)?;
        }
        // Nobody needs the values of the atomics in it any more.
        self.heap.plain_stores.retain(|store| store.address < address || store.address >= address + len);
        Ok(())
    }

    /// Notes an atomic access that took place; `writes` where it wrote. Says whether other threads can see it.
    pub fn track_atomic(&mut self, address: u64, len: u64, writes: bool) -> Checked<bool> {
        if self.heap.tracking.is_none() {
            return Ok(false);
        }
        let Some(target) = self.shared(address, len)? else { return Ok(false) };
        self.tell_of_static(target, true);
        let kept = target.tracked && target.global.is_none_or(|global| self.is_watched(global));
        let place = self.place();
        let atom = self.heap.objects.atom(target.piece);
        if target.tracked {
            self.note_access(target, Kind::atomic(writes), place, kept)?;
        }
        self.replace_rivals(target, atom, writes)?;
        let objects = &mut self.heap.objects;
        objects.note_shape(target.piece.object);
        set_noted(&mut objects.noted, atom, true);
        self.log(Touch { piece: target.piece, deed: Deed::Atomic { atom, write: writes, kept }, place });
        Ok(true)
    }

    /// Whether the value of an atomic is in the graph.
    pub fn is_in_graph(&mut self, address: u64, len: u64) -> Checked<bool> {
        if !self.tracking {
            return Ok(false);
        }
        let Some(target) = self.shared(address, len)? else { return Ok(false) };
        let objects = &mut self.heap.objects;
        let noted = objects.noted_atoms(target.piece, &objects.noted).next().is_some();
        objects.log.unique |= noted;
        if target.tracked {
            objects.note_quiet(target.piece);
        }
        Ok(noted)
    }

    /// Checks that an atomic access may be made. Of most shared memory only the shape matters, not what is there.
    pub fn check_atomic(&mut self, address: u64, len: u64, access: Access) -> Checked<()> {
        self.check_align(address, len - 1, access)?;
        if self.tracking
            && let Some(target) = self.shared(address, len)?
            && !target.partial
        {
            self.heap.objects.note_shape(target.piece.object);
            return Ok(());
        }
        self.untracked_range(address, len)?;
        if access == Access::Write && self.is_constant(address) {
            return Err(explain::access(self, address, len, access));
        }
        Ok(())
    }

    /// The memory of an atomic now has its value.
    pub fn set_fresh(&mut self, address: u64, len: u32) {
        if let Some(tracking) = &mut self.heap.tracking
            && !tracking.fresh.contains(&(address, len))
        {
            tracking.fresh.push((address, len));
        }
    }

    /// A block goes that the program does not free itself: the frame of a function that has returned, or a local
    /// variable.
    #[cold]
    pub fn drop_block(&mut self, address: u64, place: PlaceId) -> Checked<()> {
        if self.tracking
            && !self.quiet
            && let Some((object, alloc)) = self.heap.object(address, self.globals)
            && alloc.sharing == Sharing::Tracked
        {
            let piece = Piece { object, start: 0, end: alloc.size as u32 };
            self.end(piece, address, place)?;
        }
        self.heap.free(address, self.thread, place, self.globals);
        Ok(())
    }

    /// A part of the frame that runs, which is a block of the heap, comes to life or dies.
    #[cold]
    pub fn set_storage(&mut self, offset: u16, size: u16, shadow: u8) -> Checked<()> {
        let address = self.stack.slot_address(offset);
        let Some((object, alloc)) = self.heap.object(address, self.globals) else { return Ok(()) };
        let start = (address - alloc.base) as u32;
        let piece = Piece { object, start, end: start + u32::from(size) };
        if !self.quiet {
            self.end(piece, address, self.place())?;
        }
        let Some(index) = self.heap.own(address, self.globals) else { return Ok(()) };
        self.heap.owned_mut(index).slices_mut(start as usize, u64::from(size)).1.fill(shadow);
        self.heap.objects.races.clear(piece);
        if shadow != 0 {
            self.renew(piece);
        }
        Ok(())
    }

    /// A piece of memory begins a new life: the atomics that were there are no more.
    fn renew(&mut self, piece: Piece) {
        let objects = &mut self.heap.objects;
        let atoms: Vec<AtomId> = objects.noted_atoms(piece, &objects.noted).collect();
        objects.log.unique |= !atoms.is_empty();
        atoms.into_iter().for_each(|atom| objects.forget_atom(atom));
        self.log(Touch { piece, deed: Deed::Renew, place: PlaceId(0) });
    }
}

/// The address and the size of an atomic, from another piece of the same object.
pub fn address_of(target: Target, atom: Piece) -> (u64, u32) {
    let base = target.address - u64::from(target.piece.start);
    (base + u64::from(atom.start), atom.end - atom.start)
}

/// What an access is.
pub fn access(kind: Kind) -> AccessKind {
    match (kind.write, kind.atomic) {
        _ if kind.allocates => AccessKind::Allocation,
        (true, true) => AccessKind::AtomicWrite,
        (true, false) => AccessKind::Write,
        (false, true) => AccessKind::AtomicRead,
        (false, false) => AccessKind::Read,
    }
}

/// `this` races with an access of another thread.
#[cold]
pub fn race(this: AccessKind, other: &Record) -> Fault {
    let pair = RacingPair { this, that: access(other.kind), other: other.thread, mixed_sizes: false };
    Fault::race(pair, other.place, other.event)
}
