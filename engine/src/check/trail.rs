//! Finding loops that wait: where a thread has been since it last had an effect.
//!
//! If it comes back to where it was in the same state, what it did in between had no effect, and it will do the same for
//! ever as long as it reads the same.

use crate::graph::Action;
use crate::vm::{Mark, ThreadId};

/// How far back loops are looked for.
const LEN: usize = 64;

/// Where threads have been since they last had an effect: all in one list, which is copied with every state.
#[derive(Debug, Default)]
pub struct Trails {
    visits: Vec<Visit>,
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
    /// It was, in the same state, but blocks of its own have changed since.
    AlikeButForBlocks,
    /// It was, in the same state, and has had so many events since.
    Alike { events: u32 },
}

impl Clone for Trails {
    fn clone(&self) -> Trails {
        Trails { visits: self.visits.clone(), rounds: self.rounds.clone() }
    }

    #[inline]
    fn clone_from(&mut self, source: &Trails) {
        self.visits.clone_from(&source.visits);
        self.rounds.clone_from(&source.rounds);
    }
}

impl Trails {
    /// A thread had an effect.
    #[inline]
    pub fn clear(&mut self, thread: ThreadId) {
        if self.visits.iter().any(|visit| visit.thread == thread) {
            self.visits.retain(|visit| visit.thread != thread);
        }
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

    /// A thread is about to act.
    pub fn visit(&mut self, thread: ThreadId, mark: Mark) -> Visited {
        let (mut visited, mut count) = (Visited::New, 0);
        for visit in self.visits.iter().filter(|visit| visit.thread == thread) {
            count += 1;
            if visit.mark.site != mark.site {
                continue;
            }
            visited = match visit.mark == mark {
                true if !visit.changed => return Visited::Alike { events: visit.events },
                true => Visited::AlikeButForBlocks,
                false => visited.max(Visited::Differently),
            };
        }
        if count == LEN
            && let Some(oldest) = self.visits.iter().position(|visit| visit.thread == thread)
        {
            self.visits.remove(oldest);
        }
        self.visits.push(Visit { thread, changed: false, events: 0, mark });
        visited
    }

    /// The places where a thread has been, the latest last.
    pub fn sites(&self, thread: ThreadId) -> impl Iterator<Item = u64> + '_ {
        self.visits.iter().filter(move |visit| visit.thread == thread).map(|visit| visit.mark.site)
    }
}

/// Whether an action may be part of an iteration that has no effect.
pub fn may_wait(action: &Action) -> bool {
    matches!(
        action,
        Action::Load { .. } | Action::Rmw { .. } | Action::Cas { .. } | Action::Try { .. } | Action::Fence { .. }
    )
}

/// Whether an action that was answered has changed anything for others, or was a choice.
pub fn has_effect(action: &Action, value: u64, wrote: bool) -> bool {
    match action {
        Action::Load { .. } | Action::Fence { .. } => false,
        Action::Rmw { .. } | Action::Cas { .. } | Action::Try { .. } => wrote && action.update(value, 0) != Some(value),
        _ => true,
    }
}
