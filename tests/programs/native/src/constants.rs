//! What is computed at compile time: constants, const functions, const generics.

use std::fmt::Debug;

const fn fibonacci(n: usize) -> u64 {
    let (mut a, mut b, mut i) = (0, 1, 0);
    while i < n {
        (a, b) = (b, a + b);
        i += 1;
    }
    a
}

const FIBONACCI: [u64; 20] = {
    let mut table = [0; 20];
    let mut i = 0;
    while i < table.len() {
        table[i] = fibonacci(i);
        i += 1;
    }
    table
};

const fn crc_table() -> [u32; 256] {
    let mut table = [0; 256];
    let mut i = 0;
    while i < 256 {
        let mut crc = i as u32;
        let mut bit = 0;
        while bit < 8 {
            crc = if crc & 1 == 1 { 0xedb8_8320 ^ (crc >> 1) } else { crc >> 1 };
            bit += 1;
        }
        table[i] = crc;
        i += 1;
    }
    table
}

static CRC: [u32; 256] = crc_table();

fn crc32(data: &[u8]) -> u32 {
    !data.iter().fold(!0, |crc, byte| CRC[usize::from(crc as u8 ^ byte)] ^ (crc >> 8))
}

#[derive(Debug)]
struct Entry {
    name: &'static str,
    values: &'static [i16],
    next: Option<&'static Entry>,
    act: fn(i16) -> i16,
}

const fn double(n: i16) -> i16 {
    n * 2
}

const LAST: Entry = Entry { name: "last", values: &[], next: None, act: i16::wrapping_neg };
static ENTRIES: [Entry; 2] = [
    Entry { name: "first", values: &[1, -2, 3], next: Some(&ENTRIES[1]), act: double },
    Entry { name: "second", values: &[40], next: Some(&LAST), act: |n| n - 1 },
];

#[dpor::test]
fn const_evaluation() {
    println!("{FIBONACCI:?}");
    println!("{:08x} {:08x}", crc32(b"123456789"), crc32(b""));
    let mut entry = Some(&ENTRIES[0]);
    while let Some(e) = entry {
        println!("{} {:?} {}", e.name, e.values.iter().map(|n| (e.act)(*n)).collect::<Vec<_>>(), (e.act)(7));
        entry = e.next;
    }
    const { assert!(FIBONACCI[19] == 4181) };
    println!("{}", const { fibonacci(90) });
}

#[derive(Debug, Clone, Copy, PartialEq)]
struct Matrix<const R: usize, const C: usize>([[i64; C]; R]);

impl<const R: usize, const C: usize> Matrix<R, C> {
    const CELLS: usize = R * C;

    fn transpose(&self) -> Matrix<C, R> {
        Matrix(std::array::from_fn(|c| std::array::from_fn(|r| self.0[r][c])))
    }

    fn times<const K: usize>(&self, other: &Matrix<C, K>) -> Matrix<R, K> {
        let mut product = Matrix([[0; K]; R]);
        for r in 0..R {
            for k in 0..K {
                product.0[r][k] = (0..C).map(|c| self.0[r][c] * other.0[c][k]).sum();
            }
        }
        product
    }
}

#[dpor::test]
fn const_generic_matrices() {
    let a = Matrix([[1, 2, 3], [4, 5, 6]]);
    let b = a.transpose();
    println!("{b:?} {}", Matrix::<2, 3>::CELLS);
    println!("{:?}\n{:?}", a.times(&b), b.times(&a));
    let mut power = Matrix([[1, 1], [1, 0]]);
    for _ in 0..5 {
        power = power.times(&power);
    }
    println!("{power:?}");
}

trait Unit {
    const NAME: &'static str;
    const FACTOR: f64;
    const ALIASES: &'static [&'static str] = &[];
}

struct Meter;
struct Inch;

impl Unit for Meter {
    const NAME: &'static str = "m";
    const FACTOR: f64 = 1.0;
    const ALIASES: &'static [&'static str] = &["metre", "meter"];
}

impl Unit for Inch {
    const NAME: &'static str = "in";
    const FACTOR: f64 = 0.0254;
}

fn convert<A: Unit, B: Unit>(value: f64) -> String {
    format!("{value} {} = {:.3} {} {:?}", A::NAME, value * A::FACTOR / B::FACTOR, B::NAME, B::ALIASES)
}

struct Mask<const BITS: u32, const SIGNED: bool, const NAME: char>;

impl<const BITS: u32, const SIGNED: bool, const NAME: char> Mask<BITS, SIGNED, NAME> {
    const VALUE: u64 = if SIGNED { (1 << (BITS - 1)) - 1 } else { (1 << BITS) - 1 };
}

fn first_of<T: Debug + Copy, const N: usize>(items: [T; N]) -> Option<(T, usize)> {
    items.first().map(|item| (*item, N))
}

#[dpor::test]
fn associated_constants() {
    println!("{}\n{}", convert::<Inch, Meter>(100.0), convert::<Meter, Inch>(1.0));
    println!("{:#x} {:#x}", Mask::<12, false, 'u'>::VALUE, Mask::<12, true, 's'>::VALUE);
    println!("{:?} {:?} {:?}", first_of(["x"; 4]), first_of([1.5]), first_of([0u8; 0]));
    println!("{} {}", u32::BITS + i8::BITS, <u16 as Limits>::RANGE);
}

trait Limits {
    const RANGE: u64;
}

impl Limits for u16 {
    const RANGE: u64 = u16::MAX as u64 - u16::MIN as u64;
}
