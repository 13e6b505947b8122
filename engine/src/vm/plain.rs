//! Plain accesses to atomics, while a program is explored: the values of atomics are in the execution graph.
//!
//! A plain read asks for the value first, and a plain write tells it afterwards, both as actions of their own.

use crate::program::AtomicWidth;

use super::action::{Action, Answer, Stop};
use super::atomics::updated;
use super::context::Context;
use super::memory::{INIT, PlainStore, Space};
use super::thread::{Pending, Reply};
use super::trap::Checked;

/// Notes an atomic access that took place. A plain read of an atomic gets the value it asked for.
///
/// What is written goes to memory only if the memory is the thread's own: others would ask the graph for it.
pub fn record(space: &mut Space, action: Action, answer: Answer) -> Checked<()> {
    if let (Action::PlainLoad { address, len }, Answer::Value(value)) = (action, answer) {
        put(space, address, u64::from(len), value)?;
        space.set_fresh(address, len);
        return Ok(());
    }
    let Some((address, width)) = action.accessed() else { return Ok(()) };
    let len = u64::from(width.bytes());
    let written = match (action, answer) {
        (Action::Pick { address }, Answer::Value(bit)) => Some(word(space, address)? & !bit),
        _ => written(action, answer),
    };
    if let Some(value) = written {
        space.publish(value as u64);
    }
    let visible = space.track_atomic(address, len, written.is_some())?;
    if visible {
        return Ok(());
    }
    if let Some(value) = written {
        put(space, address, len, value)?;
    }
    // The memory may have been freed since the thread asked for the access.
    space.note_own_atomic(address, len)
}

/// A 32-bit word as memory has it.
fn word(space: &mut Space, address: u64) -> Checked<u128> {
    let (data, _) = space.untracked_range(address, 4)?;
    Ok(data.iter().rev().fold(0, |word, byte| word << 8 | u128::from(*byte)))
}

fn put(space: &mut Space, address: u64, len: u64, value: u128) -> Checked<()> {
    let (data, shadow) = space.untracked_range_mut(address, len)?;
    data.copy_from_slice(&value.to_le_bytes()[..len as usize]);
    shadow.fill(INIT);
    Ok(())
}

/// Before anything else, other threads must learn what was written to atomics by plain writes.
pub fn stores_first(context: &mut Context, stop: Stop) -> Stop {
    let stores = std::mem::take(&mut context.heap.plain_stores);
    for PlainStore { address, len, place } in stores {
        let value = context
            .space()
            .untracked_range(address, u64::from(len))
            .map_or(0, |(data, _)| data.iter().rev().fold(0, |value, byte| value << 8 | u64::from(*byte)));
        let action = Action::PlainStore { address, len, value, place };
        let store = Pending { action, reply: Reply::Postponed };
        context.thread.postponed.extend(context.thread.pending.replace(store));
    }
    match context.thread.pending {
        Some(pending) => Stop::Action(pending.action),
        None => stop,
    }
}

/// A plain read of an atomic asks for its value; afterwards the instruction is run again.
pub fn ask_for_value(context: &mut Context, address: u64, len: u32) -> Stop {
    if let Some(frame) = context.thread.frames.last_mut() {
        frame.pc -= 1;
    }
    let action = Action::PlainLoad { address, len };
    context.thread.pending = Some(Pending { action, reply: Reply::None });
    Stop::Action(action)
}

fn written(action: Action, answer: Answer) -> Option<u128> {
    match (action, answer) {
        (Action::Store { value, .. }, _) => Some(value),
        (Action::Await { test, then, .. } | Action::Try { test, then, .. }, Answer::Value(old)) => {
            updated(old, test, then)
        }
        (Action::Rmw { op, width, operand, .. }, Answer::Value(old)) => {
            Some(op.apply(8 * AtomicWidth::bytes(width), old, operand))
        }
        (Action::Cas { new, .. }, Answer::Cas { success: true, .. }) => Some(new),
        _ => None,
    }
}
