//! Memory in a state of the program, for those who look at it from outside.

use crate::program::address::{GLOBAL_REGION, HEAP_REGION, REGION_BITS, STACK_BIT};
use crate::vm::image::Globals;
use crate::vm::leak::Memory;
use crate::vm::memory::{
    Alloc, AllocKind, AtomId, Entry, Key, ObjectId, Objects, Piece, Value, Version, is_init, is_noted,
};
use crate::vm::thread::Thread;
use crate::vm::world::{Labels, Output};

use super::row::Row;
use super::threads::Threads;

/// What a few bytes of memory are.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Peeked {
    pub value: u64,
    pub initialized: bool,
}

/// An atomic that threads share.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Atom {
    pub address: u64,
    pub len: u32,
    /// How often its memory was used for something else before.
    pub life: u32,
}

/// Memory in a state of the program.
pub struct View<'a, A> {
    pub row: &'a Row,
    pub threads: &'a Threads<A>,
    pub objects: &'a Objects,
    pub globals: &'a Globals,
}

impl<A: Copy> View<'_, A> {
    fn version(&self, object: ObjectId) -> Version {
        self.row.versions.get(object.index()).copied().unwrap_or_default()
    }

    fn global(&self, address: u64) -> Option<&Alloc> {
        let global = self.globals.find(address)?;
        let object = self.objects.find(Key::Static(global));
        let written = object.and_then(|object| self.objects.block(self.version(object)));
        written.or(self.globals.alloc(global))
    }

    fn block(&self, thread: usize, address: u64) -> Option<&Alloc> {
        let covering = |version| self.objects.block(version).filter(|alloc| alloc.covers(address));
        if let Some(frozen) = self.threads.get(*self.row.threads.get(thread)?)
            && let Entry::Frozen(version) = frozen.table.find(address)
            && let Some(alloc) = covering(version)
        {
            return Some(alloc);
        }
        let object = self.objects.last_block(thread, address, |object| self.version(object) != Version::NONE)?;
        covering(self.version(object))
    }

    /// The atomics that were accessed as such, in memory that threads share.
    pub fn atoms(&self) -> impl Iterator<Item = Atom> {
        let atoms = self.objects.atoms().iter().zip(0..).map(|(piece, number)| (*piece, AtomId(number)));
        let noted = atoms.filter(move |(_, atom)| is_noted(&self.row.noted, *atom));
        let atom = move |(piece, atom): (Piece, AtomId)| {
            let address = self.base(piece.object)? + u64::from(piece.start);
            Some(Atom { address, len: piece.end - piece.start, life: self.row.lives.get(atom) })
        };
        noted.filter_map(atom)
    }

    /// Where the block begins that an object is, if it is there.
    fn base(&self, object: ObjectId) -> Option<u64> {
        let alloc = match (self.objects.block(self.version(object)), self.objects.key(object)) {
            (None, Key::Static(global)) => self.globals.alloc(global),
            (block, _) => block,
        };
        alloc.map(|alloc| alloc.base)
    }

    /// What was written so far.
    pub fn output(&self) -> Option<&Output> {
        let object = self.objects.find(Key::Output)?;
        match self.objects.values.get(self.version(object)) {
            Some(Value::Output(output)) => Some(output),
            _ => None,
        }
    }

    /// The labels that threads have come to.
    pub fn covered(&self) -> Option<&Labels> {
        let object = self.objects.find(Key::Covered)?;
        match self.objects.values.get(self.version(object)) {
            Some(Value::Covered(labels)) => Some(labels),
            _ => None,
        }
    }

    /// The thread whose stack an address is in.
    pub fn owner(&self, address: u64) -> Option<&Thread> {
        let frozen = self.row.threads.iter().filter_map(|state| self.threads.get(*state));
        frozen.map(|frozen| &frozen.thread).find(|thread| thread.stack.owns(address))
    }

    /// Up to 8 bytes as a number, and whether they are initialized; 0 where there is no memory.
    pub fn peek(&self, address: u64, len: usize) -> Peeked {
        let Some((data, shadow)) = self.range(address, len as u64) else {
            return Peeked { value: 0, initialized: true };
        };
        let value = data.iter().take(8).rev().fold(0, |value, byte| value << 8 | u64::from(*byte));
        Peeked { value, initialized: shadow.iter().all(|byte| is_init(*byte)) }
    }

    /// The data and the shadow of a range, if all of it is alive.
    fn range(&self, address: u64, len: u64) -> Option<(&[u8], &[u8])> {
        if address & STACK_BIT == 0 {
            return self.find(address)?.range(address, len);
        }
        let frozen = self.row.threads.iter().filter_map(|state| self.threads.get(*state));
        let mut stacks = frozen.map(|frozen| &frozen.thread.stack).filter(|stack| stack.owns(address));
        stacks.find_map(|stack| stack.range(address, len))
    }
}

impl<A: Copy> Memory for View<'_, A> {
    fn find(&self, address: u64) -> Option<&Alloc> {
        let region = address >> REGION_BITS;
        if region == GLOBAL_REGION {
            return self.global(address);
        }
        self.block(region.checked_sub(HEAP_REGION)? as usize, address)
    }

    fn for_each_local(&self, visit: &mut dyn FnMut(u64)) {
        for frozen in self.row.threads.iter().filter_map(|state| self.threads.get(*state)) {
            let thread = &frozen.thread;
            thread.registers_in_use().iter().for_each(|word| visit(*word));
            thread.stack.words().for_each(&mut *visit);
        }
    }

    fn for_each(&self, visit: &mut dyn FnMut(&Alloc)) {
        for frozen in self.row.threads.iter().filter_map(|state| self.threads.get(*state)) {
            for entry in frozen.table.iter() {
                if let Entry::Frozen(version) = entry
                    && let Some(alloc) = self.objects.block(version)
                {
                    visit(alloc);
                }
            }
        }
        for version in &self.row.versions {
            if let Some(Value::Block(alloc)) = self.objects.values.get(*version)
                && alloc.kind != AllocKind::Constant
            {
                visit(alloc);
            }
        }
    }
}
