//! Finding loops that wait: where a thread has been since it last had an effect.
//!
//! If a thread returns to an earlier place in the same state, the iteration had no effect, and the thread will repeat it
//! forever as long as it reads the same values.
//!
//! There is one effect that no state shows: an access to memory can race with what another thread does, whenever that
//! comes. Where others contend for that memory (see
//! [`Program::note_left_out`](crate::explore::Program::note_left_out)), an iteration that accesses what the thread has
//! not accessed before, since it began to be without effect, is no iteration without effect. The next one, which
//! accesses the same, is. Of all iterations that access the same, one is enough: wherever another one takes part in a
//! race, there is an execution in which all but that one are left out. What was accessed before the loop counts for
//! nothing if a release fence came after it, a write that releases, or one that was not taken back: these may order it before
//! what others do.

use crate::explore::MAX_WRITES;
use crate::graph::Action;
use crate::vm::{Effect, Mark, ThreadId, Write};

/// How far back loops are looked for.
const LEN: usize = 64;

/// Where threads have been since they last had an effect: all in one list, which is copied with every state.
#[derive(Debug, Default)]
pub struct Trails {
    visits: Vec<Visit>,
    /// What they have written since, as long as it may be taken back.
    writes: Vec<Written>,
    /// What they have accessed since that others may write.
    accesses: Vec<Accessed>,
    /// How often threads have come back to places, whatever they did in between: only where that is limited.
    rounds: Vec<Rounds>,
    /// How often threads have taken back all that they have written, one time after the other.
    undone: Vec<(ThreadId, u32)>,
}

/// Something that a thread has accessed, or a fence.
#[derive(Clone, Copy, Debug)]
struct Accessed {
    thread: ThreadId,
    /// How often it had written.
    writes: u32,
    what: Access,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Access {
    /// To memory that others contend for.
    Contended(u64),
    /// No access: a release fence, or a write that releases.
    Fence,
}

/// Where a thread is in a loop, in which state.
#[derive(Clone, Copy, Debug)]
pub struct LoopPoint {
    pub mark: Mark,
    /// The place in the loop, whoever has called the function that has the loop.
    pub place: u64,
    /// Whether the thread makes an attempt there that may fail, and be made again.
    pub retries: bool,
}

#[derive(Clone, Copy, Debug)]
struct Visit {
    thread: ThreadId,
    /// Whether it has changed blocks of its own since.
    changed: bool,
    /// Whether it has accessed memory that threads share since.
    touched: bool,
    /// How many events the thread has had since.
    events: u32,
    point: LoopPoint,
    /// What was in the shared blocks of its own.
    blocks: u64,
    /// How often it had written.
    writes: u32,
    /// How much it had accessed.
    accesses: u32,
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
    /// It was, in another state; it may have accessed memory that threads share since.
    Differently { touched: bool },
    /// It was, in the same state, but for what it has written to blocks of its own.
    AlikeButForBlocks,
    /// It was, in the same state, and has had so many events since; it may have written and taken that back, and it may
    /// have accessed memory that threads share.
    Alike { events: u32, undone: bool, touched: bool },
}

impl Clone for Trails {
    fn clone(&self) -> Trails {
        let mut copy = Trails::default();
        copy.clone_from(self);
        copy
    }

    #[inline]
    fn clone_from(&mut self, source: &Trails) {
        copy_list(&mut self.visits, &source.visits);
        copy_list(&mut self.writes, &source.writes);
        copy_list(&mut self.accesses, &source.accesses);
        copy_list(&mut self.rounds, &source.rounds);
        copy_list(&mut self.undone, &source.undone);
    }
}

/// Makes a list the copy of another. Mostly both are empty, and then there is nothing to do.
#[inline]
fn copy_list<T: Copy>(to: &mut Vec<T>, from: &[T]) {
    to.clear();
    if !from.is_empty() {
        to.extend_from_slice(from);
    }
}

impl Trails {
    /// A thread had an effect that lasts.
    #[inline]
    pub fn clear(&mut self, thread: ThreadId) {
        self.forget(thread);
        if !self.undone.is_empty() {
            self.undone.retain(|(of, _)| *of != thread);
        }
    }

    /// Forgets where a thread has been.
    #[inline]
    fn forget(&mut self, thread: ThreadId) {
        if self.visits.iter().any(|visit| visit.thread == thread) {
            self.visits.retain(|visit| visit.thread != thread);
            self.writes.retain(|written| written.thread != thread);
        }
        if !self.accesses.is_empty() {
            self.accesses.retain(|accessed| accessed.thread != thread);
        }
    }

    /// A thread has taken back all that it has written: says how often it has done so before.
    pub fn undo(&mut self, thread: ThreadId) -> u32 {
        match self.undone.iter_mut().find(|(of, _)| *of == thread) {
            Some((_, count)) => {
                *count += 1;
                *count
            }
            None => {
                self.undone.push((thread, 0));
                0
            }
        }
    }

    /// A thread begins its next iteration as if it was the first.
    pub fn begin_again(&mut self, thread: ThreadId, point: LoopPoint, blocks: u64) {
        self.forget(thread);
        self.visit(thread, point, blocks);
    }

    /// A thread has accessed this, of what others contend for: says whether it had not before.
    #[inline]
    pub fn touch(&mut self, thread: ThreadId, contended: u64) -> bool {
        contended != 0 && self.access(thread, Access::Contended(contended))
    }

    /// Others may be ordered after what a thread has accessed so far: it has passed a release fence, or written something that
    /// releases.
    pub fn fence(&mut self, thread: ThreadId) {
        if self.accesses_of(thread).next_back().is_some_and(|last| last.what != Access::Fence) {
            let writes = self.write_count(thread);
            self.accesses.push(Accessed { thread, writes, what: Access::Fence });
        }
    }

    fn access(&mut self, thread: ThreadId, what: Access) -> bool {
        let writes = self.write_count(thread);
        let since_fence = self.accesses_of(thread).rev().take_while(|access| access.what != Access::Fence);
        let is_new = !since_fence.into_iter().any(|access| (access.what, access.writes) == (what, writes));
        if is_new {
            self.accesses.push(Accessed { thread, writes, what });
        }
        is_new
    }

    fn accesses_of(&self, thread: ThreadId) -> impl DoubleEndedIterator<Item = &Accessed> {
        self.accesses.iter().filter(move |accessed| accessed.thread == thread)
    }

    /// Whether a thread has accessed something since a visit that it had not accessed before, or only so that this counts
    /// for nothing.
    fn has_accessed_more(&self, visit: &Visit) -> bool {
        let mut since = self.accesses_of(visit.thread).enumerate().skip(visit.accesses as usize);
        since.any(|(index, access)| access.what != Access::Fence && !self.counts(visit, access.what, index))
    }

    /// Whether a thread had accessed something before a visit, which it did again later: in another iteration of that
    /// loop; or before the loop, and has passed no release fence since, and taken back all that it has written.
    fn counts(&self, visit: &Visit, what: Access, again: usize) -> bool {
        let Visit { thread, point: LoopPoint { mark, .. }, blocks, .. } = *visit;
        let so_far = self.accesses_of(thread).take(again).enumerate();
        let fence = so_far.filter(|(_, access)| access.what == Access::Fence).last().map_or(0, |(index, _)| index);
        let is_in_iteration = |index: usize| {
            let mut before = self.visits.iter().filter(|before| {
                (before.thread, before.point.mark, before.blocks) == (thread, mark, blocks)
                    && before.accesses as usize <= index
            });
            before.any(|before| self.is_undone(thread, before.writes))
        };
        let mut earlier = self.accesses_of(thread).enumerate().take(visit.accesses as usize);
        earlier.any(|(index, access)| {
            let is_kept = || index >= fence && self.is_undone(thread, access.writes);
            access.what == what && (is_in_iteration(index) || is_kept())
        })
    }

    /// A thread has written something that it may take back, if it is in a loop.
    #[inline]
    pub fn write(&mut self, thread: ThreadId, write: Write) {
        if write.releases {
            self.fence(thread);
        }
        match self.visits.iter().any(|visit| visit.thread == thread) {
            true => self.log(thread, write),
            false => self.clear(thread),
        }
    }

    fn log(&mut self, thread: ThreadId, write: Write) {
        let has_written = || self.writes_of(thread, 0).any(|before| before.loc == write.loc);
        let number = self.write_count(thread);
        // Nobody knows what to go back to.
        if write.read.is_none() && !has_written() || number as usize == MAX_WRITES {
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

    /// Whether a thread has taken back all that it has written since: everywhere it has only added, and nothing in all;
    /// or the last it has written is what it has found, and nobody has written in between, as far as it can tell.
    fn is_undone(&self, thread: ThreadId, from: u32) -> bool {
        self.writes_of(thread, from).all(|write| {
            let there = || self.writes_of(thread, from).filter(|other| other.loc == write.loc);
            if there().all(|write| write.adds) {
                let added = |write: &Write| write.written.wrapping_sub(write.read.unwrap_or_default());
                return there().map(added).fold(0, u64::wrapping_add) == 0;
            }
            let goes_on =
                there().zip(there().skip(1)).all(|(one, next)| next.read.is_none_or(|read| read == one.written));
            let found = there().next().and_then(|first| first.read);
            goes_on && found.is_some() && found == there().next_back().map(|last| last.written)
        })
    }

    /// Whether a thread has given back a lock since, and then taken it again: it had the lock then, and has it now. An
    /// iteration does not end there, as the thread does not keep others from taking the lock, though it would seem so if
    /// it waited; it ends where the thread does not have the lock.
    fn has_held(&self, thread: ThreadId, from: u32) -> bool {
        self.writes_of(thread, from).any(|write| {
            let first = || self.writes_of(thread, from).find(|other| other.loc == write.loc);
            write.locks && first().is_some_and(|first| !first.locks)
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

    /// Whether a thread has come back to some place more often than this.
    pub fn came_back_more_often_than(&self, thread: ThreadId, bound: u32) -> bool {
        self.rounds.iter().any(|rounds| rounds.thread == thread && rounds.count > bound)
    }

    /// A thread had an event; it may have changed blocks of its own, and accessed memory that threads share.
    #[inline]
    pub fn go_on(&mut self, thread: ThreadId, changed: bool, touched: bool) {
        for visit in self.visits.iter_mut().filter(|visit| visit.thread == thread) {
            visit.events += 1;
            visit.changed |= changed;
            visit.touched |= touched;
        }
    }

    /// A thread is about to act, with this in the shared blocks of its own.
    pub fn visit(&mut self, thread: ThreadId, point: LoopPoint, blocks: u64) -> Visited {
        let (mut visited, mut count) = (Visited::New, 0);
        let writes = self.write_count(thread);
        for visit in self.visits.iter().filter(|visit| visit.thread == thread) {
            count += 1;
            if visit.point.mark.site != point.mark.site {
                continue;
            }
            let differently = Visited::Differently { touched: visit.touched };
            visited = match visit.point.mark == point.mark {
                true if self.has_accessed_more(visit) => visited.max(differently),
                true if visit.changed && visit.blocks != blocks => Visited::AlikeButForBlocks,
                true if self.has_held(thread, visit.writes) => visited.max(differently),
                true if visit.writes == writes || self.is_undone(thread, visit.writes) => {
                    let undone = visit.writes != writes;
                    return Visited::Alike { events: visit.events, undone, touched: visit.touched };
                }
                _ => visited.max(differently),
            };
        }
        if count == LEN
            && let Some(oldest) = self.visits.iter().position(|visit| visit.thread == thread)
        {
            self.visits.remove(oldest);
        }
        let accesses = self.accesses_of(thread).count() as u32;
        self.visits.push(Visit { thread, changed: false, touched: false, events: 0, point, blocks, writes, accesses });
        visited
    }

    /// The places where a thread has been since it has last written.
    pub fn points(&self, thread: ThreadId) -> impl Iterator<Item = LoopPoint> + '_ {
        let writes = self.write_count(thread);
        self.visits
            .iter()
            .filter(move |visit| visit.thread == thread && visit.writes == writes)
            .map(|visit| visit.point)
    }

    /// The places where a thread has been, though it may have written since.
    pub fn all_points(&self, thread: ThreadId) -> impl Iterator<Item = LoopPoint> + '_ {
        self.visits.iter().filter(move |visit| visit.thread == thread).map(|visit| visit.point)
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
    let releases = action.order(true).is_release();
    let (loc, written) = match *action {
        Action::Fence { order } if order.is_release() => return Effect::Fence,
        Action::Load { .. } | Action::Fence { .. } => return Effect::Nothing,
        Action::Store { loc, value, order } if order.is_atomic() => (loc, value),
        Action::Rmw { loc, .. } | Action::Cas { loc, .. } | Action::Try { loc, .. } => match action.update(value, 0) {
            Some(new) if wrote && new != value => (loc, new),
            _ if wrote && releases => return Effect::Fence,
            _ => return Effect::Nothing,
        },
        Action::Await { loc, .. } if action.is_lock() => match action.update(value, 0) {
            Some(new) => (loc, new),
            None => return Effect::Lasting,
        },
        _ => return Effect::Lasting,
    };
    let read = (!matches!(action, Action::Store { .. })).then_some(value);
    // A word that is 0 is free.
    let (adds, locks) = (action.adds(), action.is_lock() && written != 0);
    Effect::Write(Write { loc: loc.index() as u32, read, written, adds, locks, releases })
}
