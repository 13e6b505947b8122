//! What a pointer may be used for, without using it: whether it points to memory, and how far it may be moved.
//!
//! Nothing is accessed, so nothing is tracked: what is found must follow from what the thread itself has done. Memory
//! that another thread has freed, or keeps for itself, is not judged here but where it is accessed.

use crate::program::address::{END, HEAP_REGION, REGION_BITS, STACK_BIT};
use crate::program::{FuncId, Slot};
use crate::verdict::ErrorKind;
use crate::vm::failure::Fault;
use crate::vm::trap::{Checked, Trap};

use super::alloc::{Alloc, AllocKind};
use super::explain::{self, Access};
use super::heap::Found;
use super::shadow::LIVE;
use super::space::Space;
use super::stack::MemFrame;

/// The largest size of anything that pointers point to.
const MAX_SIZE: u64 = i64::MAX as u64;

/// The memory around an address.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Extent {
    /// From its first byte to behind its last.
    Live(u64, u64),
    /// There is none, or it is gone.
    Nothing,
    /// Another thread may know.
    Unknown,
}

impl Space<'_> {
    /// Checks that a reference to so many bytes may be made of a pointer.
    pub fn check_reference(&self, address: u64, size: u64, align: u64) -> Checked<()> {
        if address == 0 || !address.is_multiple_of(align.max(1)) {
            return Err(explain::misaligned(self, address, align, Access::Borrow));
        }
        if size > MAX_SIZE {
            return Err(
                Fault::undefined(format!("reference to {size} bytes, more than any allocation can have")).into()
            );
        }
        match self.extent(address) {
            _ if size == 0 => Ok(()),
            Extent::Live(start, end) if start <= address && size <= end.saturating_sub(address) => Ok(()),
            Extent::Unknown => Ok(()),
            Extent::Live(..) | Extent::Nothing => Err(explain::access(self, address, size, Access::Borrow)),
        }
    }

    /// Checks that a pointer may be moved by so many bytes: it stays in what it points into, or goes to its end.
    pub fn check_offset(&self, address: u64, bytes: i128) -> Checked<()> {
        if bytes == 0 {
            return Ok(());
        }
        let moved = u64::try_from(i128::from(address) + bytes).ok().filter(|_| bytes.unsigned_abs() <= MAX_SIZE.into());
        let Some(moved) = moved else {
            return Err(Fault::undefined(format!(
                "pointer arithmetic by {bytes} bytes, more than any allocation can have"
            ))
            .into());
        };
        if self.is_one(address.min(moved), address.max(moved)) {
            return Ok(());
        }
        Err(self.out_of_extent(address, format!("a pointer is moved by {bytes} bytes, beyond what it points into")))
    }

    /// Checks that two pointers point into the same, and are so many bytes apart, or a multiple.
    pub fn check_distance(&self, a: u64, b: u64, size: u64, unsigned: bool) -> Checked<()> {
        if unsigned && a < b {
            return Err(Fault::undefined("unsigned pointer distance to a pointer that comes before").into());
        }
        if !a.abs_diff(b).is_multiple_of(size.max(1)) {
            let message = format!("the distance of two pointers is no multiple of the {size} bytes of an element");
            return Err(Fault::undefined(message).into());
        }
        if a == b || self.is_one(a.min(b), a.max(b)) {
            return Ok(());
        }
        Err(Fault::undefined("distance of pointers that do not point into the same").into())
    }

    /// Whether a range is part of one piece of memory, as far as is known.
    fn is_one(&self, start: u64, end: u64) -> bool {
        match (self.extent(start), self.extent(end)) {
            (Extent::Live(from, to), _) => from <= start && end <= to,
            (Extent::Unknown, _) | (_, Extent::Unknown) => true,
            (Extent::Nothing, _) => false,
        }
    }

    #[cold]
    fn out_of_extent(&self, address: u64, message: String) -> Box<Trap> {
        let why = explain::invalid_access(self, address, 1, Access::Borrow);
        let fault = match self.extent(address) {
            Extent::Nothing => Fault { message: format!("{message}: {}", why.message), ..why },
            _ => Fault::new(ErrorKind::OutOfBounds, message),
        };
        fault.into()
    }

    fn extent(&self, address: u64) -> Extent {
        if address >= END {
            return Extent::Nothing;
        }
        if address & STACK_BIT != 0 {
            return match self.stack.owns(address) {
                true => self.own_frame(address),
                false => Extent::Unknown,
            };
        }
        match self.heap.look(address, self.globals) {
            Found::Live(Alloc { kind: AllocKind::Frame(func), base, thread, .. }) => match *thread == self.thread {
                true => self.shared_frame(*func, *base, address),
                false => Extent::Unknown,
            },
            Found::Live(alloc) => Extent::Live(alloc.base, alloc.base.saturating_add(alloc.size)),
            Found::Freed(freed) if freed.freed_by != self.thread => Extent::Unknown,
            Found::Freed(_) => Extent::Nothing,
            Found::Forgotten => Extent::Unknown,
            Found::Nothing if self.is_of_another(address) => Extent::Unknown,
            Found::Nothing => Extent::Nothing,
        }
    }

    /// Whether an address is in the heap of another thread.
    fn is_of_another(&self, address: u64) -> bool {
        let region = address >> REGION_BITS;
        region >= HEAP_REGION && region - HEAP_REGION != u64::from(self.thread.0)
    }

    fn own_frame(&self, address: u64) -> Extent {
        let Some(frame) = self.stack.frame(address) else { return Extent::Nothing };
        let offset = MemFrame::offset(address);
        let is_live = |at: u64| self.stack.first_dead(at, 1).is_none();
        self.slot(frame.func, address - u64::from(offset), offset, is_live)
    }

    fn shared_frame(&self, func: FuncId, base: u64, address: u64) -> Extent {
        let Found::Live(alloc) = self.heap.look(address, self.globals) else { return Extent::Nothing };
        let is_live = |at: u64| {
            let shadow = alloc.offset(at, 1).map(|offset| alloc.shadow_of(offset, 1));
            shadow.is_some_and(|shadow| shadow.iter().all(|byte| byte & LIVE != 0))
        };
        self.slot(func, base, address.wrapping_sub(base) as u32, is_live)
    }

    /// The slot of a frame that an offset is in, or at the end of.
    fn slot(&self, func: FuncId, base: u64, offset: u32, is_live: impl Fn(u64) -> bool) -> Extent {
        let range = |slot: &Slot| {
            let start = u32::from(slot.offset);
            start..=start + u32::from(slot.size)
        };
        let slots = &self.program.function(func).slots;
        match slots.iter().find(|slot| range(slot).contains(&offset)) {
            // What is empty is nowhere.
            Some(slot) if slot.size == 0 || is_live(base + u64::from(slot.offset)) => {
                let start = base + u64::from(slot.offset);
                Extent::Live(start, start + u64::from(slot.size))
            }
            _ => Extent::Nothing,
        }
    }
}
