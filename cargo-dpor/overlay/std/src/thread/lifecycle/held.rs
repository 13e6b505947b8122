//! The result of a thread, which the thread and its handle hold: whoever lets go of it last drops it.
//!
//! The reference counts of the library are bookkeeping of its own: in which order they change is not explored. Here a
//! word counts the two who hold the result, as the library's reference count does, in sight of the checker: if a thread
//! asks whether another has ended, and if it makes a difference who drops the result: if that has a destructor, or if the
//! thread that waits at the end of a scope is unparked then, and its token matters.

use super::Packet;
use crate::any::Any;
use crate::mem::needs_drop;
use crate::sync::Arc;
use crate::sys::sync::checker::{dpor_ask, dpor_asked, question, result};
use crate::thread::Result;

/// What a handle holds.
pub(super) struct Held<'scope, T> {
    packet: Arc<Packet<'scope, T>>,
    joined: bool,
}

impl<'scope, T> Held<'scope, T> {
    pub(super) fn new(packet: Arc<Packet<'scope, T>>) -> Self {
        if let Some(scope) = &packet.scope {
            scope.add_handle();
        }
        Held { packet, joined: false }
    }

    /// Whether the thread has let go of its result.
    pub(super) fn is_alone(&self) -> bool {
        dpor_ask(question::END);
        result::is_left(&self.packet.holders)
    }

    /// The thread has been joined: nobody else holds its result.
    pub(super) fn join(&mut self) -> &mut Arc<Packet<'scope, T>> {
        self.joined = true;
        &mut self.packet
    }
}

impl<T> Drop for Held<'_, T> {
    fn drop(&mut self) {
        if !self.joined {
            if needs_drop::<T>() {
                dpor_ask(question::RESULT);
            }
            if self.packet.is_in_sight() {
                result::let_go(&self.packet.holders);
            }
        }
        if let Some(scope) = &self.packet.scope {
            scope.drop_handle();
        }
    }
}

/// A thread is done, its result is there, and it lets go of that.
pub(super) fn finish<T>(packet: Arc<Packet<'_, T>>) {
    // SAFETY: the handle does not look at the result before the thread has ended.
    if let Some(Err(payload)) = unsafe { &*packet.result.get() }
        && has_destructor(&**payload)
    {
        dpor_ask(question::PAYLOAD);
    }
    if dpor_asked(question::END) || packet.is_in_sight() {
        result::let_go(&packet.holders);
    }
    let scope = packet.scope.clone();
    drop(packet);
    if let Some(scope) = scope {
        scope.leave();
    }
}

/// Drops a result which nobody else holds.
pub(super) fn discard<T>(held: &mut Option<Result<T>>) {
    match held {
        Some(Ok(_)) if needs_drop::<T>() => result::discard(held),
        Some(Err(payload)) if has_destructor(&**payload) => result::discard(held),
        _ => *held = None,
    }
}

impl<T> Packet<'_, T> {
    /// Whether it makes a difference who drops the result, and all know of it.
    fn is_in_sight(&self) -> bool {
        needs_drop::<T>() && dpor_asked(question::RESULT)
            || dpor_asked(question::PAYLOAD)
            || self.scope.as_ref().is_some_and(|scope| scope.parks())
    }
}

/// Whether the payload of a panic may have a destructor of the user's: not if it is a message.
fn has_destructor(payload: &(dyn Any + Send)) -> bool {
    !payload.is::<&'static str>() && !payload.is::<String>()
}
