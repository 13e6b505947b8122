//! Integer arithmetic in all its variants, from 8 to 128 bits.

use std::hint::black_box;
use std::num::{NonZero, Saturating, Wrapping};

macro_rules! all_operations {
    ($($ty:ty),*) => {$({
        let (a, b) = (black_box(<$ty>::MAX - 5), black_box(9 as $ty));
        println!(
            "{}: {:?} {:?} {:?} {:?}",
            stringify!($ty), a.checked_add(b), a.checked_sub(b), a.checked_mul(b), a.checked_div(b),
        );
        println!("  {} {} {} {}", a.wrapping_add(b), a.wrapping_mul(b), b.wrapping_sub(a), b.wrapping_neg());
        println!("  {:?} {:?} {:?}", a.overflowing_add(b), a.overflowing_mul(b), b.overflowing_sub(a));
        println!("  {} {} {}", a.saturating_add(b), a.saturating_mul(b), <$ty>::MIN.saturating_sub(b));
        println!("  {} {} {} {}", a / b, a % b, a.div_euclid(b), a.rem_euclid(b));
        println!("  {} {} {} {}", a & b, a | b, a ^ b, !b);
        println!("  {} {} {} {}", a << 3, a >> 3, <$ty>::MIN >> 1, b.wrapping_shl(1000));
        println!("  {:?} {:?} {:?}", b.checked_shl(4), b.checked_shl(<$ty>::BITS), a.checked_shr(7));
        println!("  {} {} {} {}", a.leading_zeros(), a.trailing_zeros(), a.count_ones(), (!b).leading_ones());
        println!("  {:#x} {:#x} {:#x}", a.rotate_left(3), a.swap_bytes(), b.reverse_bits());
        println!("  {:?} {:?} {} {}", b.checked_pow(2), b.checked_pow(200), b.wrapping_pow(77), a.isqrt());
        println!("  {:?} {:?} {}", a.checked_ilog2(), a.ilog10(), a.abs_diff(b));
        println!("  {:?} {:?}", a.to_be_bytes(), <$ty>::from_le_bytes(b.to_ne_bytes()) == b);
        println!("  {:?} {:?} {:?}", a.cmp(&b), a.min(b), a.clamp(b, b + 1));
    })*};
}

#[dpor::test]
fn unsigned() {
    all_operations!(u8, u16, u32, u64, usize);
}

#[dpor::test]
fn signed() {
    all_operations!(i8, i16, i32, i64, isize);
    for n in [i32::MIN, -8, -7, -1, 0, 1, 7, i32::MAX] {
        println!("{n}: {:?} {} {} {}", n.checked_abs(), n.signum(), n.wrapping_abs(), n.unsigned_abs());
        println!("  {} {} {} {}", n / 3, n % 3, n.div_euclid(3), n.rem_euclid(3));
        println!("  {:?} {:?} {:?}", n.checked_neg(), n.checked_div(-1), n.checked_rem(-1));
        println!("  {} {} {}", n >> 2, (n as u32) >> 2, n.wrapping_shl(30));
    }
}

#[dpor::test]
fn wide() {
    all_operations!(u128, i128);
    let a = black_box(0x0123_4567_89ab_cdef_0011_2233_4455_6677u128);
    let b = black_box(0xffff_ffff_ffff_fff1u128);
    println!("{} {} {}", a / b, a % b, a.wrapping_mul(b));
    println!("{:x} {:x} {:x}", a << 60, a >> 60, a << 64);
    println!("{} {}", a as f64, (a as i128 * -1) as f32);
    println!("{} {} {}", a as u64, a as i8, -1i64 as u128);
    for n in [i128::MIN, i128::MIN + 1, -1, 0, 1, i128::MAX] {
        println!("{n}: {:?} {:?} {}", n.checked_neg(), n.checked_mul(-3), n.wrapping_abs());
        println!("  {} {} {}", n / 1_000_000_007, n % 1_000_000_007, n >> 100);
        println!("  {:?} {:?}", n.checked_div(-1), u64::try_from(n).map_err(|e| e.to_string()));
    }
    println!("{:?}", (1..=34u128).product::<u128>().checked_mul(35));
    println!("{:?}", u128::from_str_radix("zzzzzzzzzzzzzzzzzzzz", 36));
    println!("{} {}", u64::MAX as u128 * u64::MAX as u128, i64::MIN as i128 * i64::MIN as i128);
}

#[dpor::test]
fn conversions() {
    println!("{} {} {} {}", 300i32 as u8, -1i8 as u32, 200u8 as i8, u64::MAX as i32);
    println!("{} {} {}", 'é' as u32, 'é' as u8, 97u8 as char);
    println!("{} {} {}", true as i32, false as u64, i64::from(true));
    println!("{:?} {:?}", u8::try_from(256), i8::try_from(-128i64));
    println!("{:?} {:?}", usize::try_from(-1), char::try_from(0x11_0000u32).map_err(|e| e.to_string()));
    println!("{:?} {:?}", NonZero::new(0u8), NonZero::new(5i64).map(|n| n.get() * 2));
    println!("{} {}", Wrapping(250u8) + Wrapping(10), Saturating(250u8) + Saturating(10));
    println!("{:?} {:?}", 5u8.checked_add_signed(-6), 250u8.saturating_add_signed(100));
    println!("{:?} {:?}", 100u8.carrying_add(200, true), 3u64.borrowing_sub(4, false));
    println!("{} {}", u32::MAX.next_multiple_of(1), 17u32.next_power_of_two());
    println!("{} {} {}", 7u32.div_ceil(2), u8::midpoint(250, 255), 10i32.midpoint(-3));
}

#[dpor::test]
fn number_theory() {
    fn gcd(a: u64, b: u64) -> u64 {
        if b == 0 { a } else { gcd(b, a % b) }
    }
    fn power_mod(mut base: u64, mut exponent: u64, modulus: u64) -> u64 {
        let mut result = 1;
        while exponent > 0 {
            if exponent % 2 == 1 {
                result = (u128::from(result) * u128::from(base) % u128::from(modulus)) as u64;
            }
            base = (u128::from(base) * u128::from(base) % u128::from(modulus)) as u64;
            exponent /= 2;
        }
        result
    }
    println!("{} {}", gcd(1_071, 462), gcd(1 << 40, 6_u64.pow(20)));
    let prime = 18_446_744_073_709_551_557;
    println!("{} {}", power_mod(3, prime - 1, prime), power_mod(2, 1_000_000, prime));
    let mut sieve = [true; 200];
    let primes: Vec<usize> = (2..200)
        .filter(|&n| {
            let prime = sieve[n];
            (2 * n..200).step_by(n).for_each(|m| sieve[m] = false);
            prime
        })
        .collect();
    println!("{} {:?}", primes.len(), &primes[primes.len() - 5..]);
    let mut state = 0x2545_f491_4f6c_dd1du64;
    let random: Vec<u64> = (0..5)
        .map(|_| {
            state ^= state << 13;
            state ^= state >> 7;
            state ^= state << 17;
            state.wrapping_mul(0x9e37_79b9_7f4a_7c15)
        })
        .collect();
    println!("{random:x?}");
}
