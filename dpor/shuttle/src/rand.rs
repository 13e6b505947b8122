//! Random numbers: every value of a small range is explored; of a large one, only the first.

use std::ops::{Range, RangeInclusive};

/// Ranges with at most so many values are explored entirely.
const MOST: u128 = 256;

/// Random number generators.
pub mod rngs {
    /// The generator of a thread.
    #[derive(Debug, Default, Clone)]
    pub struct ThreadRng {
        pub(super) _field: (),
    }
}

/// The generator of a thread.
pub fn thread_rng() -> rngs::ThreadRng {
    rngs::ThreadRng { _field: () }
}

/// Any of so many numbers, if they are not too many; 0 otherwise.
fn below(count: u128) -> u128 {
    match count {
        0 => panic!("cannot sample empty range"),
        1..=MOST => dpor::choose(count as usize) as u128,
        _ => 0,
    }
}

/// A source of numbers: what is behind [`Rng`]. These numbers are always the same.
pub trait RngCore {
    /// A number.
    fn next_u32(&mut self) -> u32;
    /// A number.
    fn next_u64(&mut self) -> u64;
    /// Fills a slice.
    fn fill_bytes(&mut self, dest: &mut [u8]);
}

impl RngCore for rngs::ThreadRng {
    fn next_u32(&mut self) -> u32 {
        0x9e37_79b9
    }

    fn next_u64(&mut self) -> u64 {
        0x9e37_79b9_7f4a_7c15
    }

    fn fill_bytes(&mut self, dest: &mut [u8]) {
        dest.fill(0x9e);
    }
}

/// Random values.
pub trait Rng: RngCore {
    /// Any value: of `bool`, `u8` and `i8` every one, of others one that is always the same.
    fn r#gen<T: Value>(&mut self) -> T
    where
        Self: Sized,
    {
        T::any()
    }

    /// A value in a range: every one, if there are at most 256; else the least.
    fn gen_range<T: Value, R: SampleRange<T>>(&mut self, range: R) -> T
    where
        Self: Sized,
    {
        range.any()
    }

    /// `true` or `false`: both, unless the probability is 0 or 1.
    fn gen_bool(&mut self, p: f64) -> bool
    where
        Self: Sized,
    {
        assert!((0.0..=1.0).contains(&p), "p={p:?} is outside range [0.0, 1.0]");
        p == 1.0 || p != 0.0 && below(2) == 1
    }

    /// `true` or `false`: both, unless one is impossible.
    fn gen_ratio(&mut self, numerator: u32, denominator: u32) -> bool
    where
        Self: Sized,
    {
        self.gen_bool(f64::from(numerator) / f64::from(denominator))
    }
}

impl<R: RngCore> Rng for R {}

/// What can be random.
pub trait Value: Copy + PartialOrd {
    #[doc(hidden)]
    fn any() -> Self;
    /// How many values there are from this one to the other, which is not included.
    #[doc(hidden)]
    fn distance(self, end: Self) -> u128;
    #[doc(hidden)]
    fn plus(self, offset: u128) -> Self;
}

/// Ranges to take a value from.
pub trait SampleRange<T> {
    #[doc(hidden)]
    fn any(self) -> T;
}

impl<T: Value> SampleRange<T> for Range<T> {
    fn any(self) -> T {
        self.start.plus(below(self.start.distance(self.end)))
    }
}

impl<T: Value> SampleRange<T> for RangeInclusive<T> {
    fn any(self) -> T {
        assert!(self.start() <= self.end(), "cannot sample empty range");
        self.start().plus(below(self.start().distance(*self.end()) + 1))
    }
}

macro_rules! integers {
    ($($integer:ty)*) => {
        $(
            impl Value for $integer {
                fn any() -> Self {
                    (Self::MIN..=Self::MAX).any()
                }

                fn distance(self, end: Self) -> u128 {
                    if self < end { (end as i128).wrapping_sub(self as i128) as u128 } else { 0 }
                }

                fn plus(self, offset: u128) -> Self {
                    (self as i128).wrapping_add(offset as i128) as Self
                }
            }
        )*
    };
}

integers! { u8 u16 u32 u64 usize i8 i16 i32 i64 isize }

impl Value for bool {
    fn any() -> bool {
        below(2) == 1
    }

    fn distance(self, end: bool) -> u128 {
        u128::from(!self && end)
    }

    fn plus(self, offset: u128) -> bool {
        self || offset > 0
    }
}
