//! bytes, regex-lite.

use bytes::{Buf, BufMut, Bytes, BytesMut};
use regex_lite::{Captures, Regex};

#[dpor::test]
fn shared_bytes() {
    let mut whole = Bytes::from(b"hello shared world".to_vec());
    let middle = whole.slice(6..12);
    let head = whole.split_to(5);
    println!("{head:?} {middle:?} {whole:?}");
    drop(whole);
    println!("{} {:?}", middle.len(), middle.slice_ref(&middle[2..4]));
    println!("{:?} {}", Bytes::from_static(b"static\x00\xff"), head == "hello");
    let unique = Bytes::from(vec![1, 2, 3]);
    println!("{:?} {:?}", unique.is_unique(), unique.try_into_mut().map(|mut b| b.put_u8(4)));
}

#[dpor::test]
fn reading_and_writing() {
    let mut buffer = BytesMut::with_capacity(8);
    buffer.put_u16(0xcafe);
    buffer.put_i32_le(-2);
    buffer.put_slice(b"tail");
    buffer.put_f64(1.5);
    buffer.put_bytes(0, 2);
    println!("{buffer:?} {}", buffer.len());
    let rest = buffer.split_off(6);
    let mut frozen = buffer.freeze();
    println!("{:x} {} {}", frozen.get_u16(), frozen.get_i32_le(), frozen.has_remaining());
    let mut rest = rest.freeze();
    println!("{:?} {}", rest.copy_to_bytes(4), rest.get_f64());
    println!("{:?} {:?}", rest.try_get_u32(), rest.chunk());
    let mut chained = (&b"abc"[..]).chain(&b"defg"[..]);
    chained.advance(2);
    println!("{} {:?}", chained.remaining(), chained.copy_to_bytes(4));
    let mut parts = BytesMut::from(&b"key=value;k2=v2"[..]);
    while let Some(end) = parts.iter().position(|b| *b == b';') {
        println!("{:?}", parts.split_to(end));
        parts.advance(1);
    }
    parts.reserve(100);
    println!("{parts:?} {}", parts.capacity() >= 100);
    parts.unsplit(BytesMut::from("!"));
    println!("{parts:?}");
}

#[dpor::test]
fn regular_expressions() {
    let date = Regex::new(r"(?<year>\d{4})-(?<month>\d\d)-(?<day>\d\d)").unwrap();
    let text = "from 2024-02-29 to 2025-12-31, not 99-1-1";
    for captures in date.captures_iter(text) {
        let (whole, [year, month, day]) = captures.extract();
        println!("{whole}: {day}.{month}.{year} at {}", captures.get(0).unwrap().start());
    }
    println!("{}", date.replace_all(text, "$day/$month"));
    println!(
        "{}",
        date.replace(text, |c: &Captures| c["year"].parse::<u32>().map_or("?".into(), |y| (y + 1).to_string()))
    );
    let word = Regex::new(r"(?i)\b(the|a)\s+([a-z]+?)s?\b").unwrap();
    println!("{:?}", word.find_iter("The cats saw a dog; Athens").map(|m| m.as_str()).collect::<Vec<_>>());
    println!("{:?}", Regex::new(r"[,;]\s*").unwrap().split("a, b;c,d").collect::<Vec<_>>());
    println!("{:?}", Regex::new(r"^(a|ab)*c$").unwrap().is_match("aabac"));
    println!("{:?}", Regex::new(r"x{2,3}").unwrap().find("axxxxb").map(|m| m.range()));
    println!("{}", Regex::new(r"a(b").unwrap_err());
    println!("{:?}", Regex::new(r"\p{L}").map(|_| ()).map_err(|e| e.to_string()));
}
