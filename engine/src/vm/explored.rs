//! What exploring a program needs of the machine: values of atomics that come from an execution graph, cheap copies,
//! and a look at memory from outside.

use std::sync::Arc;

use crate::program::AtomicWidth;

use super::action::{Action, Answer, Stop};
use super::atomics::updated;
use super::context::Context;
use super::failure::{Failure, Fault, Waiting};
use super::image::Image;
use super::memory::{Heap, INIT, Site, Space, Tracked, Tracking};
use super::thread::{Pending, Reply, ThreadId};
use super::world::World;
use super::{Cow, RunOptions, Vm};

impl Vm {
    /// A machine without threads.
    pub fn empty(image: &Arc<Image>, options: &Arc<RunOptions>) -> Vm {
        Vm {
            image: Arc::clone(image),
            options: Arc::clone(options),
            threads: Vec::new(),
            heap: Heap::default(),
            world: Cow::new(World::default()),
            steps_left: options.max_steps,
        }
    }

    /// Tracks accesses to memory from now on.
    pub fn track(&mut self, tracked: &Arc<Tracked>) {
        self.heap.tracking = Some(Box::new(Tracking { tracked: Arc::clone(tracked), clock: Vec::new(), events: 0 }));
        for thread in self.threads.iter_mut().flatten() {
            thread.get_mut().stack.set_tracked(tracked);
        }
    }

    /// Says what happens before the next step of a thread, and how many events it has.
    pub fn set_clock(&mut self, clock: &[u32], events: u32) {
        if let Some(tracking) = &mut self.heap.tracking {
            tracking.clock.clear();
            tracking.clock.extend_from_slice(clock);
            tracking.events = events;
        }
    }

    /// Memory that turned out to be shared, though it was not tracked.
    pub fn learned(&mut self) -> Option<Site> {
        self.heap.learned.take()
    }

    /// Shares everything, so that copies are cheap until something is written.
    pub fn share(&mut self) {
        for thread in self.threads.iter_mut().flatten() {
            thread.share();
        }
        self.world.share();
        self.heap.share();
    }

    /// The failure of a thread that needs something the checker does not have.
    pub fn unsupported(&self, id: ThreadId, reason: &str) -> Box<Failure> {
        Failure::new(*Fault::unsupported(reason), &self.image.program, id, self.stack_trace(id))
    }

    /// Writes to memory what the pending atomic access of a thread writes, given what it reads.
    pub fn record(&mut self, id: ThreadId, answer: Answer) -> Result<(), Box<Failure>> {
        let Some(action) = self.pending(id) else { return Ok(()) };
        self.with_thread(id, |context, _| {
            record(&mut context.space(), action, answer).map_err(|fault| context.failure(*fault))
        })
    }

    /// A thread that waits for ever, with those who have what it waits for.
    pub fn waiting(&self, thread: ThreadId, holders: Vec<ThreadId>) -> Waiting {
        let wait = self.pending(thread).and_then(|action| action.waits());
        Waiting { thread, wait, holders, stack: self.stack_trace(thread) }
    }

    /// Up to 8 bytes of memory as a number; 0 where there is no memory.
    pub fn peek(&self, address: u64, len: usize) -> u64 {
        let mut bytes = [0; 8];
        self.read_bytes(address, &mut bytes[..len.min(8)]);
        u64::from_le_bytes(bytes)
    }

    fn read_bytes(&self, address: u64, to: &mut [u8]) -> Option<()> {
        let len = to.len();
        if address & crate::program::address::STACK_BIT != 0 {
            let thread = self.threads.iter().flatten().find_map(|thread| thread.get().stack.range(address, len as u64));
            let (data, _) = thread?;
            to.copy_from_slice(data);
            return Some(());
        }
        let super::memory::Found::Live(alloc) = self.heap.look(address, &self.image.globals) else { return None };
        let start = usize::try_from(address.checked_sub(alloc.base)?).ok()?;
        to.copy_from_slice(alloc.data().get(start..start + len)?);
        Some(())
    }
}

/// Notes an atomic access, and what it writes; a plain read of an atomic gets the value it asked for.
fn record(space: &mut Space, action: Action, answer: Answer) -> Result<(), Box<Fault>> {
    if let (Action::PlainLoad { address, len }, Answer::Value(value)) = (action, answer) {
        let (data, _) = space.untracked_range_mut(address, u64::from(len))?;
        data.copy_from_slice(&value.to_le_bytes()[..len as usize]);
        space.set_fresh(address, u64::from(len));
        return Ok(());
    }
    let Some((address, width)) = action.accessed() else { return Ok(()) };
    let written = match (action, answer) {
        (Action::Pick { address }, Answer::Value(bit)) => {
            let old =
                space.untracked_range(address, 4)?.0.iter().rev().fold(0, |old, byte| old << 8 | u128::from(*byte));
            Some((address, width, old & !bit))
        }
        _ => written(action, answer),
    };
    space.track_atomic(address, u64::from(width.bytes()), written.is_some())?;
    if let Some((address, width, value)) = written {
        let (data, shadow) = space.untracked_range_mut(address, u64::from(width.bytes()))?;
        data.copy_from_slice(&value.to_le_bytes()[..width.bytes() as usize]);
        shadow.fill(INIT);
    } else {
        // The memory may have been freed since the thread asked for the access.
        space.untracked_range(address, u64::from(width.bytes()))?;
    }
    Ok(())
}

/// Before anything else, other threads must learn what was written to atomics by plain writes.
pub fn plain_stores_first(context: &mut Context, stop: Stop) -> Stop {
    let stores = std::mem::take(&mut context.heap.plain_stores);
    for (address, len) in stores {
        let value = context
            .space()
            .untracked_range(address, u64::from(len))
            .map_or(0, |(data, _)| data.iter().rev().fold(0, |value, byte| value << 8 | u64::from(*byte)));
        let action = Action::PlainStore { address, len, value };
        let store = Pending { action, reply: Reply::Postponed };
        context.thread.postponed.extend(context.thread.pending.replace(store));
    }
    match context.thread.pending {
        Some(pending) => Stop::Action(pending.action),
        None => stop,
    }
}

/// A plain read of an atomic asks for its value; afterwards the instruction is run again.
pub fn ask_for_value(context: &mut Context) -> Stop {
    let (address, len) = context.heap.refresh.take().unwrap_or((0, 0));
    if let Some(frame) = context.thread.frames.last_mut() {
        frame.pc -= 1;
    }
    let action = Action::PlainLoad { address, len };
    context.thread.pending = Some(Pending { action, reply: Reply::None });
    Stop::Action(action)
}

fn written(action: Action, answer: Answer) -> Option<(u64, AtomicWidth, u128)> {
    match (action, answer) {
        (Action::Store { address, width, value, .. }, _) => Some((address, width, value)),
        (Action::Await { address, test, then, .. } | Action::Try { address, test, then, .. }, Answer::Value(old)) => {
            updated(old, test, then).map(|new| (address, AtomicWidth::W32, new))
        }
        (Action::Rmw { op, address, width, operand, .. }, Answer::Value(old)) => {
            Some((address, width, op.apply(8 * width.bytes(), old, operand)))
        }
        (Action::Cas { address, width, new, .. }, Answer::Cas { success: true, .. }) => Some((address, width, new)),
        _ => None,
    }
}
