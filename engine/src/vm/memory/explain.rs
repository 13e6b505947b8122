//! Why an access may not be made: from an address to an error kind, a sentence, and notes.

use std::fmt;

use serde::Serialize;

use crate::program::address::{CODE_REGION, GRANULE_BITS, REGION_BITS, STACK_BIT};
use crate::program::{FuncId, PlaceId};
use crate::verdict::ErrorKind;
use crate::vm::failure::{Failure, Fault, Late};
use crate::vm::note::{AccessKind, NoteKind, local};
use crate::vm::thread::ThreadId;
use crate::vm::trap::Trap;

use super::alloc::{Alloc, AllocKind, Freed};
use super::heap::Found;
use super::races::Record;
use super::shadow::LIVE;
use super::space::{Space, stack_thread};
use super::stack::{MemFrame, Stack};
use super::track;

/// Addresses below this are null pointers with an offset.
const NULL_PAGE: u64 = 4096;
/// How far behind an allocation an address still counts as past its end, in granules.
const NEAR: u64 = 2;

/// What was tried.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Access {
    Read,
    Write,
    /// A reference was made.
    Borrow,
}

impl Access {
    fn noun(self) -> &'static str {
        match self {
            Access::Read => "read",
            Access::Write => "write",
            Access::Borrow => "reference",
        }
    }

    /// The words before what is accessed.
    fn phrase(self) -> &'static str {
        match self {
            Access::Read => "read of",
            Access::Write => "write of",
            Access::Borrow => "reference to",
        }
    }
}

/// What was tried with so many bytes.
#[derive(Clone, Copy, Debug)]
struct Attempt {
    access: Access,
    len: u64,
}

impl fmt::Display for Attempt {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} {}", self.access.phrase(), bytes(self.len))
    }
}

/// An access to a heap block that was freed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
pub struct Dangling {
    pub access: Access,
    /// How many bytes are accessed, and how many the block had.
    pub len: u64,
    pub block: u64,
}

impl Dangling {
    /// The headline; `variable` is the name of what is accessed, where it has one, and whether that is the block itself.
    pub fn message(&self, variable: Option<(&str, bool)>) -> String {
        let Dangling { access, len, block } = *self;
        match variable {
            Some((name, true)) => format!("{} `{name}`, a heap block that was freed", access.phrase()),
            Some((name, false)) => format!("{} `{name}` in a heap block that was freed", access.phrase()),
            None => format!("{} {} in a heap block of {} that was freed", access.phrase(), bytes(len), bytes(block)),
        }
    }
}

fn bytes(len: u64) -> String {
    if len == 1 { "1 byte".to_owned() } else { format!("{len} bytes") }
}

/// An address that lacks the alignment. A null pointer is the greater error.
#[cold]
pub fn misaligned(space: &Space, address: u64, align: u64, access: Access) -> Box<Trap> {
    if address < NULL_PAGE {
        return null(address, access).into();
    }
    let fault = Fault::new(
        ErrorKind::Misaligned,
        format!("misaligned {} at {address:#x}: the alignment is {align}", access.noun()),
    );
    match space.heap.look(address, space.globals) {
        Found::Live(alloc) if address & STACK_BIT == 0 => note_alloc(fault, alloc).into(),
        _ => fault.into(),
    }
}

fn null(address: u64, access: Access) -> Fault {
    let message = match address {
        0 => format!("{} through a null pointer", access.noun()),
        _ => format!("{} of unmapped memory at {address:#x}: a null or dangling pointer", access.noun()),
    };
    Fault::new(ErrorKind::NullPointer, message)
}

/// A range that may not be accessed.
#[cold]
#[inline(never)]
pub fn access(space: &Space, address: u64, len: u64, access: Access) -> Box<Trap> {
    invalid_access(space, address, len, access).into()
}

/// What is wrong with an access to a range.
#[cold]
pub fn invalid_access(space: &Space, address: u64, len: u64, access: Access) -> Fault {
    if address < NULL_PAGE {
        return null(address, access);
    }
    if address & STACK_BIT != 0 && address >> (REGION_BITS + 11) == 0 {
        return stack_access(space, address, len, access);
    }
    let what = Attempt { access, len };
    match space.heap.look(address, space.globals) {
        Found::Live(Alloc { kind: AllocKind::Frame(func), base, size, .. }) => {
            let offset = address.wrapping_sub(*base) as u32;
            let dead = first_dead(space, address, len).map_or(*size as u32, |dead| offset + dead as u32);
            frame_access(space, what, *func, offset, dead)
        }
        Found::Live(alloc) if alloc.range(address, len).is_some() => {
            Fault::undefined(format!("{what}: the memory is read-only"))
        }
        Found::Live(alloc) => out_of_bounds(what, alloc, address),
        Found::Freed(freed) => used_after_free(what, &freed, address),
        Found::Forgotten => Fault::new(ErrorKind::UseAfterFree, format!("{what} in memory that was freed")),
        Found::Nothing => nothing(space, what, address),
    }
}

fn nothing(space: &Space, what: Attempt, address: u64) -> Fault {
    for back in 1..=NEAR {
        let before = address.wrapping_sub(back << GRANULE_BITS);
        match space.heap.look(before, space.globals) {
            Found::Live(alloc) => return out_of_bounds(what, alloc, address),
            Found::Freed(freed) => return used_after_free(what, &freed, before),
            Found::Forgotten | Found::Nothing => {}
        }
    }
    if address >> REGION_BITS == CODE_REGION {
        return Fault::undefined(format!("{what} at {address:#x}: this is the address of a function"));
    }
    Fault::new(ErrorKind::OutOfBounds, format!("{what} at {address:#x}: there is no allocation at this address"))
}

fn out_of_bounds(what: Attempt, alloc: &Alloc, address: u64) -> Fault {
    let kind = alloc.kind.describe();
    let size = bytes(alloc.size);
    let message = if address < alloc.base {
        format!("{what}, {} before a {kind} of {size}", bytes(alloc.base - address))
    } else {
        format!("{what} at offset {} of a {kind} of {size}", address - alloc.base)
    };
    note_alloc(Fault::new(ErrorKind::OutOfBounds, message), alloc)
}

/// Memory goes that another thread has accessed, and neither happens before the other: the error that this is, and the
/// one that it is if the access may come later. The access was to this address.
#[cold]
pub fn end(space: &Space, address: u64, other: &Record, place: PlaceId) -> (Fault, Late) {
    let access = if other.kind.write { Access::Write } else { Access::Read };
    let what = Attempt { access, len: u64::from(other.piece.end - other.piece.start) };
    let events = space.heap.tracking.as_ref().map(|tracking| tracking.events);
    let (end, mut fault) = match space.heap.look(address, space.globals) {
        Found::Live(alloc) => match alloc.kind {
            AllocKind::Frame(func) => {
                let fault = local_ends(space, what, func, (alloc.base, address));
                (AccessKind::EndOfScope, note_place(fault, NoteKind::LeavesScope, place, space.thread))
            }
            kind => {
                let end = if kind.is_heap() { AccessKind::Deallocation } else { AccessKind::EndOfScope };
                (end, used_after_free(what, &alloc.freed(space.thread, place), address))
            }
        },
        _ => {
            (AccessKind::Deallocation, Fault::new(ErrorKind::UseAfterFree, format!("{what} in memory that was freed")))
        }
    };
    if let Some(last) = fault.notes.last_mut().filter(|note| note.thread == Some(space.thread)) {
        last.events = events;
    }
    fault.address.get_or_insert(address);
    let access = if other.kind.write { AccessKind::Write } else { AccessKind::Read };
    let fault = fault.note(NoteKind::Unordered { access, end }, None, None);
    let failure = Failure::at(fault, space.program, other.thread, other.place, other.event);
    (track::race(end, other).about(address), Late { thread: other.thread, events: other.event, failure })
}

/// An access to a local variable, in a frame that begins at this address, which ends with its function, or before.
fn local_ends(space: &Space, what: Attempt, func: FuncId, (frame, address): (u64, u64)) -> Fault {
    if space.stack.slot_address(0) != frame {
        return used_after_return(what);
    }
    let offset = (address - frame) as u32;
    frame_access(space, what, func, offset, offset)
}

fn note_alloc(fault: Fault, alloc: &Alloc) -> Fault {
    if alloc.kind.is_heap() { note_place(fault, NoteKind::Allocated, alloc.place, alloc.thread) } else { fault }
}

fn note_place(fault: Fault, kind: NoteKind, place: PlaceId, thread: ThreadId) -> Fault {
    fault.note(kind, Some(place), Some(thread))
}

fn note_freed(fault: Fault, freed: &Freed) -> Fault {
    let fault = if freed.kind.is_heap() {
        note_place(fault, NoteKind::Allocated, freed.allocated_at, freed.allocated_by)
    } else {
        fault
    };
    let end = if freed.kind == AllocKind::Local { NoteKind::OutOfScope } else { NoteKind::Freed };
    note_place(fault, end, freed.freed_at, freed.freed_by)
}

fn used_after_free(what: Attempt, freed: &Freed, address: u64) -> Fault {
    if let AllocKind::Frame(_) = freed.kind {
        return used_after_return(what);
    }
    let size = u64::from(freed.size);
    let fault = match freed.kind {
        kind if kind.is_heap() => {
            Fault::dangling(Dangling { access: what.access, len: what.len, block: size }).about(address)
        }
        kind => {
            let gone = if kind == AllocKind::Local { ", which is out of scope" } else { " that was freed" };
            let message = format!("{what} in a {} of {}{gone}", kind.describe(), bytes(size));
            Fault::new(ErrorKind::UseAfterFree, message).about(freed.base)
        }
    };
    note_freed(fault, freed)
}

fn stack_access(space: &Space, address: u64, len: u64, access: Access) -> Fault {
    let what = Attempt { access, len };
    let Some(stack) = stack_of(space, address) else {
        return Fault::new(
            ErrorKind::OutOfBounds,
            format!("{what} at {address:#x}: there is no allocation at this address"),
        );
    };
    let Some(frame) = stack.frame(address) else {
        return match stack.was_used(address) {
            true => used_after_return(what),
            false => Fault::new(
                ErrorKind::OutOfBounds,
                format!("{what} at {address:#x}: there is no allocation at this address"),
            ),
        };
    };
    let offset = MemFrame::offset(address);
    let dead = stack.first_dead(address, len).map_or(frame.size(), |dead| offset + dead as u32);
    frame_access(space, what, frame.func, offset, dead)
}

fn used_after_return(what: Attempt) -> Fault {
    Fault::new(ErrorKind::UseAfterFree, format!("{what} in a local variable of a function that has returned"))
}

/// The offset of the first byte of a range in a block that is not accessible.
fn first_dead(space: &Space, address: u64, len: u64) -> Option<u64> {
    let Found::Live(alloc) = space.heap.look(address, space.globals) else { return None };
    let shadow = alloc.shadow_of(alloc.offset(address, len)?, len);
    shadow.iter().position(|byte| byte & LIVE == 0).map(|index| index as u64)
}

/// A range in the frame of a function, of which the byte at the offset `dead` is the first that is not accessible.
fn frame_access(space: &Space, what: Attempt, func: FuncId, offset: u32, dead: u32) -> Fault {
    let function = space.program.function(func);
    let covers = |at: u32| function.slots.iter().find(|slot| slot_range(slot).contains(&at));
    match (covers(offset), covers(dead)) {
        (Some(slot), Some(other)) if slot.offset == other.offset => Fault::new(
            ErrorKind::UseAfterFree,
            format!("{what} in {} of `{}`, which is out of scope", local(&slot.name), function.name),
        ),
        (Some(slot), _) => Fault::new(
            ErrorKind::OutOfBounds,
            format!(
                "{what} at offset {} of {} of `{}`, which has {}",
                offset - u32::from(slot.offset),
                local(&slot.name),
                function.name,
                bytes(u64::from(slot.size))
            ),
        ),
        (None, _) => {
            Fault::new(ErrorKind::OutOfBounds, format!("{what} outside of the local variables of `{}`", function.name))
        }
    }
}

fn slot_range(slot: &crate::program::Slot) -> std::ops::Range<u32> {
    u32::from(slot.offset)..u32::from(slot.offset) + u32::from(slot.size)
}

fn stack_of<'a>(space: &'a Space, address: u64) -> Option<&'a Stack> {
    if space.stack.owns(address) {
        return Some(space.stack);
    }
    let thread = stack_thread(address);
    if let Some(Some(other)) = space.heap.objects.others.get(thread) {
        return Some(&other.thread.stack);
    }
    Some(&space.threads.get(thread)?.as_ref()?.stack)
}

/// A range that may be accessed, but has bytes that are not initialized.
#[cold]
#[inline(never)]
pub fn uninitialized(space: &mut Space, address: u64, len: u64) -> Box<Trap> {
    let mut first = 0;
    if let Ok((_, shadow)) = space.untracked_range(address, len) {
        first = shadow.iter().position(|byte| byte & 1 == 0).unwrap_or(0);
    }
    let message = match len {
        1 => "read of an uninitialized byte".to_owned(),
        _ => format!("read of {len} bytes of which byte {first} is not initialized"),
    };
    let fault = Fault::new(ErrorKind::UninitializedRead, message);
    if address & STACK_BIT != 0 {
        return note_variable(space, fault, address + first as u64).into();
    }
    let fault = match space.heap.look(address, space.globals) {
        Found::Live(Alloc { kind: AllocKind::Frame(func), base, .. }) => {
            note_slot(space, fault, *func, address.wrapping_sub(*base) as u32 + first as u32)
        }
        Found::Live(alloc) => note_alloc(fault, alloc),
        _ => fault,
    };
    fault.into()
}

fn note_variable(space: &Space, fault: Fault, address: u64) -> Fault {
    let Some(frame) = stack_of(space, address).and_then(|stack| stack.frame(address)) else { return fault };
    note_slot(space, fault, frame.func, MemFrame::offset(address))
}

/// A note about the variable at an offset in the frame of a function.
fn note_slot(space: &Space, fault: Fault, func: FuncId, offset: u32) -> Fault {
    let function = space.program.function(func);
    let slot = function.slots.iter().find(|slot| slot_range(slot).contains(&offset));
    match slot {
        Some(slot) if !slot.name.is_empty() => {
            let (name, function) = (slot.name.clone(), function.name.clone());
            fault.note(NoteKind::InVariable { name, function }, None, None)
        }
        _ => fault,
    }
}

/// Something that cannot be freed.
#[cold]
pub fn free(space: &Space, address: u64) -> Fault {
    let invalid = |message: String| Fault::new(ErrorKind::InvalidFree, message);
    let local = || invalid("free of a pointer to a local variable".to_owned());
    if address & STACK_BIT != 0 {
        return local();
    }
    match space.heap.look(address, space.globals) {
        Found::Live(alloc) if matches!(alloc.kind, AllocKind::Frame(_)) => local(),
        Found::Live(alloc) if !alloc.kind.is_heap() => {
            invalid(format!("free of a pointer to a {}", alloc.kind.describe()))
        }
        Found::Live(alloc) => note_alloc(
            invalid(format!(
                "free of a pointer to offset {} of a heap block, not to its start",
                address.wrapping_sub(alloc.base) as i64
            )),
            alloc,
        ),
        Found::Freed(freed) if freed.kind.is_heap() => note_freed(
            Fault::new(
                ErrorKind::DoubleFree,
                format!("a heap block of {} is freed a second time", bytes(u64::from(freed.size))),
            )
            .about(freed.base),
            &freed,
        ),
        Found::Freed(freed) => invalid(format!("free of a pointer to a {}", freed.kind.describe())),
        Found::Forgotten => Fault::new(ErrorKind::DoubleFree, "a heap block is freed a second time"),
        Found::Nothing => invalid(format!("free of {address:#x}, which is not a heap block")),
    }
}
