//! Everything that `format!` can do.

use std::collections::{BTreeMap, BTreeSet, VecDeque};
use std::fmt::{self, Binary, Debug, Display, LowerHex, Write as _};
use std::rc::Rc;
use std::time::Duration;

#[dpor::test]
fn numbers() {
    println!("[{:5}] [{:<5}] [{:^5}] [{:>5}] [{:05}] [{:+}]", 42, 42, 42, 42, -42, 42);
    println!("[{:*^9}] [{:#>6}] [{:é<4}]", "mid", 'c', true);
    println!("{:x} {:X} {:#x} {:#010x} {:o} {:#b} {:08b}", 255, 255, 255, 255, 8, 5, 5);
    println!("{:x} {:b} {:#X}", -1i8, -2i16, i128::MIN);
    println!("[{:8.3}] [{:<8.2}] [{:+.1}] [{:08.2}] [{:.0}]", 3.14159, 2.0f32, 1.25, -1.5, 2.5);
    println!("{:e} {:E} {:.2e} {:e} {:e}", 1234.5, 0.00012f32, 9.999, 0u8, 120_000u64);
    println!("{} {} {} {}", f64::NAN, f64::INFINITY, f64::NEG_INFINITY, -0.0);
    println!("{} {:?} {} {:?} {:?}", 1e21, 1e21, 0.1 + 0.2, 1e-7, 1.0);
    println!("{:?} {} {}", f64::MAX, f32::MIN_POSITIVE, f64::EPSILON);
    let (width, precision) = (10, 4);
    println!("[{:width$.precision$}] [{:1$}] [{:.*}]", std::f64::consts::PI, 7, 2, 1.23456);
    println!("[{0:>1$}] [{name:^+9.2}] {0}", 12, 5, name = 2.71828);
    println!("{} {}", u128::MAX, i64::MIN);
    println!("{{}} {:?} {:02x?} {:#X?}", [1u8, 200], [1u8, 200], Some(255));
}

#[derive(Debug, Clone, Default)]
#[allow(dead_code, reason = "only printed")]
struct Config {
    name: String,
    limits: (u8, Option<f32>),
    tags: Vec<&'static str>,
    nested: Option<Box<Config>>,
    unit: Unit,
}

#[derive(Debug, Clone, Default)]
struct Unit;

#[derive(Debug)]
#[allow(dead_code, reason = "only printed")]
enum Event {
    Quit,
    Key(char, u32),
    Resize { width: u16, height: u16 },
}

#[dpor::test]
fn debug_output() {
    let inner = Config { name: "in\"ner".into(), tags: vec!["a", "b\n"], ..Config::default() };
    let config = Config { limits: (7, Some(0.5)), nested: Some(Box::new(inner)), ..Config::default() };
    println!("{config:?}");
    println!("{config:#?}");
    let events = [Event::Quit, Event::Key('\'', 3), Event::Resize { width: 80, height: 25 }];
    println!("{events:?}");
    println!("{:#?}", &events[1..]);
    let map: BTreeMap<_, _> = [(2, "two"), (1, "one")].into();
    let set: BTreeSet<char> = "hello".chars().collect();
    println!("{map:?} {set:?} {:?}", VecDeque::from([1, 2]));
    println!("{map:#?} {:#?}", ((), (1,), Rc::new("rc")));
    println!("{:?} {:?}", Ok::<u8, ()>(3), Err::<(), _>("bad"));
    println!("{:?} {:?} {:?} {:?}", 0..3, ..=5, Duration::from_millis(1_500), std::cmp::Ordering::Less);
    println!("{:5?}|{:<8?}|{:.1?}", Some(1), "ab", [1.25, 2.0]);
}

struct Money {
    cents: i64,
}

impl Display for Money {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let sign = if self.cents < 0 { "-" } else { "" };
        let text = format!("{}.{:02}", self.cents.abs() / 100, self.cents.abs() % 100);
        if f.alternate() { write!(f, "{sign}€{text}") } else { f.pad(&format!("{sign}{text}")) }
    }
}

struct Bits(u8);

impl Binary for Bits {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad_integral(true, "0b", &format!("{:b}", self.0))
    }
}

impl LowerHex for Bits {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        LowerHex::fmt(&self.0, f)
    }
}

struct Table<'a>(&'a [(&'a str, i32)]);

impl Debug for Table<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_map().entries(self.0.iter().map(|(key, value)| (key, value))).finish()
    }
}

struct Hidden;

impl Debug for Hidden {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Hidden").field("shown", &1).finish_non_exhaustive()
    }
}

#[dpor::test]
fn own_formats() {
    let money = Money { cents: -12_305 };
    println!("[{money}] [{money:#}] [{money:>10}] [{money:<10}] [{money:-^11}] [{money:.4}]");
    println!("{}", Money { cents: 7 });
    println!("[{:b}] [{:#b}] [{:010b}] [{:#06x}]", Bits(5), Bits(5), Bits(5), Bits(200));
    println!("{:?} {:#?}", Table(&[("a", 1), ("b", -2)]), Table(&[]));
    println!("{Hidden:?} {Hidden:#?}");
    let mut text = String::new();
    write!(text, "{:>w$}", "right", w = 8).unwrap();
    writeln!(text, " {}", format_args!("{}-{}", 1, "nested")).unwrap();
    print!("{text}");
    assert_eq!(money.to_string(), "-123.05");
}

/// A sink that is full after some bytes.
struct Limited {
    text: String,
    room: usize,
}

impl fmt::Write for Limited {
    fn write_str(&mut self, s: &str) -> fmt::Result {
        self.room = self.room.checked_sub(s.len()).ok_or(fmt::Error)?;
        self.text.push_str(s);
        Ok(())
    }
}

#[dpor::test]
fn writers_that_fail() {
    let mut sink = Limited { text: String::new(), room: 10 };
    println!("{:?}", write!(sink, "{}-{}", 123, 456));
    println!("{:?}", write!(sink, "{}+{}", 7, 89_000));
    println!("{:?} {}", sink.text, sink.room);
    let mut bytes: Vec<u8> = Vec::new();
    std::io::Write::write_all(&mut bytes, b"raw ").unwrap();
    std::io::Write::write_fmt(&mut bytes, format_args!("{:03}", 5)).unwrap();
    println!("{}", String::from_utf8_lossy(&bytes));
    let mut small = [0u8; 4];
    let mut rest: &mut [u8] = &mut small;
    let error = std::io::Write::write_all(&mut rest, b"too long").unwrap_err();
    println!("{error} {:?} {small:?}", error.kind());
}
