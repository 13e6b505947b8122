//! What is at an address, in the words of the source.

use serde::{Deserialize, Serialize};

use crate::program::address::STACK_BIT;
use crate::program::{FuncId, Part, PlaceId, Slot};
use crate::verdict::Location;

use super::explored::View;
use super::image::Image;
use super::leak::Memory;
use super::memory::{Alloc, AllocKind, MemFrame};
use super::thread::ThreadId;

/// A variable, or a part of one.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct Variable {
    pub object: Object,
    /// Where in the object, in bytes.
    pub offset: u64,
    /// Which part of the object that is, as far as its type is known.
    pub part: Option<Part>,
}

impl Variable {
    /// What to call it where no trace gives it a name of its own, if it has one.
    pub fn describe(&self) -> Option<String> {
        let object = match &self.object {
            Object::Static { name } => name.rsplit("::").next().unwrap_or(name),
            Object::Local { name, .. } | Object::Heap { name, .. } => name.as_str(),
            Object::Other { .. } => "",
        };
        let path = self.part.as_ref().map_or("", |part| part.path.as_str());
        let whole = format!("{object}{path}");
        let name = whole.trim_start_matches('.');
        (!name.is_empty()).then(|| name.to_owned())
    }
}

/// Something in memory.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(tag = "kind", rename_all = "kebab-case")]
pub enum Object {
    /// A static, by its path.
    Static { name: String },
    /// A local variable of a function that is active in a thread; the name is empty for a temporary.
    Local { name: String, function: String, thread: u16 },
    /// A block on the heap: where it begins, where it was allocated, and the variable it was allocated for or its type,
    /// where that is known.
    Heap { address: u64, size: u64, allocated: Option<Location>, name: String },
    /// Anything else: the object begins at this address.
    Other { address: u64 },
}

/// What is at an address, in a state of the program.
pub fn variable<A: Copy>(memory: &View<'_, A>, address: u64, image: &Image) -> Variable {
    let known = if address & STACK_BIT != 0 { local(memory, address, image) } else { None };
    let known = known.or_else(|| block(memory.find(address)?, address, image));
    known.unwrap_or(Variable { object: Object::Other { address }, offset: 0, part: None })
}

/// A place of a program, if it is one.
pub fn location_of(image: &Image, place: PlaceId) -> Option<Location> {
    image.program.places.get(place.0 as usize).map(|_| image.program.location(place))
}

fn local<A: Copy>(memory: &View<'_, A>, address: u64, image: &Image) -> Option<Variable> {
    let thread = memory.owner(address)?;
    let func = thread.stack.frame(address)?.func;
    slot(image, func, thread.id, MemFrame::offset(address))
}

/// The local of a function that is at an offset of its frames.
fn slot(image: &Image, func: FuncId, thread: ThreadId, at: u32) -> Option<Variable> {
    let function = image.program.function(func);
    let covers = |slot: &&Slot| (slot.offset..slot.offset + slot.size).contains(&(at as u16));
    let slot = function.slots.iter().find(covers)?;
    let object = Object::Local { name: slot.name.clone(), function: function.name.clone(), thread: thread.0 };
    let offset = u64::from(at) - u64::from(slot.offset);
    Some(Variable { object, offset, part: image.program.debug.local(func, slot.offset, offset) })
}

fn block(alloc: &Alloc, address: u64, image: &Image) -> Option<Variable> {
    let offset = address.checked_sub(alloc.base).filter(|offset| *offset <= alloc.size)?;
    let debug = &image.program.debug;
    let (object, part) = match alloc.kind {
        AllocKind::Frame(func) => return slot(image, func, alloc.thread, offset as u32),
        AllocKind::Rust | AllocKind::C => {
            let known = debug.block(alloc.place, alloc.size);
            let name = known.map(|known| debug.block_name(known).to_owned()).unwrap_or_default();
            let allocated = location_of(image, alloc.place);
            let part = known.map(|known| debug.in_block(known, offset));
            (Object::Heap { address: alloc.base, size: alloc.size, allocated, name }, part)
        }
        AllocKind::Static | AllocKind::Constant => match static_name(image, alloc.base) {
            Some(name) => (Object::Static { name }, debug.statik(alloc.base, offset)),
            None => (Object::Other { address: alloc.base }, None),
        },
        AllocKind::Local | AllocKind::ThreadLocal => (Object::Other { address: alloc.base }, None),
    };
    Some(Variable { object, offset, part })
}

fn static_name(image: &Image, base: u64) -> Option<String> {
    let globals = &image.program.globals;
    let index = globals.binary_search_by_key(&base, |global| global.address).ok()?;
    Some(globals[index].name.clone()).filter(|name| !name.is_empty())
}
