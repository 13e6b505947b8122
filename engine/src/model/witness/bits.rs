//! Square bit matrices: relations on numbered things.

/// A relation; row `a` has bit `b` if `a` is related to `b`.
#[derive(Clone, Debug, Default)]
pub(super) struct Bits {
    words: usize,
    rows: Vec<u64>,
}

impl Bits {
    /// Makes it the empty relation on so many things.
    pub fn reset(&mut self, size: usize) {
        self.words = size.div_ceil(64);
        self.rows.clear();
        self.rows.resize(size * self.words, 0);
    }

    #[inline]
    pub fn row(&self, a: usize) -> &[u64] {
        &self.rows[a * self.words..(a + 1) * self.words]
    }

    #[inline]
    pub fn get(&self, a: usize, b: usize) -> bool {
        self.rows[a * self.words + b / 64] >> (b % 64) & 1 == 1
    }

    #[inline]
    pub fn set(&mut self, a: usize, b: usize) {
        self.rows[a * self.words + b / 64] |= 1 << (b % 64);
    }

    /// Adds row `from` to row `to`.
    pub fn join(&mut self, to: usize, from: usize) {
        for word in 0..self.words {
            self.rows[to * self.words + word] |= self.rows[from * self.words + word];
        }
    }

    /// Adds bits to a row, and calls `found` with each that was not there.
    pub fn add(&mut self, a: usize, bits: &[u64], mut found: impl FnMut(usize)) {
        for (word, &bits) in bits.iter().enumerate() {
            let slot = &mut self.rows[a * self.words + word];
            let new = bits & !*slot;
            *slot |= bits;
            each(new, word, &mut found);
        }
    }
}

/// Calls `found` with every bit that is set in a row.
pub(super) fn for_each(row: &[u64], mut found: impl FnMut(usize)) {
    for (word, &bits) in row.iter().enumerate() {
        each(bits, word, &mut found);
    }
}

#[inline]
fn each(mut bits: u64, word: usize, found: &mut impl FnMut(usize)) {
    while bits != 0 {
        found(word * 64 + bits.trailing_zeros() as usize);
        bits &= bits - 1;
    }
}
