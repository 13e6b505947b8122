//! What a thread begins with, to be compared with what others began with.
//!
//! A thread of the standard library begins with the address of a block that leads to all it has: the handle of the
//! thread, and its closure, captures included. Two threads begin alike if the blocks that these lead to have the same
//! in them, but for pointers to blocks that the standard library has made for either of them: the closure itself, where
//! the result goes, the handle. Everything else that is captured must be the very same, pointers included: whatever
//! else a pointer leads to, others may have a pointer to it, too.

use std::collections::BTreeMap;
use std::hash::Hash;

use crate::program::address::{GLOBAL_REGION, REGION_BITS, STACK_BIT};
use crate::program::{FuncId, PlaceId};
use crate::vm::hash::hash_of;
use crate::vm::leak::Memory;
use crate::vm::memory::{Alloc, is_init};
use crate::vm::thread::ThreadId;

use super::{Explored, lock};

/// Threads that begin with more blocks than this are not compared.
const MAX_BLOCKS: usize = 24;
/// Nor are those that begin with a larger one.
const MAX_SIZE: u64 = 4096;
const WORD: u64 = 8;

/// What a thread begins with.
#[derive(Clone, Debug)]
pub struct Birth {
    entry: FuncId,
    spawned_at: PlaceId,
    /// The first one is what the thread is given the address of.
    blocks: Vec<Block>,
    /// The block with the identity of the thread.
    handle: u64,
}

/// A block of the standard library's own memory.
#[derive(Clone, Debug, PartialEq, Eq)]
struct Block {
    base: u64,
    data: Vec<u8>,
    /// By byte.
    init: Vec<bool>,
}

/// A word of a block: none of it that is not initialized counts.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
struct Word {
    value: u64,
    init: u8,
}

impl Word {
    /// The address that it is, if it may be one of the heap.
    fn address(self) -> Option<u64> {
        let is_heap = self.value >> REGION_BITS > GLOBAL_REGION && self.value & STACK_BIT == 0;
        (self.init == 0xff && is_heap).then_some(self.value)
    }
}

impl Block {
    fn of(alloc: &Alloc) -> Block {
        let init = alloc.shadow_of(0, alloc.size).iter().map(|byte| is_init(*byte)).collect();
        Block { base: alloc.base, data: alloc.data().to_vec(), init }
    }

    fn words(&self) -> impl Iterator<Item = Word> {
        self.data.chunks(WORD as usize).zip(self.init.chunks(WORD as usize)).map(|(data, init)| {
            let mut word = Word { value: 0, init: 0 };
            for (place, (byte, init)) in data.iter().zip(init).enumerate().filter(|(_, (_, init))| **init) {
                word.value |= u64::from(*byte) << (8 * place);
                word.init |= u8::from(*init) << place;
            }
            word
        })
    }

    fn contains(&self, address: u64) -> bool {
        address.wrapping_sub(self.base) < self.data.len() as u64
    }
}

impl Birth {
    /// Whether another thread has begun with the same.
    pub fn is_like(&self, other: &Birth) -> bool {
        let same_code = (self.entry, self.spawned_at) == (other.entry, other.spawned_at);
        let mut pairs = BTreeMap::from([(self.blocks[0].base, other.blocks[0].base)]);
        let mut todo = vec![self.blocks[0].base];
        while let Some(base) = todo.pop() {
            let (Some(mine), Some(theirs)) = (self.block(base), other.block(pairs[&base])) else { return false };
            if mine.base != base || theirs.base != pairs[&base] || mine.data.len() != theirs.data.len() {
                return false;
            }
            // A thread's number is the one thing that differs in its handle.
            let mut numbers = u32::from(mine.base == self.handle && theirs.base == other.handle);
            for (one, two) in mine.words().zip(theirs.words()).filter(|(one, two)| one != two) {
                match self.pair(one, other, two) {
                    Some(pair) if pairs.get(&pair.0).is_none_or(|known| *known == pair.1) => {
                        if pairs.insert(pair.0, pair.1).is_none() {
                            todo.push(pair.0);
                        }
                    }
                    None if numbers > 0 && one.init == two.init => numbers -= 1,
                    _ => return false,
                }
            }
        }
        let mut images: Vec<u64> = pairs.values().copied().collect();
        images.sort_unstable();
        images.dedup();
        same_code && images.len() == pairs.len()
    }

    /// The blocks that two different words point to, at the same place.
    fn pair(&self, one: Word, other: &Birth, two: Word) -> Option<(u64, u64)> {
        let (one, two) = (one.address()?, two.address()?);
        let (mine, theirs) = (self.block(one)?, other.block(two)?);
        (one - mine.base == two - theirs.base).then_some((mine.base, theirs.base))
    }

    fn block(&self, address: u64) -> Option<&Block> {
        self.blocks.iter().find(|block| block.contains(address))
    }

    /// Whether an address is in a block that this thread has begun with and the other has not.
    pub fn has_own(&self, other: &Birth, address: u64) -> bool {
        self.block(address).is_some_and(|block| other.block(block.base).is_none())
    }
}

impl<A: Copy> Explored<A> {
    /// What a thread begins with that has not run yet, if it can be compared.
    pub fn birth(&self, id: ThreadId) -> Option<Birth> {
        let universe = lock(&self.universe);
        let frozen = universe.threads.get(universe.row(self.row).thread(id))?;
        let (entry, spawned_at) = (frozen.thread.entry?, frozen.thread.spawned_at?);
        let results = self.basis.image.program.function(entry).results;
        let argument = *frozen.thread.registers_in_use().get(usize::from(results))?;
        let view = universe.view(self.row);
        let mut blocks: Vec<Block> = Vec::new();
        let mut todo = vec![argument];
        while let Some(address) = todo.pop() {
            let alloc = view.find(address).filter(|alloc| alloc.quiet && alloc.kind.is_heap());
            let Some(alloc) = alloc.filter(|_| blocks.iter().all(|block| !block.contains(address))) else { continue };
            if blocks.len() == MAX_BLOCKS || alloc.size > MAX_SIZE {
                return None;
            }
            let block = Block::of(alloc);
            todo.extend(block.words().filter_map(Word::address));
            blocks.push(block);
        }
        let handle = handle(blocks.first()?)?;
        Some(Birth { entry, spawned_at, blocks, handle })
    }

    /// What is left, when a thread has ended, of the blocks that it began with, as a number: the same for threads that
    /// nobody can tell apart by it. What it shares with the other does not count.
    pub fn remains(&self, birth: &Birth, other: &Birth) -> u64 {
        let universe = lock(&self.universe);
        let view = universe.view(self.row);
        let number = |word: Word| {
            let index = word.address().and_then(|at| birth.blocks.iter().position(|block| block.contains(at)));
            index.map_or((word, 0), |index| {
                let offset = word.value - birth.blocks[index].base;
                (Word { value: offset, ..word }, index as u64 + 1)
            })
        };
        let own = birth.blocks.iter().filter(|block| block.base != birth.handle && other.block(block.base).is_none());
        let contents = own.map(|block| {
            let left = view.find(block.base).filter(|alloc| alloc.base == block.base).map(Block::of);
            left.map(|block| block.words().map(number).collect::<Vec<_>>())
        });
        hash_of(&contents.collect::<Vec<_>>())
    }
}

/// Where the handle of a thread is, given what the thread is given the address of: a pointer to that, and the closure
/// with its vtable.
fn handle(init: &Block) -> Option<u64> {
    let words: Vec<Word> = init.words().collect();
    let is_vtable = |word: &Word| word.init == 0xff && word.value >> REGION_BITS == GLOBAL_REGION;
    match words.iter().position(is_vtable)? {
        _ if words.len() != 3 => None,
        1 => words[2].address(),
        2 => words[0].address(),
        _ => None,
    }
}
