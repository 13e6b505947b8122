//! Whether a program can be run at all: everything it refers to must be there. A file may be damaged in ways that its
//! checksum does not show, or come from somebody else; the machine does not look twice.

use crate::program::address::{GLOBAL_REGION, MAX_FRAME, REGION_BITS, code_index};
use crate::program::{Function, List, Op, PlaceId, Pointer, Program, Shape, Target, TypeRef, Unwind};

use super::prepare::{falls_through, visit};

/// The largest alignment, as a power of two.
const MAX_ALIGN: u8 = 29;
/// More than this is nobody's static.
const MAX_GLOBAL: u64 = 1 << 34;

/// What is wrong with a program.
type Validity = Result<(), &'static str>;

/// Fails unless something holds.
fn ensure(holds: bool, otherwise: &'static str) -> Validity {
    if holds { Ok(()) } else { Err(otherwise) }
}

/// Whether a program can be run.
pub fn validate(program: &Program) -> Validity {
    for place in &program.places {
        ensure((place.file as usize) < program.files.len(), "a place in no file")?;
    }
    for test in &program.tests {
        let entry = program.functions.get(test.entry.0 as usize).ok_or("a test without a function")?;
        ensure(entry.params == 0 && entry.results == 0, "a test with parameters or results")?;
        check_place(program, test.place)?;
    }
    ensure(program.signatures.len() <= program.functions.len(), "a signature without a function")?;
    let is_message = |signature: &u32| (*signature as usize) < program.messages.len();
    ensure(program.signatures.iter().flatten().all(is_message), "a message that is not there")?;
    ensure(program.debug.slots.is_sorted_by_key(|slot| (slot.function, slot.offset)), "the types of variables")?;
    ensure(program.debug.statics.is_sorted_by_key(|one| one.address), "the types of statics")?;
    ensure(program.debug.blocks.is_sorted_by_key(|block| block.place), "the types of blocks")?;
    check_globals(program)?;
    check_debug(program)?;
    program.functions.iter().try_for_each(|function| check_function(program, function))
}

fn check_place(program: &Program, place: PlaceId) -> Validity {
    ensure((place.0 as usize) < program.places.len(), "a place that is not there")
}

fn check_globals(program: &Program) -> Validity {
    let mut end = GLOBAL_REGION << REGION_BITS;
    for global in &program.globals {
        let size = global.bytes.len() as u64;
        ensure(global.align.is_power_of_two() && global.align <= 1 << MAX_ALIGN, "the alignment of a static")?;
        ensure(global.address >= end && global.address % global.align == 0, "the address of a static")?;
        end = global.address.checked_add(size).filter(|_| size <= MAX_GLOBAL).ok_or("the size of a static")?;
        ensure(end >> REGION_BITS == GLOBAL_REGION, "the region of a static")?;
        check_uninit(&global.uninit, global.bytes.len())?;
        check_pointers(program, &global.pointers, global.bytes.len())?;
    }
    for local in &program.thread_locals {
        ensure(local.align.is_power_of_two() && local.align <= 1 << MAX_ALIGN, "the alignment of a thread-local")?;
        check_uninit(&local.uninit, local.bytes.len())?;
        check_pointers(program, &local.pointers, local.bytes.len())?;
    }
    Ok(())
}

/// Whether a function or a global begins at an address.
fn check_base(program: &Program, address: u64) -> Validity {
    let is_function = code_index(address).is_some_and(|index| (index as usize) < program.functions.len());
    let is_global = || program.globals.binary_search_by_key(&address, |global| global.address).is_ok();
    ensure(is_function || is_global(), "an address of nothing")
}

fn check_pointers(program: &Program, pointers: &[Pointer], len: usize) -> Validity {
    for pointer in pointers {
        ensure(pointer.at as usize + 8 <= len, "an address that is not there")?;
        check_base(program, pointer.base)?;
    }
    Ok(())
}

/// Links are to numbers in the code, in order.
fn check_links(program: &Program, function: &Function) -> Validity {
    ensure(function.links.is_sorted_by(|a, b| a.at < b.at), "the links of a function")?;
    for link in &function.links {
        let Some(&Op::Imm { value, .. }) = function.code.get(link.at as usize) else {
            return Err("a link to something else than a number");
        };
        match link.to {
            Target::Address(base) => check_base(program, base)?,
            Target::Message => ensure(value < program.messages.len() as u64, "a message that is not there")?,
        }
    }
    Ok(())
}

fn check_uninit(ranges: &[(u32, u32)], len: usize) -> Validity {
    let is_fine = |(start, end): &(u32, u32)| start <= end && *end as usize <= len;
    ensure(ranges.iter().all(is_fine), "uninitialized bytes that are not there")
}

fn check_debug(program: &Program) -> Validity {
    let debug = &program.debug;
    let is_type = |ty: TypeRef| (ty.0 as usize) < debug.types.len();
    for (number, info) in debug.types.iter().enumerate() {
        // Types are made of types that were known before: no type contains itself.
        let is_before = |ty: TypeRef| (ty.0 as usize) < number;
        let fine = match &info.shape {
            Shape::Value(_) => true,
            Shape::Fields(fields) => fields.iter().all(|field| is_before(field.ty) && field.offset <= info.size),
            Shape::Elements(ty) => is_before(*ty),
        };
        ensure(fine, "a type of parts that are not there")?;
    }
    let functions = program.functions.len();
    let slots = debug.slots.iter().all(|slot| is_type(slot.ty) && (slot.function.0 as usize) < functions);
    let statics = debug.statics.iter().all(|one| is_type(one.ty));
    ensure(slots && statics && debug.blocks.iter().all(|block| is_type(block.ty)), "a type that is not there")?;
    debug.blocks.iter().try_for_each(|block| check_place(program, block.place))
}

fn check_function(program: &Program, function: &Function) -> Validity {
    let fixed = u32::from(function.results) + u32::from(function.params);
    ensure(function.results <= 4 && fixed <= u32::from(function.registers), "more parameters than registers")?;
    ensure(u32::from(function.frame_size) <= MAX_FRAME, "the size of a frame")?;
    for slot in &function.slots {
        check_slot(function, slot.offset, slot.size.into())?;
    }
    ensure(function.code_places.len() == function.code.len(), "code without places")?;
    check_place(program, function.place)?;
    function.code_places.iter().try_for_each(|place| check_place(program, *place))?;
    for table in &function.switches {
        ensure(table.cases.is_sorted_by(|a, b| a.0 < b.0), "the cases of a switch")?;
        check_target(function, table.otherwise)?;
        table.cases.iter().try_for_each(|case| check_target(function, case.1))?;
    }
    check_links(program, function)?;
    ensure(function.code.last().is_none_or(|op| !falls_through(op)), "code without an end")?;
    function.code.iter().try_for_each(|op| check_op(program, function, op))
}

fn check_slot(function: &Function, offset: u16, size: u32) -> Validity {
    ensure(u32::from(offset).saturating_add(size) <= u32::from(function.frame_size), "a variable outside of its frame")
}

fn check_target(function: &Function, to: u32) -> Validity {
    ensure((to as usize) < function.code.len(), "a jump to nowhere")
}

fn check_unwind(function: &Function, unwind: Unwind) -> Validity {
    unwind.target().map_or(Ok(()), |to| check_target(function, to))
}

/// Whether a list is there, with this number of registers.
fn check_list(function: &Function, list: List, len: Option<u16>) -> Validity {
    let start = list.0 as usize;
    let count = *function.lists.get(start).ok_or("a list that is not there")?;
    let registers = function.lists.get(start + 1..).and_then(|rest| rest.get(..usize::from(count)));
    let registers = registers.ok_or("a list that is too long")?;
    ensure(registers.iter().all(|register| *register < function.registers), "a register that is not there")?;
    ensure(len.is_none_or(|len| len == count), "a call with another number of arguments")
}

fn check_op(program: &Program, function: &Function, op: &Op) -> Validity {
    check_registers(function, op)?;
    match *op {
        Op::CheckRange { range, .. } => ensure((range as usize) < function.ranges.len(), "a range that is not there"),
        Op::LoadSlot { offset, width, .. }
        | Op::StoreSlot { offset, width, .. }
        | Op::LoadSlotPadding { offset, width, .. } => check_slot(function, offset, width.bytes()),
        Op::SlotAddr { offset, .. } => check_slot(function, offset, 0),
        Op::StorageLive { offset, size } | Op::StorageDead { offset, size } => {
            check_slot(function, offset, size.into())
        }
        Op::CopyToSlot { align, dst, size, .. } => {
            check_align(align)?;
            check_slot(function, dst, size)
        }
        Op::CopyFromSlot { align, src, size, .. } => {
            check_align(align)?;
            check_slot(function, src, size)
        }
        Op::CopySlots { dst, src, size } => {
            check_slot(function, dst, size)?;
            check_slot(function, src, size)
        }
        Op::Load { align, .. }
        | Op::Store { align, .. }
        | Op::LoadPadding { align, .. }
        | Op::BigSlot { align, .. }
        | Op::Copy { align, .. }
        | Op::CopyNonOverlapping { align, .. }
        | Op::CopyOverlapping { align, .. }
        | Op::Fill { align, .. } => check_align(align),
        Op::ThreadLocal { index, .. } => {
            ensure((index as usize) < program.thread_locals.len(), "a thread-local that is not there")
        }
        Op::Jump { to }
        | Op::JumpIf { to, .. }
        | Op::JumpIfNot { to, .. }
        | Op::JumpCmp { to, .. }
        | Op::JumpCmpImm { to, .. } => check_target(function, to),
        Op::Switch { table, .. } => ensure((table as usize) < function.switches.len(), "a switch that is not there"),
        Op::Call { func, args, dst, unwind } => {
            let callee = program.functions.get(func.0 as usize).ok_or("a function that is not there")?;
            check_unwind(function, unwind)?;
            // One that does not fit the machine only says so, and has no registers.
            check_list(function, args, (callee.registers > 0).then_some(callee.params))?;
            check_results(function, dst.0, callee.results)
        }
        Op::CallPtr { args, dst, results, unwind, .. } => {
            check_unwind(function, unwind)?;
            check_list(function, args, None)?;
            check_results(function, dst.0, results)
        }
        Op::Builtin { args, unwind, .. } => {
            check_unwind(function, unwind)?;
            check_list(function, args, None)
        }
        Op::Unreachable { message, .. } | Op::Unsupported { message } => {
            ensure((message as usize) < program.messages.len(), "a message that is not there")
        }
        _ => Ok(()),
    }
}

fn check_align(align: u8) -> Validity {
    ensure(align <= MAX_ALIGN, "an alignment that is too large")
}

fn check_results(function: &Function, first: u16, count: u8) -> Validity {
    let end = u32::from(first) + u32::from(count);
    ensure(count <= 4 && end <= u32::from(function.registers), "results without registers")
}

fn check_registers(function: &Function, op: &Op) -> Validity {
    let mut fine = true;
    visit(&mut op.clone(), &mut |register, count, _| {
        fine &= u32::from(register.0) + u32::from(count) <= u32::from(function.registers);
    });
    ensure(fine, "a register that is not there")
}
