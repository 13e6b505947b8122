//! Who accessed a piece of shared memory last: the shadow that data races show in.
//!
//! For each range of bytes that was accessed alike, the latest access of each thread is kept, with the number of events
//! that the thread had then. An access conflicts with another of a different thread if one of them writes and not both
//! are atomic; the two race unless the earlier one happens before the later one, which the clock of the later thread
//! tells. A plain write that races with nothing comes after everything recorded: it alone is kept.

use crate::program::PlaceId;
use crate::vm::thread::ThreadId;

/// One access.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Record {
    pub thread: ThreadId,
    /// How many events the thread had.
    pub event: u32,
    pub place: PlaceId,
    pub write: bool,
    pub atomic: bool,
}

impl Record {
    /// Whether it happens before what a thread with this clock does.
    fn is_ordered(&self, clock: &[u32]) -> bool {
        clock.get(self.thread.index()).is_some_and(|seen| *seen > self.event)
    }

    fn conflicts(&self, other: &Record) -> bool {
        self.thread != other.thread && (self.write || other.write) && !(self.atomic && other.atomic)
    }
}

/// The accesses to the bytes from `start` to `end`.
#[derive(Clone, Debug)]
struct Entry {
    start: u32,
    end: u32,
    records: Vec<Record>,
}

/// An atomic in the memory.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct AtomicRange {
    pub start: u32,
    pub len: u32,
    /// Whether the bytes in memory are the value of the atomic.
    pub fresh: bool,
}

/// The accesses to a block of memory, and where in it atomics are.
#[derive(Clone, Debug, Default)]
pub struct Races {
    /// Sorted; they do not overlap.
    entries: Vec<Entry>,
    atomics: Vec<AtomicRange>,
}

impl Races {
    /// Records an access to `start..end`; the access that it races with, if there is one.
    pub fn access(&mut self, start: u32, end: u32, access: Record, clock: &[u32]) -> Result<(), Record> {
        let first = self.split(start, end);
        for entry in self.entries[first..].iter_mut().take_while(|entry| entry.start < end) {
            let racing = |record: &&Record| record.conflicts(&access) && !record.is_ordered(clock);
            if let Some(record) = entry.records.iter().find(racing) {
                return Err(*record);
            }
            if access.write && !access.atomic {
                entry.records.clear();
            } else {
                let same = |record: &Record| {
                    (record.thread, record.write, record.atomic) == (access.thread, access.write, access.atomic)
                };
                entry.records.retain(|record| !same(record));
            }
            entry.records.push(access);
        }
        Ok(())
    }

    /// Cuts entries so that some cover `start..end` exactly; the index of the first.
    fn split(&mut self, start: u32, end: u32) -> usize {
        self.cut(start);
        self.cut(end);
        let first = self.entries.partition_point(|entry| entry.end <= start);
        let mut at = first;
        let mut from = start;
        while from < end {
            let next = self.entries.get(at).map_or(end, |entry| entry.start.min(end));
            if from < next {
                self.entries.insert(at, Entry { start: from, end: next, records: Vec::new() });
            }
            from = self.entries[at].end;
            at += 1;
        }
        first
    }

    fn cut(&mut self, at: u32) {
        let index = self.entries.partition_point(|entry| entry.end <= at);
        if let Some(entry) = self.entries.get_mut(index)
            && entry.start < at
        {
            let mut rest = entry.clone();
            rest.start = at;
            entry.end = at;
            self.entries.insert(index + 1, rest);
        }
    }

    /// Forgets all about a part of the memory, which begins a new life.
    pub fn clear(&mut self, start: u32, end: u32) {
        self.cut(start);
        self.cut(end);
        self.entries.retain(|entry| entry.end <= start || entry.start >= end);
        self.atomics.retain(|atomic| atomic.start + atomic.len <= start || atomic.start >= end);
    }

    /// The atomics that overlap `start..end`.
    pub fn atomics(&self, start: u32, end: u32) -> impl Iterator<Item = &AtomicRange> {
        self.atomics.iter().filter(move |atomic| atomic.start < end && start < atomic.start + atomic.len)
    }

    /// Notes an atomic; false where another one of a different size or place overlaps it.
    pub fn note_atomic(&mut self, start: u32, len: u32, fresh: bool) -> bool {
        if let Some(atomic) = self.atomics.iter_mut().find(|atomic| (atomic.start, atomic.len) == (start, len)) {
            atomic.fresh = fresh;
            return true;
        }
        if self.atomics(start, start + len).next().is_some() {
            return false;
        }
        self.atomics.push(AtomicRange { start, len, fresh });
        true
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const MAIN: u16 = 0;

    fn plain(thread: u16, event: u32, write: bool) -> Record {
        Record { thread: ThreadId(thread), event, place: PlaceId(0), write, atomic: false }
    }

    fn atomic(thread: u16, event: u32, write: bool) -> Record {
        Record { atomic: true, ..plain(thread, event, write) }
    }

    #[test]
    fn unordered_accesses_race_if_one_writes() {
        for (first, second, race) in
            [(false, false, false), (false, true, true), (true, false, true), (true, true, true)]
        {
            let mut races = Races::default();
            races.access(0, 4, plain(MAIN, 0, first), &[1, 0]).unwrap();
            assert_eq!(races.access(0, 4, plain(1, 0, second), &[0, 1]).is_err(), race);
        }
    }

    #[test]
    fn what_happens_before_does_not_race() {
        let mut races = Races::default();
        races.access(0, 4, plain(MAIN, 3, true), &[4, 0]).unwrap();
        assert!(races.clone().access(0, 4, plain(1, 0, true), &[3, 1]).is_err(), "three events are not enough");
        races.access(0, 4, plain(1, 0, true), &[4, 1]).unwrap();
        assert!(races.access(0, 4, plain(MAIN, 5, false), &[6, 0]).is_err(), "and now the other way round");
    }

    #[test]
    fn bytes_are_told_apart() {
        let mut races = Races::default();
        races.access(0, 8, plain(MAIN, 0, true), &[1, 0]).unwrap();
        races.access(2, 4, plain(MAIN, 5, true), &[6, 0]).unwrap();
        races.access(0, 2, plain(1, 0, true), &[1, 1]).unwrap();
        races.access(4, 12, plain(1, 0, true), &[1, 1]).unwrap();
        assert!(races.access(3, 5, plain(1, 0, false), &[1, 1]).is_err());
    }

    #[test]
    fn atomics_race_only_with_plain_accesses() {
        let mut races = Races::default();
        races.access(0, 4, atomic(MAIN, 0, true), &[1, 0]).unwrap();
        races.access(0, 4, atomic(1, 0, true), &[0, 1]).unwrap();
        assert!(races.access(0, 4, plain(2, 0, false), &[1, 0, 1]).is_err());
        races.access(0, 4, plain(2, 0, false), &[1, 1, 1]).unwrap();
        assert!(races.access(0, 4, atomic(1, 1, true), &[0, 2, 0]).is_err());
    }

    #[test]
    fn readers_are_all_remembered() {
        let mut races = Races::default();
        for thread in 0..3 {
            races.access(0, 4, plain(thread, 0, false), &[0; 3]).unwrap();
        }
        assert!(races.clone().access(0, 4, plain(3, 0, true), &[1, 1, 0, 0]).is_err());
        races.access(0, 4, plain(3, 0, true), &[1, 1, 1, 0]).unwrap();
    }
}
