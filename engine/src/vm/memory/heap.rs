//! All allocations: the heaps of the threads, the statics that were written, and the constants of the program.
//!
//! Allocations that were made or written since the last snapshot are *owned*: they lie in one list, and the tree of
//! their region only says where. All others are shared with snapshots, or are those of the program. A small table of
//! recently used granules answers most lookups without the tree; it never owns anything that a snapshot would need.

use std::sync::Arc;

use crate::program::PlaceId;
use crate::program::address::{GLOBAL_REGION, GRANULE_BITS, HEAP_REGION, REGION_BITS, region_address};
use crate::vm::cow::Cow;
use crate::vm::image::Globals;
use crate::vm::thread::ThreadId;

use super::alloc::{Alloc, AllocKind, Freed};
use super::region::{Region, Slot};
use super::track::{PlainStore, Site, Tracking};

/// Larger blocks than this do not exist: asking for one fails as if memory was exhausted.
pub const MAX_BLOCK: u64 = 1 << 32;

const RECENT_BITS: u32 = 7;
const RECENT_LEN: usize = 1 << RECENT_BITS;

/// Why there is no allocation.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum AllocError {
    /// The block is too large: the allocator gives a null pointer.
    TooLarge,
    /// The thread has used up its addresses.
    Exhausted,
}

/// Where a recently used allocation is.
#[derive(Debug, Default)]
enum Target {
    #[default]
    None,
    Owned(u32),
    Shared(Arc<Alloc>),
    Global(u32),
}

#[derive(Debug, Default)]
struct Recent {
    granule: u64,
    target: Target,
}

/// All allocations.
#[derive(Debug, Default)]
pub struct Heap {
    /// Empty, or [`RECENT_LEN`] entries.
    recent: Vec<Recent>,
    /// The entries of `recent` that may have a target, as bits.
    recent_used: u128,
    owned: Vec<Alloc>,
    vacant: Vec<u32>,
    regions: Vec<Cow<Region>>,
    /// How accesses are tracked, while the program is explored.
    pub tracking: Option<Box<Tracking>>,
    /// Memory that turned out to be shared.
    pub learned: Option<Site>,
    /// An atomic whose value memory needs: its address and size.
    pub refresh: Option<(u64, u32)>,
    /// Atomics that were overwritten by plain writes: their addresses and sizes.
    pub plain_stores: Vec<PlainStore>,
    /// The thread that runs.
    current: ThreadId,
}

/// What was found at an address.
pub enum Found<'a> {
    Live(&'a Alloc),
    Freed(Freed),
    Forgotten,
    Nothing,
}

impl Clone for Heap {
    /// Cheap after [`Heap::share`].
    fn clone(&self) -> Heap {
        Heap {
            recent: Vec::new(),
            recent_used: 0,
            owned: self.owned.clone(),
            vacant: self.vacant.clone(),
            regions: self.regions.clone(),
            tracking: self.tracking.clone(),
            learned: self.learned,
            refresh: self.refresh,
            plain_stores: self.plain_stores.clone(),
            current: self.current,
        }
    }
}

#[inline(always)]
fn recent_index(granule: u64) -> usize {
    // Small blocks start at every second granule.
    ((granule >> 1) ^ (granule >> (REGION_BITS - GRANULE_BITS))) as usize % RECENT_LEN
}

impl Heap {
    /// The allocation at `address` if it was used recently.
    #[inline(always)]
    pub fn recent<'a>(&'a self, address: u64, globals: &'a Globals) -> Option<&'a Alloc> {
        let granule = address >> GRANULE_BITS;
        let recent = self.recent.get(recent_index(granule))?;
        if recent.granule != granule {
            return None;
        }
        match &recent.target {
            Target::Owned(index) => self.owned.get(*index as usize),
            Target::Shared(alloc) => Some(alloc),
            Target::Global(index) => globals.alloc(*index),
            Target::None => None,
        }
    }

    /// The allocation at `address` for writing, if it was written recently.
    #[inline(always)]
    pub fn recent_mut(&mut self, address: u64) -> Option<&mut Alloc> {
        let granule = address >> GRANULE_BITS;
        let recent = self.recent.get(recent_index(granule))?;
        match &recent.target {
            Target::Owned(index) if recent.granule == granule => self.owned.get_mut(*index as usize),
            _ => None,
        }
    }

    /// The number of the owned allocation at `address`, if it was used recently.
    #[inline(always)]
    pub fn recent_owned(&self, address: u64) -> Option<u32> {
        let granule = address >> GRANULE_BITS;
        let recent = self.recent.get(recent_index(granule))?;
        match recent.target {
            Target::Owned(index) if recent.granule == granule => Some(index),
            _ => None,
        }
    }

    /// An owned allocation.
    #[inline(always)]
    pub fn owned_mut(&mut self, index: u32) -> &mut Alloc {
        &mut self.owned[index as usize]
    }

    /// The live allocation at `address`, remembered as recent.
    pub fn find<'a>(&'a mut self, address: u64, globals: &'a Globals) -> Option<&'a Alloc> {
        let granule = address >> GRANULE_BITS;
        let target = self.target(address, globals);
        if matches!(target, Target::None) {
            return None;
        }
        if !self.may_remember(&target, globals) {
            return self.live(address, globals);
        }
        self.remember(granule, target);
        self.recent(address, globals)
    }

    /// Lets a thread run: what it may access without tracking is what may be remembered.
    pub fn enter(&mut self, thread: ThreadId) {
        if self.current != thread {
            self.current = thread;
            if self.tracking.is_some() {
                self.forget_all();
            }
        }
    }

    /// Whether accesses to an allocation need no tracking by the thread that runs.
    fn may_remember(&self, target: &Target, globals: &Globals) -> bool {
        if self.tracking.is_none() {
            return true;
        }
        let alloc = match target {
            Target::Owned(index) => self.owned.get(*index as usize),
            Target::Shared(alloc) => Some(&**alloc),
            Target::Global(index) => globals.alloc(*index),
            Target::None => None,
        };
        alloc.is_some_and(|alloc| alloc.is_free_for(self.current))
    }

    /// An owned allocation, and how accesses to it are tracked.
    pub fn tracked_mut(&mut self, index: u32) -> (&mut Alloc, Option<&Tracking>) {
        (&mut self.owned[index as usize], self.tracking.as_deref())
    }

    /// The number of the live allocation at `address`, which is made owned where it is not. The caller has checked that it
    /// can be written.
    pub fn own(&mut self, address: u64, globals: &Globals) -> Option<u32> {
        let index = match self.target(address, globals) {
            Target::None => return None,
            Target::Owned(index) => index,
            Target::Shared(alloc) => self.own_shared(alloc),
            Target::Global(index) => {
                let alloc = globals.alloc(index)?.clone();
                self.adopt(alloc)
            }
        };
        if self.may_remember(&Target::Owned(index), globals) {
            self.remember(address >> GRANULE_BITS, Target::Owned(index));
        }
        Some(index)
    }

    fn target(&self, address: u64, globals: &Globals) -> Target {
        match self.region(address).map_or(&Slot::Empty, |region| region.find(granule_in_region(address)).1) {
            Slot::Owned(index) => Target::Owned(*index),
            Slot::Shared(alloc) => Target::Shared(Arc::clone(alloc)),
            Slot::Empty if address >> REGION_BITS == GLOBAL_REGION => {
                globals.find(address).map_or(Target::None, Target::Global)
            }
            Slot::Empty | Slot::Interior(_) | Slot::Freed(_) | Slot::Forgotten => Target::None,
        }
    }

    fn region(&self, address: u64) -> Option<&Region> {
        self.regions.get((address >> REGION_BITS) as usize).map(Cow::get)
    }

    fn region_mut(&mut self, index: u64) -> &mut Region {
        let index = index as usize;
        while self.regions.len() <= index {
            self.regions.push(Cow::new(Region::default()));
        }
        self.regions[index].get_mut()
    }

    fn remember(&mut self, granule: u64, target: Target) {
        if self.recent.is_empty() {
            self.recent.resize_with(RECENT_LEN, Recent::default);
        }
        let index = recent_index(granule);
        self.recent[index] = Recent { granule, target };
        self.recent_used |= 1 << index;
    }

    fn forget_all(&mut self) {
        let mut used = std::mem::take(&mut self.recent_used);
        while used != 0 {
            self.recent[used.trailing_zeros() as usize].target = Target::None;
            used &= used - 1;
        }
    }

    /// Forgets the table entries of an allocation.
    fn forget(&mut self, base: u64, size: u64) {
        let first = base >> GRANULE_BITS;
        let last = (base + size.saturating_sub(1)) >> GRANULE_BITS;
        if last - first >= RECENT_LEN as u64 {
            return self.forget_all();
        }
        for granule in first..=last {
            if let Some(recent) = self.recent.get_mut(recent_index(granule))
                && recent.granule == granule
            {
                recent.target = Target::None;
            }
        }
    }

    /// Turns a shared allocation into an owned one, copied unless nobody else has it.
    #[cold]
    fn own_shared(&mut self, alloc: Arc<Alloc>) -> u32 {
        let (base, size) = (alloc.base, alloc.size);
        self.forget(base, size);
        *self.region_mut(base >> REGION_BITS).slot_mut(granule_in_region(base)) = Slot::Empty;
        let index = self.push(Arc::unwrap_or_clone(alloc));
        *self.region_mut(base >> REGION_BITS).slot_mut(granule_in_region(base)) = Slot::Owned(index);
        index
    }

    /// Takes a static of the program that is written for the first time.
    #[cold]
    fn adopt(&mut self, alloc: Alloc) -> u32 {
        let (base, size) = (alloc.base, alloc.size);
        self.forget(base, size);
        let index = self.push(alloc);
        self.region_mut(base >> REGION_BITS).insert(offset_in_region(base), size, Slot::Owned(index));
        index
    }

    fn push(&mut self, alloc: Alloc) -> u32 {
        if let Some(index) = self.vacant.pop() {
            self.owned[index as usize] = alloc;
            return index;
        }
        self.owned.push(alloc);
        (self.owned.len() - 1) as u32
    }

    /// Allocates in the heap of `thread`; the block is not initialized.
    pub fn alloc(
        &mut self,
        thread: ThreadId,
        size: u64,
        align: u64,
        kind: AllocKind,
        place: PlaceId,
    ) -> Result<&mut Alloc, AllocError> {
        if size > MAX_BLOCK {
            return Err(AllocError::TooLarge);
        }
        let region = HEAP_REGION + u64::from(thread.0);
        let offset = self.region_mut(region).place(size, align).ok_or(AllocError::Exhausted)?;
        let base = region_address(region, offset);
        let index = self.push(Alloc::new(base, size, align, kind, thread, place));
        self.region_mut(region).insert(offset, size, Slot::Owned(index));
        if self.tracking.is_none() {
            self.remember(base >> GRANULE_BITS, Target::Owned(index));
        }
        Ok(&mut self.owned[index as usize])
    }

    /// Frees the allocation that starts at `base`, which is live and on a heap.
    pub fn free(&mut self, base: u64, thread: ThreadId, place: PlaceId) {
        let granule = granule_in_region(base);
        let slot = std::mem::take(self.region_mut(base >> REGION_BITS).slot_mut(granule));
        let (size, freed) = match slot {
            Slot::Owned(index) => {
                let alloc = std::mem::replace(&mut self.owned[index as usize], Alloc::gone());
                self.vacant.push(index);
                (alloc.size, alloc.freed(thread, place))
            }
            Slot::Shared(alloc) => (alloc.size, alloc.freed(thread, place)),
            slot => {
                *self.region_mut(base >> REGION_BITS).slot_mut(granule) = slot;
                return;
            }
        };
        self.region_mut(base >> REGION_BITS).free(offset_in_region(base), size, freed);
        self.forget(base, size);
    }

    /// What is at `address`, for a report: nothing is remembered.
    pub fn look<'a>(&'a self, address: u64, globals: &'a Globals) -> Found<'a> {
        let Some(region) = self.region(address) else { return look_global(address, globals) };
        match region.find(granule_in_region(address)).1 {
            Slot::Owned(index) => Found::Live(&self.owned[*index as usize]),
            Slot::Shared(alloc) => Found::Live(alloc),
            Slot::Freed(freed) => Found::Freed(*freed),
            Slot::Forgotten => Found::Forgotten,
            Slot::Empty | Slot::Interior(_) => look_global(address, globals),
        }
    }

    /// The live allocation at `address`: nothing is remembered.
    pub fn live<'a>(&'a self, address: u64, globals: &'a Globals) -> Option<&'a Alloc> {
        match self.look(address, globals) {
            Found::Live(alloc) => Some(alloc),
            _ => None,
        }
    }

    /// Calls `visit` for each live allocation that is not the program's own.
    pub fn for_each(&self, visit: &mut dyn FnMut(&Alloc)) {
        for region in &self.regions {
            region.get().for_each(&mut |slot| match slot {
                Slot::Owned(index) => visit(&self.owned[*index as usize]),
                Slot::Shared(alloc) => visit(alloc),
                Slot::Empty | Slot::Interior(_) | Slot::Freed(_) | Slot::Forgotten => {}
            });
        }
    }

    /// Shares everything that is owned, so that a clone is cheap. Costs as much as was written since the last time.
    pub fn share(&mut self) {
        let owned = std::mem::take(&mut self.owned);
        self.vacant.clear();
        if !owned.is_empty() {
            self.forget_all();
        }
        for alloc in owned.into_iter().filter(|alloc| alloc.base != u64::MAX) {
            let base = alloc.base;
            let slot = self.region_mut(base >> REGION_BITS).slot_mut(granule_in_region(base));
            *slot = Slot::Shared(Arc::new(alloc));
        }
        for region in &mut self.regions {
            if let Some(owned) = region.owned_mut() {
                owned.share();
                region.share();
            }
        }
    }
}

fn look_global(address: u64, globals: &Globals) -> Found<'_> {
    globals.find(address).and_then(|index| globals.alloc(index)).map_or(Found::Nothing, Found::Live)
}

#[inline(always)]
fn granule_in_region(address: u64) -> u64 {
    offset_in_region(address) >> GRANULE_BITS
}

#[inline(always)]
fn offset_in_region(address: u64) -> u64 {
    address & ((1 << REGION_BITS) - 1)
}
