//! Memory as a running thread sees it: every kind of access, checked.
//!
//! The fast paths handle the thread's own stack and recently used allocations; all else goes through [`Space::range`]
//! and [`Space::range_mut`].

use crate::program::address::{GLOBAL_REGION, REGION_BITS, STACK_BIT};
use crate::program::{FuncId, PlaceId, Program};
use crate::verdict::ErrorKind;
use crate::vm::failure::Fault;
use crate::vm::frame::Frame;
use crate::vm::image::{Globals, Image};
use crate::vm::note::NoteKind;
use crate::vm::thread::{Thread, ThreadId};
use crate::vm::trap::{Checked, Trap};

use super::alloc::AllocKind;
use super::explain::{self, Access};
use super::heap::{Found, Heap};
use super::shadow::{self, INIT, LIVE};
use super::stack::Stack;

/// Copies of up to this many bytes go through the machine's own stack.
const SMALL: usize = 64;

/// Where a range is that may be written.
enum Spot {
    /// From this byte of the thread's own stack on.
    Stack(usize),
    /// From this byte of the stack of another thread on.
    OtherStack(usize),
    /// In an owned allocation, from this byte on.
    Owned(u32, usize),
    Nowhere,
}

/// The memory of the program, from the side of one thread.
pub struct Space<'a> {
    pub thread: ThreadId,
    pub stack: &'a mut Stack,
    pub heap: &'a mut Heap,
    /// All threads but the one that runs; none of them while the program is explored.
    pub threads: &'a mut [Option<Box<Thread>>],
    pub globals: &'a Globals,
    pub program: &'a Program,
    pub image: &'a Image,
    /// Whether accesses are tracked at all.
    pub tracking: bool,
    /// Whether what runs is the standard library's bookkeeping, which is not tracked.
    pub quiet: bool,
    /// The innermost active function that reports point into; if it is the innermost of all, `pc` is its instruction.
    pub user: (FuncId, u32),
    pub innermost: bool,
    pub pc: u32,
}

impl<'a> Space<'a> {
    pub fn new(
        thread: ThreadId,
        stack: &'a mut Stack,
        heap: &'a mut Heap,
        threads: &'a mut [Option<Box<Thread>>],
        image: &'a Image,
    ) -> Space<'a> {
        let tracking = heap.tracking.is_some();
        let (globals, program) = (&image.globals, &image.program);
        let user = (FuncId(0), 0);
        Space {
            thread,
            stack,
            heap,
            threads,
            globals,
            program,
            image,
            tracking,
            quiet: false,
            user,
            innermost: false,
            pc: 0,
        }
    }

    /// A frame becomes the active one.
    pub fn enter_frame(&mut self, frames: &[Frame], user: u32, quiet: bool) {
        self.quiet = quiet;
        self.innermost = user as usize + 1 == frames.len();
        if let Some(frame) = frames.get(user as usize) {
            self.user = (frame.func, frame.pc);
        }
    }

    /// Where the code is that reports point into.
    pub fn place(&self) -> PlaceId {
        let (func, pc) = self.user;
        let pc = if self.innermost { self.pc } else { pc };
        self.image.shown_place(func, pc)
    }
}

impl Space<'_> {
    /// Loads a scalar. `misaligned` are the address bits that must be zero.
    #[inline(always)]
    pub fn load<const N: usize>(&mut self, address: u64, misaligned: u64) -> Checked<u64> {
        if address & misaligned == 0
            && let Some(value) = self.load_fast::<N>(address)
        {
            return Ok(value);
        }
        self.load_slow(address, N as u64, misaligned)
    }

    #[inline(always)]
    fn load_fast<const N: usize>(&self, address: u64) -> Option<u64> {
        if self.stack.owns(address) {
            return self.stack.load::<N>(address);
        }
        self.heap.recent(address, self.globals)?.load::<N>(address)
    }

    /// Loads a scalar whose uninitialized bytes read as zero.
    #[inline(never)]
    pub fn load_padding(&mut self, address: u64, len: u64, misaligned: u64) -> Checked<u64> {
        self.check_align(address, misaligned, Access::Read)?;
        let (data, shadow) = self.range(address, len)?;
        let mut word = [0; 8];
        for ((to, data), shadow) in word.iter_mut().zip(data).zip(shadow) {
            *to = if shadow::is_init(*shadow) { *data } else { 0 };
        }
        Ok(u64::from_le_bytes(word))
    }

    #[inline(never)]
    fn load_slow(&mut self, address: u64, len: u64, misaligned: u64) -> Checked<u64> {
        self.check_align(address, misaligned, Access::Read)?;
        let mut word = [0; 8];
        self.read(address, &mut word[..len as usize])?;
        Ok(u64::from_le_bytes(word))
    }

    /// Stores a scalar. `misaligned` are the address bits that must be zero.
    #[inline(always)]
    pub fn store<const N: usize>(&mut self, address: u64, value: u64, misaligned: u64) -> Checked<()> {
        if address & misaligned == 0 {
            let done = if self.stack.owns(address) {
                self.stack.store::<N>(address, value)
            } else {
                match self.heap.recent_mut(address) {
                    Some(alloc) => alloc.store::<N>(address, value),
                    None => None,
                }
            };
            if done.is_some() {
                return Ok(());
            }
        }
        self.store_slow(address, value, N as u64, misaligned)
    }

    #[inline(never)]
    fn store_slow(&mut self, address: u64, value: u64, len: u64, misaligned: u64) -> Checked<()> {
        self.check_align(address, misaligned, Access::Write)?;
        self.write(address, &value.to_le_bytes()[..len as usize])
    }

    /// Checks that the given bits of an address are zero.
    #[inline]
    pub fn check_align(&self, address: u64, misaligned: u64, access: Access) -> Checked<()> {
        if address & misaligned == 0 {
            return Ok(());
        }
        Err(explain::misaligned(self, address, misaligned + 1, access))
    }

    /// The data and the shadow of a range that may be accessed, initialized or not. `len` is not zero.
    #[inline]
    pub fn range(&mut self, address: u64, len: u64) -> Checked<(&[u8], &[u8])> {
        self.track(address, len, Access::Read)?;
        self.untracked_range(address, len)
    }

    /// As [`Space::range`], for an access that was tracked or is not the program's.
    pub fn untracked_range(&mut self, address: u64, len: u64) -> Checked<(&[u8], &[u8])> {
        if self.range_is_valid(address, len) {
            let found = if self.stack.owns(address) {
                self.stack.range(address, len)
            } else if address & STACK_BIT != 0 {
                other(self.threads, address).and_then(|thread| thread.stack.range(address, len))
            } else {
                match self.heap.recent(address, self.globals) {
                    Some(alloc) => alloc.range(address, len),
                    None => match self.heap.look(address, self.globals) {
                        Found::Live(alloc) => alloc.range(address, len),
                        _ => None,
                    },
                }
            };
            if let Some(found) = found {
                return Ok(found);
            }
        }
        Err(explain::access(self, address, len, Access::Read))
    }

    /// Whether the range may be accessed; its allocation is recent then.
    fn range_is_valid(&mut self, address: u64, len: u64) -> bool {
        if address & STACK_BIT != 0 {
            return true;
        }
        match self.heap.recent(address, self.globals) {
            Some(alloc) => alloc.range(address, len).is_some(),
            None => self.heap.find(address, self.globals).is_some_and(|alloc| alloc.range(address, len).is_some()),
        }
    }

    /// The data and the shadow of a range for writing. `len` is not zero.
    #[inline]
    pub fn range_mut(&mut self, address: u64, len: u64) -> Checked<(&mut [u8], &mut [u8])> {
        self.track(address, len, Access::Write)?;
        self.untracked_range_mut(address, len)
    }

    /// As [`Space::range_mut`], for an access that was tracked or is not the program's.
    pub fn untracked_range_mut(&mut self, address: u64, len: u64) -> Checked<(&mut [u8], &mut [u8])> {
        match self.spot(address, len) {
            Spot::Stack(at) => Ok(self.stack.slices_mut(at, len)),
            Spot::OtherStack(at) => match other_mut(self.threads, address) {
                Some(thread) => Ok(thread.stack.slices_mut(at, len)),
                None => Err(Fault::undefined("write to a thread that has finished").into()),
            },
            Spot::Owned(index, start) => Ok(self.heap.owned_mut(index).slices_mut(start, len)),
            Spot::Nowhere => Err(explain::access(self, address, len, Access::Write)),
        }
    }

    /// Where a range is that may be written; what it lies in is owned then.
    #[inline]
    fn spot(&mut self, address: u64, len: u64) -> Spot {
        if self.stack.owns(address) {
            return self.stack.locate_live(address, len).map_or(Spot::Nowhere, Spot::Stack);
        }
        if address & STACK_BIT != 0 {
            let at = other(self.threads, address).and_then(|thread| thread.stack.locate_live(address, len));
            return at.map_or(Spot::Nowhere, Spot::OtherStack);
        }
        if let Some(index) = self.heap.recent_owned(address) {
            let start = self.heap.owned_mut(index).locate(address, len);
            return start.map_or(Spot::Nowhere, |start| Spot::Owned(index, start));
        }
        // Looked at before it is made owned: what cannot be written is not copied.
        if !self.range_is_valid(address, len) || self.is_constant(address) {
            return Spot::Nowhere;
        }
        match self.heap.own(address, self.globals) {
            Some(index) => {
                let start = self.heap.owned_mut(index).locate(address, len);
                start.map_or(Spot::Nowhere, |start| Spot::Owned(index, start))
            }
            None => Spot::Nowhere,
        }
    }

    /// Whether a constant of the program is at an address.
    pub fn is_constant(&self, address: u64) -> bool {
        is_global(address)
            && matches!(self.heap.look(address, self.globals), Found::Live(alloc) if alloc.kind == AllocKind::Constant)
    }

    /// Reads initialized bytes.
    pub fn read(&mut self, address: u64, out: &mut [u8]) -> Checked<()> {
        if out.is_empty() {
            return Ok(());
        }
        let (data, shadow) = self.range(address, out.len() as u64)?;
        if shadow::all_readable(shadow) {
            out.copy_from_slice(data);
            return Ok(());
        }
        Err(explain::uninitialized(self, address, out.len() as u64))
    }

    /// Checks that a range that may be accessed is initialized.
    pub fn check_initialized(&mut self, address: u64, len: u64) -> Checked<()> {
        match self.untracked_range(address, len) {
            Ok((_, shadow)) if !shadow::all_readable(shadow) => Err(explain::uninitialized(self, address, len)),
            _ => Ok(()),
        }
    }

    /// Writes bytes.
    pub fn write(&mut self, address: u64, bytes: &[u8]) -> Checked<()> {
        if bytes.is_empty() {
            return Ok(());
        }
        let (data, shadow) = self.range_mut(address, bytes.len() as u64)?;
        data.copy_from_slice(bytes);
        shadow.fill(INIT);
        Ok(())
    }

    /// Initialized bytes, as a new vector.
    pub fn read_vec(&mut self, address: u64, len: u64) -> Checked<Vec<u8>> {
        if len == 0 {
            return Ok(Vec::new());
        }
        // The range is checked before its length is believed.
        let len = self.range(address, len)?.0.len();
        let mut bytes = vec![0; len];
        self.read(address, &mut bytes)?;
        Ok(bytes)
    }

    /// A scalar of a C structure.
    pub fn read_u64(&mut self, address: u64) -> Checked<u64> {
        self.load::<8>(address, 7)
    }

    /// A scalar of a C structure.
    pub fn write_u64(&mut self, address: u64, value: u64) -> Checked<()> {
        self.store::<8>(address, value, 7)
    }

    /// A C string, without its end.
    pub fn read_c_string(&mut self, address: u64) -> Checked<Vec<u8>> {
        let mut bytes = Vec::new();
        loop {
            match self.load::<1>(address.wrapping_add(bytes.len() as u64), 0)? as u8 {
                0 => return Ok(bytes),
                byte => bytes.push(byte),
            }
        }
    }

    /// Copies bytes as they are, initialized or not; the ranges may overlap.
    #[inline]
    pub fn copy(&mut self, dst: u64, src: u64, len: u64) -> Checked<()> {
        if len == 0 {
            return Ok(());
        }
        // The sizes of most structures, as so many moves.
        match len {
            8 => return self.copy_array::<8>(dst, src),
            16 => return self.copy_array::<16>(dst, src),
            24 => return self.copy_array::<24>(dst, src),
            32 => return self.copy_array::<32>(dst, src),
            40 => return self.copy_array::<40>(dst, src),
            48 => return self.copy_array::<48>(dst, src),
            len if len <= SMALL as u64 => return self.copy_small(dst, src, len),
            _ => {}
        }
        let (data, shadow) = self.range(src, len)?;
        let (data, shadow) = (data.to_vec(), shadow.to_vec());
        let (to, to_shadow) = self.range_mut(dst, len)?;
        to.copy_from_slice(&data);
        copy_shadow(to_shadow, &shadow);
        Ok(())
    }

    fn copy_array<const N: usize>(&mut self, dst: u64, src: u64) -> Checked<()> {
        let (data, shadow) = self.range(src, N as u64)?;
        let (Some(data), Some(shadow)) = (data.first_chunk::<N>(), shadow.first_chunk::<N>()) else { return Ok(()) };
        let (data, shadow) = (*data, *shadow);
        let (to, to_shadow) = self.range_mut(dst, N as u64)?;
        if let (Some(to), Some(to_shadow)) = (to.first_chunk_mut::<N>(), to_shadow.first_chunk_mut::<N>()) {
            *to = data;
            *to_shadow = shadow.map(shadow::of_copy);
        }
        Ok(())
    }

    fn copy_small(&mut self, dst: u64, src: u64, len: u64) -> Checked<()> {
        let size = len as usize;
        let (mut data, mut shadow) = ([0; SMALL], [0; SMALL]);
        let (from, from_shadow) = self.range(src, len)?;
        data[..size].copy_from_slice(from);
        shadow[..size].copy_from_slice(from_shadow);
        let (to, to_shadow) = self.range_mut(dst, len)?;
        to.copy_from_slice(&data[..size]);
        copy_shadow(to_shadow, &shadow[..size]);
        Ok(())
    }

    /// Copies bytes as they are; overlapping ranges are an error of the program.
    pub fn copy_nonoverlapping(&mut self, dst: u64, src: u64, len: u64) -> Checked<()> {
        if len != 0 && dst.abs_diff(src) < len {
            // An access that may not be made at all is the greater error.
            self.range(src, len)?;
            self.range_mut(dst, len)?;
            return Err(Fault::undefined(format!(
                "copy_nonoverlapping of {len} bytes from {src:#x} to {dst:#x}: the ranges overlap"
            ))
            .into());
        }
        self.copy(dst, src, len)
    }

    /// Copies a typed value: the ranges are the same or do not overlap.
    #[inline]
    pub fn copy_value(&mut self, dst: u64, src: u64, len: u64) -> Checked<()> {
        if dst == src { Ok(()) } else { self.copy_nonoverlapping(dst, src, len) }
    }

    /// Fills a range with a byte.
    pub fn fill(&mut self, dst: u64, value: u8, len: u64) -> Checked<()> {
        if len == 0 {
            return Ok(());
        }
        let (data, shadow) = self.range_mut(dst, len)?;
        data.fill(value);
        shadow.fill(INIT);
        Ok(())
    }

    /// Repeats the first `size` bytes of a range so that there are `count` copies.
    pub fn repeat(&mut self, dst: u64, size: u64, count: u64) -> Checked<()> {
        if size == 0 || count <= 1 {
            return Ok(());
        }
        let total = size * count;
        let (data, shadow) = self.range_mut(dst, total)?;
        let size = size as usize;
        let mut done = size;
        while done < data.len() {
            let more = done.min(data.len() - done);
            data.copy_within(..more, done);
            shadow.copy_within(..more, done);
            done += more;
        }
        Ok(())
    }

    /// Marks a range as uninitialized.
    pub fn deinit(&mut self, dst: u64, len: u64) -> Checked<()> {
        if len != 0 {
            self.range_mut(dst, len)?.1.fill(LIVE);
        }
        Ok(())
    }

    /// Compares two ranges of initialized bytes.
    pub fn compare(&mut self, a: u64, b: u64, len: u64) -> Checked<std::cmp::Ordering> {
        let mut offset = 0;
        while offset < len {
            let part = (len - offset).min(SMALL as u64) as usize;
            let (mut left, mut right) = ([0; SMALL], [0; SMALL]);
            self.read(a.wrapping_add(offset), &mut left[..part])?;
            self.read(b.wrapping_add(offset), &mut right[..part])?;
            match left.cmp(&right) {
                std::cmp::Ordering::Equal => offset += part as u64,
                different => return Ok(different),
            }
        }
        Ok(std::cmp::Ordering::Equal)
    }

    /// Loads from the current frame where that is a block of the heap, or fails.
    #[inline(never)]
    pub fn load_slot_slow(&mut self, offset: u16, len: u64) -> Checked<u64> {
        if !self.stack.is_shared() {
            return Err(self.slot_fault(offset, len, Access::Read));
        }
        self.load_slow(self.stack.slot_address(offset), len, 0)
    }

    /// Stores to the current frame where that is a block of the heap, or fails.
    #[inline(never)]
    pub fn store_slot_slow(&mut self, offset: u16, value: u64, len: u64) -> Checked<()> {
        if !self.stack.is_shared() {
            return Err(self.slot_fault(offset, len, Access::Write));
        }
        self.store_slow(self.stack.slot_address(offset), value, len, 0)
    }

    /// Why the current frame cannot be accessed so.
    #[inline(never)]
    #[cold]
    fn slot_fault(&mut self, offset: u16, len: u64, access: Access) -> Box<Trap> {
        let address = self.stack.slot_address(offset);
        match access {
            Access::Read if self.stack.range(address, len).is_some() => explain::uninitialized(self, address, len),
            _ => explain::access(self, address, len, access),
        }
    }

    /// Frees a heap block, if `matches` says that it is freed as it was allocated.
    pub fn free(
        &mut self,
        address: u64,
        place: PlaceId,
        matches: impl FnOnce(&super::Alloc) -> Option<String>,
    ) -> Checked<()> {
        let size = match self.heap.look(address, self.globals) {
            Found::Live(alloc) if alloc.base == address => alloc.size,
            // Perhaps it is one that another thread keeps for itself.
            _ => 1,
        };
        self.track_free(address, size)?;
        let found = self.heap.look(address, self.globals);
        if address & STACK_BIT == 0
            && let Found::Live(alloc) = found
            && alloc.base == address
            && alloc.kind.is_heap()
        {
            let Some(mismatch) = matches(alloc) else {
                self.heap.free(address, self.thread, place, self.globals);
                return Ok(());
            };
            let (place, thread) = (alloc.place, alloc.thread);
            return Err(Fault::new(ErrorKind::InvalidFree, mismatch)
                .note(NoteKind::Allocated, Some(place), Some(thread))
                .into());
        }
        Err(explain::free(self, address).into())
    }
}

fn is_global(address: u64) -> bool {
    address >> REGION_BITS == GLOBAL_REGION
}

fn other(threads: &[Option<Box<Thread>>], address: u64) -> Option<&Thread> {
    threads.get(stack_thread(address))?.as_deref()
}

fn other_mut(threads: &mut [Option<Box<Thread>>], address: u64) -> Option<&mut Thread> {
    threads.get_mut(stack_thread(address))?.as_deref_mut()
}

/// Whose stack a stack address belongs to.
pub fn stack_thread(address: u64) -> usize {
    ((address ^ STACK_BIT) >> REGION_BITS) as usize
}

#[inline]
fn copy_shadow(to: &mut [u8], from: &[u8]) {
    for (to, from) in to.iter_mut().zip(from) {
        *to = shadow::of_copy(*from);
    }
}
