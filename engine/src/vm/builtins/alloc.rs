//! Allocation: the Rust allocator and that of C.

use crate::program::Builtin;
use crate::vm::code::CallSite;
use crate::vm::context::{Context, Flow};
use crate::vm::failure::Fault;
use crate::vm::memory::{Access, Alloc, AllocKind};

use super::{Checked, errno};

/// What `malloc` aligns to.
const C_ALIGN: u64 = 16;

pub fn call(context: &mut Context, builtin: Builtin, site: &CallSite) -> Checked<Flow> {
    match builtin {
        Builtin::Alloc | Builtin::AllocZeroed => {
            let [size, align] = context.args(site);
            check_layout(size, align)?;
            let block = allocate(context, size, align, AllocKind::Rust, builtin == Builtin::AllocZeroed)?;
            context.give(site, block)
        }
        Builtin::Dealloc => {
            let [address, size, align] = context.args(site);
            deallocate(context, address, size, align)?;
            Ok(Flow::Continue)
        }
        Builtin::Realloc => {
            let [address, old_size, align, new_size] = context.args(site);
            let block = reallocate(context, address, old_size, align, new_size)?;
            context.give(site, block)
        }
        Builtin::Malloc => {
            let [size] = context.args(site);
            let block = allocate(context, size, C_ALIGN, AllocKind::C, false)?;
            context.give(site, block)
        }
        Builtin::Calloc => {
            let [count, size] = context.args(site);
            let block = match count.checked_mul(size) {
                Some(size) => allocate(context, size, C_ALIGN, AllocKind::C, true)?,
                None => 0,
            };
            context.give(site, block)
        }
        Builtin::CRealloc => {
            let [address, size] = context.args(site);
            let block = c_reallocate(context, address, size)?;
            context.give(site, block)
        }
        Builtin::Free => {
            let [address] = context.args(site);
            c_free(context, address)?;
            Ok(Flow::Continue)
        }
        Builtin::AlignedAlloc => {
            let [align, size] = context.args(site);
            let valid = align.is_power_of_two();
            let block = if valid { allocate(context, size, align, AllocKind::C, false)? } else { 0 };
            context.give(site, block)
        }
        _ => {
            let [out, align, size] = context.args(site);
            if !align.is_power_of_two() {
                return context.give(site, errno::EINVAL);
            }
            let block = allocate(context, size, align, AllocKind::C, false)?;
            if block == 0 {
                return context.give(site, errno::ENOMEM);
            }
            context.space().write_u64(out, block)?;
            context.give(site, 0)
        }
    }
}

fn check_layout(size: u64, align: u64) -> Checked<()> {
    if size == 0 {
        return Err(Fault::undefined("allocation of zero bytes").into());
    }
    if !align.is_power_of_two() {
        return Err(Fault::undefined(format!("allocation with an alignment of {align}")).into());
    }
    if size > i64::MAX as u64 - (align - 1) {
        return Err(Fault::undefined(format!("allocation of {size} bytes, more than anything may have")).into());
    }
    Ok(())
}

/// Allocates; null where there is no memory of that size.
fn allocate(context: &mut Context, size: u64, align: u64, kind: AllocKind, zeroed: bool) -> Checked<u64> {
    let Some(address) = context.alloc(size, align, kind)? else { return Ok(0) };
    if zeroed && let Some(index) = context.heap.own(address, &context.image.globals) {
        context.heap.owned_mut(index).set_initialized();
    }
    Ok(address)
}

fn deallocate(context: &mut Context, address: u64, size: u64, align: u64) -> Checked<()> {
    let place = context.place();
    context.space().free(address, place, |block| mismatch(block, size, align))
}

/// Why a block is not freed as it was allocated.
fn mismatch(block: &Alloc, size: u64, align: u64) -> Option<String> {
    if block.kind != AllocKind::Rust {
        return Some("a block of the C allocator is freed by the Rust allocator".to_owned());
    }
    if block.size != size || block.align != align {
        return Some(format!(
            "a block of {} bytes with alignment {} is freed as one of {size} bytes with alignment {align}",
            block.size, block.align
        ));
    }
    None
}

fn c_mismatch(block: &Alloc) -> Option<String> {
    (block.kind != AllocKind::C).then(|| "a block of the Rust allocator is freed by the C allocator".to_owned())
}

fn reallocate(context: &mut Context, address: u64, old_size: u64, align: u64, new_size: u64) -> Checked<u64> {
    check_layout(new_size, align)?;
    let len = old_size.min(new_size);
    context.space().track(address, len, Access::Read)?;
    let new = allocate(context, new_size, align, AllocKind::Rust, false)?;
    if new == 0 {
        return Ok(0);
    }
    copy_prefix(context, new, address, len);
    deallocate(context, address, old_size, align)?;
    Ok(new)
}

/// Copies what is there: whether the block may be moved at all is checked when it is freed. The access was tracked before
/// the new block was allocated, since it may have to wait for the value of an atomic, and is made again then.
fn copy_prefix(context: &mut Context, new: u64, old: u64, len: u64) {
    let _ = context.space().copy(new, old, len);
}

fn c_reallocate(context: &mut Context, address: u64, size: u64) -> Checked<u64> {
    if address == 0 {
        return allocate(context, size, C_ALIGN, AllocKind::C, false);
    }
    let old_size = context.heap.find(address, &context.image.globals).map_or(0, |block| block.size);
    let len = old_size.min(size);
    context.space().track(address, len, Access::Read)?;
    let new = allocate(context, size, C_ALIGN, AllocKind::C, false)?;
    if new == 0 {
        return Ok(0);
    }
    copy_prefix(context, new, address, len);
    c_free(context, address)?;
    Ok(new)
}

fn c_free(context: &mut Context, address: u64) -> Checked<()> {
    if address == 0 {
        return Ok(());
    }
    let place = context.place();
    context.space().free(address, place, c_mismatch)
}
