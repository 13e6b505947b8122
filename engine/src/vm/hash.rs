//! A fast hash for the machine's own tables. What is found by it is always compared as well.

use std::hash::{BuildHasherDefault, Hash, Hasher};

/// Builds [`FastHasher`]s.
pub type FastHash = BuildHasherDefault<FastHasher>;

/// Multiplies and rotates, a word at a time.
#[derive(Clone, Copy, Debug, Default)]
pub struct FastHasher(u64);

const FACTOR: u64 = 0x9e37_79b9_7f4a_7c15;

impl FastHasher {
    #[inline(always)]
    fn add(&mut self, word: u64) {
        self.0 = (self.0.rotate_left(23) ^ word).wrapping_mul(FACTOR);
    }
}

impl Hasher for FastHasher {
    #[inline]
    fn finish(&self) -> u64 {
        // The upper bits depend on all others.
        self.0 ^ (self.0 >> 32)
    }

    fn write(&mut self, bytes: &[u8]) {
        // Four words at a time: their multiplications do not wait for each other.
        let (blocks, rest) = bytes.as_chunks::<32>();
        let mut lanes = [self.0, 1, 2, 3];
        for block in blocks {
            let (words, _) = block.as_chunks::<8>();
            for (lane, word) in lanes.iter_mut().zip(words) {
                *lane = (lane.rotate_left(23) ^ u64::from_le_bytes(*word)).wrapping_mul(FACTOR);
            }
        }
        self.0 = lanes[0];
        if !blocks.is_empty() {
            lanes[1..].iter().for_each(|lane| self.add(*lane));
        }
        let (words, rest) = rest.as_chunks::<8>();
        words.iter().for_each(|word| self.add(u64::from_le_bytes(*word)));
        let mut last = [0; 8];
        last[..rest.len()].copy_from_slice(rest);
        self.add(u64::from_le_bytes(last) ^ (bytes.len() as u64) << 56);
    }

    #[inline]
    fn write_u8(&mut self, number: u8) {
        self.add(u64::from(number));
    }

    #[inline]
    fn write_u16(&mut self, number: u16) {
        self.add(u64::from(number));
    }

    #[inline]
    fn write_u32(&mut self, number: u32) {
        self.add(u64::from(number));
    }

    #[inline]
    fn write_u64(&mut self, number: u64) {
        self.add(number);
    }

    #[inline]
    fn write_usize(&mut self, number: usize) {
        self.add(number as u64);
    }
}

/// The hash of a value.
pub fn hash_of(value: &(impl Hash + ?Sized)) -> u64 {
    let mut hasher = FastHasher::default();
    value.hash(&mut hasher);
    hasher.finish()
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::HashSet;

    #[test]
    fn every_byte_and_every_length_counts() {
        let mut seen = HashSet::new();
        for len in 0..80 {
            let mut bytes = vec![0; len];
            assert!(seen.insert(hash_of(&bytes[..])), "{len} zeros");
            for at in 0..len {
                bytes[at] = 1;
                assert!(seen.insert(hash_of(&bytes[..])), "{len} bytes, byte {at}");
                bytes[at] = 0;
            }
        }
    }
}
