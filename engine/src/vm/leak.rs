//! Memory leaks: heap blocks that are still allocated at the end and that no static leads to.
//!
//! Every word of a static (and of the main thread's thread-locals) that looks like a pointer into a block counts as one,
//! and so does every word of a block that was reached so: nothing is reported that the program can still find.

use std::collections::BTreeSet;

use crate::program::PlaceId;
use crate::program::address::STACK_BIT;
use crate::verdict::ErrorKind;

use super::Vm;
use super::failure::{Failure, Fault};
use super::memory::{Alloc, Found};
use super::thread::ThreadId;

/// No more blocks than this get a note of their own.
const MAX_NOTES: usize = 10;
/// Programs may keep data in the upper bits of a pointer.
const POINTER_BITS: u64 = (STACK_BIT << 1) - 1;

struct Block {
    base: u64,
    size: u64,
    place: PlaceId,
    thread: ThreadId,
}

impl Vm {
    /// The failure of a run that ends now, if heap blocks were leaked.
    pub fn leaks(&self) -> Option<Box<Failure>> {
        let mut blocks = Vec::new();
        self.heap.for_each(&mut |alloc| {
            if alloc.kind.is_heap() {
                let Alloc { base, size, place, thread, .. } = *alloc;
                blocks.push(Block { base, size, place, thread });
            }
        });
        if blocks.is_empty() {
            return None;
        }
        let reached = self.reached();
        blocks.retain(|block| !reached.contains(&block.base));
        blocks.sort_by_key(|block| block.base);
        let first = blocks.first()?;
        let location =
            self.image.program.places.get(first.place.0 as usize).map(|_| self.image.program.location(first.place));
        let mut failure = Failure::new(leak_fault(&blocks), &self.image.program, first.thread, Vec::new());
        failure.location = location;
        Some(failure)
    }

    /// The heap blocks that statics lead to.
    fn reached(&self) -> BTreeSet<u64> {
        let mut reached = BTreeSet::new();
        let mut todo = Vec::new();
        self.heap.for_each(&mut |alloc| {
            if !alloc.kind.is_heap() {
                self.scan(alloc, &mut reached, &mut todo);
            }
        });
        while let Some(base) = todo.pop() {
            if let Found::Live(alloc) = self.heap.look(base, &self.image.globals) {
                self.scan(alloc, &mut reached, &mut todo);
            }
        }
        reached
    }

    /// Follows the pointers in an allocation.
    fn scan(&self, alloc: &Alloc, reached: &mut BTreeSet<u64>, todo: &mut Vec<u64>) {
        let skip = (alloc.base.next_multiple_of(8) - alloc.base) as usize;
        let (words, _) = alloc.data().get(skip..).unwrap_or_default().as_chunks::<8>();
        for word in words {
            let word = u64::from_le_bytes(*word);
            for address in [word, word & POINTER_BITS, word >> 16] {
                if address >> 36 == 0 || address & STACK_BIT != 0 {
                    continue;
                }
                if let Found::Live(target) = self.heap.look(address, &self.image.globals)
                    && target.kind.is_heap()
                    && address.wrapping_sub(target.base) <= target.size
                    && reached.insert(target.base)
                {
                    todo.push(target.base);
                }
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
        fault = fault.note(format!("{} bytes, allocated here", block.size), Some(block.place), Some(block.thread));
    }
    *fault
}
