//! How values lie in memory: enums, niches, unions, packed structs, unsized tails.

use std::mem::{MaybeUninit, align_of, discriminant, offset_of, size_of, size_of_val};
use std::num::NonZero;
use std::rc::Rc;

#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
#[repr(u8)]
enum Level {
    Low = 1,
    Middle = 50,
    High = 200,
}

#[derive(Debug, Clone, Copy)]
#[repr(i64)]
enum Signed {
    Negative = -5,
    Zero = 0,
    Large = i64::MAX,
}

#[derive(Debug)]
#[allow(dead_code, reason = "only printed")]
#[repr(u16)]
enum WithData {
    Unit = 7,
    Tuple(u8, u64) = 9,
    Fields { a: bool, b: char } = 300,
}

#[dpor::test]
fn discriminants() {
    for level in [Level::High, Level::Low, Level::Middle] {
        println!("{level:?} {} {}", level as u8, level as i8);
    }
    for signed in [Signed::Negative, Signed::Zero, Signed::Large] {
        println!("{signed:?} {} {}", signed as i64, signed as u8);
    }
    let data = [WithData::Unit, WithData::Tuple(1, 1 << 60), WithData::Fields { a: true, b: 'ß' }];
    for value in &data {
        // SAFETY: the type is `repr(u16)`: its first field is the discriminant.
        let tag = unsafe { *std::ptr::from_ref(value).cast::<u16>() };
        println!("{value:?} {tag}");
    }
    println!("{}", discriminant(&data[1]) == discriminant(&WithData::Tuple(5, 6)));
    println!("{} {}", discriminant(&data[0]) == discriminant(&data[2]), Level::Low < Level::High);
    // SAFETY: 50 is the discriminant of a variant.
    println!("{:?}", unsafe { std::mem::transmute::<u8, Level>(50) });
}

#[derive(Debug, Clone, PartialEq)]
enum Niche {
    Text(String),
    Empty,
    Number(u32),
    Flag(bool),
}

#[derive(Debug, Clone, Copy, PartialEq)]
enum Void {}

#[derive(Debug, Clone, Copy, PartialEq)]
#[repr(u8)]
enum Reason {
    First = 1,
    Last = 3,
}

/// In a `Result<(), Refused>`, zero is `Ok`.
#[derive(Debug, Clone, Copy, PartialEq)]
struct Refused(Reason);

#[dpor::test]
fn niches() {
    let cell = std::cell::UnsafeCell::new(Ok(()));
    for error in [Refused(Reason::First), Refused(Reason::Last)] {
        // SAFETY: the cell is not shared.
        unsafe {
            print!("{:?} ", *cell.get());
            *cell.get() = Err(error);
        }
    }
    println!("{:?}", cell.into_inner());
    println!("{} {} {}", size_of::<Option<Box<u8>>>(), size_of::<Option<NonZero<u16>>>(), size_of::<Option<char>>());
    println!("{} {} {}", size_of::<Option<Option<bool>>>(), size_of::<Niche>(), size_of::<Option<Niche>>());
    println!("{} {}", size_of::<Option<u128>>(), size_of::<Result<u32, Void>>());
    let values = [None, Some(None), Some(Some(false)), Some(Some(true))];
    println!("{values:?}");
    for value in values {
        print!(
            "{} ",
            match value {
                None => "none",
                Some(None) => "some none",
                Some(Some(true)) => "true",
                Some(Some(false)) => "false",
            }
        );
    }
    println!();
    let list =
        vec![Some(Niche::Empty), None, Some(Niche::Text("t".into())), Some(Niche::Flag(true)), Some(Niche::Number(7))];
    println!("{list:?} {}", list.clone() == list);
    let nested: Option<Box<Option<Box<u8>>>> = Some(Box::new(Some(Box::new(3))));
    if let Some(Some(inner)) = nested.as_deref() {
        println!("{inner}");
    }
    let references: [Option<&str>; 2] = [Some(""), None];
    println!("{references:?} {:?}", NonZero::new(7u8).map(NonZero::get));
    let infallible: Result<u32, Void> = Ok(5);
    let Ok(value) = infallible;
    println!("{value} {:?}", [Some(std::cmp::Ordering::Less), None]);
    let function: Option<fn(u8) -> u8> = Some(|x| x + 1);
    println!("{:?} {}", function.map(|f| f(1)), size_of_val(&function));
}

#[derive(Debug, PartialEq, Clone, Copy)]
#[allow(dead_code, reason = "only printed")]
enum Wide {
    A(u128),
    B(i128, u8),
    C,
}

#[dpor::test]
fn wide_enums() {
    for value in [Wide::A(u128::MAX), Wide::B(i128::MIN, 9), Wide::C] {
        match value {
            Wide::A(n) => println!("A {n}"),
            Wide::B(n, b) => println!("B {n} {b}"),
            Wide::C => println!("C {}", size_of_val(&value)),
        }
    }
    println!("{:?} {:?}", Some(1u128 << 100), None::<u128>);
    let big = std::hint::black_box(1u128 << 90);
    match big {
        0..=0xffff => println!("small"),
        0x0400_0000_0000_0000_0000_0000_0000 => println!("exactly 2^90"),
        _ => println!("other"),
    }
    println!("{:?}", (1u8, i128::MIN, 2u8) > (1u8, i128::MAX, 0u8));
}

#[repr(C)]
union Number {
    float: f32,
    int: u32,
    bytes: [u8; 4],
}

#[repr(C)]
#[derive(Debug, Clone, Copy)]
struct Header {
    tag: u8,
    length: u32,
    flags: u16,
}

#[repr(C, packed)]
#[derive(Debug, Clone, Copy)]
struct Packed {
    tag: u8,
    length: u32,
    wide: u64,
}

#[repr(align(64))]
#[derive(Debug, Default)]
#[allow(dead_code, reason = "only its layout matters")]
struct Aligned(u8);

#[dpor::test]
fn unions_and_representations() {
    let mut number = Number { float: 1.5 };
    // SAFETY: all bits of the three fields are valid.
    unsafe {
        println!("{:#x} {:?}", number.int, number.bytes);
        number.bytes[3] |= 0x80;
        println!("{}", number.float);
    }
    println!("{} {} {}", size_of::<Header>(), offset_of!(Header, length), offset_of!(Header, flags));
    println!("{} {} {}", size_of::<Packed>(), align_of::<Packed>(), offset_of!(Packed, wide));
    let mut packed = Packed { tag: 1, length: 0xdead_beef, wide: 7 };
    packed.wide += u64::from({ packed.length });
    let field = &raw const packed.length;
    // SAFETY: the pointer is into `packed`; the read does not need alignment.
    println!("{packed:?} {:#x}", unsafe { field.read_unaligned() });
    let aligned = [Aligned::default(), Aligned(1)];
    println!("{} {}", size_of_val(&aligned), (&raw const aligned[1]).addr() % 64);
    let header = Header { tag: 9, length: 10, flags: 11 };
    println!("{:?}", Header { length: 99, ..header });
}

#[dpor::test]
fn uninitialized_arrays() {
    let mut array: [MaybeUninit<String>; 4] = [const { MaybeUninit::uninit() }; 4];
    for (i, slot) in array.iter_mut().enumerate() {
        slot.write(format!("slot {i}"));
    }
    // SAFETY: every element was written just above.
    let strings: [String; 4] = array.map(|slot| unsafe { slot.assume_init() });
    println!("{strings:?}");
    let mut buffer = [MaybeUninit::<u8>::uninit(); 16];
    buffer[3].write(33);
    // SAFETY: that element is initialized.
    println!("{}", unsafe { buffer[3].assume_init_read() });
    let mut pair = MaybeUninit::<(u8, u32)>::uninit();
    // SAFETY: both fields are written before the value is used.
    let pair = unsafe {
        (&raw mut (*pair.as_mut_ptr()).0).write(1);
        (&raw mut (*pair.as_mut_ptr()).1).write(2);
        pair.assume_init()
    };
    println!("{pair:?} {}", size_of_val(&buffer));
}

/// A header, then any number of elements.
struct Record<T: ?Sized> {
    id: u16,
    body: T,
}

trait Speak {
    fn speak(&self) -> String;
}

impl Speak for u64 {
    fn speak(&self) -> String {
        format!("number {self}")
    }
}

impl Speak for String {
    fn speak(&self) -> String {
        format!("text {self}")
    }
}

#[dpor::test]
fn unsized_tails() {
    let sized = Box::new(Record { id: 1, body: [10u32, 20, 30] });
    let slice: Box<Record<[u32]>> = sized;
    println!("{} {:?} {} {}", slice.id, &slice.body, size_of_val(&*slice), align_of_val(&*slice));
    let speakers: Vec<Rc<Record<dyn Speak>>> =
        vec![Rc::new(Record { id: 2, body: 77u64 }), Rc::new(Record { id: 3, body: String::from("hi") })];
    for speaker in &speakers {
        println!("{} {} {}", speaker.id, speaker.body.speak(), size_of_val(&**speaker));
    }
    let text: Box<str> = "boxed".into();
    let bytes: Box<[u8]> = text.clone().into_boxed_bytes();
    println!("{text} {} {}", bytes.len(), size_of::<Box<str>>());
    let list: Rc<[Box<dyn Speak>]> = Rc::from(vec![Box::new(5u64) as Box<dyn Speak>, Box::new(String::from("x"))]);
    println!("{:?}", list.iter().map(|s| s.speak()).collect::<Vec<_>>());
    let reference: &[&dyn Speak] = &[&1u64, &String::from("y")];
    println!("{} {}", reference[1].speak(), size_of_val(reference));
}

#[dpor::test]
fn zero_sized_types() {
    #[derive(Debug, Clone, Copy, PartialEq, Default)]
    struct Nothing;
    let list = vec![Nothing; 5];
    println!("{list:?} {} {}", size_of::<Nothing>(), size_of_val(&*list));
    println!("{:?}", list.iter().zip(0..).map(|(_, i)| i).collect::<Vec<_>>());
    let boxed: Box<dyn Fn() -> Nothing> = Box::new(|| Nothing);
    println!("{:?} {}", boxed(), size_of_val(&*boxed));
    let unit = std::collections::BTreeMap::from([((), 1)]);
    println!("{unit:?} {:?}", [(); 3]);
}
