//! Binary relations on up to 64 events, as matrices of bits.

/// A relation: bit `b` of row `a` says that `a` is related to `b`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Rel {
    rows: Vec<u64>,
}

impl Rel {
    /// The most events that a relation can be on.
    pub const MOST: usize = u64::BITS as usize;

    pub fn empty(n: usize) -> Rel {
        assert!(n <= Rel::MOST, "at most {} events", Rel::MOST);
        Rel { rows: vec![0; n] }
    }

    /// All pairs for which the condition holds.
    pub fn from_fn(n: usize, mut holds: impl FnMut(usize, usize) -> bool) -> Rel {
        let mut rel = Rel::empty(n);
        for a in 0..n {
            for b in 0..n {
                if holds(a, b) {
                    rel.add(a, b);
                }
            }
        }
        rel
    }

    /// The identity on the events for which the condition holds: `[S]` in the papers.
    pub fn on(n: usize, mut holds: impl FnMut(usize) -> bool) -> Rel {
        Rel::from_fn(n, |a, b| a == b && holds(a))
    }

    pub fn add(&mut self, a: usize, b: usize) {
        self.rows[a] |= 1 << b;
    }

    pub fn has(&self, a: usize, b: usize) -> bool {
        self.rows[a] >> b & 1 == 1
    }

    pub fn or(&self, other: &Rel) -> Rel {
        Rel { rows: self.rows.iter().zip(&other.rows).map(|(a, b)| a | b).collect() }
    }

    pub fn and(&self, other: &Rel) -> Rel {
        Rel { rows: self.rows.iter().zip(&other.rows).map(|(a, b)| a & b).collect() }
    }

    pub fn minus(&self, other: &Rel) -> Rel {
        Rel { rows: self.rows.iter().zip(&other.rows).map(|(a, b)| a & !b).collect() }
    }

    /// `self ; other`
    pub fn then(&self, other: &Rel) -> Rel {
        let image = |mut row: u64| {
            let mut result = 0;
            while row != 0 {
                result |= other.rows[row.trailing_zeros() as usize];
                row &= row - 1;
            }
            result
        };
        Rel { rows: self.rows.iter().map(|&row| image(row)).collect() }
    }

    pub fn inverse(&self) -> Rel {
        Rel::from_fn(self.rows.len(), |a, b| self.has(b, a))
    }

    /// `self?`
    pub fn optional(&self) -> Rel {
        let mut rel = self.clone();
        for a in 0..rel.rows.len() {
            rel.add(a, a);
        }
        rel
    }

    /// `self⁺`
    pub fn plus(&self) -> Rel {
        let mut rel = self.clone();
        for middle in 0..rel.rows.len() {
            let row = rel.rows[middle];
            for a in 0..rel.rows.len() {
                if rel.has(a, middle) {
                    rel.rows[a] |= row;
                }
            }
        }
        rel
    }

    pub fn is_irreflexive(&self) -> bool {
        (0..self.rows.len()).all(|a| !self.has(a, a))
    }

    pub fn is_acyclic(&self) -> bool {
        // Take away events without successors as long as there are any.
        let mut left: u64 = if self.rows.len() == 64 { u64::MAX } else { (1 << self.rows.len()) - 1 };
        loop {
            let sinks = (0..self.rows.len()).filter(|&a| left >> a & 1 == 1 && self.rows[a] & left == 0);
            let gone = sinks.fold(0, |set, a| set | 1 << a);
            if gone == 0 {
                return left == 0;
            }
            left &= !gone;
        }
    }
}
