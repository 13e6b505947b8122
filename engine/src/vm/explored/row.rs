//! A state of the whole program, as numbers.

use crate::vm::memory::{AtomId, Deed, Kind, Lives, Objects, Races, Record, Touch, Version, is_noted, set_noted};
use crate::vm::thread::ThreadId;

use super::threads::ThreadState;

/// A state of the whole program.
#[derive(Debug, Default)]
pub struct Row {
    /// By thread.
    pub threads: Vec<ThreadState>,
    /// By object.
    pub versions: Vec<Version>,
    /// The atomics that were accessed as such: a set of [`AtomId`].
    pub noted: Vec<u64>,
    /// How often atomics were forgotten.
    pub lives: Lives,
    pub races: Races,
    pub steps_left: u64,
    /// How many blocks there are that the program must free.
    pub live: i64,
}

impl Clone for Row {
    fn clone(&self) -> Row {
        let mut copy = Row::default();
        copy.clone_from(self);
        copy
    }

    fn clone_from(&mut self, source: &Row) {
        self.threads.clone_from(&source.threads);
        self.versions.clone_from(&source.versions);
        self.noted.clone_from(&source.noted);
        self.lives.clone_from(&source.lives);
        self.races.clone_from(&source.races);
        (self.steps_left, self.live) = (source.steps_left, source.live);
    }
}

/// When a thread acts, and what happened before.
#[derive(Clone, Copy, Debug)]
pub struct Moment<'a> {
    pub thread: ThreadId,
    /// What happens before the thread's next step, by thread.
    pub clock: &'a [u32],
    /// How many events the thread has, the one that it goes on from included.
    pub events: u32,
}

impl Moment<'_> {
    fn record(&self, touch: &Touch) -> Record {
        let (kind, event) = match touch.deed {
            // The access itself is the latest event; what follows comes after it.
            Deed::Atomic { write, .. } => (Kind::atomic(write), self.events.saturating_sub(1)),
            Deed::Own { write } => (Kind::own(write), self.events),
            Deed::Read | Deed::Quiet | Deed::Asked { .. } => (Kind::plain(false), self.events),
            Deed::Write | Deed::Free | Deed::Renew => (Kind::plain(true), self.events),
            Deed::Alloc => (Kind::ALLOCATION, self.events),
        };
        Record { piece: touch.piece, thread: self.thread, kind, event, place: touch.place, left_out: false }
    }
}

impl Row {
    pub fn thread(&self, id: ThreadId) -> ThreadState {
        self.threads.get(id.index()).copied().unwrap_or_default()
    }

    pub fn set_thread(&mut self, id: ThreadId, state: ThreadState) {
        if self.threads.len() <= id.index() {
            self.threads.resize(id.index() + 1, ThreadState::NONE);
        }
        self.threads[id.index()] = state;
    }

    /// Whether both are the same, but for how many steps are left.
    pub fn is_same(&self, other: &Row) -> bool {
        self.threads == other.threads
            && are_same(&self.versions, &other.versions)
            && are_same(&self.noted, &other.noted)
            && (&self.lives, &self.races, self.live) == (&other.lives, &other.races, other.live)
    }

    /// Whether an access goes without further ado: it races with nothing, and is to no atomic unless it is meant to be.
    #[inline]
    pub fn admits(&self, touch: &Touch, moment: Moment, objects: &Objects) -> bool {
        let atomics = || objects.noted_atoms(touch.piece, &self.noted).next().is_some();
        match touch.deed {
            Deed::Renew | Deed::Quiet => !atomics(),
            Deed::Read | Deed::Write | Deed::Own { .. } if atomics() => false,
            Deed::Asked { atom, life } => self.lives.get(atom) == life && !self.has_rivals(atom, objects),
            Deed::Atomic { atom, .. } if self.has_rivals(atom, objects) => false,
            _ => self.races.racing(&moment.record(touch), moment.clock).is_none(),
        }
    }

    /// Whether other atomics than this one are there.
    #[inline]
    fn has_rivals(&self, atom: AtomId, objects: &Objects) -> bool {
        objects.is_unsteady(objects.piece(atom).object) && objects.rivals(atom, &self.noted).next().is_some()
    }

    /// Notes an access that goes without further ado.
    #[inline]
    pub fn note(&mut self, touch: &Touch, moment: Moment) {
        match touch.deed {
            Deed::Quiet | Deed::Asked { .. } => {}
            Deed::Atomic { atom, kept, .. } => {
                if kept {
                    self.races.note(moment.record(touch));
                }
                if !is_noted(&self.noted, atom) {
                    set_noted(&mut self.noted, atom, true);
                }
            }
            Deed::Free | Deed::Renew => self.races.clear(touch.piece),
            Deed::Read | Deed::Write | Deed::Own { .. } | Deed::Alloc => self.races.note(moment.record(touch)),
        }
    }

    /// Roughly how many bytes it takes.
    pub fn bytes(&self) -> usize {
        4 * (self.threads.len() + self.versions.len()) + 8 * self.noted.len() + size_of::<Row>()
    }
}

/// Whether two lists are the same, where what is not there counts as nothing.
fn are_same<T: Copy + Default + PartialEq>(one: &[T], other: &[T]) -> bool {
    let (short, long) = if one.len() < other.len() { (one, other) } else { (other, one) };
    let (same, rest) = long.split_at(short.len());
    same == short && rest.iter().all(|entry| *entry == T::default())
}
