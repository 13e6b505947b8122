//! Threads that are alike: which of them comes first, as far as a graph tells.
//!
//! A thread may have a *like*: the nearest thread before it that runs the same code in the same state. As long as both
//! have done the same, event by event, an event and the one at the same place in the like are *twins*. A thread follows
//! its like: it has an event only where the like has the twin, and the event causally depends on that. It therefore
//! stays just as long as the twin does. What follows from there on is for [`crate::explore`] to say.

use super::Graph;
use super::action::Action;
use super::event::Event;
use super::ids::{EventId, ThreadId};
use super::threads::Origin;
use super::view::join;

/// Whether threads that are alike are compared by how this happens in each of them; all else ends the comparison.
fn is_compared(action: &Action) -> bool {
    match action {
        Action::Load { .. }
        | Action::Store { .. }
        | Action::Rmw { .. }
        | Action::Cas { .. }
        | Action::Try { .. }
        | Action::Await { .. }
        | Action::Pick { .. }
        | Action::Fence { .. }
        | Action::Leave { .. }
        | Action::Choose(_) => true,
        Action::Reach { .. } | Action::Spawn | Action::Join(_) | Action::Gather | Action::Model(_) => false,
        Action::End | Action::Block | Action::Exit | Action::Spin { .. } | Action::Fail => false,
    }
}

impl Graph {
    /// The threads that the same thread has spawned before this one, or that the program began with; the latest first.
    pub fn elder_siblings(&self, thread: ThreadId) -> impl Iterator<Item = ThreadId> {
        let Origin { parent, rank } = self.origin(thread);
        let elder = move |id: &ThreadId| {
            let origin = self.origin(*id);
            origin.parent == parent && origin.rank < rank
        };
        self.preference.iter().rev().copied().filter(elder)
    }

    /// Whether there are threads that are alike.
    pub(crate) fn has_likes(&self) -> bool {
        self.threads.iter().any(|thread| thread.alive && thread.like.is_some())
    }

    /// Says which thread a thread is alike, if there is one.
    pub(crate) fn set_like(&mut self, thread: ThreadId, like: Option<ThreadId>) {
        self.threads[thread.index()].like = like;
    }

    /// Whether a thread has joined a thread, but not another that is alike.
    pub(crate) fn has_joined_some(&self, by: ThreadId) -> bool {
        let has_joined = |thread: ThreadId| {
            let join = self.thread(thread).join;
            join.is_some() && self.event(join).thread == by
        };
        let differ = |thread, like| has_joined(thread) != has_joined(like);
        self.threads().any(|(thread, slot)| slot.like.is_some_and(|like| differ(thread, like)))
    }

    /// The thread that a thread is alike, if both have done the same so far.
    fn like_so_far(&self, thread: ThreadId) -> Option<ThreadId> {
        let slot = self.thread(thread);
        let like = slot.like?;
        (!slot.last.is_some() || self.event(slot.last).shared).then_some(like)
    }

    /// Whether a thread has to let the one that it is alike go first.
    #[inline]
    pub(crate) fn lets_like_go_first(&self, thread: ThreadId) -> bool {
        let slot = self.thread(thread);
        slot.like.is_some() && self.is_level_with_like(thread)
    }

    #[inline(never)]
    fn is_level_with_like(&self, thread: ThreadId) -> bool {
        let slot = self.thread(thread);
        let Some(like) = self.like_so_far(thread).map(|like| self.thread(like)) else { return false };
        like.len <= slot.len && like.pending == slot.pending && is_compared(&slot.pending)
    }

    /// The twin of the event that this action of a thread becomes next, if it has one.
    #[inline]
    pub(crate) fn next_twin(&self, thread: ThreadId, action: &Action) -> EventId {
        match self.thread(thread).like.is_some() && is_compared(action) {
            true => self.find_twin(thread, action),
            false => EventId::NONE,
        }
    }

    #[inline(never)]
    fn find_twin(&self, thread: ThreadId, action: &Action) -> EventId {
        let Some(like) = self.like_so_far(thread) else { return EventId::NONE };
        let (index, like) = (self.thread(thread).len, self.thread(like));
        let mut twin = if like.len > index { like.last } else { EventId::NONE };
        while twin.is_some() && self.event(twin).index > index {
            twin = self.event(twin).po_prev;
        }
        if twin.is_some() && self.event(twin).action == *action { twin } else { EventId::NONE }
    }

    /// Whether an event does what its twin does, so that both threads are in the same state afterwards. Writes differ:
    /// one comes before the other.
    pub(super) fn is_shared(&self, event: &Event) -> bool {
        event.twin.is_some() && !event.is_write && {
            let twin = self.event(event.twin);
            (event.rf, event.way, event.answer) == (twin.rf, twin.way, twin.answer) && !twin.is_write
        }
    }

    /// Adds what the next event of a thread depends on because it has a twin.
    #[inline]
    pub(crate) fn join_twin(&self, thread: ThreadId, porf: &mut [u32]) {
        let twin = self.next_twin(thread, &self.thread(thread).pending);
        if twin.is_some() {
            join(porf, self.porf(twin));
        }
    }
}
