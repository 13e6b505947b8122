//! What threads share while a program is explored, as numbered *objects* that have *versions*.
//!
//! An object is a static, a block of memory that several threads use, or something else that is not one thread's own:
//! the output, say. A state of the program says which version each object has. Versions are numbered by content, so two
//! states that look the same have the same numbers, and comparing and copying states is comparing and copying numbers.
//!
//! While a thread runs, [`Objects`] knows the state that it runs in, and notes which objects it looks at and which it
//! changes: what it does depends on nothing else.

use std::collections::HashMap;
use std::sync::Arc;

use crate::program::PlaceId;
use crate::vm::explored::{Changes, Frozen, Touched};
use crate::vm::hash::{FastHash, hash_of};
use crate::vm::thread::ThreadId;

use super::alloc::Alloc;
use super::races::{Piece, Races};
use super::table::index_of;
use super::track::{Source, Tracked};
use super::value::{Shape, Value, Values};

/// An object.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct ObjectId(pub u32);

impl ObjectId {
    #[inline(always)]
    pub fn index(self) -> usize {
        self.0 as usize
    }
}

/// A version of an object: an index into [`Values`].
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub struct Version(pub u32);

impl Version {
    /// There is no such object yet, or it is as it was in the beginning.
    pub const NONE: Version = Version(0);
}

/// What an object is, in every execution and for every worker.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Key {
    Output,
    Covered,
    Keys,
    Status(ThreadId),
    /// The static with that number.
    Static(u32),
    /// A block of the heap of a thread: the entry of its table.
    Block {
        thread: ThreadId,
        index: u32,
    },
}

/// An atomic in an object.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct AtomId(pub u32);

/// What a thread does with a piece of shared memory, as far as other threads are concerned.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Deed {
    Read,
    Write,
    /// It is allocated.
    Alloc,
    Free,
    /// The standard library's own access: it matters only where atomics are.
    Quiet,
    /// An atomic access is about to be made; nothing that matters was there but this atomic, in that life of it.
    Asked {
        atom: AtomId,
        life: u32,
    },
    /// The memory begins a new life.
    Renew,
    /// An atomic access to memory that the thread has [not published](super::own) yet: no event.
    Own {
        write: bool,
    },
    /// An atomic access; `kept` where races with it may be found later.
    Atomic {
        atom: AtomId,
        write: bool,
        kept: bool,
    },
}

/// An access to a piece of shared memory.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Touch {
    pub piece: Piece,
    pub deed: Deed,
    pub place: PlaceId,
}

/// What a thread depended on, and did, since it last stopped.
#[derive(Debug, Default)]
pub struct Log {
    pub reads: Vec<(ObjectId, Version)>,
    /// Objects of which only the shape mattered.
    pub shapes: Vec<(ObjectId, Shape)>,
    pub changed: Vec<ObjectId>,
    pub touches: Vec<Touch>,
    /// Whether it depended on something else besides.
    pub unique: bool,
    /// Whether it depended on the clocks of other threads.
    pub clocks: bool,
}

impl Log {
    /// Adds an access; as one with the last where that makes no difference.
    pub fn add(&mut self, touch: Touch) {
        if let Some(last) = self.touches.last_mut()
            && last.piece.object == touch.piece.object
        {
            let same = last.piece == touch.piece;
            let covered = touch.deed == Deed::Write && matches!(last.deed, Deed::Read | Deed::Alloc);
            if same && (last.deed == touch.deed || covered) {
                *last = touch;
                return;
            }
            let plain = matches!(touch.deed, Deed::Read | Deed::Write | Deed::Quiet);
            if plain && (last.deed, last.place, last.piece.end) == (touch.deed, touch.place, touch.piece.start) {
                last.piece.end = touch.piece.end;
                return;
            }
        }
        self.touches.push(touch);
    }
}

/// What threads share.
#[derive(Debug, Default)]
pub struct Objects {
    pub values: Values,
    keys: Vec<Key>,
    numbers: HashMap<Key, ObjectId, FastHash>,
    /// By thread and entry of its table: one more than the number of the block that starts there, or 0.
    blocks: Vec<Vec<u32>>,
    /// By thread: the blocks of its heap, in the order in which they got their numbers.
    own: Vec<Vec<ObjectId>>,
    atoms: Vec<Piece>,
    /// By object.
    atoms_in: Vec<Vec<AtomId>>,
    /// By object: whether the locations of its atomics change, because some overlap or have had several lives.
    unsteady: Vec<bool>,
    /// By object: whether the library's own accesses are left out of steps, because there are no atomics.
    left_out: Vec<bool>,
    /// Whether steps that were kept say too little, because there are other atomics now.
    pub outdated: bool,

    /// The version of each object, in the state that runs.
    pub versions: Vec<Version>,
    /// By object: one more than the number of the block that can be written, or 0.
    owned: Vec<u32>,
    pub races: Races,
    /// The atomics that were accessed as such: a set of [`AtomId`].
    pub noted: Vec<u64>,
    /// How often they were forgotten.
    pub lives: Lives,
    /// The threads of the state.
    pub others: Vec<Option<Arc<Frozen>>>,

    pub log: Log,
    /// By object: in which step a read was noted, a shape, a change.
    noted_in: Vec<[u32; 3]>,
    step: u32,
}

const READ: usize = 0;
const SHAPE: usize = 1;
const CHANGE: usize = 2;

impl Objects {
    /// A thread begins to run in a state.
    pub fn begin(&mut self) {
        self.step += 1;
        let Log { reads, shapes, changed, touches, unique, clocks } = &mut self.log;
        reads.clear();
        shapes.clear();
        changed.clear();
        touches.clear();
        (*unique, *clocks) = (false, false);
        self.versions.resize(self.keys.len().max(self.versions.len()), Version::NONE);
        self.owned.fill(0);
    }

    /// The number of an object.
    pub fn number(&mut self, key: Key) -> ObjectId {
        if let Some(object) = self.numbers.get(&key) {
            return *object;
        }
        let object = ObjectId(self.keys.len() as u32);
        self.keys.push(key);
        self.numbers.insert(key, object);
        self.atoms_in.push(Vec::new());
        self.unsteady.push(false);
        self.left_out.push(false);
        self.owned.push(0);
        self.noted_in.push([0; 3]);
        self.versions.resize(self.keys.len().max(self.versions.len()), Version::NONE);
        if let Key::Block { thread, index } = key {
            let (thread, index) = (thread.index(), index as usize);
            if self.blocks.len() <= thread {
                self.blocks.resize(thread + 1, Vec::new());
            }
            if self.own.len() <= thread {
                self.own.resize(thread + 1, Vec::new());
            }
            self.own[thread].push(object);
            let blocks = &mut self.blocks[thread];
            if blocks.len() <= index {
                blocks.resize(index + 1, 0);
            }
            blocks[index] = object.0 + 1;
        }
        object
    }

    /// What was changed by the thread that runs.
    pub fn changes_by(&self, thread: ThreadId) -> Changes {
        let of = |object: &ObjectId| match self.keys[object.index()] {
            _ if self.is_unchanged(*object) => Changes::Nothing,
            Key::Block { thread: owner, .. } if owner == thread => Changes::OwnBlocks,
            _ => Changes::Others,
        };
        self.log.changed.iter().map(of).max().unwrap_or(Changes::Nothing)
    }

    /// What the thread that runs has changed of what others have, as a number that means the same to every worker; 0 if
    /// that is nothing.
    pub fn written_by(&self, thread: ThreadId) -> u64 {
        let of_others = |object: &&ObjectId| {
            let key = self.keys[object.index()];
            !matches!(key, Key::Block { thread: owner, .. } if owner == thread) && !self.is_unchanged(**object)
        };
        let changed = self.log.changed.iter().filter(of_others);
        changed.fold(0, |digest, object| {
            hash_of(&(digest, self.keys[object.index()], self.values.get(self.version(*object)))) | 1
        })
    }

    /// What the thread that runs has accessed of tracked memory, given what others contend for.
    pub fn touched(&self, tracked: &Tracked) -> Touched {
        let mut touched = Touched { looked: self.log.clocks, ..Touched::default() };
        for Touch { piece, deed, .. } in &self.log.touches {
            let (write, atomic) = match *deed {
                Deed::Read => (false, false),
                Deed::Write => (true, false),
                // Whether these race is looked into as for other accesses, but they are not the same.
                Deed::Own { write } | Deed::Atomic { write, kept: true, .. } => (write, true),
                Deed::Atomic { .. } | Deed::Free | Deed::Renew => {
                    touched.looked = true;
                    continue;
                }
                _ => continue,
            };
            touched.looked = true;
            touched.any = true;
            if self.is_contended(*piece, tracked) {
                let access = hash_of(&(self.keys[piece.object.index()], piece.start, piece.end, write, atomic));
                touched.contended = touched.contended.wrapping_add(access) | 1;
            }
        }
        touched
    }

    /// Whether other threads contend for a piece of memory with iterations that were left out.
    pub fn is_contended(&self, piece: Piece, tracked: &Tracked) -> bool {
        tracked.has_contended() && self.origin(piece.object).is_some_and(|source| tracked.is_contended(source, piece))
    }

    /// Where an object comes from.
    pub fn origin(&self, object: ObjectId) -> Option<Source> {
        match self.keys[object.index()] {
            Key::Static(global) => Some(Source::Static(global)),
            Key::Block { .. } => self.values.source(self.version(object)),
            _ => None,
        }
    }

    /// Whether an object that was written is as it was before, and the step depends on how it was.
    fn is_unchanged(&self, object: ObjectId) -> bool {
        let before = self.log.reads.iter().find(|(read, _)| *read == object);
        before.is_some_and(|(_, before)| *before == self.version(object))
    }

    /// Whether the blocks that a thread has allocated, and not freed, have the same versions in both.
    pub fn own_blocks_alike(&self, owner: ThreadId, one: &[Version], two: &[Version]) -> bool {
        let version = |versions: &[Version], index: usize| {
            let version = versions.get(index).copied().unwrap_or_default();
            if self.values.is_freed(version) { Version::NONE } else { version }
        };
        self.own_blocks(owner).all(|index| version(one, index) == version(two, index))
    }

    /// The numbers of the blocks that a thread has allocated and that are shared.
    pub fn own_blocks(&self, owner: ThreadId) -> impl Iterator<Item = usize> {
        let blocks = self.own.get(owner.index()).map_or(&[][..], Vec::as_slice);
        blocks.iter().map(|object| object.index())
    }

    /// What is in the blocks that a thread has allocated, and not freed, as a number that means the same to every
    /// worker. Not in those of the standard library: others count references there, whenever they come to it. What the
    /// thread itself has counted is known to the thread.
    pub fn own_digest(&self, owner: ThreadId, versions: &[Version]) -> u64 {
        let mut digest = 0_u64;
        for index in self.own_blocks(owner) {
            let version = versions.get(index).copied().unwrap_or_default();
            if let Some(contents) = self.values.hash(version)
                && !self.values.is_freed(version)
                && !self.values.is_exempt(version)
            {
                digest = digest.wrapping_add(hash_of(&(self.keys[index], contents)));
            }
        }
        digest
    }

    /// What an object is.
    pub fn key(&self, object: ObjectId) -> Key {
        self.keys[object.index()]
    }

    /// The number of an object, if it has one.
    pub fn find(&self, key: Key) -> Option<ObjectId> {
        self.numbers.get(&key).copied()
    }

    /// The shared block that covers an address of the heap of a thread, if one does, in the state that runs.
    pub fn block_object(&self, thread: usize, address: u64) -> Option<ObjectId> {
        let present = |object: ObjectId| self.owned[object.index()] != 0 || self.version(object) != Version::NONE;
        self.last_block(thread, address, present)
    }

    /// The last block up to an address of the heap of a thread, of those that are present.
    pub fn last_block(&self, thread: usize, address: u64, present: impl Fn(ObjectId) -> bool) -> Option<ObjectId> {
        let blocks = self.blocks.get(thread)?;
        let index = index_of(address).min(blocks.len().checked_sub(1)?);
        let numbers = blocks[..=index].iter().rev().filter_map(|number| number.checked_sub(1));
        numbers.map(ObjectId).find(|object| present(*object))
    }

    /// What all objects are, by number.
    pub fn keys(&self) -> &[Key] {
        &self.keys
    }

    /// Where all atomics are, by number.
    pub fn atoms(&self) -> &[Piece] {
        &self.atoms
    }

    /// The version of an object.
    #[inline]
    pub fn version(&self, object: ObjectId) -> Version {
        self.versions.get(object.index()).copied().unwrap_or_default()
    }

    /// The number of an object's block that can be written.
    #[inline]
    pub fn owned(&self, object: ObjectId) -> Option<u32> {
        self.owned[object.index()].checked_sub(1)
    }

    /// The object has a block that can be written.
    pub fn set_owned(&mut self, object: ObjectId, index: u32) {
        self.owned[object.index()] = index + 1;
        self.note_change(object);
    }

    /// The object has a new version.
    pub fn set(&mut self, object: ObjectId, version: Version) {
        self.owned[object.index()] = 0;
        self.note_change(object);
        self.versions[object.index()] = version;
    }

    /// What the thread does depends on an object.
    pub fn note_read(&mut self, object: ObjectId) {
        let noted = &mut self.noted_in[object.index()];
        // What it wrote itself is no dependency.
        if noted[READ] != self.step && noted[CHANGE] != self.step {
            noted[READ] = self.step;
            self.log.reads.push((object, self.versions[object.index()]));
        }
    }

    /// What the thread does depends on what kind of block an object is.
    pub fn note_shape(&mut self, object: ObjectId) {
        let noted = &mut self.noted_in[object.index()];
        if !noted.contains(&self.step) {
            noted[SHAPE] = self.step;
            self.log.shapes.push((object, self.values.shape(self.versions[object.index()])));
        }
    }

    fn note_change(&mut self, object: ObjectId) {
        let noted = &mut self.noted_in[object.index()];
        if noted[CHANGE] != self.step {
            noted[CHANGE] = self.step;
            self.log.changed.push(object);
        }
    }

    /// The atomic at a piece of an object.
    pub fn atom(&mut self, piece: Piece) -> AtomId {
        if let Some(atom) = self.find_atom(piece) {
            return atom;
        }
        let overlaps = |atom: &AtomId| self.atoms[atom.0 as usize].overlaps(&piece);
        if self.atoms_in[piece.object.index()].iter().any(overlaps) {
            self.set_unsteady(piece.object);
        }
        if std::mem::take(&mut self.left_out[piece.object.index()]) {
            (self.outdated, self.log.unique) = (true, true);
        }
        let atom = AtomId(self.atoms.len() as u32);
        self.atoms.push(piece);
        self.atoms_in[piece.object.index()].push(atom);
        atom
    }

    /// The standard library's own access to a piece of an object, which matters only where atomics are.
    pub fn note_quiet(&mut self, piece: Piece) {
        match self.has_atoms(piece.object) {
            true => self.log.add(Touch { piece, deed: Deed::Quiet, place: PlaceId(0) }),
            false => self.left_out[piece.object.index()] = true,
        }
    }

    /// The atomic at a piece of an object, if there ever was one.
    pub fn find_atom(&self, piece: Piece) -> Option<AtomId> {
        self.atoms_in[piece.object.index()].iter().copied().find(|atom| self.atoms[atom.0 as usize] == piece)
    }

    /// Whether the locations of the atomics in an object change.
    #[inline]
    pub fn is_unsteady(&self, object: ObjectId) -> bool {
        self.unsteady[object.index()]
    }

    /// The locations of the atomics in an object change.
    pub fn set_unsteady(&mut self, object: ObjectId) {
        self.outdated |= !self.unsteady[object.index()];
        self.unsteady[object.index()] = true;
    }

    /// An atomic is no more: if its memory is used as one again, that is another one.
    pub fn forget_atom(&mut self, atom: AtomId) {
        self.set_unsteady(self.atoms[atom.0 as usize].object);
        set_noted(&mut self.noted, atom, false);
        self.lives.add_one(atom);
    }

    /// The atomics that overlap with one and were accessed as such.
    pub fn rivals<'a>(&'a self, atom: AtomId, noted: &'a [u64]) -> impl Iterator<Item = AtomId> + use<'a> {
        self.noted_atoms(self.piece(atom), noted).filter(move |other| *other != atom)
    }

    /// Where an atomic is.
    pub fn piece(&self, atom: AtomId) -> Piece {
        self.atoms[atom.0 as usize]
    }

    /// Whether an object ever had atomics.
    pub fn has_atoms(&self, object: ObjectId) -> bool {
        !self.atoms_in[object.index()].is_empty()
    }

    /// The atomics in a piece of memory that were accessed as such.
    pub fn noted_atoms<'a>(&'a self, piece: Piece, noted: &'a [u64]) -> impl Iterator<Item = AtomId> + use<'a> {
        let inside = move |atom: &AtomId| self.piece(*atom).overlaps(&piece) && is_noted(noted, *atom);
        self.atoms_in[piece.object.index()].iter().copied().filter(inside)
    }

    /// A block of memory that a version is.
    #[inline]
    pub fn block(&self, version: Version) -> Option<&Alloc> {
        match self.values.get(version) {
            Some(Value::Block(alloc)) => Some(alloc),
            _ => None,
        }
    }
}

/// How often atomics were forgotten, in a state: 0 for all that are not there.
#[derive(Debug, Default, PartialEq, Eq)]
pub struct Lives(Vec<u32>);

impl Lives {
    #[inline]
    pub fn get(&self, atom: AtomId) -> u32 {
        self.0.get(atom.0 as usize).copied().unwrap_or(0)
    }

    pub fn set(&mut self, atom: AtomId, life: u32) {
        let at = atom.0 as usize;
        if self.0.len() <= at {
            self.0.resize(at + 1, 0);
        }
        self.0[at] = life;
    }

    pub fn add_one(&mut self, atom: AtomId) {
        self.set(atom, self.get(atom) + 1);
    }
}

impl Clone for Lives {
    fn clone(&self) -> Lives {
        Lives(self.0.clone())
    }

    fn clone_from(&mut self, source: &Lives) {
        self.0.clone_from(&source.0);
    }
}

/// Whether an atomic is in a set.
#[inline]
pub fn is_noted(noted: &[u64], atom: AtomId) -> bool {
    noted.get(atom.0 as usize / 64).is_some_and(|word| word >> (atom.0 % 64) & 1 == 1)
}

/// Puts an atomic into a set, or takes it out.
#[inline]
pub fn set_noted(noted: &mut Vec<u64>, atom: AtomId, present: bool) {
    let (word, bit) = (atom.0 as usize / 64, 1 << (atom.0 % 64));
    if noted.len() <= word {
        noted.resize(word + 1, 0);
    }
    if present {
        noted[word] |= bit;
    } else {
        noted[word] &= !bit;
    }
}
