//! The smallest and the largest format of floats.

use std::hint::black_box;

/// The bits of a number, all NaNs alike: Rust leaves their payload open.
fn half(x: f16) -> String {
    if x.is_nan() { "NaN".into() } else { format!("{:04x}", x.to_bits()) }
}

fn quad(x: f128) -> String {
    if x.is_nan() { "NaN".into() } else { format!("{:032x}", x.to_bits()) }
}

const HALVES: [f16; 12] = [
    f16::NEG_INFINITY,
    f16::MIN,
    -2.5,
    -0.5,
    -0.0,
    f16::MIN_POSITIVE / 4.0,
    0.333,
    1.5,
    1.001,
    6e4,
    f16::INFINITY,
    f16::NAN,
];

const QUADS: [f128; 12] = [
    f128::NEG_INFINITY,
    f128::MIN,
    -2.5,
    -0.5,
    -0.0,
    f128::MIN_POSITIVE / 4.0,
    0.333,
    1.5,
    1.001,
    1e4000,
    f128::INFINITY,
    f128::NAN,
];

#[dpor::test]
fn half_arithmetic() {
    for a in HALVES.map(black_box) {
        println!("{a:?} {} {}", half(-a), half(a.abs()));
        for b in HALVES.map(black_box) {
            let results = [a + b, a - b, a * b, a / b, a % b, a.copysign(b), a.mul_add(b, 1.0)].map(half);
            println!("  {} {:?}", results.join(" "), a.partial_cmp(&b));
            println!("  {} {}", half(a.maximum(b)), half(a.minimum(b)));
        }
    }
}

#[dpor::test]
fn half_functions() {
    for a in HALVES.map(black_box) {
        let rounded = [a.floor(), a.ceil(), a.trunc(), a.round(), a.round_ties_even(), a.fract()].map(half);
        println!("{a:?} {}", rounded.join(" "));
        println!("  {} {} {}", half(a.sqrt()), half(a.powi(3)), half(a.powi(-2)));
        println!("  {} {} {} {}", a as u8, a as i16, a as u128, a as i64);
        println!("  {:?} {:?} {}", a as f32, a as f64, quad(a as f128));
    }
    println!("{:?} {:?} {:?}", black_box(2f16).exp(), black_box(10f16).ln(), black_box(0.5f16).sin());
    println!("{:?} {:?} {:?}", 65519u32 as f16, 65520u32 as f16, -1i8 as f16);
    println!("{:?} {:?} {:?}", u128::MAX as f16, black_box(1e-8f64) as f16, black_box(1.000_488_3f64) as f16);
    println!("{:?} {:?}", "0.1".parse::<f16>(), black_box(0.1f16).to_be_bytes());
}

#[dpor::test]
fn quad_arithmetic() {
    for a in QUADS.map(black_box) {
        println!("{} {} {}", quad(a), quad(-a), quad(a.abs()));
        for b in QUADS.map(black_box) {
            let results = [a + b, a - b, a * b, a / b].map(quad);
            println!("  {} {:?}", results.join(" "), a.partial_cmp(&b));
            println!("  {} {} {}", quad(a.copysign(b)), quad(a.maximum(b)), quad(a.minimum(b)));
        }
    }
    println!("{} {}", quad(black_box(7.5f128) % 2.0), quad(black_box(-1e30f128) % 0.7));
    println!("{}", quad(black_box(1.1f128).mul_add(1.1, -1.21)));
}

#[dpor::test]
fn quad_functions() {
    for a in QUADS.map(black_box) {
        let rounded = [a.floor(), a.ceil(), a.trunc(), a.round(), a.round_ties_even(), a.fract()].map(quad);
        println!("{}: {}", quad(a), rounded.join(" "));
        println!("  {} {} {}", quad(a.sqrt()), quad(a.powi(3)), quad(a.powi(-2)));
        println!("  {} {} {} {} {}", a as u8, a as i16, a as u128, a as i128, a as i64);
        println!("  {} {:?} {:?}", half(a as f16), a as f32, a as f64);
    }
    println!("{} {}", quad(u64::MAX as f128), quad(i32::MIN as f128));
    println!("{} {}", quad(black_box(u128::MAX) as f128), quad(black_box(i128::MIN + 1) as f128));
    println!("{} {}", quad(black_box(0.1f32) as f128), quad(black_box(0.1f64) as f128));
    println!("{} {}", quad(black_box(2f128).sqrt()), quad(black_box(1e-4940f128).sqrt()));
}

/// In structs, arrays and generic code, and as parts of larger results.
#[dpor::test]
fn in_data() {
    #[derive(Clone, Copy, Debug, PartialEq)]
    struct Both {
        small: f16,
        large: f128,
    }
    fn sum<T: Copy + std::iter::Sum<T>>(values: &[T]) -> T {
        values.iter().copied().sum()
    }
    let both: Vec<Both> = (1..5u8).map(|n| Both { small: 1.0 / f16::from(n), large: 1.0 / f128::from(n) }).collect();
    let small: Vec<f16> = both.iter().map(|both| both.small).collect();
    let large: Vec<f128> = both.iter().map(|both| both.large).collect();
    println!("{} {}", half(sum(&small)), quad(sum(&large)));
    println!(
        "{:?}",
        both.iter().map(|both| Some(both.large)).max_by(|a, b| a.partial_cmp(b).unwrap()).map(|x| x.map(quad))
    );
    println!("{}", both[1] == both[1] && both[1] != both[2]);
}

/// Functions of the C library that the standard library does not use.
#[dpor::test]
fn library() {
    unsafe extern "C" {
        safe fn ldexp(x: f64, exponent: i32) -> f64;
        safe fn ldexpf(x: f32, exponent: i32) -> f32;
        safe fn frexp(x: f64, exponent: &mut i32) -> f64;
        safe fn frexpf(x: f32, exponent: &mut i32) -> f32;
        safe fn fdim(a: f64, b: f64) -> f64;
        safe fn fmaf(a: f32, b: f32, c: f32) -> f32;
        safe fn rint(x: f64) -> f64;
    }
    for x in [0.0, -0.75, 1e300, 5e-324].map(black_box) {
        let mut exponent = 0;
        println!("{:?} {exponent}", frexp(x, &mut exponent));
        println!("{exponent} {:?} {:?} {:?}", ldexp(x, 3), ldexp(x, -2000), ldexp(x, 2000));
        println!("{:?} {exponent} {:?}", frexpf(x as f32, &mut exponent), ldexpf(x as f32, -130));
        println!("{:?} {:?} {:?}", fdim(x, 1.0), fdim(1.0, x), rint(x));
    }
    println!("{:?}", fmaf(black_box(0.1), 10.0, -1.0));
}
