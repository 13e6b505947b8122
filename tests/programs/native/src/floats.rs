//! Floating point: corner cases, rounding, conversions.

use std::cmp::Ordering;
use std::hint::black_box;
use std::num::FpCategory;

const SPECIAL: [f64; 12] = [
    f64::NEG_INFINITY,
    f64::MIN,
    -2.5,
    -0.5,
    -0.0,
    0.0,
    f64::MIN_POSITIVE / 4.0,
    0.5,
    1.5,
    1e300,
    f64::INFINITY,
    f64::NAN,
];

/// The bits of a number, all NaNs alike: Rust leaves their payload open.
fn bits(x: f64) -> String {
    if x.is_nan() { "NaN".into() } else { format!("{:016x}", x.to_bits()) }
}

#[dpor::test]
fn special_values() {
    for x in SPECIAL.map(black_box) {
        println!("{x:?}: {} {} {:?}", x.is_finite(), x.is_sign_negative() && !x.is_nan(), x.classify());
        println!("  floor {:?} ceil {:?} trunc {:?} round {:?}", x.floor(), x.ceil(), x.trunc(), x.round());
        println!("  even {:?} fract {:?} abs {:?} sqrt {}", x.round_ties_even(), x.fract(), x.abs(), bits(x.sqrt()));
        println!("  1/x {} x+1 {} x*x {}", bits(1.0 / x), bits(x + 1.0), bits(x * x));
        println!("  {} {} {}", x as i32, x as u8, x as f32);
        println!("  {} {} {}", x as i64, x as u128, x as i128);
    }
    assert_eq!(black_box(f64::NAN).classify(), FpCategory::Nan);
}

#[dpor::test]
fn comparisons() {
    for a in SPECIAL.map(black_box) {
        let row: String = SPECIAL
            .iter()
            .map(|b| match a.partial_cmp(b) {
                Some(Ordering::Less) => '<',
                Some(Ordering::Equal) => '=',
                Some(Ordering::Greater) => '>',
                None => '?',
            })
            .collect();
        let total: Vec<i8> = SPECIAL.iter().map(|b| a.abs().total_cmp(&b.abs()) as i8).collect();
        println!("{row} {total:?}");
    }
    let nan = black_box(f64::NAN);
    println!("{:?} {:?} {:?} {:?}", nan.min(1.0), nan.max(1.0), 1f64.min(nan), 1f64.max(2.0));
    println!("{:?} {:?} {:?}", nan == nan, nan != nan, nan < 1.0 || nan >= 1.0);
    println!("{:?} {:?}", (-5.0f64).clamp(-1.0, 1.0), 0.0f64 == -0.0);
    println!("{:?} {:?}", 3f64.copysign(-0.0), (-3f64).signum());
}

#[dpor::test]
fn arithmetic() {
    let (a, b, c) = (black_box(0.1f64), black_box(0.2f64), black_box(0.3f64));
    println!("{} {} {}", a + b, a + b == c, (a + b - c).abs() < f64::EPSILON);
    println!("{:?} {:?}", a.mul_add(10.0, -1.0), a * 10.0 - 1.0);
    println!("{:?} {:?} {:?}", 7.5f64 % 2.0, -7.5f64 % 2.0, (-7.5f64).rem_euclid(2.0));
    println!("{:?} {:?} {:?}", b.powi(10), b.powi(-3), 2f64.powi(1023) * 2.0);
    println!("{:?} {:?} {:?}", 2f64.sqrt(), 1e-200f64 * 1e-200, 2f64.powf(0.5));
    println!("{:?} {:?}", 1f64.exp(), 10f64.ln());
    println!("{:?} {:?}", 1000f64.log10(), 8f64.log2());
    println!("{:?} {:?} {:?}", 27f64.cbrt(), 3f64.hypot(4.0), 1f64.atan2(-1.0));
    println!("{:?} {:?} {:?}", 1f64.sin(), 1f64.cos(), 1f64.tan());
    println!("{:?} {:?} {:?}", 0.5f64.asin(), 0.5f64.tanh(), 2f64.sinh());
    println!("{:?} {:?}", 180f64.to_radians(), std::f64::consts::PI.to_degrees());
    let sum: f64 = (1..=1000).map(|n| 1.0 / f64::from(n)).sum();
    println!("{sum} {:?}", sum.to_bits());
    let (x, y) = (black_box(0.1f32), black_box(0.7f32));
    println!("{} {} {} {}", x + y, x * y, x / y, (f64::from(x) + f64::from(y)) as f32);
    println!("{:?} {:?} {:?}", y.sqrt(), y.powi(5), x.mul_add(y, 1.0));
    println!("{:?} {:?} {:?}", 16_777_216f32 + 1.0, f32::MAX * 2.0, f32::MIN_POSITIVE / 2.0);
}

#[dpor::test]
fn conversions() {
    for x in [0.49, 0.5, 254.9, 255.5, 256.0, -0.9, -128.7, 1e10, 1e20, -1e40] {
        let x = black_box(x);
        println!("{x}: {} {} {} {} {}", x as u8, x as i8, x as u64, x as i64, x as f32);
    }
    println!("{} {} {}", u64::MAX as f64, u64::MAX as f32, i64::MIN as f64);
    println!("{} {} {}", 16_777_217u32 as f32, 9_007_199_254_740_993i64 as f64, u128::MAX as f32);
    println!("{} {}", 1e300f64 as f32, 1e-50f64 as f32);
    println!("{:?} {:?}", f64::from_bits(0x3ff8_0000_0000_0000), f32::from_bits(1));
    println!("{:?} {:?}", 1.5f32.to_be_bytes(), f64::from_le_bytes([0, 0, 0, 0, 0, 0, 4, 64]));
    println!("{:?} {:?}", 1f64.next_up(), f32::from(7u16).next_down());
    println!("{} {}", 0.1f32 as f64, f64::from(0.1f32) == 0.1);
}

#[dpor::test]
fn round_trips() {
    let mut state = 12_345u64;
    let mut checked = 0;
    for _ in 0..40 {
        state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        let x = f64::from_bits(state);
        if x.is_finite() {
            let text = format!("{x:e}");
            assert_eq!(text.parse::<f64>().unwrap().to_bits(), x.to_bits(), "{text}");
            checked += 1;
            if checked % 8 == 0 {
                println!("{text} {x:.3e} {}", x as f32);
            }
        }
    }
    println!("{checked} round trips");
    println!("{:.20} {:.1} {:.0} {:.0}", 0.1, 0.25, 0.5, 1.5);
    println!("{} {}", 123_456_789.0f32, 5e-324);
}

/// Newton's method, numerical integration, and a sum that is careful about rounding.
#[dpor::test]
fn numerics() {
    let mut x = 1.0f64;
    for step in 0..6 {
        x = (x + 2.0 / x) / 2.0;
        println!("{step}: {x:.17}");
    }
    let n = 200;
    let integral: f64 = (0..n).map(|i| (f64::from(i) + 0.5) / f64::from(n)).map(|x| 4.0 / (1.0 + x * x)).sum();
    println!("{:.12}", integral / f64::from(n));
    let (mut sum, mut lost) = (0.0f64, 0.0f64);
    for i in 1..=300 {
        let term = 1.0 / f64::from(i * i) - lost;
        let next = sum + term;
        lost = (next - sum) - term;
        sum = next;
    }
    println!("{sum:?} {lost:e}");
}
