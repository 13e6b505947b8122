//! Memory leaks: heap blocks that are still allocated at the end and that no static leads to.
//!
//! Every word of a static (and of the main thread's thread-locals; at the end of a model also of what the main
//! thread has in registers and on its stack) that looks like a pointer into a block counts as one, and so does every
//! word of a block that was reached so: nothing is reported that the program can still find.

use std::collections::{BTreeMap, BTreeSet};

use crate::program::PlaceId;
use crate::program::address::{GLOBAL_REGION, REGION_BITS, STACK_BIT};
use crate::verdict::ErrorKind;

use super::Vm;
use super::failure::{Failure, Fault};
use super::image::Image;
use super::memory::{Alloc, Found};
use super::note::NoteKind;
use super::thread::ThreadId;

/// No more blocks than this get a note of their own.
const MAX_NOTES: usize = 10;
/// Programs may keep data in the upper bits of a pointer.
const POINTER_BITS: u64 = (STACK_BIT << 1) - 1;

/// Memory at the end of a run.
pub trait Memory {
    /// Calls `visit` for each live allocation; constants and statics that were never written may be left out.
    fn for_each(&self, visit: &mut dyn FnMut(&Alloc));

    /// The live allocation at an address.
    fn find(&self, address: u64) -> Option<&Alloc>;

    /// Calls `visit` for each word that threads have in registers and on their stacks.
    fn for_each_local(&self, visit: &mut dyn FnMut(u64));
}

impl Memory for Vm {
    fn for_each(&self, visit: &mut dyn FnMut(&Alloc)) {
        self.heap.for_each(visit);
    }

    fn find(&self, address: u64) -> Option<&Alloc> {
        match self.heap.look(address, &self.image.globals) {
            Found::Live(alloc) => Some(alloc),
            _ => None,
        }
    }

    /// A run ends when all threads have ended.
    fn for_each_local(&self, _: &mut dyn FnMut(u64)) {}
}

struct Block {
    base: u64,
    size: u64,
    place: PlaceId,
    thread: ThreadId,
}

/// The failure of a run that ends now, if heap blocks were leaked. `atomics` are the words whose value is not
/// in memory, by address.
pub fn leaks(memory: &impl Memory, atomics: BTreeMap<u64, u64>, image: &Image) -> Option<Box<Failure>> {
    let mut blocks = Vec::new();
    memory.for_each(&mut |alloc| {
        if alloc.kind.is_heap() {
            let Alloc { base, size, place, thread, .. } = *alloc;
            blocks.push(Block { base, size, place, thread });
        }
    });
    if blocks.is_empty() {
        return None;
    }
    let reached = Search { memory, atomics, reached: BTreeSet::new(), todo: Vec::new() }.run();
    blocks.retain(|block| !reached.contains(&block.base));
    blocks.sort_by_key(|block| block.base);
    let first = blocks.first()?;
    let program = &image.program;
    let mut failure = Failure::new(leak_fault(&blocks), program, first.thread, Vec::new());
    failure.location = program.places.get(first.place.0 as usize).map(|_| program.location(first.place));
    Some(failure)
}

/// Looks for the heap blocks that statics lead to.
struct Search<'a, M> {
    memory: &'a M,
    atomics: BTreeMap<u64, u64>,
    reached: BTreeSet<u64>,
    todo: Vec<u64>,
}

impl<M: Memory> Search<'_, M> {
    fn run(mut self) -> BTreeSet<u64> {
        let memory = self.memory;
        memory.for_each(&mut |alloc| {
            if !alloc.kind.is_heap() {
                self.scan(alloc);
            }
        });
        memory.for_each_local(&mut |word| self.follow(word));
        let is_static = |(address, _): &(&u64, &u64)| **address >> REGION_BITS == GLOBAL_REGION;
        let values: Vec<u64> = self.atomics.iter().filter(is_static).map(|(_, value)| *value).collect();
        values.into_iter().for_each(|value| self.follow(value));
        while let Some(base) = self.todo.pop() {
            if let Some(alloc) = memory.find(base) {
                self.scan(alloc);
            }
        }
        self.reached
    }

    /// Follows the pointers in an allocation.
    fn scan(&mut self, alloc: &Alloc) {
        let first = alloc.base.next_multiple_of(8);
        let (words, _) = alloc.data().get((first - alloc.base) as usize..).unwrap_or_default().as_chunks::<8>();
        for (word, address) in words.iter().zip((first..).step_by(8)) {
            let value = self.atomics.get(&address).copied();
            self.follow(value.unwrap_or_else(|| u64::from_le_bytes(*word)));
        }
    }

    /// Follows a word, if it may be a pointer.
    fn follow(&mut self, word: u64) {
        for address in [word, word & POINTER_BITS, word >> 16] {
            if address >> REGION_BITS == 0 || address & STACK_BIT != 0 {
                continue;
            }
            if let Some(target) = self.memory.find(address)
                && target.kind.is_heap()
                && address.wrapping_sub(target.base) <= target.size
                && self.reached.insert(target.base)
            {
                self.todo.push(target.base);
            }
        }
    }
}

fn leak_fault(blocks: &[Block]) -> Fault {
    let bytes: u64 = blocks.iter().map(|block| block.size).sum();
    let message = match blocks {
        [block] => format!("a heap block of {} bytes is never freed", block.size),
        _ => format!("{} heap blocks, {bytes} bytes together, are never freed", blocks.len()),
    };
    let mut fault = Fault::new(ErrorKind::MemoryLeak, message);
    for block in blocks.iter().take(MAX_NOTES) {
        fault = fault.note(NoteKind::Leaked { size: block.size }, Some(block.place), Some(block.thread));
    }
    fault
}
