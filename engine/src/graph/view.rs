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

/// Adds all of `other` to `view`, four entries at a time: views are short, and this is in the innermost loop.
#[inline]
pub fn join(view: &mut View, other: &View) {
    let len = view.len().min(other.len());
    let (mine, my_rest) = view[..len].as_chunks_mut::<4>();
    let (theirs, their_rest) = other[..len].as_chunks::<4>();
    for (mine, theirs) in mine.iter_mut().zip(theirs) {
        *mine = std::array::from_fn(|entry| theirs[entry].max(mine[entry]));
    }
    for (mine, &theirs) in my_rest.iter_mut().zip(their_rest) {
        *mine = theirs.max(*mine);
    }
}
