//! The blocks of a heap: which allocation an address belongs to.
//!
//! A heap hands out the granules of its region in order and never again. Blocks lie at least a granule apart, so that two
//! granules never belong to two blocks: the table has an entry for every two.

use crate::program::address::{GRANULE_BITS, GRANULES_PER_REGION, REGION_BITS, place_in_region};

use super::objects::Version;

/// The first granule is left free, so that no block is at the start of a region.
const FIRST_GRANULE: u64 = 1;

/// What is in two granules.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Entry {
    /// Nothing that the table knows of.
    Empty,
    /// The block that starts so many entries before covers it.
    Interior(u32),
    /// A block starts here; it is in the list of those that can be written.
    Owned(u32),
    /// A block starts here, or did: it is as it was when it was last written or freed.
    Frozen(Version),
    /// A block started here that was freed: the number of its record.
    Freed(u32),
}

/// An entry, packed.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
struct Packed(u32);

const TAG_BITS: u32 = 2;
const FROZEN: u32 = 0;
const INTERIOR: u32 = 1;
const OWNED: u32 = 2;
const FREED: u32 = 3;

impl From<Entry> for Packed {
    fn from(entry: Entry) -> Packed {
        let (tag, number) = match entry {
            Entry::Empty => return Packed(0),
            Entry::Interior(back) => (INTERIOR, back),
            Entry::Owned(index) => (OWNED, index),
            Entry::Frozen(version) => (FROZEN, version.0),
            Entry::Freed(record) => (FREED, record),
        };
        debug_assert!(number < 1 << (u32::BITS - TAG_BITS), "numbers of blocks are small");
        Packed(number << TAG_BITS | tag)
    }
}

impl From<Packed> for Entry {
    fn from(packed: Packed) -> Entry {
        let number = packed.0 >> TAG_BITS;
        match packed.0 & ((1 << TAG_BITS) - 1) {
            INTERIOR => Entry::Interior(number),
            OWNED => Entry::Owned(number),
            FREED => Entry::Freed(number),
            _ if number == 0 => Entry::Empty,
            _ => Entry::Frozen(Version(number)),
        }
    }
}

/// The blocks of a heap.
#[derive(Debug, Default, PartialEq, Eq, Hash)]
pub struct Table {
    next_granule: u64,
    entries: Vec<Packed>,
}

impl Clone for Table {
    fn clone(&self) -> Table {
        Table { next_granule: self.next_granule, entries: self.entries.clone() }
    }

    fn clone_from(&mut self, source: &Table) {
        self.next_granule = source.next_granule;
        self.entries.clone_from(&source.entries);
    }
}

/// Which entry of its table an address belongs to.
#[inline(always)]
pub fn index_of(address: u64) -> usize {
    ((address & ((1 << REGION_BITS) - 1)) >> (GRANULE_BITS + 1)) as usize
}

impl Table {
    /// Finds room for an allocation: its offset in the region. `None`: the region is full.
    pub fn place(&mut self, size: u64, align: u64) -> Option<u64> {
        let (offset, next) = place_in_region(self.next_granule.max(FIRST_GRANULE), size, align);
        if next >= GRANULES_PER_REGION {
            return None;
        }
        self.next_granule = next;
        Some(offset)
    }

    /// Records what starts at an address and covers `size` bytes.
    pub fn insert(&mut self, base: u64, size: u64, entry: Entry) {
        let (first, last) = (index_of(base), index_of(base + size.saturating_sub(1)));
        if self.entries.len() <= last {
            self.entries.resize(last + 1, Packed(0));
        }
        self.entries[first] = entry.into();
        for (back, interior) in (1..).zip(&mut self.entries[first + 1..=last]) {
            *interior = Entry::Interior(back).into();
        }
    }

    /// What is known of an address.
    #[inline]
    pub fn find(&self, address: u64) -> Entry {
        let index = index_of(address);
        match self.entry(index) {
            Entry::Interior(back) => self.entry(index - back as usize),
            entry => entry,
        }
    }

    #[inline]
    fn entry(&self, index: usize) -> Entry {
        self.entries.get(index).map_or(Entry::Empty, |packed| Entry::from(*packed))
    }

    /// Replaces what starts at an address.
    pub fn set(&mut self, base: u64, entry: Entry) {
        if let Some(packed) = self.entries.get_mut(index_of(base)) {
            *packed = entry.into();
        }
    }

    /// Everything that starts somewhere.
    pub fn iter(&self) -> impl Iterator<Item = Entry> {
        self.entries.iter().map(|packed| Entry::from(*packed))
    }

    /// The same table with other versions.
    pub fn renamed(&self, mut rename: impl FnMut(Version) -> Version) -> Table {
        let entries = self.entries.iter().map(|packed| match Entry::from(*packed) {
            Entry::Frozen(version) => Entry::Frozen(rename(version)).into(),
            _ => *packed,
        });
        Table { next_granule: self.next_granule, entries: entries.collect() }
    }

    /// How many bytes it takes.
    pub fn bytes(&self) -> usize {
        self.entries.len() * size_of::<Packed>()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::program::address::region_address;

    #[test]
    fn large_allocations_are_found_from_every_granule() {
        let mut table = Table::default();
        let base = region_address(2, table.place(1_000_000, 8).unwrap());
        table.insert(base, 1_000_000, Entry::Owned(7));
        let next = region_address(2, table.place(1, 1).unwrap());
        table.insert(next, 1, Entry::Owned(8));
        for address in (base..base + 1_000_000).step_by(4096).chain([base + 999_999]) {
            assert_eq!(table.find(address), Entry::Owned(7));
        }
        assert_eq!((table.find(next), table.find(next + 10_000)), (Entry::Owned(8), Entry::Empty));
    }

    #[test]
    fn no_two_blocks_share_an_entry() {
        let mut table = Table::default();
        let mut last = None;
        for size in [1, 4000, 4096, 8000, 100, 12_000, 1, 1, 4090, 4097] {
            let base = region_address(2, table.place(size, 8).unwrap());
            assert!(last.is_none_or(|last| last < index_of(base)));
            last = Some(index_of(base + size - 1));
        }
    }

    #[test]
    fn entries_are_packed_and_unpacked() {
        for entry in [
            Entry::Empty,
            Entry::Interior(1),
            Entry::Owned(0),
            Entry::Owned(1 << 29),
            Entry::Frozen(Version(5)),
            Entry::Freed(0),
        ] {
            assert_eq!(Entry::from(Packed::from(entry)), entry);
        }
    }

    #[test]
    fn a_full_region_says_so() {
        let mut table = Table::default();
        assert!(table.place(1 << 36, 8).is_none());
        assert!(table.place(1 << 35, 8).is_some());
        assert!(table.place(1 << 35, 8).is_none());
    }
}
