//! Views: vector clocks that say, for each thread, how many of its events are in a set closed under program order.
//!
//! Every event has three: `porf`, what it causally depends on, itself included; `hb`, what happens before it, itself
//! included; and, for writes, `rel`, what an acquiring reader of it synchronises with.

use super::event::Event;

/// A view: entry `t` is the number of events of thread `t`.
pub type View = [u32];

/// Whether the view contains the event.
#[inline]
pub fn contains(view: &View, event: &Event) -> bool {
    view.get(event.thread.index()).is_some_and(|&count| count > event.index)
}

/// Adds all of `other` to `view`.
#[inline]
pub fn join(view: &mut View, other: &View) {
    for (mine, &theirs) in view.iter_mut().zip(other) {
        *mine = theirs.max(*mine);
    }
}
