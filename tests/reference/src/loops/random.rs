//! A source of numbers: SplitMix64 (Steele, Lea, Flood, OOPSLA 2014).

use std::hash::{BuildHasher, RandomState};

#[derive(Clone, Debug)]
pub struct Random {
    state: u64,
}

impl Random {
    pub fn new(seed: u64) -> Random {
        Random { state: seed }
    }

    /// The source for one of many things that are made from a seed.
    pub fn nth(seed: u64, number: u64) -> Random {
        let mut random = Random::new(seed ^ mix(number.wrapping_add(1)));
        random.number();
        random
    }

    pub fn number(&mut self) -> u64 {
        self.state = self.state.wrapping_add(0x9e37_79b9_7f4a_7c15);
        mix(self.state)
    }

    pub fn below(&mut self, bound: usize) -> usize {
        (self.number() % bound as u64) as usize
    }

    /// True so many times in a hundred.
    pub fn percent(&mut self, percent: usize) -> bool {
        self.below(100) < percent
    }

    pub fn one_of<T: Clone>(&mut self, of: &[T]) -> T {
        of[self.below(of.len())].clone()
    }
}

fn mix(value: u64) -> u64 {
    let value = (value ^ value >> 30).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    let value = (value ^ value >> 27).wrapping_mul(0x94d0_49bb_1331_11eb);
    value ^ value >> 31
}

/// A seed that is another one each time.
pub fn new_seed() -> u64 {
    RandomState::new().hash_one(()) % 1_000_000_000
}
