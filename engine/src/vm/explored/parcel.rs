//! A state of the program with all that belongs to it, to be taken from one universe to another.

use std::sync::Arc;

use crate::vm::memory::{AtomId, Entry, Key, ObjectId, Piece, Value, Version, is_noted, set_noted};

use super::frozen::Frozen;
use super::row::Row;
use super::threads::ThreadState;
use super::universe::{RowId, Universe};

/// A state of the program with all that belongs to it. Its numbers are those of the universe that it comes from.
#[derive(Debug)]
pub struct Parcel<A> {
    row: Row,
    threads: Vec<Option<(Arc<Frozen>, Option<A>)>>,
    values: Vec<(Version, Arc<Value>)>,
    keys: Vec<Key>,
    atoms: Vec<Piece>,
}

impl<A: Copy> Universe<A> {
    /// A copy of a state that stands alone.
    pub fn export(&self, row: RowId) -> Parcel<A> {
        let row = self.row(row).clone();
        let objects = &self.vm.heap.objects;
        let thread = |state: &ThreadState| Some((Arc::clone(self.threads.get(*state)?), self.threads.action(*state)));
        let threads: Vec<_> = row.threads.iter().map(thread).collect();
        let mut versions = row.versions.clone();
        for (frozen, _) in threads.iter().flatten() {
            versions.extend(frozen.table.iter().filter_map(|entry| match entry {
                Entry::Frozen(version) => Some(version),
                _ => None,
            }));
        }
        versions.sort_unstable_by_key(|version| version.0);
        versions.dedup();
        let value = |version: Version| Some((version, objects.values.share(version)?));
        let values = versions.into_iter().filter_map(value).collect();
        Parcel { row, threads, values, keys: objects.keys().to_vec(), atoms: objects.atoms().to_vec() }
    }

    /// Makes a row the state that a parcel contains.
    pub fn import(&mut self, to: RowId, parcel: Parcel<A>) {
        let Parcel { row, threads, values, keys, atoms } = parcel;
        let objects = &mut self.vm.heap.objects;
        let numbers: Vec<ObjectId> = keys.into_iter().map(|key| objects.number(key)).collect();
        let versions: Vec<(Version, Version)> =
            values.into_iter().map(|(old, value)| (old, objects.values.intern(value))).collect();
        let renamed = |old: Version| match versions.binary_search_by_key(&old.0, |(old, _)| old.0) {
            Ok(at) => versions[at].1,
            Err(_) => Version::NONE,
        };
        let mut copy = Row { steps_left: row.steps_left, live: row.live, ..Row::default() };
        copy.versions.resize(objects.keys().len(), Version::NONE);
        for (version, number) in row.versions.iter().zip(&numbers) {
            copy.versions[number.index()] = renamed(*version);
        }
        for (index, piece) in atoms.into_iter().enumerate() {
            let old = AtomId(index as u32);
            let (noted, life) = (is_noted(&row.noted, old), row.lives.get(old));
            if noted || life > 0 {
                let object = numbers[piece.object.index()];
                let atom = objects.atom(Piece { object, ..piece });
                set_noted(&mut copy.noted, atom, noted);
                if life > 0 {
                    objects.set_unsteady(object);
                    copy.lives.set(atom, life);
                }
            }
        }
        copy.races = row.races.renamed(|object| numbers[object.index()]);
        for thread in threads {
            copy.threads.push(match thread {
                Some((frozen, action)) => self.import_thread(&frozen, action, renamed),
                None => ThreadState::NONE,
            });
        }
        self.rows[to.0 as usize] = copy;
        self.forget_outdated_steps();
    }

    fn import_thread(
        &mut self,
        frozen: &Frozen,
        action: Option<A>,
        renamed: impl FnMut(Version) -> Version,
    ) -> ThreadState {
        let state = self.threads.intern(&frozen.thread, &frozen.table.renamed(renamed), &self.vm.heap.objects.values);
        if let Some(action) = action {
            self.threads.set_action(state, action);
        }
        state
    }
}
