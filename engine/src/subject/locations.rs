//! Locations of the execution graph: the addresses of atomics, numbered.
//!
//! The numbers must mean the same in every graph of an exploration, for all workers, so they share one table. They also mean the same
//! in the next exploration, should the program have to be explored again, so that what was learned about a location is still known.

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
    /// By location: whether it was met in this exploration.
    met: Vec<bool>,
    /// The addresses and sizes of all atomics that were.
    extents: BTreeSet<(u64, u32)>,
}

impl Table {
    /// The location of an atomic that was met.
    fn met(&self, atomic: Atomic) -> Option<Loc> {
        self.numbers.get(&atomic).copied().filter(|loc| self.met[loc.index()])
    }

    fn meet(&mut self, atomic: Atomic) -> Loc {
        let next = Loc::new(self.atomics.len());
        let loc = *self.numbers.entry(atomic).or_insert(next);
        if loc == next {
            self.atomics.push(atomic);
            self.met.push(false);
        }
        self.met[loc.index()] = true;
        self.extents.insert((atomic.address, atomic.width.bytes()));
        loc
    }
}

impl Locations {
    /// The same numbers, for an exploration that begins again.
    pub fn renewed(self) -> Locations {
        let table = self.table.into_inner().unwrap_or_else(PoisonError::into_inner);
        let (met, extents) = (vec![false; table.atomics.len()], BTreeSet::new());
        Locations { table: RwLock::new(Table { met, extents, ..table }) }
    }

    fn table(&self) -> RwLockReadGuard<'_, Table> {
        self.table.read().unwrap_or_else(PoisonError::into_inner)
    }

    /// The location of an atomic.
    pub fn number(&self, atomic: Atomic) -> Loc {
        if let Some(loc) = self.table().met(atomic) {
            return loc;
        }
        self.table.write().unwrap_or_else(PoisonError::into_inner).meet(atomic)
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_stay_when_an_exploration_begins_again() {
        let atomic = |address| Atomic { address, width: AtomicWidth::W32, life: 0 };
        let locations = Locations::default();
        let (one, two) = (locations.number(atomic(0x10)), locations.number(atomic(0x12)));
        assert!(locations.is_mixed(0x10, 4));
        let again = locations.renewed();
        assert_eq!(again.number(atomic(0x10)), one);
        assert!(!again.is_mixed(0x10, 4), "the other one was not met again");
        assert_eq!(again.number(atomic(0x20)).index(), 2);
        assert_eq!(again.number(atomic(0x12)), two);
        assert!(again.is_mixed(0x10, 4));
    }
}
