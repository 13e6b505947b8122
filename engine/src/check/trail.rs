//! Finding loops that wait: where a thread has been since it last had an effect.
//!
//! If it comes back to where it was in the same state, what it did in between had no effect, and it will do the same for
//! ever as long as it reads the same.

use crate::graph::Action;
use crate::vm::{Effect, Mark, ThreadId, Write};

/// How far back loops are looked for.
const LEN: usize = 64;
/// An iteration that takes back what it has written does not write more often.
const MAX_WRITES: u32 = 8;

/// Where threads have been since they last had an effect: all in one list, which is copied with every state.
#[derive(Debug, Default)]
pub struct Trails {
    visits: Vec<Visit>,
    /// What they have written since, as long as it may be taken back.
    writes: Vec<Written>,
    /// How often threads have come back to places, whatever they did in between: only where that is limited.
    rounds: Vec<Rounds>,
}

#[derive(Clone, Copy, Debug)]
struct Visit {
    thread: ThreadId,
    /// Whether it has changed blocks of its own since.
    changed: bool,
    /// How many events the thread has had since.
    events: u32,
    mark: Mark,
    /// What was in the shared blocks of its own.
    blocks: u64,
    /// How often it had written.
    writes: u32,
}

#[derive(Clone, Copy, Debug)]
struct Written {
    thread: ThreadId,
    /// How often the thread had written before.
    number: u32,
    write: Write,
}

#[derive(Clone, Copy, Debug)]
struct Rounds {
    thread: ThreadId,
    count: u32,
    site: u64,
}

/// What the trail says of a place.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Visited {
    /// The thread was not there before.
    New,
    /// It was, in another state.
    Differently,
    /// It was, in the same state, but for what it has written to blocks of its own.
    AlikeButForBlocks,
    /// It was, in the same state, and has had so many events since; it may have written and taken that back.
    Alike { events: u32, undone: bool },
}

impl Clone for Trails {
    fn clone(&self) -> Trails {
        Trails { visits: self.visits.clone(), writes: self.writes.clone(), rounds: self.rounds.clone() }
    }

    #[inline]
    fn clone_from(&mut self, source: &Trails) {
        self.visits.clone_from(&source.visits);
        self.writes.clone_from(&source.writes);
        self.rounds.clone_from(&source.rounds);
    }
}

impl Trails {
    /// A thread had an effect that lasts.
    #[inline]
    pub fn clear(&mut self, thread: ThreadId) {
        if self.visits.iter().any(|visit| visit.thread == thread) {
            self.visits.retain(|visit| visit.thread != thread);
            self.writes.retain(|written| written.thread != thread);
        }
    }

    /// A thread has written something that it may take back.
    #[inline]
    pub fn write(&mut self, thread: ThreadId, write: Write) {
        if self.visits.iter().any(|visit| visit.thread == thread) {
            self.log(thread, write);
        }
    }

    fn log(&mut self, thread: ThreadId, mut write: Write) {
        let before = self.writes_of(thread, 0).rfind(|before| before.loc == write.loc);
        write.read = write.read.or(before.map(|before| before.written));
        let number = self.write_count(thread);
        // Nobody knows what to go back to.
        if write.read.is_none() || number == MAX_WRITES {
            self.clear(thread);
        } else {
            self.writes.push(Written { thread, number, write });
        }
    }

    fn writes_of(&self, thread: ThreadId, from: u32) -> impl DoubleEndedIterator<Item = &Write> {
        let mine = move |written: &&Written| written.thread == thread && written.number >= from;
        self.writes.iter().filter(mine).map(|written| &written.write)
    }

    fn write_count(&self, thread: ThreadId) -> u32 {
        self.writes.iter().rfind(|written| written.thread == thread).map_or(0, |written| written.number + 1)
    }

    /// Whether a thread has taken back all that it has written since: everywhere it has added nothing in all, or the last it
    /// has written is what it has found.
    fn is_undone(&self, thread: ThreadId, from: u32) -> bool {
        self.writes_of(thread, from).all(|write| {
            let there = || self.writes_of(thread, from).filter(|other| other.loc == write.loc);
            let added = |write: &Write| write.written.wrapping_sub(write.read.unwrap_or_default());
            let adds_nothing = there().all(|write| write.adds) && there().map(added).fold(0, u64::wrapping_add) == 0;
            adds_nothing || there().next().and_then(|first| first.read) == there().next_back().map(|last| last.written)
        })
    }

    /// A thread is at a place: says how often it has come back there.
    pub fn come_back(&mut self, thread: ThreadId, site: u64) -> u32 {
        match self.rounds.iter_mut().find(|rounds| (rounds.thread, rounds.site) == (thread, site)) {
            Some(rounds) => {
                rounds.count += 1;
                rounds.count
            }
            None => {
                self.rounds.push(Rounds { thread, count: 0, site });
                0
            }
        }
    }

    /// A thread had an event; it may have changed blocks of its own.
    #[inline]
    pub fn go_on(&mut self, thread: ThreadId, changed: bool) {
        for visit in self.visits.iter_mut().filter(|visit| visit.thread == thread) {
            visit.events += 1;
            visit.changed |= changed;
        }
    }

    /// A thread is about to act, with this in the shared blocks of its own.
    pub fn visit(&mut self, thread: ThreadId, mark: Mark, blocks: u64) -> Visited {
        let (mut visited, mut count) = (Visited::New, 0);
        let writes = self.write_count(thread);
        for visit in self.visits.iter().filter(|visit| visit.thread == thread) {
            count += 1;
            if visit.mark.site != mark.site {
                continue;
            }
            visited = match visit.mark == mark {
                true if visit.changed && visit.blocks != blocks => Visited::AlikeButForBlocks,
                true if visit.writes == writes => return Visited::Alike { events: visit.events, undone: false },
                true if self.is_undone(thread, visit.writes) => {
                    return Visited::Alike { events: visit.events, undone: true };
                }
                _ => visited.max(Visited::Differently),
            };
        }
        if count == LEN
            && let Some(oldest) = self.visits.iter().position(|visit| visit.thread == thread)
        {
            self.visits.remove(oldest);
        }
        self.visits.push(Visit { thread, changed: false, events: 0, mark, blocks, writes });
        visited
    }

    /// The places where a thread has been since it has last written.
    pub fn sites(&self, thread: ThreadId) -> impl Iterator<Item = u64> + '_ {
        let writes = self.write_count(thread);
        self.visits
            .iter()
            .filter(move |visit| visit.thread == thread && visit.writes == writes)
            .map(|visit| visit.mark.site)
    }

    /// The places where a thread has been, though it may have written since.
    pub fn all_sites(&self, thread: ThreadId) -> impl Iterator<Item = u64> + '_ {
        self.visits.iter().filter(move |visit| visit.thread == thread).map(|visit| visit.mark.site)
    }
}

/// Whether an action may be part of an iteration that has no effect.
pub fn may_wait(action: &Action) -> bool {
    let reads = matches!(
        action,
        Action::Load { .. } | Action::Rmw { .. } | Action::Cas { .. } | Action::Try { .. } | Action::Fence { .. }
    );
    reads || action.is_lock()
}

/// What an action that was answered has changed for others.
pub fn effect(action: &Action, value: u64, wrote: bool) -> Effect {
    let (loc, written) = match *action {
        Action::Load { .. } | Action::Fence { .. } => return Effect::Nothing,
        Action::Store { loc, value, order } if order.is_atomic() => (loc, value),
        Action::Rmw { loc, .. } | Action::Cas { loc, .. } | Action::Try { loc, .. } => match action.update(value, 0) {
            Some(new) if wrote && new != value => (loc, new),
            _ => return Effect::Nothing,
        },
        Action::Await { loc, .. } if action.is_lock() => match action.update(value, 0) {
            Some(new) => (loc, new),
            None => return Effect::Lasting,
        },
        _ => return Effect::Lasting,
    };
    let read = (!matches!(action, Action::Store { .. })).then_some(value);
    Effect::Write(Write { loc: loc.index() as u32, read, written, adds: action.adds() })
}
