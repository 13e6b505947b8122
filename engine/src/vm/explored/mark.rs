//! By what a loop is recognised: where a thread is, and what it will do from there on.
//!
//! Two states of a thread that have the same mark behave alike, given the same answers. Unlike the numbers of states,
//! marks mean the same to every worker, and leave out what makes no difference: how often the thread has called
//! functions, what it has freed, where locals are, and how long it has slept.

use std::hash::{Hash, Hasher};

use crate::program::address::GRANULE_BITS;
use crate::vm::frame::Frame;
use crate::vm::memory::{Entry, Table, Value, Values};
use crate::vm::thread::{BigSlot, Thread};

/// A mark.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Mark {
    /// Where the thread is: in which functions, at which instructions.
    pub site: u64,
    /// All that its behaviour depends on: 128 bits, so that no two states have the same by chance.
    pub state: [u64; 2],
}

impl Mark {
    /// The mark of a thread that has stopped, with its own blocks.
    pub fn of(thread: &Thread, table: &Table, values: &Values) -> Mark {
        let mut state = [Mixer::new(2), Mixer::new(3)];
        state.iter_mut().for_each(|mixer| describe(thread, table, values, mixer));
        Mark { site: place(&thread.frames), state: state.map(|mixer| mixer.finish()) }
    }
}

/// Where some frames are: in which functions, at which instructions.
pub fn place(frames: &[Frame]) -> u64 {
    let mut place = Mixer::new(1);
    frames.iter().for_each(|frame| (frame.func, frame.pc).hash(&mut place));
    place.finish()
}

fn describe(thread: &Thread, table: &Table, values: &Values, to: &mut Mixer) {
    (thread.id, thread.phase, thread.pending, thread.life, &thread.postponed, &thread.fresh).hash(to);
    (&thread.frames, &thread.exceptions, &thread.thread_locals).hash(to);
    thread.big_slots.iter().for_each(|slot| (slot.depth, slot.site).hash(to));
    (thread.errno, &thread.specifics, thread.destructors_run, &thread.env, &thread.panic).hash(to);
    (thread.spawned_at, thread.entry, thread.randoms, thread.woken, thread.parked, thread.time_was_asked).hash(to);
    thread.counted.hash(to);
    for register in thread.registers_in_use() {
        to.write_u64(without_address(&thread.big_slots, thread.stack.without_serial(*register)));
    }
    thread.stack.describe(&mut |word| to.write_u64(without_address(&thread.big_slots, word)));
    for (index, entry) in table.iter().enumerate() {
        // Addresses are not used again: what was freed makes no difference.
        if let Entry::Frozen(version) = entry
            && let Some(value @ Value::Block(block)) = values.get(version)
        {
            match thread.big_slots.iter().position(|slot| slot.address == block.base) {
                Some(slot) => (slot, block.data(), block.shadow_of(0, block.size)).hash(to),
                None => (index, value).hash(to),
            }
        }
    }
}

/// A word; if it is an address in a local that has an allocation of its own, with the number of that local instead:
/// each iteration of a loop has another one.
fn without_address(locals: &[BigSlot], word: u64) -> u64 {
    const MARK: u64 = 0xffff << 48;
    let within = |slot: &BigSlot| word.wrapping_sub(slot.address) >> GRANULE_BITS == 0;
    match locals.iter().position(within) {
        Some(index) => MARK | (index as u64) << GRANULE_BITS | (word - locals[index].address),
        None => word,
    }
}

/// A hash of which every bit depends on everything.
struct Mixer(u64);

impl Mixer {
    fn new(seed: u64) -> Mixer {
        Mixer(seed.wrapping_mul(0x9e37_79b9_7f4a_7c15))
    }
}

impl Hasher for Mixer {
    fn finish(&self) -> u64 {
        self.0
    }

    fn write(&mut self, bytes: &[u8]) {
        for chunk in bytes.chunks(8) {
            let mut word = [0; 8];
            word[..chunk.len()].copy_from_slice(chunk);
            self.write_u64(u64::from_le_bytes(word));
        }
        self.write_u64(bytes.len() as u64);
    }

    /// The finalizer of SplitMix (Steele, Lea, Flood 2014).
    fn write_u64(&mut self, word: u64) {
        let mut z = (self.0 ^ word).wrapping_add(0x9e37_79b9_7f4a_7c15);
        z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        self.0 = z ^ (z >> 31);
    }
}
