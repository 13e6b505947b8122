//! What exploring a program needs of the machine: values of atomics that come from an execution graph, cheap copies,
//! and a look at memory from outside.

use std::sync::Arc;

use crate::verdict::ErrorKind;

use super::action::{Action, Answer, Stop};
use super::context::Context;
use super::failure::{Failure, FailureKind, Fault};
use super::image::Image;
use super::memory::{Heap, INIT, PlainStore, Site, Space, Tracked, Tracking};
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

    /// Whether the deadline has passed.
    pub fn is_out_of_time(&self) -> bool {
        self.options.is_over()
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
        self.failure(id, FailureKind::Unsupported, reason)
    }

    /// The failure of a thread that ends the program with an exit code other than 0.
    pub fn exit_failure(&self, id: ThreadId, code: i32) -> Box<Failure> {
        self.failure(id, ErrorKind::Abort, format!("the program exits with code {code}"))
    }

    /// The failure of a thread where it is.
    pub fn failure(&self, id: ThreadId, kind: impl Into<FailureKind>, message: impl Into<String>) -> Box<Failure> {
        Failure::new(*Fault::new(kind, message), &self.image.program, id, self.stack_trace(id))
    }

    /// Writes to memory what the pending atomic access of a thread writes, given what it reads.
    pub fn record(&mut self, id: ThreadId, answer: Answer) -> Result<(), Box<Failure>> {
        let Some(action) = self.pending(id) else { return Ok(()) };
        self.with_thread(id, |context, _| {
            record(&mut context.space(), action, answer).map_err(|fault| context.failure(*fault))
        })
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
    let written = written(action, answer);
    space.track_atomic(address, u64::from(width.bytes()), written.is_some())?;
    if let Some((address, width, value)) = written {
        let (data, shadow) = space.untracked_range_mut(address, u64::from(width.bytes()))?;
        data.copy_from_slice(&value.to_le_bytes()[..width.bytes() as usize]);
        shadow.fill(INIT);
    }
    Ok(())
}

/// Before anything else, other threads must learn what was written to atomics by plain writes.
pub fn plain_stores_first(context: &mut Context, stop: Stop) -> Stop {
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
pub fn ask_for_value(context: &mut Context) -> Stop {
    let (address, len) = context.heap.refresh.take().unwrap_or((0, 0));
    if let Some(frame) = context.thread.frames.last_mut() {
        frame.pc -= 1;
    }
    let action = Action::PlainLoad { address, len };
    context.thread.pending = Some(Pending { action, reply: Reply::None });
    Stop::Action(action)
}

fn written(action: Action, answer: Answer) -> Option<(u64, crate::program::AtomicWidth, u128)> {
    match (action, answer) {
        (Action::Store { address, width, value, .. }, _) => Some((address, width, value)),
        (Action::Lock { address }, _) => Some((address, crate::program::AtomicWidth::W32, 1)),
        (Action::Rmw { op, address, width, operand, .. }, Answer::Value(old)) => {
            Some((address, width, op.apply(8 * width.bytes(), old, operand)))
        }
        (Action::Cas { address, width, new, .. }, Answer::Cas { success: true, .. }) => Some((address, width, new)),
        _ => None,
    }
}
