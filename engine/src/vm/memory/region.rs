//! The granules of a region, and which allocation each belongs to.
//!
//! A region hands out its granules in order and never again. They are kept in a tree of three levels (region, page,
//! chunk) that is copied on write, so a snapshot costs a few pointers and a write after it copies one path. Pages whose
//! allocations are all freed are forgotten after a while, so that a long run does not grow without bound.

use std::collections::VecDeque;
use std::sync::Arc;

use crate::program::address::{GRANULE_BITS, GRANULES_PER_REGION, place_in_region};
use crate::vm::cow::Cow;

use super::alloc::{Alloc, Freed};

/// Log2 of the granules in a chunk.
const CHUNK_BITS: u32 = 5;
/// Log2 of the chunks in a page.
const PAGE_BITS: u32 = 5;
const CHUNK_LEN: usize = 1 << CHUNK_BITS;
const PAGE_LEN: usize = 1 << PAGE_BITS;
/// How many pages without live allocations keep their records of who freed what.
const DEAD_PAGES_KEPT: usize = 64;

/// What is in a granule.
#[derive(Clone, Debug, Default)]
pub enum Slot {
    /// Nothing yet, or the gap after an allocation.
    #[default]
    Empty,
    /// The allocation that starts so many granules before covers it.
    Interior(u32),
    /// An allocation starts here; it is in the list of owned ones.
    Owned(u32),
    /// An allocation starts here; it is shared with snapshots.
    Shared(Arc<Alloc>),
    /// An allocation that was freed started here.
    Freed(Freed),
    /// Something was here, and was freed long ago.
    Forgotten,
}

#[derive(Clone, Debug, Default)]
struct Chunk {
    slots: [Slot; CHUNK_LEN],
}

#[derive(Clone, Debug, Default)]
struct PageTable {
    chunks: [Option<Cow<Chunk>>; PAGE_LEN],
    /// How many live allocations start here.
    live: u32,
}

#[derive(Clone, Debug, Default)]
enum Page {
    #[default]
    Empty,
    Table(Cow<PageTable>),
    Forgotten,
}

/// A region of the address space.
#[derive(Clone, Debug, Default)]
pub struct Region {
    next_granule: u64,
    pages: Vec<Page>,
    dead: VecDeque<u32>,
}

/// The first granule is left free, so that no block is at the start of a region.
const FIRST_GRANULE: u64 = 1;

impl Region {
    /// Finds room for an allocation: its offset in the region. `None`: the region is full.
    pub fn place(&mut self, size: u64, align: u64) -> Option<u64> {
        let (offset, next) = place_in_region(self.next_granule.max(FIRST_GRANULE), size, align);
        if next >= GRANULES_PER_REGION {
            return None;
        }
        let before = self.next_granule;
        self.next_granule = next;
        if page_of(before) != page_of(next) {
            self.bury_if_dead(page_of(before));
        }
        Some(offset)
    }

    /// Records an allocation at `offset` that covers `size` bytes.
    pub fn insert(&mut self, offset: u64, size: u64, slot: Slot) {
        let (first, last) = granules(offset, size);
        *self.slot_mut(first) = slot;
        for granule in first + 1..=last {
            *self.slot_mut(granule) = Slot::Interior((granule - first) as u32);
        }
        for page in page_of(first)..=page_of(last) {
            self.table_mut(page).live += 1;
        }
    }

    /// The granule where the allocation that covers `granule` starts, and what is there.
    #[inline]
    pub fn find(&self, granule: u64) -> (u64, &Slot) {
        match self.slot(granule) {
            Slot::Interior(back) => {
                let start = granule - u64::from(*back);
                (start, self.slot(start))
            }
            slot => (granule, slot),
        }
    }

    /// Replaces what starts at `offset` and covers `size` bytes by the record that it was freed.
    pub fn free(&mut self, offset: u64, size: u64, freed: Freed) {
        let (first, last) = granules(offset, size);
        *self.slot_mut(first) = Slot::Freed(freed);
        for page in page_of(first)..=page_of(last) {
            self.table_mut(page).live -= 1;
            self.bury_if_dead(page);
        }
    }

    /// Once nothing lives in a page and nothing will, its records are kept only for a while.
    fn bury_if_dead(&mut self, page: usize) {
        let dead = matches!(self.pages.get(page), Some(Page::Table(table)) if table.get().live == 0);
        if !dead || page >= page_of(self.next_granule) {
            return;
        }
        self.dead.push_back(page as u32);
        if self.dead.len() > DEAD_PAGES_KEPT
            && let Some(oldest) = self.dead.pop_front()
        {
            self.pages[oldest as usize] = Page::Forgotten;
        }
    }

    /// What is in a granule.
    #[inline]
    pub fn slot(&self, granule: u64) -> &Slot {
        const EMPTY: &Slot = &Slot::Empty;
        const FORGOTTEN: &Slot = &Slot::Forgotten;
        let (page, chunk, slot) = split(granule);
        match self.pages.get(page) {
            Some(Page::Table(table)) => match &table.get().chunks[chunk] {
                Some(chunk) => &chunk.get().slots[slot],
                None => EMPTY,
            },
            Some(Page::Forgotten) => FORGOTTEN,
            Some(Page::Empty) | None => EMPTY,
        }
    }

    /// What is in a granule, for writing.
    #[inline]
    pub fn slot_mut(&mut self, granule: u64) -> &mut Slot {
        let (page, chunk, slot) = split(granule);
        let chunk = self.table_mut(page).chunks[chunk].get_or_insert_with(|| Cow::new(Chunk::default()));
        &mut chunk.get_mut().slots[slot]
    }

    #[inline]
    fn table_mut(&mut self, page: usize) -> &mut PageTable {
        if page >= self.pages.len() {
            self.pages.resize(page + 1, Page::Empty);
        }
        let page = &mut self.pages[page];
        if !matches!(page, Page::Table(_)) {
            *page = Page::Table(Cow::new(PageTable::default()));
        }
        match page {
            Page::Table(table) => table.get_mut(),
            Page::Empty | Page::Forgotten => unreachable!("it was just made a table"),
        }
    }

    /// Shares everything that is owned.
    pub fn share(&mut self) {
        for page in &mut self.pages {
            let Page::Table(table) = page else { continue };
            if let Some(owned) = table.owned_mut() {
                owned.chunks.iter_mut().flatten().for_each(Cow::share);
                table.share();
            }
        }
    }

    /// Calls `visit` for each slot where something starts.
    pub fn for_each(&self, visit: &mut dyn FnMut(&Slot)) {
        for page in &self.pages {
            let Page::Table(table) = page else { continue };
            for chunk in table.get().chunks.iter().flatten() {
                chunk.get().slots.iter().for_each(&mut *visit);
            }
        }
    }
}

/// The first and the last granule of a range.
fn granules(offset: u64, size: u64) -> (u64, u64) {
    (offset >> GRANULE_BITS, (offset + size.saturating_sub(1)) >> GRANULE_BITS)
}

#[inline(always)]
fn page_of(granule: u64) -> usize {
    (granule >> (CHUNK_BITS + PAGE_BITS)) as usize
}

#[inline(always)]
fn split(granule: u64) -> (usize, usize, usize) {
    let slot = granule as usize % CHUNK_LEN;
    let chunk = (granule >> CHUNK_BITS) as usize % PAGE_LEN;
    (page_of(granule), chunk, slot)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::program::PlaceId;
    use crate::vm::memory::AllocKind;
    use crate::vm::thread::ThreadId;

    const FREED: Freed = Freed {
        size: 1,
        align_log2: 0,
        kind: AllocKind::Rust,
        allocated_by: ThreadId::MAIN,
        allocated_at: PlaceId(0),
        freed_by: ThreadId::MAIN,
        freed_at: PlaceId(0),
    };

    #[test]
    fn large_allocations_are_found_from_every_granule() {
        let mut region = Region::default();
        let offset = region.place(1_000_000, 8).unwrap();
        region.insert(offset, 1_000_000, Slot::Owned(7));
        let next = region.place(1, 1).unwrap();
        let first = offset >> GRANULE_BITS;
        for granule in first..=(offset + 999_999) >> GRANULE_BITS {
            assert!(matches!(region.find(granule), (start, Slot::Owned(7)) if start == first));
        }
        assert!(matches!(region.slot((next >> GRANULE_BITS) - 1), Slot::Empty));
    }

    #[test]
    fn dead_pages_are_forgotten() {
        let mut region = Region::default();
        let mut first = None;
        for _ in 0..100_000 {
            let offset = region.place(8, 8).unwrap();
            region.insert(offset, 8, Slot::Owned(0));
            region.free(offset, 8, FREED);
            first.get_or_insert(offset >> GRANULE_BITS);
        }
        assert!(matches!(region.slot(first.unwrap()), Slot::Forgotten));
        let tables = region.pages.iter().filter(|page| matches!(page, Page::Table(_))).count();
        assert!(tables <= DEAD_PAGES_KEPT + 1, "{tables}");
    }

    #[test]
    fn a_full_region_says_so() {
        let mut region = Region::default();
        assert!(region.place(1 << 36, 8).is_none());
        assert!(region.place(1 << 35, 8).is_some());
        assert!(region.place(1 << 35, 8).is_none());
    }
}
