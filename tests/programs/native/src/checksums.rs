//! Every operation on every type of number, on many operands that look random: the results go into checksums.

use std::hint::black_box;

/// A generator of numbers that look random and are the same everywhere. It prefers numbers near the limits of types.
struct Numbers(u64);

impl Numbers {
    fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        let x = self.0 ^ (self.0 >> 29);
        match x % 5 {
            0 => x >> 3,
            1 => (x >> 3) % 7,
            2 => 0u64.wrapping_sub((x >> 3) % 5),
            3 => (1u64 << ((x >> 3) % 64)).wrapping_sub((x >> 9) % 3),
            _ => x.swap_bytes(),
        }
    }

    fn wide(&mut self) -> u128 {
        u128::from(self.next()) << 64 | u128::from(self.next())
    }
}

/// A checksum over the text of values.
#[derive(Default)]
struct Checksum(u64);

impl Checksum {
    fn add(&mut self, value: impl std::fmt::Debug) {
        for byte in format!("{value:?};").bytes() {
            self.0 = (self.0 ^ u64::from(byte)).wrapping_mul(0x100_0000_01b3).rotate_left(7);
        }
    }

    fn add_bits(&mut self, bits: u64) {
        self.0 = (self.0 ^ bits).wrapping_mul(0x9e37_79b9_7f4a_7c15).rotate_left(23);
    }
}

macro_rules! checksum_of_integers {
    ($ty:ident) => {{
        let mut numbers = Numbers(42);
        let mut sums: [Checksum; 6] = Default::default();
        for _ in 0..60 {
            let (a, b) = (black_box(numbers.wide() as $ty), black_box(numbers.wide() as $ty));
            let shift = numbers.next() as u32 % (2 * $ty::BITS);
            sums[0].add((a.checked_add(b), a.checked_sub(b), a.checked_mul(b), a.checked_neg()));
            sums[0].add((a.overflowing_add(b), a.overflowing_sub(b), a.overflowing_mul(b)));
            sums[0].add((a.saturating_add(b), a.saturating_sub(b), a.saturating_mul(b), a.wrapping_mul(b)));
            sums[1].add((a.checked_div(b), a.checked_rem(b), a.checked_div_euclid(b), a.checked_rem_euclid(b)));
            sums[1].add((a.checked_pow(shift % 9), a.wrapping_pow(shift), a.abs_diff(b), a.checked_ilog2()));
            sums[2].add((a & b, a | b, a ^ b, !a, a.cmp(&b), a == b, a < b, a >= b));
            sums[2].add((a.count_ones(), a.leading_zeros(), a.trailing_zeros(), a.swap_bytes(), a.reverse_bits()));
            sums[3].add((a.checked_shl(shift), a.checked_shr(shift), a.wrapping_shl(shift), a.wrapping_shr(shift)));
            sums[3].add((
                a.rotate_left(shift),
                a.rotate_right(shift),
                a << (shift % $ty::BITS),
                a >> (shift % $ty::BITS),
            ));
            sums[4].add((a as u8, a as i8, a as u16, a as i16, a as u32, a as i32));
            sums[4].add((a as u64, a as i64, a as u128, a as i128, a as f32, a as f64));
            sums[5].add((a.to_string().parse::<$ty>().is_ok_and(|c| c == a), format!("{a:x} {a:#o} {a:>40b} {a:e}")));
            sums[5].add((a.to_be_bytes(), $ty::from_ne_bytes(a.to_le_bytes()), a.min(b), a.max(b)));
        }
        println!("{:5} {:016x?}", stringify!($ty), sums.map(|sum| sum.0));
    }};
}

#[dpor::test]
fn small_integers() {
    checksum_of_integers!(u8);
    checksum_of_integers!(i8);
    checksum_of_integers!(u16);
    checksum_of_integers!(i16);
}

#[dpor::test]
fn word_sized_integers() {
    checksum_of_integers!(u32);
    checksum_of_integers!(i32);
    checksum_of_integers!(u64);
    checksum_of_integers!(i64);
    checksum_of_integers!(usize);
    checksum_of_integers!(isize);
}

#[dpor::test]
fn wide_integers() {
    checksum_of_integers!(u128);
    checksum_of_integers!(i128);
}

macro_rules! checksum_of_floats {
    ($ty:ident, $bits:ident) => {{
        let mut numbers = Numbers(7);
        let mut sums: [Checksum; 5] = Default::default();
        // Rust leaves the sign and payload of a computed NaN open.
        let bits = |x: $ty| if x.is_nan() { 1 } else { u64::from(x.to_bits()) };
        for _ in 0..150 {
            let (a, b) = ($ty::from_bits(numbers.next() as $bits), $ty::from_bits(numbers.next() as $bits));
            let (a, b) = (black_box(a), black_box(if a.is_nan() { 1.5 } else { b }));
            let small = (numbers.next() % 10_000) as $ty / 64.0 - 70.0;
            for x in [a + b, a - b, a * b, a / b, a % b, -a, a.abs(), a.sqrt(), a.mul_add(b, small)] {
                sums[0].add_bits(bits(x));
            }
            for x in [small.floor(), small.ceil(), small.round(), small.trunc(), small.round_ties_even(), small.fract()]
            {
                sums[1].add_bits(bits(x));
            }
            for x in [a.min(b), a.max(b), a.copysign(small), a.signum(), small.rem_euclid(3.5), small.powi(3)] {
                sums[1].add_bits(bits(x));
            }
            sums[2].add((a.partial_cmp(&b), a == b, a < b, a >= b, a.classify(), a.is_sign_negative() || a.is_nan()));
            sums[3].add((a as u8, a as i8, a as u16, a as i16, a as u32, a as i32));
            sums[3].add((a as u64, a as i64, a as u128, a as i128, small as i16, small as u8));
            sums[3].add_bits(if a.is_nan() { 1 } else { (a as f64).to_bits() ^ u64::from((a as f32).to_bits()) });
            sums[4].add((a, small, format!("{a:e} {small:.3} {small:+8.1} {a:?}")));
            assert!(a.is_nan() || a.to_string().parse::<$ty>().is_ok_and(|c| c.to_bits() == a.to_bits()));
        }
        println!("{} {:016x?}", stringify!($ty), sums.map(|sum| sum.0));
    }};
}

#[dpor::test]
fn floats() {
    checksum_of_floats!(f32, u32);
    checksum_of_floats!(f64, u64);
}

#[dpor::test]
fn memory_moves() {
    let mut numbers = Numbers(3);
    let mut bytes: Vec<u8> = (0..300).map(|_| numbers.next() as u8).collect();
    let mut sum = Checksum::default();
    for _ in 0..120 {
        let (from, to) = (numbers.next() as usize % 200, numbers.next() as usize % 200);
        let len = numbers.next() as usize % 100;
        match numbers.next() % 6 {
            0 => bytes.copy_within(from..from + len, to),
            1 => bytes[from..from + len].rotate_left(len / 3),
            2 => bytes[from..from + len].reverse(),
            3 => bytes[from..from + len].sort_unstable(),
            4 => {
                let copy = bytes[from..from + len].to_vec();
                bytes.splice(to..to + len, copy.into_iter().rev());
            }
            _ => bytes[from..from + len].fill(to as u8),
        }
        sum.add_bits(bytes.iter().fold(0, |sum, byte| sum * 31 % 65_521 + u64::from(*byte)));
        sum.add((bytes[..100].cmp(&bytes[100..200]), bytes.iter().position(|b| *b == 0)));
    }
    println!("{:016x} {}", sum.0, bytes.len());
}
