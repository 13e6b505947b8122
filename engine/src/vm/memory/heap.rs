//! All allocations: the heaps of the threads, the statics, and the constants of the program.
//!
//! Blocks that can be written are *owned*: they lie in one list, and the table of their heap says where. When a program
//! runs once, all blocks are owned. While it is explored, a thread owns what it has written since it last stopped;
//! everything else is frozen ([`Objects`]) and copied when it is first written. What other threads keep for themselves
//! is out of sight.
//!
//! A small table of recently used granules answers most lookups.

use std::collections::HashMap;

use crate::program::address::{GLOBAL_REGION, GRANULE_BITS, HEAP_REGION, MAX_FRAME, REGION_BITS, region_address};
use crate::program::{FuncId, PlaceId};
use crate::vm::failure::Late;
use crate::vm::hash::FastHash;
use crate::vm::image::Globals;
use crate::vm::thread::ThreadId;

use super::alloc::{Alloc, AllocKind, Freed, Sharing, covers};
use super::objects::{Key, ObjectId, Objects, Version};
use super::table::{Entry, Table, index_of};
use super::track::{PlainStore, Tracking};
use super::value::{Value, Values};

/// Larger blocks than this do not exist: asking for one fails as if memory was exhausted.
pub const MAX_BLOCK: u64 = 1 << 32;
/// So many blocks that were freed last are remembered, in a run that is not explored.
const FREED_KEPT: usize = 1 << 15;

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

/// What to allocate.
#[derive(Clone, Copy, Debug)]
pub struct Request {
    pub size: u64,
    pub align: u64,
    pub kind: AllocKind,
    pub place: PlaceId,
    pub sharing: Sharing,
    pub quiet: bool,
}

/// Where an allocation is.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
enum Target {
    #[default]
    None,
    Owned(u32),
    Frozen(Version),
    Global(u32),
}

#[derive(Clone, Copy, Debug, Default)]
struct Recent {
    granule: u64,
    target: Target,
}

/// What is at an address.
#[derive(Clone, Copy, Debug)]
enum Located {
    Nothing,
    /// An allocation, and which object it is if it is shared.
    Live(Target, Option<ObjectId>),
    Freed(Freed),
    Forgotten,
    /// Something that another thread keeps for itself.
    Foreign,
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
    /// By thread. While the program is explored, only that of the thread that runs counts.
    tables: Vec<Table>,
    /// The statics that were written, in a run that is not explored.
    statics: HashMap<u32, u32, FastHash>,
    /// The blocks that were freed last, in a run that is not explored, and how many there were in all.
    freed: Vec<Freed>,
    freed_count: u32,
    /// How many blocks there are that the program must free.
    pub live: i64,
    /// How accesses are tracked, while the program is explored.
    pub tracking: Option<Box<Tracking>>,
    /// What threads share, while the program is explored.
    pub objects: Objects,
    /// An access that may come after its memory is gone, where that goes.
    pub late: Option<Late>,
    /// Atomics that were overwritten by plain writes.
    pub plain_stores: Vec<PlainStore>,
    /// The thread that runs.
    current: ThreadId,
    /// Whether there was no other thread yet, while the program is explored.
    pub alone: bool,
}

/// What was found at an address.
#[derive(Debug)]
pub enum Found<'a> {
    Live(&'a Alloc),
    Freed(Freed),
    Forgotten,
    Nothing,
}

#[inline(always)]
fn recent_index(granule: u64) -> usize {
    // Small blocks start at every second granule.
    ((granule >> 1) ^ (granule >> (REGION_BITS - GRANULE_BITS))) as usize % RECENT_LEN
}

fn is_explored(tracking: Option<&Tracking>) -> bool {
    tracking.is_some()
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
        self.alloc_at(recent.target, globals)
    }

    /// The allocation at `address` for writing, if it was written recently.
    #[inline(always)]
    pub fn recent_mut(&mut self, address: u64) -> Option<&mut Alloc> {
        let index = self.recent_owned(address)?;
        self.owned.get_mut(index as usize)
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

    #[inline(always)]
    fn alloc_at<'a>(&'a self, target: Target, globals: &'a Globals) -> Option<&'a Alloc> {
        match target {
            Target::Owned(index) => self.owned.get(index as usize),
            Target::Frozen(version) => self.objects.block(version),
            Target::Global(index) => globals.alloc(index),
            Target::None => None,
        }
    }

    /// What is at an address.
    fn locate(&self, address: u64, globals: &Globals) -> Located {
        let region = address >> REGION_BITS;
        if region == GLOBAL_REGION {
            return self.locate_global(address, globals);
        }
        let Some(thread) = region.checked_sub(HEAP_REGION) else { return Located::Nothing };
        let thread = thread as usize;
        let explored = is_explored(self.tracking.as_deref());
        if !explored || thread == self.current.index() {
            let entry = self.tables.get(thread).map_or(Entry::Empty, |table| table.find(address));
            match self.located(entry, None, address) {
                Located::Nothing => {}
                located => return located,
            }
        }
        if !explored {
            return Located::Nothing;
        }
        self.locate_object(thread, address)
    }

    fn locate_global(&self, address: u64, globals: &Globals) -> Located {
        let Some(global) = globals.find(address) else { return Located::Nothing };
        if !globals.alloc(global).is_some_and(|alloc| alloc.kind == AllocKind::Static) {
            return Located::Live(Target::Global(global), None);
        }
        if !is_explored(self.tracking.as_deref()) {
            let target = self.statics.get(&global).map_or(Target::Global(global), |index| Target::Owned(*index));
            return Located::Live(target, None);
        }
        let Some(object) = self.objects.find(Key::Static(global)) else {
            return Located::Live(Target::Global(global), None);
        };
        let target = match (self.objects.owned(object), self.objects.version(object)) {
            (Some(index), _) => Target::Owned(index),
            (None, Version::NONE) => Target::Global(global),
            (None, version) => Target::Frozen(version),
        };
        Located::Live(target, Some(object))
    }

    /// What is at an address that the table of the thread that runs does not know.
    fn locate_object(&self, thread: usize, address: u64) -> Located {
        if let Some(object) = self.objects.block_object(thread, address) {
            let entry = match self.objects.owned(object) {
                Some(index) => Entry::Owned(index),
                None => Entry::Frozen(self.objects.version(object)),
            };
            match self.located(entry, Some(object), address) {
                Located::Nothing => {}
                located => return located,
            }
        }
        if thread != self.current.index()
            && let Some(Some(other)) = self.objects.others.get(thread)
        {
            return match self.located(other.table.find(address), None, address) {
                Located::Live(..) => Located::Foreign,
                located => located,
            };
        }
        Located::Nothing
    }

    fn located(&self, entry: Entry, object: Option<ObjectId>, address: u64) -> Located {
        match entry {
            Entry::Empty | Entry::Interior(_) => Located::Nothing,
            Entry::Owned(index) if self.owned[index as usize].covers(address) => {
                Located::Live(Target::Owned(index), object)
            }
            Entry::Owned(_) => Located::Nothing,
            Entry::Frozen(version) => match self.objects.values.get(version) {
                Some(Value::Block(alloc)) if alloc.covers(address) => Located::Live(Target::Frozen(version), object),
                Some(Value::Freed(freed)) => located_freed(freed, address),
                _ => Located::Nothing,
            },
            Entry::Freed(number) => {
                let age = self.freed_count.wrapping_sub(number) as usize;
                let freed = self.freed.get(number as usize % FREED_KEPT).filter(|_| age <= FREED_KEPT);
                freed.map_or(Located::Forgotten, |freed| located_freed(freed, address))
            }
        }
    }

    /// The live allocation at `address`, remembered as recent.
    pub fn find<'a>(&'a mut self, address: u64, globals: &'a Globals) -> Option<&'a Alloc> {
        let Located::Live(target, object) = self.noted(address, globals) else { return None };
        if let Some(object) = object {
            self.objects.note_read(object);
        }
        if self.is_free(target, object, globals) {
            self.remember(address >> GRANULE_BITS, target);
        }
        self.alloc_at(target, globals)
    }

    /// What is at an address; a static gets a number.
    fn noted(&mut self, address: u64, globals: &Globals) -> Located {
        let located = self.locate(address, globals);
        if let Located::Live(Target::Global(global), None) = located
            && is_explored(self.tracking.as_deref())
            && globals.alloc(global).is_some_and(|alloc| alloc.kind == AllocKind::Static)
        {
            let object = self.objects.number(Key::Static(global));
            return Located::Live(Target::Global(global), Some(object));
        }
        located
    }

    /// The object at an address, and the block, if it is shared memory.
    pub fn object<'a>(&'a mut self, address: u64, globals: &'a Globals) -> Option<(ObjectId, &'a Alloc)> {
        let Located::Live(target, Some(object)) = self.noted(address, globals) else { return None };
        Some((object, self.alloc_at(target, globals)?))
    }

    /// Lets a thread run.
    pub fn enter(&mut self, thread: ThreadId, alone: bool) {
        self.current = thread;
        self.alone = alone && is_explored(self.tracking.as_deref());
    }

    /// Whether accesses to an allocation need no tracking by the thread that runs.
    fn is_free(&self, target: Target, object: Option<ObjectId>, globals: &Globals) -> bool {
        if !is_explored(self.tracking.as_deref()) {
            return true;
        }
        let Some(alloc) = self.alloc_at(target, globals) else { return false };
        match (alloc.kind, alloc.sharing, object) {
            (AllocKind::Constant, ..) => true,
            (AllocKind::Static, ..) | (_, Sharing::Tracked, _) => false,
            (_, Sharing::Exempt, Some(object)) => !self.objects.has_atoms(object),
            (_, Sharing::Private | Sharing::Exempt, _) => true,
        }
    }

    /// The number of the live allocation at `address`, which is made owned where it is not. The caller has checked that it
    /// can be written.
    pub fn own(&mut self, address: u64, globals: &Globals) -> Option<u32> {
        let Located::Live(target, object) = self.noted(address, globals) else { return None };
        let index = match target {
            Target::None => return None,
            Target::Owned(index) => index,
            Target::Frozen(_) | Target::Global(_) => self.own_copy(target, object, globals)?,
        };
        if self.is_free(Target::Owned(index), object, globals) {
            self.remember(address >> GRANULE_BITS, Target::Owned(index));
        }
        Some(index)
    }

    #[cold]
    fn own_copy(&mut self, target: Target, object: Option<ObjectId>, globals: &Globals) -> Option<u32> {
        let alloc = self.alloc_at(target, globals)?.clone();
        let (base, size) = (alloc.base, alloc.size);
        self.forget(base, size);
        let index = self.push(alloc);
        match (object, target) {
            (Some(object), _) => {
                self.objects.note_read(object);
                self.objects.set_owned(object, index);
            }
            (None, Target::Global(global)) => _ = self.statics.insert(global, index),
            (None, _) => self.table_mut(base >> REGION_BITS).set(base, Entry::Owned(index)),
        }
        Some(index)
    }

    fn table_mut(&mut self, region: u64) -> &mut Table {
        let thread = (region - HEAP_REGION) as usize;
        if self.tables.len() <= thread {
            self.tables.resize_with(thread + 1, Table::default);
        }
        &mut self.tables[thread]
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

    fn push(&mut self, alloc: Alloc) -> u32 {
        if let Some(index) = self.vacant.pop() {
            self.owned[index as usize] = alloc;
            return index;
        }
        self.owned.push(alloc);
        (self.owned.len() - 1) as u32
    }

    /// Allocates in the heap of `thread`; the block is not initialized.
    pub fn alloc(&mut self, thread: ThreadId, request: Request) -> Result<&mut Alloc, AllocError> {
        let Request { size, align, kind, place, sharing, quiet } = request;
        if size > MAX_BLOCK {
            return Err(AllocError::TooLarge);
        }
        let region = HEAP_REGION + u64::from(thread.0);
        let offset = self.table_mut(region).place(size, align).ok_or(AllocError::Exhausted)?;
        let base = region_address(region, offset);
        let mut alloc = Alloc::new(base, size, align, kind, thread, place);
        (alloc.sharing, alloc.quiet) = (sharing, quiet);
        let index = self.push(alloc);
        self.live += i64::from(kind.is_heap());
        if sharing == Sharing::Private {
            self.table_mut(region).insert(base, size, Entry::Owned(index));
            self.remember(base >> GRANULE_BITS, Target::Owned(index));
        } else {
            let object = self.objects.number(Key::Block { thread, index: index_of(base) as u32 });
            self.objects.set_owned(object, index);
        }
        Ok(&mut self.owned[index as usize])
    }

    /// Whether the frames of a function are blocks of the heap, for other threads to use.
    #[inline(always)]
    pub fn shares_frame(&self, func: FuncId) -> bool {
        self.tracking.as_ref().is_some_and(|tracking| tracking.tracked.contains_frame(func))
    }

    /// Allocates the frame of a function; `None`: the thread has used up its addresses.
    pub fn alloc_frame(&mut self, thread: ThreadId, func: FuncId, shadow: &[u8]) -> Option<u64> {
        let request = Request {
            size: shadow.len() as u64,
            // As in the stack: slots are aligned by their offsets.
            align: u64::from(MAX_FRAME),
            kind: AllocKind::Frame(func),
            place: PlaceId(0),
            sharing: Sharing::Tracked,
            quiet: false,
        };
        let alloc = self.alloc(thread, request).ok()?;
        alloc.slices_mut(0, alloc.size).1.copy_from_slice(shadow);
        Some(alloc.base)
    }

    /// Frees the allocation that starts at `base`, which is live and not the program's own.
    pub fn free(&mut self, base: u64, thread: ThreadId, place: PlaceId, globals: &Globals) {
        let Located::Live(target, object) = self.locate(base, globals) else { return };
        let Some(alloc) = self.alloc_at(target, globals) else { return };
        let (size, kind, freed) = (alloc.size, alloc.kind, alloc.freed(thread, place));
        self.live -= i64::from(kind.is_heap());
        if let Some(object) = object {
            self.objects.note_read(object);
        }
        if let Target::Owned(index) = target {
            self.owned[index as usize] = Alloc::gone();
            self.vacant.push(index);
        }
        self.forget(base, size);
        if !is_explored(self.tracking.as_deref()) {
            let entry = self.keep_freed(freed);
            return self.table_mut(base >> REGION_BITS).set(base, entry);
        }
        let version = self.objects.values.intern(Value::Freed(freed));
        match object {
            Some(object) => self.objects.set(object, version),
            None => self.table_mut(base >> REGION_BITS).set(base, Entry::Frozen(version)),
        }
    }

    fn keep_freed(&mut self, freed: Freed) -> Entry {
        let number = self.freed_count;
        self.freed_count += 1;
        let at = number as usize % FREED_KEPT;
        if self.freed.len() <= at {
            self.freed.push(freed);
        } else {
            self.freed[at] = freed;
        }
        Entry::Freed(number)
    }

    /// What is at `address`, for a report: nothing is noted.
    pub fn look<'a>(&'a self, address: u64, globals: &'a Globals) -> Found<'a> {
        match self.locate(address, globals) {
            Located::Live(target, _) => self.alloc_at(target, globals).map_or(Found::Nothing, Found::Live),
            Located::Freed(freed) => Found::Freed(freed),
            Located::Forgotten => Found::Forgotten,
            Located::Nothing | Located::Foreign => Found::Nothing,
        }
    }

    /// The block at an address that another thread keeps for itself.
    pub fn foreign(&self, address: u64, globals: &Globals) -> Option<&Alloc> {
        let Located::Foreign = self.locate(address, globals) else { return None };
        let thread = (address >> REGION_BITS).checked_sub(HEAP_REGION)? as usize;
        match self.objects.others.get(thread)?.as_ref()?.table.find(address) {
            Entry::Frozen(version) => self.objects.block(version),
            _ => None,
        }
    }

    /// Calls `visit` for each live allocation that is not the program's own, in a run that is not explored.
    pub fn for_each(&self, visit: &mut dyn FnMut(&Alloc)) {
        self.owned.iter().filter(|alloc| alloc.base != u64::MAX).for_each(visit);
    }

    /// The blocks of a thread that begins to run: nothing is owned.
    pub fn begin(&mut self, thread: ThreadId) {
        self.current = thread;
        self.owned.clear();
        self.vacant.clear();
        self.forget_all();
        self.plain_stores.clear();
        self.late = None;
        self.live = 0;
        self.objects.begin();
    }

    /// The blocks of a thread.
    pub fn table(&mut self, thread: ThreadId) -> &mut Table {
        self.table_mut(HEAP_REGION + u64::from(thread.0))
    }

    /// The blocks of a thread, and what they contain.
    pub fn table_and_values(&mut self, thread: ThreadId) -> (&Table, &Values) {
        self.table(thread);
        (&self.tables[thread.index()], &self.objects.values)
    }

    /// What was written since the thread began to run.
    pub fn written(&self) -> &[Alloc] {
        &self.owned
    }

    /// Freezes what was written.
    pub fn freeze(&mut self) {
        for at in 0..self.objects.log.changed.len() {
            let object = self.objects.log.changed[at];
            if let Some(index) = self.objects.owned(object) {
                let alloc = std::mem::replace(&mut self.owned[index as usize], Alloc::gone());
                let version = self.objects.values.intern(Value::Block(alloc.canonical()));
                self.objects.set(object, version);
            }
        }
        let mut owned = std::mem::take(&mut self.owned);
        for alloc in owned.drain(..).filter(|alloc| alloc.base != u64::MAX) {
            let base = alloc.base;
            let version = self.objects.values.intern(Value::Block(alloc.canonical()));
            self.table_mut(base >> REGION_BITS).set(base, Entry::Frozen(version));
        }
        self.owned = owned;
        self.vacant.clear();
        self.forget_all();
    }
}

fn located_freed(freed: &Freed, address: u64) -> Located {
    if covers(freed.base, u64::from(freed.size), address) { Located::Freed(*freed) } else { Located::Nothing }
}
