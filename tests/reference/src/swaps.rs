//! Executions that differ only in the order of updates that commute.

use crate::candidate::{Key, Name};
use std::collections::{BTreeMap, BTreeSet};

/// The updates that add a number and do not acquire, with the number.
pub type Counters = BTreeMap<(usize, usize), u64>;

/// All executions that can be had from one by swapping updates that are next to each other, one after the other, and that
/// are executions.
pub fn class(key: &Key, counters: &Counters, executions: &BTreeSet<Key>) -> BTreeSet<Key> {
    let mut class = BTreeSet::from([key.clone()]);
    let mut open = vec![key.clone()];
    while let Some(key) = open.pop() {
        for (&loc, co) in &key.co {
            for place in 1..co.len() {
                let swapped = swapped(&key, loc, place, counters).filter(|key| executions.contains(key));
                if let Some(other) = swapped.filter(|other| !class.contains(other)) {
                    class.insert(other.clone());
                    open.push(other);
                }
            }
        }
    }
    class
}

/// The execution with the update at a place of coherence order swapped with the one before it.
fn swapped(key: &Key, loc: u8, place: usize, counters: &Counters) -> Option<Key> {
    let (first, second) = (key.co[&loc][place - 1]?, key.co[&loc][place]?);
    let (one, other) = (counters.get(&first)?, counters.get(&second)?);
    let reads_first = |(_, rf): &(u64, Name)| *rf == Some(first);
    // Somebody else has read what is there in between.
    if first.0 == second.0 || key.threads.iter().flatten().filter(|step| reads_first(step)).count() > 1 {
        return None;
    }
    let _ = one;
    let mut key = key.clone();
    for step in key.threads.iter_mut().flatten().filter(|(_, rf)| *rf == Some(second)) {
        step.1 = Some(first);
    }
    let (before, source) = key.threads[first.0][first.1];
    key.threads[second.0][second.1] = (before, source);
    key.threads[first.0][first.1] = (before.wrapping_add(*other), Some(second));
    key.co.get_mut(&loc)?.swap(place - 1, place);
    Some(key)
}
