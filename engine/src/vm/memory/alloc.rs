//! One allocation: a block of bytes with its shadow, and what is known about it.

use crate::program::address::GRANULE_BITS;
use crate::program::{FuncId, PlaceId};
use crate::vm::thread::ThreadId;

use super::shadow::{self, INIT, LIVE};
use super::track::Source;

/// What an allocation is for.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum AllocKind {
    /// From the Rust allocator.
    Rust,
    /// From `malloc` and its relatives.
    C,
    /// A local variable that is too large for the frame.
    Local,
    /// The locals of a function that share memory with other threads. Not all of it may be accessible.
    Frame(FuncId),
    /// A thread-local variable, or what the machine keeps for a thread.
    ThreadLocal,
    /// A static that can be written.
    Static,
    /// A constant, a vtable, or a static that cannot be written.
    Constant,
}

impl AllocKind {
    /// For people.
    pub fn describe(self) -> &'static str {
        match self {
            AllocKind::Rust | AllocKind::C => "heap block",
            AllocKind::Local | AllocKind::Frame(_) => "local variable",
            AllocKind::ThreadLocal => "thread-local variable",
            AllocKind::Static => "static",
            AllocKind::Constant => "constant",
        }
    }

    /// Whether it is on the heap, to be freed by the program.
    pub fn is_heap(self) -> bool {
        matches!(self, AllocKind::Rust | AllocKind::C)
    }
}

/// Who may access an allocation, while the program is explored.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum Sharing {
    /// The thread that made it.
    #[default]
    Private,
    /// Everybody, and races are looked for.
    Tracked,
    /// Everybody: it is the standard library's own.
    Exempt,
}

/// Where a block comes from.
pub fn source_of(kind: AllocKind, place: PlaceId) -> Source {
    match kind {
        AllocKind::Frame(func) => Source::Frame(func),
        _ => Source::Place(place),
    }
}

/// A live allocation.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Alloc {
    pub base: u64,
    pub size: u64,
    pub align: u64,
    pub kind: AllocKind,
    /// Who allocated it, and where.
    pub thread: ThreadId,
    pub place: PlaceId,
    pub sharing: Sharing,
    /// Whether the thread that made it has let others know where it is, as far as [`own`](super::own) can tell.
    pub published: bool,
    /// Whether it is the standard library's own.
    pub quiet: bool,
    /// The data, then its shadow, `size` bytes each: one block of memory, one pointer.
    bytes: Box<[u8]>,
}

/// What is left of an allocation that was freed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Freed {
    pub base: u64,
    /// Saturating.
    pub size: u32,
    pub align_log2: u8,
    pub kind: AllocKind,
    pub allocated_by: ThreadId,
    pub allocated_at: PlaceId,
    pub freed_by: ThreadId,
    pub freed_at: PlaceId,
}

impl Alloc {
    /// A new block, all zero and not initialized.
    pub fn new(base: u64, size: u64, align: u64, kind: AllocKind, thread: ThreadId, place: PlaceId) -> Alloc {
        let bytes = vec![0; 2 * size as usize].into_boxed_slice();
        Alloc {
            base,
            size,
            align,
            kind,
            thread,
            place,
            sharing: Sharing::Private,
            published: false,
            quiet: false,
            bytes,
        }
    }

    /// Where it comes from.
    pub fn source(&self) -> Source {
        source_of(self.kind, self.place)
    }

    /// The block with these initialized bytes, except the given ranges.
    #[must_use]
    pub fn with_data(mut self, data: &[u8], uninit: &[(u32, u32)]) -> Alloc {
        let (bytes, shadow) = self.slices_mut(0, self.size);
        bytes.copy_from_slice(data);
        shadow.fill(INIT);
        for &(start, end) in uninit {
            shadow[start as usize..end as usize].fill(LIVE);
        }
        self
    }

    /// Takes the place of a block that is gone.
    pub fn gone() -> Alloc {
        Alloc {
            base: u64::MAX,
            size: 0,
            align: 1,
            kind: AllocKind::Constant,
            thread: ThreadId::MAIN,
            place: PlaceId(0),
            sharing: Sharing::Private,
            published: false,
            quiet: false,
            bytes: Box::default(),
        }
    }

    /// The block with nothing in the bytes that are not initialized.
    #[must_use]
    pub fn canonical(mut self) -> Alloc {
        let (data, shadow) = self.bytes.split_at_mut(self.size as usize);
        shadow::wipe(data, shadow);
        self
    }

    /// Whether the block is all initialized.
    pub fn set_initialized(&mut self) {
        let size = self.size as usize;
        self.bytes[size..].fill(INIT);
    }

    /// Loads a scalar, if it lies in the block and is initialized.
    #[inline(always)]
    pub fn load<const N: usize>(&self, address: u64) -> Option<u64> {
        let offset = address.wrapping_sub(self.base) as usize;
        let beside = offset.wrapping_add(self.size as usize);
        // The shadow ends with the block: where it is in bounds, so is the data.
        let shadow = self.bytes.get(beside..beside.wrapping_add(N))?.first_chunk::<N>()?;
        let data = self.bytes.get(offset..offset.wrapping_add(N))?.first_chunk::<N>()?;
        shadow::readable(*shadow).then_some(shadow::word(*data))
    }

    /// Stores a scalar, if it lies in the block.
    #[inline(always)]
    pub fn store<const N: usize>(&mut self, address: u64, value: u64) -> Option<()> {
        let offset = address.wrapping_sub(self.base) as usize;
        let beside = offset.wrapping_add(self.size as usize);
        // Both ranges are looked at before either is written.
        self.bytes.get(offset..offset.wrapping_add(N))?;
        *self.bytes.get_mut(beside..beside.wrapping_add(N))?.first_chunk_mut::<N>()? = [INIT; N];
        *self.bytes.get_mut(offset..offset.wrapping_add(N))?.first_chunk_mut::<N>()? = shadow::low_bytes(value);
        Some(())
    }

    /// The data and the shadow of a range, if it lies in the block and is accessible.
    #[inline]
    pub fn range(&self, address: u64, len: u64) -> Option<(&[u8], &[u8])> {
        let start = self.locate(address, len)?;
        let end = start + len as usize;
        let (data, shadow) = self.bytes.split_at(self.size as usize);
        Some((&data[start..end], &shadow[start..end]))
    }

    /// Where a range starts in the block, if it lies in it and is accessible.
    #[inline]
    pub fn locate(&self, address: u64, len: u64) -> Option<usize> {
        let start = self.offset(address, len)?;
        match self.kind {
            AllocKind::Frame(_) => shadow::all_writable(self.shadow_of(start, len)).then_some(start),
            _ => Some(start),
        }
    }

    /// Where a range starts in the block, if it lies in it.
    #[inline]
    pub fn offset(&self, address: u64, len: u64) -> Option<usize> {
        let start = address.wrapping_sub(self.base);
        let end = start.checked_add(len)?;
        (end <= self.size).then_some(start as usize)
    }

    /// Whether it reaches into a granule.
    #[inline]
    pub fn covers(&self, address: u64) -> bool {
        covers(self.base, self.size, address)
    }

    /// The shadow of a part of the block.
    pub fn shadow_of(&self, start: usize, len: u64) -> &[u8] {
        let start = self.size as usize + start;
        &self.bytes[start..start + len as usize]
    }

    /// The data and the shadow of a part of the block.
    #[inline]
    pub fn slices_mut(&mut self, start: usize, len: u64) -> (&mut [u8], &mut [u8]) {
        let end = start + len as usize;
        let (data, shadow) = self.bytes.split_at_mut(self.size as usize);
        (&mut data[start..end], &mut shadow[start..end])
    }

    /// All data.
    pub fn data(&self) -> &[u8] {
        &self.bytes[..self.size as usize]
    }

    /// The whole shadow.
    #[cfg(test)]
    pub fn shadow(&self) -> &[u8] {
        &self.bytes[self.size as usize..]
    }

    /// What remains when `thread` frees it at `place`.
    pub fn freed(&self, thread: ThreadId, place: PlaceId) -> Freed {
        Freed {
            base: self.base,
            size: u32::try_from(self.size).unwrap_or(u32::MAX),
            align_log2: self.align.trailing_zeros() as u8,
            kind: self.kind,
            allocated_by: self.thread,
            allocated_at: self.place,
            freed_by: thread,
            freed_at: place,
        }
    }
}

/// Whether `size` bytes at `base` reach into the granule of an address.
#[inline]
pub fn covers(base: u64, size: u64, address: u64) -> bool {
    let granule = address >> GRANULE_BITS;
    base >> GRANULE_BITS <= granule && granule <= (base + size.saturating_sub(1)) >> GRANULE_BITS
}

#[cfg(test)]
mod tests {
    use super::*;

    fn block() -> Alloc {
        Alloc::new(0x1000, 16, 8, AllocKind::Rust, ThreadId::MAIN, PlaceId(0))
    }

    #[test]
    fn scalars_are_stored_and_loaded() {
        let mut block = block();
        assert_eq!(block.load::<4>(0x1004), None, "not initialized");
        block.store::<4>(0x1004, 0xffff_ffff_1234_5678).unwrap();
        assert_eq!(block.load::<4>(0x1004), Some(0x1234_5678));
        assert_eq!(block.load::<2>(0x1006), Some(0x1234));
        assert_eq!(block.load::<8>(0x1000), None, "half initialized");
    }

    #[test]
    fn nothing_outside_is_touched() {
        let mut block = block();
        block.set_initialized();
        for address in [0xfff, 0x1009, 0x1010, 0x100c, 0x1020, 0, u64::MAX, 0x1000 - 16, 0x1000 - 8] {
            assert_eq!(block.load::<8>(address), (address == 0x1008).then_some(0), "{address:#x}");
            assert_eq!(block.store::<8>(address, 1), None, "{address:#x}");
            assert!(block.range(address, 8).is_none());
        }
        assert!(block.data().iter().all(|byte| *byte == 0) && block.shadow().iter().all(|byte| *byte == INIT));
        assert!(block.range(0x1000, u64::MAX).is_none());
    }

    #[test]
    fn data_with_holes() {
        let block = block().with_data(&[7; 16], &[(2, 4)]);
        assert_eq!(block.load::<2>(0x1000), Some(0x0707));
        assert_eq!(block.load::<1>(0x1002), None);
        assert_eq!(block.load::<1>(0x1004), Some(7));
    }
}
