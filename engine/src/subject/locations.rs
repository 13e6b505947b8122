//! Locations of the execution graph: the addresses of atomics, numbered.
//!
//! The numbers must mean the same in every graph of an exploration, for all workers, so they share one table.

use std::collections::{BTreeSet, HashMap};
use std::sync::{PoisonError, RwLock, RwLockReadGuard};

use crate::graph::Loc;
use crate::program::AtomicWidth;

/// An atomic in memory.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Atomic {
    pub address: u64,
    pub width: AtomicWidth,
    /// How often its memory was used for something else before.
    pub life: u32,
}

/// The table of locations.
#[derive(Debug, Default)]
pub struct Locations {
    table: RwLock<Table>,
}

#[derive(Debug, Default)]
struct Table {
    numbers: HashMap<Atomic, Loc>,
    atomics: Vec<Atomic>,
    /// The addresses and sizes of all atomics.
    extents: BTreeSet<(u64, u32)>,
}

impl Locations {
    fn table(&self) -> RwLockReadGuard<'_, Table> {
        self.table.read().unwrap_or_else(PoisonError::into_inner)
    }

    /// The location of an atomic.
    pub fn number(&self, atomic: Atomic) -> Loc {
        if let Some(&loc) = self.table().numbers.get(&atomic) {
            return loc;
        }
        let mut table = self.table.write().unwrap_or_else(PoisonError::into_inner);
        let next = Loc::new(table.atomics.len());
        let loc = *table.numbers.entry(atomic).or_insert(next);
        if loc == next {
            table.atomics.push(atomic);
            table.extents.insert((atomic.address, atomic.width.bytes()));
        }
        loc
    }

    /// The atomic at a location.
    pub fn atomic(&self, loc: Loc) -> Atomic {
        self.table().atomics[loc.index()]
    }

    /// Whether there is another atomic that overlaps with one.
    pub fn is_mixed(&self, address: u64, len: u32) -> bool {
        const LONGEST: u64 = 16;
        let end = address.saturating_add(u64::from(len));
        let near = (address.saturating_sub(LONGEST), 0)..(end, 0);
        let overlaps = |extent: &&(u64, u32)| extent.0 + u64::from(extent.1) > address && **extent != (address, len);
        self.table().extents.range(near).any(|extent| overlaps(&extent))
    }
}
