//! The addressable part of a thread's stack.
//!
//! One block of bytes and one of shadow bytes, on which frames are pushed and popped. A frame gets a serial number that
//! is part of its addresses, so a pointer into a frame that is gone is recognised as such. Serial numbers are handed out
//! in order; once all were used, those not in use come again.
//!
//! Frames whose memory other threads use, too, are blocks of the heap: see [`AllocKind::Frame`](super::AllocKind).

use std::hash::{Hash, Hasher};

use crate::program::FuncId;
use crate::program::address::{FRAME_BITS, MAX_FRAME, REGION_BITS, SERIAL_BITS, STACK_BIT};
use crate::vm::thread::ThreadId;

use super::shadow::{self, INIT, LIVE};

const SERIALS: u32 = 1 << SERIAL_BITS;
const RECENT_LEN: usize = 32;
/// Where the memory of a frame is that is not in the stack: beyond everything.
pub const NO_SLOTS: usize = usize::MAX / 2;

/// A frame that has memory.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct MemFrame {
    pub func: FuncId,
    serial: u32,
    /// Where it starts in the stack.
    base: u32,
    size: u32,
    /// The address of its first byte.
    address: u64,
    /// Whether it is a block of the heap.
    shared: bool,
}

/// The stack of a thread.
#[derive(Debug)]
pub struct Stack {
    data: Vec<u8>,
    shadow: Vec<u8>,
    /// The end of the part in use.
    top: u32,
    frames: Vec<MemFrame>,
    next_serial: u32,
    /// Whether serials are being reused: then `frames` is not sorted by them.
    wrapped: bool,
    /// The next serial that may be in use.
    obstacle: u32,
    /// Indices into `frames` by the low bits of serials: hints, checked when used.
    recent: [u32; RECENT_LEN],
    prefix: u64,
}

impl Default for Stack {
    fn default() -> Stack {
        Stack::new(ThreadId::MAIN)
    }
}

impl Clone for Stack {
    fn clone(&self) -> Stack {
        let top = self.top as usize;
        Stack {
            data: self.data[..top].to_vec(),
            shadow: self.shadow[..top].to_vec(),
            frames: self.frames.clone(),
            ..*self
        }
    }

    fn clone_from(&mut self, source: &Stack) {
        let Stack { mut data, mut shadow, mut frames, .. } = std::mem::take(self);
        let top = source.top as usize;
        if data.len() < top {
            data.resize(top, 0);
            shadow.resize(top, 0);
        }
        data[..top].copy_from_slice(&source.data[..top]);
        shadow[..top].copy_from_slice(&source.shadow[..top]);
        frames.clone_from(&source.frames);
        *self = Stack { data, shadow, frames, ..*source };
    }
}

impl Stack {
    /// All that tells one stack from another.
    fn contents(&self) -> impl PartialEq + Hash + '_ {
        let top = self.top as usize;
        let Stack { next_serial, wrapped, obstacle, prefix, .. } = *self;
        (&self.data[..top], &self.shadow[..top], &self.frames, (next_serial, wrapped, obstacle, prefix))
    }
}

impl PartialEq for Stack {
    fn eq(&self, other: &Stack) -> bool {
        self.contents() == other.contents()
    }
}

impl Eq for Stack {}

impl Hash for Stack {
    fn hash<H: Hasher>(&self, state: &mut H) {
        self.contents().hash(state);
    }
}

impl Stack {
    /// The empty stack of a thread.
    pub fn new(thread: ThreadId) -> Stack {
        Stack {
            data: Vec::new(),
            shadow: Vec::new(),
            top: 0,
            frames: Vec::new(),
            next_serial: 0,
            wrapped: false,
            obstacle: SERIALS,
            recent: [0; RECENT_LEN],
            prefix: STACK_BIT | u64::from(thread.0) << REGION_BITS,
        }
    }

    /// No frame is pushed any more: whatever points here is dangling.
    pub fn end(&mut self) {
        self.wrapped = true;
    }

    /// The words in its frames, as far as they are initialized.
    pub fn words(&self) -> impl Iterator<Item = u64> + '_ {
        self.frames.iter().filter(|frame| !frame.shared).flat_map(|frame| {
            let range = frame.base as usize..(frame.base + frame.size) as usize;
            let (data, _) = self.data[range.clone()].as_chunks::<8>();
            let (shadow, _) = self.shadow[range].as_chunks::<8>();
            let readable = data.iter().zip(shadow).filter(|(_, shadow)| shadow::all_readable(*shadow));
            readable.map(|(word, _)| u64::from_le_bytes(*word))
        })
    }

    /// Whether an address belongs to this stack.
    #[inline(always)]
    pub fn owns(&self, address: u64) -> bool {
        address >> REGION_BITS == self.prefix >> REGION_BITS
    }

    /// Pushes a frame whose slots are as `shadow` says.
    #[inline]
    pub fn push(&mut self, func: FuncId, shadow: &[u8]) {
        let size = shadow.len();
        let base = self.top as usize;
        if self.shadow.len() < base + size {
            self.grow(base + size);
        }
        self.shadow[base..base + size].copy_from_slice(shadow);
        self.top = (base + size) as u32;
        if self.next_serial == self.obstacle {
            self.skip_serials();
        }
        let serial = self.next_serial;
        self.next_serial += 1;
        let in_use = |frame: &MemFrame| frame.serial as usize % RECENT_LEN == serial as usize % RECENT_LEN;
        if !self.hinted(serial).is_some_and(in_use) {
            self.recent[serial as usize % RECENT_LEN] = self.frames.len() as u32;
        }
        let address = self.prefix | u64::from(serial) << FRAME_BITS;
        self.frames.push(MemFrame { func, serial, base: base as u32, size: size as u32, address, shared: false });
    }

    /// Pushes a frame whose memory is a block of the heap.
    pub fn push_shared(&mut self, func: FuncId, address: u64) {
        self.push(func, &[]);
        if let Some(frame) = self.frames.last_mut() {
            (frame.address, frame.shared) = (address, true);
        }
    }

    /// Whether the memory of the last frame is a block of the heap.
    #[inline(always)]
    pub fn is_shared(&self) -> bool {
        self.frames.last().is_some_and(|frame| frame.shared)
    }

    /// Pops the last frame; the address of its memory where that is a block of the heap.
    #[inline]
    pub fn pop(&mut self) -> Option<u64> {
        let frame = self.frames.pop()?;
        self.top = frame.base;
        frame.shared.then_some(frame.address)
    }

    /// Makes stacks with the same contents equal.
    pub fn make_canonical(&mut self) {
        let top = self.top as usize;
        shadow::wipe(&mut self.data[..top], &self.shadow[..top]);
    }

    /// A word; if it is an address in this stack, with the place of the frame instead of its serial number.
    pub fn without_serial(&self, word: u64) -> u64 {
        if !self.owns(word) {
            return word;
        }
        let serial = (word >> FRAME_BITS) as u32 % SERIALS;
        match self.frames.iter().position(|frame| frame.serial == serial) {
            Some(index) => self.prefix | (index as u64) << FRAME_BITS | (word % u64::from(MAX_FRAME)),
            None => word,
        }
    }

    /// All that is in the stack, as words, but for the serial numbers of frames.
    pub fn describe(&self, word: &mut impl FnMut(u64)) {
        for frame in &self.frames {
            word(u64::from(frame.func.0) << 32 | u64::from(frame.size));
            word(u64::from(frame.shared));
            let range = frame.base as usize..(frame.base + frame.size).min(self.top) as usize;
            let Some(data) = self.data.get(range.clone()) else { continue };
            let (data, shadow) = (data.chunks(8), self.shadow[range].chunks(8));
            for (data, shadow) in data.zip(shadow) {
                let pad = |bytes: &[u8]| bytes.iter().rev().fold(0, |word, byte| word << 8 | u64::from(*byte));
                word(self.without_serial(pad(data)));
                word(pad(shadow));
            }
        }
    }

    #[cold]
    fn grow(&mut self, needed: usize) {
        let len = needed.next_power_of_two().max(1024);
        self.data.resize(len, 0);
        self.shadow.resize(len, 0);
    }

    /// Finds the next serials that no live frame has.
    #[cold]
    fn skip_serials(&mut self) {
        loop {
            if self.next_serial == SERIALS {
                self.next_serial = 0;
                self.wrapped = true;
            }
            let next = self.next_serial;
            let in_use = self.frames.iter().map(|frame| frame.serial).filter(|serial| *serial >= next).min();
            self.obstacle = in_use.unwrap_or(SERIALS);
            if self.obstacle != next {
                return;
            }
            self.next_serial += 1;
        }
    }

    /// How many bytes are in use.
    pub fn len(&self) -> usize {
        self.top as usize
    }

    /// Where the last frame starts.
    #[inline(always)]
    pub fn frame_base(&self) -> u32 {
        self.frames.last().map_or(0, |frame| frame.base)
    }

    /// Where the memory of the last frame is in the stack: nowhere if it is a block of the heap.
    #[inline(always)]
    pub fn slots_base(&self) -> usize {
        match self.frames.last() {
            Some(frame) if frame.shared => NO_SLOTS,
            Some(frame) => frame.base as usize,
            None => 0,
        }
    }

    /// The address of a byte of the last frame.
    #[inline]
    pub fn slot_address(&self, offset: u16) -> u64 {
        self.frames.last().map_or(0, |frame| frame.address) + u64::from(offset)
    }

    /// The live frame of an address that this stack owns.
    #[inline(always)]
    pub fn frame(&self, address: u64) -> Option<&MemFrame> {
        let serial = (address >> FRAME_BITS) as u32 % SERIALS;
        match self.frames.last() {
            Some(frame) if frame.serial == serial => return Some(frame),
            _ => {}
        }
        match self.hinted(serial) {
            Some(frame) if frame.serial == serial => Some(frame),
            _ => self.search(serial),
        }
    }

    /// The frame that is hinted at for a serial: the outermost of those with the same low bits, for the last one is found
    /// without.
    #[inline(always)]
    fn hinted(&self, serial: u32) -> Option<&MemFrame> {
        self.frames.get(self.recent[serial as usize % RECENT_LEN] as usize)
    }

    #[inline(never)]
    fn search(&self, serial: u32) -> Option<&MemFrame> {
        if self.wrapped {
            return self.frames.iter().rev().find(|frame| frame.serial == serial);
        }
        let index = self.frames.binary_search_by_key(&serial, |frame| frame.serial).ok()?;
        self.frames.get(index)
    }

    /// Whether a frame with the serial of this address was ever pushed.
    pub fn was_used(&self, address: u64) -> bool {
        self.wrapped || ((address >> FRAME_BITS) as u32 % SERIALS) < self.next_serial
    }

    /// The place of a range in the stack, if it is in a live frame.
    #[inline(always)]
    fn locate(&self, address: u64, len: u64) -> Option<usize> {
        let frame = self.frame(address)?;
        let offset = address as u32 % MAX_FRAME;
        (u64::from(offset).saturating_add(len) <= u64::from(frame.size)).then_some((frame.base + offset) as usize)
    }

    /// Loads a scalar, if it is in a live slot and initialized.
    #[inline(always)]
    pub fn load<const N: usize>(&self, address: u64) -> Option<u64> {
        self.load_at::<N>(self.locate(address, N as u64)?)
    }

    /// Stores a scalar, if it is in a live slot.
    #[inline(always)]
    pub fn store<const N: usize>(&mut self, address: u64, value: u64) -> Option<()> {
        let at = self.locate(address, N as u64)?;
        self.store_at::<N>(at, value)
    }

    /// Loads a scalar from a place in the stack.
    #[inline(always)]
    pub fn load_at<const N: usize>(&self, at: usize) -> Option<u64> {
        let shadow = self.shadow.get(at..at + N)?.first_chunk::<N>()?;
        let data = self.data.get(at..at + N)?.first_chunk::<N>()?;
        shadow::readable(*shadow).then_some(shadow::word(*data))
    }

    /// Stores a scalar to a place in the stack.
    #[inline(always)]
    pub fn store_at<const N: usize>(&mut self, at: usize, value: u64) -> Option<()> {
        let shadow = self.shadow.get_mut(at..at + N)?.first_chunk_mut::<N>()?;
        let data = self.data.get_mut(at..at + N)?.first_chunk_mut::<N>()?;
        if !shadow::writable(*shadow) {
            return None;
        }
        *shadow = [INIT; N];
        *data = shadow::low_bytes(value);
        Some(())
    }

    /// The data and the shadow of a range, if all of it is alive.
    #[inline]
    pub fn range(&self, address: u64, len: u64) -> Option<(&[u8], &[u8])> {
        let at = self.locate_live(address, len)?;
        let end = at + len as usize;
        Some((&self.data[at..end], &self.shadow[at..end]))
    }

    /// The place of a range in the stack, if all of it is alive.
    #[inline]
    pub fn locate_live(&self, address: u64, len: u64) -> Option<usize> {
        let at = self.locate(address, len)?;
        shadow::all_writable(&self.shadow[at..at + len as usize]).then_some(at)
    }

    /// The data and the shadow of a place in the stack.
    #[inline]
    pub fn slices_mut(&mut self, at: usize, len: u64) -> (&mut [u8], &mut [u8]) {
        let end = at + len as usize;
        (&mut self.data[at..end], &mut self.shadow[at..end])
    }

    /// Whether all bytes of a range in a live frame are accessible, and the offset of the first that is not.
    pub fn first_dead(&self, address: u64, len: u64) -> Option<u64> {
        let at = self.locate(address, len)?;
        self.shadow[at..at + len as usize].iter().position(|byte| byte & LIVE == 0).map(|index| index as u64)
    }

    /// A slot of the last frame comes to life, uninitialized.
    #[inline]
    pub fn storage_live(&mut self, offset: u16, size: u16) {
        self.set_shadow(offset, size, LIVE);
    }

    /// A slot of the last frame dies.
    #[inline]
    pub fn storage_dead(&mut self, offset: u16, size: u16) {
        self.set_shadow(offset, size, 0);
    }

    #[inline]
    fn set_shadow(&mut self, offset: u16, size: u16, value: u8) {
        let start = self.frame_base() as usize + usize::from(offset);
        let shadow = &mut self.shadow[start..start + usize::from(size)];
        if let Ok(word) = <&mut [u8; 8]>::try_from(&mut *shadow) {
            *word = [value; 8];
        } else {
            shadow.fill(value);
        }
    }
}

impl MemFrame {
    /// The offset of an address in its frame.
    pub fn offset(address: u64) -> u32 {
        address as u32 % MAX_FRAME
    }

    pub fn size(&self) -> u32 {
        self.size
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const F: FuncId = FuncId(0);

    #[test]
    fn pointers_into_dead_frames_are_recognised() {
        let mut stack = Stack::new(ThreadId(3));
        stack.push(F, &[LIVE; 16]);
        let outer = stack.slot_address(8);
        stack.push(F, &[LIVE; 16]);
        let inner = stack.slot_address(8);
        stack.store::<8>(outer, 1).unwrap();
        stack.store::<8>(inner, 2).unwrap();
        assert_eq!((stack.load::<8>(outer), stack.load::<8>(inner)), (Some(1), Some(2)));
        stack.pop();
        stack.push(F, &[LIVE; 16]);
        assert_eq!((stack.load::<8>(outer), stack.load::<8>(inner)), (Some(1), None));
        assert!(stack.was_used(inner) && stack.frame(inner).is_none());
        assert_eq!(stack.load::<8>(stack.slot_address(8)), None, "a new frame is not initialized");
        assert_eq!(stack.store::<8>(stack.slot_address(12), 0), None, "past the end");
    }

    #[test]
    fn slots_live_and_die() {
        let mut stack = Stack::new(ThreadId::MAIN);
        stack.push(F, &[0; 32]);
        let address = stack.slot_address(4);
        assert_eq!(stack.store::<4>(address, 1), None);
        stack.storage_live(4, 4);
        stack.store::<4>(address, 1).unwrap();
        assert_eq!(stack.store::<8>(address, 1), None, "past the slot");
        stack.storage_dead(4, 4);
        assert_eq!(stack.load::<4>(address), None);
        stack.storage_live(4, 4);
        assert_eq!(stack.load::<4>(address), None, "uninitialized again");
    }

    #[test]
    fn serials_come_again_only_when_free() {
        let mut stack = Stack::new(ThreadId::MAIN);
        stack.push(F, &[LIVE; 1]);
        stack.push(F, &[LIVE; 1]);
        stack.store::<1>(stack.slot_address(0), 9).unwrap();
        let old = stack.slot_address(0);
        for _ in 0..SERIALS + 10 {
            stack.push(F, &[LIVE; 1]);
            assert_ne!(stack.slot_address(0), old);
            stack.pop();
        }
        assert!(stack.wrapped);
        assert_eq!(stack.load::<1>(old), Some(9));
    }
}
