//! What is at an address, in the words of the source.

use serde::{Deserialize, Serialize};

use crate::program::address::STACK_BIT;
use crate::program::{PlaceId, Slot};
use crate::verdict::Location;

use super::Vm;
use super::memory::{Alloc, AllocKind, Found, MemFrame};

/// A variable, or a part of one.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct Variable {
    pub object: Object,
    /// Where in the object, in bytes.
    pub offset: u64,
}

/// Something in memory.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(tag = "kind", rename_all = "kebab-case")]
pub enum Object {
    /// A static, by its path.
    Static { name: String },
    /// A local variable of a function that is active in a thread; the name is empty for a temporary.
    Local { name: String, function: String, thread: u16 },
    /// A block on the heap: where it begins, and where it was allocated.
    Heap { address: u64, size: u64, allocated: Option<Location> },
    /// Anything else: the object begins at this address.
    Other { address: u64 },
}

impl Vm {
    /// What is at an address.
    pub fn variable(&self, address: u64) -> Variable {
        let known = if address & STACK_BIT != 0 { self.local(address) } else { self.allocated(address) };
        known.unwrap_or(Variable { object: Object::Other { address }, offset: 0 })
    }

    fn local(&self, address: u64) -> Option<Variable> {
        let threads = self.threads.iter().flatten().map(|thread| thread.get());
        let thread = threads.into_iter().find(|thread| thread.stack.owns(address))?;
        let function = self.image.program.function(thread.stack.frame(address)?.func);
        let at = MemFrame::offset(address);
        let covers = |slot: &&Slot| (slot.offset..slot.offset + slot.size).contains(&(at as u16));
        let slot = function.slots.iter().find(covers)?;
        let object = Object::Local { name: slot.name.clone(), function: function.name.clone(), thread: thread.id.0 };
        Some(Variable { object, offset: u64::from(at) - u64::from(slot.offset) })
    }

    fn allocated(&self, address: u64) -> Option<Variable> {
        let Found::Live(alloc) = self.heap.look(address, &self.image.globals) else { return None };
        let offset = address.wrapping_sub(alloc.base);
        (offset <= alloc.size).then(|| Variable { object: self.object(alloc), offset })
    }

    fn object(&self, alloc: &Alloc) -> Object {
        match alloc.kind {
            AllocKind::Rust | AllocKind::C => {
                Object::Heap { address: alloc.base, size: alloc.size, allocated: self.location_of(alloc.place) }
            }
            AllocKind::Static | AllocKind::Constant => match self.static_name(alloc.base) {
                Some(name) => Object::Static { name },
                None => Object::Other { address: alloc.base },
            },
            AllocKind::Local | AllocKind::ThreadLocal => Object::Other { address: alloc.base },
        }
    }

    fn static_name(&self, base: u64) -> Option<String> {
        let globals = &self.image.program.globals;
        let index = globals.binary_search_by_key(&base, |global| global.address).ok()?;
        Some(globals[index].name.clone()).filter(|name| !name.is_empty())
    }

    /// A place of the program, if it is one.
    pub fn location_of(&self, place: PlaceId) -> Option<Location> {
        let program = &self.image.program;
        program.places.get(place.0 as usize).map(|_| program.location(place))
    }
}
