//! Who accessed shared memory last: the shadow that data races show in.
//!
//! For each piece of an object the latest accesses are kept, with the number of events that their threads had then. An
//! access conflicts with another of a different thread if one of them writes, and not both are atomic, to the same
//! bytes; the two race unless the earlier one happens before the later one, which the clock of the later thread tells.
//! A plain write that races with nothing comes after everything recorded there: it alone is kept.
//!
//! All records of a state are one list, which is copied with it.

use crate::program::PlaceId;
use crate::vm::thread::ThreadId;

use super::objects::ObjectId;

/// A piece of an object.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Piece {
    pub object: ObjectId,
    pub start: u32,
    pub end: u32,
}

impl Piece {
    pub fn overlaps(&self, other: &Piece) -> bool {
        self.object == other.object && self.start < other.end && other.start < self.end
    }
}

/// What kind of access it was.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Kind {
    pub write: bool,
    pub atomic: bool,
    /// The memory was allocated: a plain write.
    pub allocates: bool,
    /// It is atomic, but no event: the memory was [not published](super::own) yet. What others do must come after it.
    pub own: bool,
}

impl Kind {
    pub const ALLOCATION: Kind = Kind { allocates: true, ..Kind::plain(true) };

    pub const fn plain(write: bool) -> Kind {
        Kind { write, atomic: false, allocates: false, own: false }
    }

    pub const fn own(write: bool) -> Kind {
        Kind { own: true, ..Kind::plain(write) }
    }

    pub const fn atomic(write: bool) -> Kind {
        Kind { atomic: true, ..Kind::plain(write) }
    }
}

/// One access.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Record {
    pub piece: Piece,
    pub thread: ThreadId,
    pub kind: Kind,
    /// How many events the thread had.
    pub event: u32,
    pub place: PlaceId,
    /// Whether it was not made, but could have been: in an iteration that was left out.
    pub left_out: bool,
}

impl Record {
    /// Whether it happens before what a thread with this clock does.
    fn is_ordered(&self, clock: &[u32]) -> bool {
        clock.get(self.thread.index()).is_some_and(|seen| *seen > self.event)
    }

    fn conflicts(&self, other: &Record) -> bool {
        let atomic = self.kind.atomic && other.kind.atomic;
        self.thread != other.thread && (self.kind.write || other.kind.write) && !(atomic && self.piece == other.piece)
    }

    /// Whether the two can be one record, the piece of `next` following that of this one.
    fn continues_in(&self, next: &Record) -> bool {
        self.piece.object == next.piece.object
            && self.piece.end == next.piece.start
            && (self.thread, self.kind, self.event, self.place) == (next.thread, next.kind, next.event, next.place)
    }
}

/// An access that was not made, but could have been: in an iteration that was left out.
#[derive(Clone, Debug, PartialEq, Eq)]
struct LeftOut {
    record: Record,
    /// What would have happened before it.
    clock: Vec<u32>,
}

impl LeftOut {
    /// Whether it races with an access that is made, which may come earlier or later.
    fn races_with(&self, access: &Record, clock: &[u32]) -> bool {
        self.record.piece.overlaps(&access.piece)
            && self.record.conflicts(access)
            && !self.record.is_ordered(clock)
            && !access.is_ordered(&self.clock)
    }

    /// Whether it races with all that another one races with.
    fn covers(&self, other: &LeftOut) -> bool {
        self.record == other.record && self.clock.iter().zip(&other.clock).all(|(mine, theirs)| mine <= theirs)
    }
}

/// The latest accesses to the objects of a state, by object.
#[derive(Debug, Default, PartialEq, Eq)]
pub struct Races {
    records: Vec<Record>,
    /// What all accesses are held against besides.
    left_out: Vec<LeftOut>,
}

impl Clone for Races {
    fn clone(&self) -> Races {
        Races { records: self.records.clone(), left_out: self.left_out.clone() }
    }

    fn clone_from(&mut self, source: &Races) {
        self.records.clone_from(&source.records);
        self.left_out.clone_from(&source.left_out);
    }
}

impl Races {
    /// The records of an object: where they are in the list.
    fn range(&self, object: ObjectId) -> std::ops::Range<usize> {
        let start = self.records.partition_point(|record| record.piece.object < object);
        let len = self.records[start..].iter().take_while(|record| record.piece.object == object).count();
        start..start + len
    }

    /// The access that this one races with, if there is one.
    #[inline]
    pub fn racing(&self, access: &Record, clock: &[u32]) -> Option<Record> {
        if !self.left_out.is_empty()
            && let Some(other) = self.left_out.iter().find(|other| other.races_with(access, clock))
        {
            return Some(other.record);
        }
        if self.records.is_empty() {
            return None;
        }
        let racing = |record: &&Record| {
            record.piece.overlaps(&access.piece) && record.conflicts(access) && !record.is_ordered(clock)
        };
        self.records[self.range(access.piece.object)].iter().find(racing).copied()
    }

    /// Whether nothing was accessed.
    pub fn is_empty(&self) -> bool {
        self.records.is_empty()
    }

    /// Forgets all accesses.
    pub fn forget(&mut self) {
        self.records.clear();
    }

    /// Records an access that races with nothing.
    pub fn note(&mut self, access: Record) {
        let range = self.range(access.piece.object);
        // Often it is the same as before, or goes on where the last one ended.
        for record in &mut self.records[range.clone()] {
            let same = (record.piece, record.thread, record.kind) == (access.piece, access.thread, access.kind);
            if same && (access.kind.atomic || !access.kind.write) {
                (record.event, record.place) = (access.event, access.place);
                return;
            }
        }
        // Atomics of other sizes conflict with others.
        if access.kind.atomic {
            return self.records.insert(range.end, access);
        }
        self.cut(range.clone(), access.piece, |record| {
            access.kind.write || (record.thread, record.kind) == (access.thread, access.kind)
        });
        let end = self.range(access.piece.object).end;
        match self.records[range.start..end].iter_mut().find(|record| record.continues_in(&access)) {
            Some(record) => record.piece.end = access.piece.end,
            None => self.records.insert(end, access),
        }
    }

    /// Takes a piece out of some of the records in a range.
    fn cut(&mut self, range: std::ops::Range<usize>, piece: Piece, from: impl Fn(&Record) -> bool) {
        for at in range.rev() {
            let record = self.records[at];
            if !record.piece.overlaps(&piece) || !from(&record) {
                continue;
            }
            let before = Piece { end: piece.start, ..record.piece };
            let after = Piece { start: piece.end, ..record.piece };
            match (before.start < before.end, after.start < after.end) {
                (true, true) => {
                    self.records[at].piece = before;
                    self.records.insert(at + 1, Record { piece: after, ..record });
                }
                (true, false) => self.records[at].piece = before,
                (false, true) => self.records[at].piece = after,
                (false, false) => _ = self.records.remove(at),
            }
        }
    }

    /// Holds what a thread has accessed in a trial against all accesses, to such pieces: as if it came after so many events, with
    /// this clock. Says where that races with something else that was left out.
    pub fn note_left_out(
        &mut self,
        trial: &Races,
        thread: ThreadId,
        (events, clock): (u32, &[u32]),
        of_interest: impl Fn(Piece) -> bool,
    ) -> Option<Piece> {
        let mut racing = None;
        let tried = trial.records.iter().filter(|record| record.thread == thread && of_interest(record.piece));
        for record in tried {
            let left_out =
                LeftOut { record: Record { event: events, left_out: true, ..*record }, clock: clock.to_vec() };
            // Nothing that was recorded comes after it.
            let races = self.left_out.iter().any(|other| other.races_with(&left_out.record, clock))
                || self.records.iter().any(|other| left_out.races_with(other, &[]));
            racing = racing.or(races.then_some(record.piece));
            if !self.left_out.iter().any(|known| known.covers(&left_out)) {
                self.left_out.push(left_out);
            }
        }
        racing
    }

    /// Forgets all about a piece of memory, which begins a new life or ends.
    pub fn clear(&mut self, piece: Piece) {
        if !self.records.is_empty() {
            self.cut(self.range(piece.object), piece, |_| true);
        }
    }

    /// The same records for objects that have other numbers.
    pub fn renamed(&self, mut rename: impl FnMut(ObjectId) -> ObjectId) -> Races {
        let mut records = self.records.clone();
        records.iter_mut().for_each(|record| record.piece.object = rename(record.piece.object));
        records.sort_by_key(|record| record.piece.object);
        Races { records, left_out: Vec::new() }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const MAIN: u16 = 0;

    fn plain(thread: u16, event: u32, write: bool, start: u32, end: u32) -> Record {
        let piece = Piece { object: ObjectId(3), start, end };
        let kind = Kind::plain(write);
        Record { piece, thread: ThreadId(thread), kind, event, place: PlaceId(0), left_out: false }
    }

    fn atomic(thread: u16, event: u32, write: bool) -> Record {
        Record { kind: Kind::atomic(write), ..plain(thread, event, write, 0, 4) }
    }

    impl Races {
        fn access(&mut self, access: Record, clock: &[u32]) -> Result<(), Record> {
            match self.racing(&access, clock) {
                Some(record) => Err(record),
                None => {
                    self.note(access);
                    Ok(())
                }
            }
        }
    }

    #[test]
    fn unordered_accesses_race_if_one_writes() {
        for (first, second, race) in
            [(false, false, false), (false, true, true), (true, false, true), (true, true, true)]
        {
            let mut races = Races::default();
            races.access(plain(MAIN, 0, first, 0, 4), &[1, 0]).unwrap();
            assert_eq!(races.access(plain(1, 0, second, 0, 4), &[0, 1]).is_err(), race);
        }
    }

    #[test]
    fn what_happens_before_does_not_race() {
        let mut races = Races::default();
        races.access(plain(MAIN, 3, true, 0, 4), &[4, 0]).unwrap();
        assert!(races.clone().access(plain(1, 0, true, 0, 4), &[3, 1]).is_err(), "three events are not enough");
        races.access(plain(1, 0, true, 0, 4), &[4, 1]).unwrap();
        assert!(races.access(plain(MAIN, 5, false, 0, 4), &[6, 0]).is_err(), "and now the other way round");
    }

    #[test]
    fn bytes_are_told_apart() {
        let mut races = Races::default();
        races.access(plain(MAIN, 0, true, 0, 8), &[1, 0]).unwrap();
        races.access(plain(MAIN, 5, true, 2, 4), &[6, 0]).unwrap();
        races.access(plain(1, 0, true, 0, 2), &[1, 1]).unwrap();
        races.access(plain(1, 0, true, 4, 12), &[1, 1]).unwrap();
        assert!(races.access(plain(1, 0, false, 3, 5), &[1, 1]).is_err());
    }

    #[test]
    fn objects_are_told_apart() {
        let mut races = Races::default();
        let elsewhere =
            |object, record: Record| Record { piece: Piece { object: ObjectId(object), ..record.piece }, ..record };
        for object in [3, 1, 2] {
            races.access(elsewhere(object, plain(MAIN, object, true, 0, 4)), &[5, 0]).unwrap();
        }
        let racing = |object, clock| races.racing(&elsewhere(object, plain(1, 0, true, 0, 4)), &[clock, 1]).is_some();
        assert_eq!([1, 2, 3].map(|object| racing(object, 3)), [false, false, true]);
        assert!(!racing(4, 0));
    }

    #[test]
    fn atomics_race_only_with_plain_accesses() {
        let mut races = Races::default();
        races.access(atomic(MAIN, 0, true), &[1, 0]).unwrap();
        races.access(atomic(1, 0, true), &[0, 1]).unwrap();
        assert!(races.access(plain(2, 0, false, 0, 4), &[1, 0, 1]).is_err());
        races.access(plain(2, 0, false, 0, 4), &[1, 1, 1]).unwrap();
        assert!(races.access(atomic(1, 1, true), &[0, 2, 0]).is_err());
    }

    #[test]
    fn atomics_race_if_they_overlap_in_part() {
        let half = |thread, event, write| Record { piece: Piece { end: 2, ..HALF }, ..atomic(thread, event, write) };
        const HALF: Piece = Piece { object: ObjectId(3), start: 0, end: 2 };
        let mut races = Races::default();
        races.access(half(MAIN, 0, true), &[1, 0]).unwrap();
        races.access(atomic(MAIN, 1, true), &[2, 0]).unwrap();
        assert!(
            races.clone().access(atomic(1, 0, true), &[0, 1]).is_err(),
            "with the half, though the whole came later"
        );
        races.access(atomic(1, 0, true), &[1, 1]).unwrap();
        assert!(races.clone().access(half(1, 1, false), &[1, 2]).is_err());
        races.access(half(1, 1, false), &[2, 2]).unwrap();
        races.access(atomic(2, 0, false), &[2, 1, 1]).unwrap();
    }

    #[test]
    fn an_allocation_is_a_write() {
        let mut races = Races::default();
        races.access(Record { kind: Kind::ALLOCATION, ..plain(MAIN, 0, true, 0, 8) }, &[1, 0]).unwrap();
        assert!(races.clone().access(plain(1, 0, false, 0, 4), &[0, 1]).is_err());
        assert!(races.clone().access(atomic(1, 0, false), &[0, 1]).is_err(), "atomics are no exception");
        races.access(atomic(1, 0, false), &[1, 1]).unwrap();
    }

    #[test]
    fn readers_are_all_remembered() {
        let mut races = Races::default();
        for thread in 0..3 {
            races.access(plain(thread, 0, false, 0, 4), &[0; 3]).unwrap();
        }
        assert!(races.clone().access(plain(3, 0, true, 0, 4), &[1, 1, 0, 0]).is_err());
        races.access(plain(3, 0, true, 0, 4), &[1, 1, 1, 0]).unwrap();
        assert_eq!(races.records.len(), 1);
    }

    #[test]
    fn neighbouring_accesses_are_one_record() {
        let mut races = Races::default();
        for start in (0..80).step_by(8) {
            races.access(plain(MAIN, 0, true, start, start + 8), &[0]).unwrap();
        }
        assert_eq!(races.records.len(), 1);
        races.clear(Piece { object: ObjectId(3), start: 8, end: 16 });
        races.access(plain(1, 0, true, 8, 16), &[0, 0]).unwrap();
        assert!(races.access(plain(1, 0, true, 8, 17), &[0, 0]).is_err());
    }
}
