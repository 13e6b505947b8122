//! Finding loops that wait: where a thread has been since it last had an effect.
//!
//! If it comes back to where it was in the same state, what it did in between had no effect, and it will do the same for
//! ever as long as it reads the same.

use crate::graph::Action;
use crate::vm::Mark;

/// How far back loops are looked for.
const LEN: usize = 64;

/// Where a thread has been since it last had an effect.
#[derive(Debug, Default)]
pub struct Trail {
    visits: Vec<Visit>,
    /// How often it has come back to places, whatever it did in between: only where that is limited.
    rounds: Vec<(u64, u32)>,
}

#[derive(Clone, Copy, Debug)]
struct Visit {
    mark: Mark,
    /// How many events the thread has had since.
    events: u32,
    /// Whether it has changed blocks of its own since.
    changed: bool,
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

impl Clone for Trail {
    fn clone(&self) -> Trail {
        Trail { visits: self.visits.clone(), rounds: self.rounds.clone() }
    }

    fn clone_from(&mut self, source: &Trail) {
        self.visits.clone_from(&source.visits);
        self.rounds.clone_from(&source.rounds);
    }
}

impl Trail {
    /// The thread had an effect.
    #[inline]
    pub fn clear(&mut self) {
        self.visits.clear();
    }

    /// The thread is at a place: says how often it has come back there.
    pub fn come_back(&mut self, site: u64) -> u32 {
        match self.rounds.iter_mut().find(|(at, _)| *at == site) {
            Some((_, rounds)) => {
                *rounds += 1;
                *rounds
            }
            None => {
                self.rounds.push((site, 0));
                0
            }
        }
    }

    /// The thread had an event; it may have changed blocks of its own.
    #[inline]
    pub fn go_on(&mut self, changed: bool) {
        for visit in &mut self.visits {
            visit.events += 1;
            visit.changed |= changed;
        }
    }

    /// The thread is about to act.
    pub fn visit(&mut self, mark: Mark) -> Visited {
        let mut visited = Visited::New;
        for visit in self.visits.iter().filter(|visit| visit.mark.site == mark.site) {
            visited = match visit.mark == mark {
                true if !visit.changed => return Visited::Alike { events: visit.events },
                true => Visited::AlikeButForBlocks,
                false => visited.max(Visited::Differently),
            };
        }
        if self.visits.len() == LEN {
            self.visits.remove(0);
        }
        self.visits.push(Visit { mark, events: 0, changed: false });
        visited
    }

    /// The places, the latest last.
    pub fn sites(&self) -> impl Iterator<Item = u64> + '_ {
        self.visits.iter().map(|visit| visit.mark.site)
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
