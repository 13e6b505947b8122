//! Statics that are accessed as atomics and as other memory, too.
//!
//! As long as a static is accessed in one way only, its atomics are no part of the search for races: whether two atomic accesses
//! race is no question, and there is nothing else. That it is accessed both ways is noticed when an execution has both
//! accesses. But an atomic access may be in a loop iteration that is left out of every execution. So all accesses that threads
//! make, also where something is only tried, are collected here, and whoever explores the program looks at them in the end.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::{Mutex, PoisonError};

/// A part of memory: where it begins, and how long it is.
type Extent = (u64, u64);

/// The accesses to statics, by all workers.
#[derive(Debug, Default)]
pub struct Statics {
    accessed: Mutex<Accessed>,
}

/// What was accessed, with the numbers of the statics.
#[derive(Debug, Default)]
struct Accessed {
    atomically: BTreeMap<Extent, u32>,
    plainly: BTreeMap<Extent, u32>,
}

impl Statics {
    /// Notes an access to a static.
    pub fn note(&self, extent: Extent, global: u32, atomic: bool) {
        let mut accessed = self.accessed.lock().unwrap_or_else(PoisonError::into_inner);
        let Accessed { atomically, plainly } = &mut *accessed;
        let list = if atomic { atomically } else { plainly };
        list.insert(extent, global);
    }

    /// The statics of which some atomic was also accessed in another way, or as an atomic of another size.
    pub fn mixed(&self) -> BTreeSet<u32> {
        let accessed = self.accessed.lock().unwrap_or_else(PoisonError::into_inner);
        let Accessed { atomically, plainly } = &*accessed;
        let is_mixed = |(extent, _): &(&Extent, &u32)| {
            let other_atomics = atomically.keys().filter(|other| other != extent);
            other_atomics.chain(plainly.keys()).any(|other| overlap(**extent, *other))
        };
        atomically.iter().filter(is_mixed).map(|(_, global)| *global).collect()
    }
}

fn overlap(one: Extent, other: Extent) -> bool {
    one.0 < other.0.saturating_add(other.1) && other.0 < one.0.saturating_add(one.1)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn atomics_that_are_accessed_otherwise_are_mixed() {
        let statics = Statics::default();
        statics.note((0x100, 4), 1, true);
        statics.note((0x104, 4), 1, false);
        statics.note((0x200, 8), 2, true);
        statics.note((0x300, 4), 3, true);
        statics.note((0x2f0, 32), 3, false);
        assert_eq!(statics.mixed(), BTreeSet::from([3]));
        statics.note((0x204, 4), 2, true);
        assert_eq!(statics.mixed(), BTreeSet::from([2, 3]));
    }
}
