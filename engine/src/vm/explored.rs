//! What exploring a program needs of the machine: values of atomics that come from an execution graph, cheap copies,
//! and a look at memory from outside.

use std::sync::Arc;

use super::action::{Action, Answer};
use super::failure::{Failure, Fault};
use super::image::Image;
use super::memory::Heap;
use super::thread::ThreadId;
use super::world::World;
use super::{Cow, RunOptions, Vm, atomics};

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
        let Some((address, width, value)) = self.pending(id).and_then(|action| written(action, answer)) else {
            return Ok(());
        };
        self.with_thread(id, |context, _| {
            atomics::write(&mut context.space(), address, width, value).map_err(|fault| context.failure(*fault))
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

fn written(action: Action, answer: Answer) -> Option<(u64, crate::program::AtomicWidth, u128)> {
    match (action, answer) {
        (Action::Store { address, width, value, .. }, _) => Some((address, width, value)),
        (Action::Rmw { op, address, width, operand, .. }, Answer::Value(old)) => {
            Some((address, width, atomics::rmw(op, width, old, operand)))
        }
        (Action::Cas { address, width, new, .. }, Answer::Cas { success: true, .. }) => Some((address, width, new)),
        _ => None,
    }
}
