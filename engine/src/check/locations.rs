//! Locations of the execution graph: the addresses of atomics, numbered.
//!
//! The numbers must mean the same in every graph of an exploration, whoever explores it, so there is one table for all.

use std::collections::HashMap;
use std::sync::{PoisonError, RwLock};

use crate::graph::Loc;
use crate::program::AtomicWidth;

/// An atomic in memory.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Atomic {
    pub address: u64,
    pub width: AtomicWidth,
}

/// The table of locations.
#[derive(Debug, Default)]
pub struct Locations {
    table: RwLock<Table>,
}

#[derive(Debug, Default)]
struct Table {
    numbers: HashMap<u64, Loc>,
    atomics: Vec<Atomic>,
}

impl Locations {
    /// The location of an atomic.
    pub fn number(&self, atomic: Atomic) -> Loc {
        {
            let table = self.table.read().unwrap_or_else(PoisonError::into_inner);
            if let Some(&loc) = table.numbers.get(&atomic.address) {
                return loc;
            }
        }
        let mut table = self.table.write().unwrap_or_else(PoisonError::into_inner);
        let next = Loc::new(table.atomics.len());
        let loc = *table.numbers.entry(atomic.address).or_insert(next);
        if loc == next {
            table.atomics.push(atomic);
        }
        loc
    }

    /// The atomic at a location.
    pub fn atomic(&self, loc: Loc) -> Atomic {
        let table = self.table.read().unwrap_or_else(PoisonError::into_inner);
        table.atomics[loc.index()]
    }
}
