//! Strings and characters.

use std::borrow::Cow;
use std::str::FromStr;

#[dpor::test]
fn unicode() {
    let text = "naïve — Straße, 東京 🦀!";
    println!("{} bytes, {} chars", text.len(), text.chars().count());
    for (at, c) in text.char_indices().filter(|(_, c)| !c.is_ascii()) {
        println!("{at}: {c} U+{:04X}, {} bytes, {} units", c as u32, c.len_utf8(), c.len_utf16());
    }
    println!("{} {}", text.to_uppercase(), text.to_lowercase());
    println!("{:?}", text.chars().rev().collect::<String>());
    println!("{:?} {:?}", text.get(2..4), text.get(2..3));
    println!("{:?}", text.encode_utf16().skip(15).collect::<Vec<u16>>());
    println!("{:?}", "tab\t quote\" nul\0 bell\u{7} é \u{200b}");
    println!("{}", "ß\n".escape_unicode());
    println!("{} {}", 'x'.is_alphanumeric(), '٣'.is_numeric());
    println!("{:?} {:?} {:?}", 'f'.to_digit(16), 'z'.to_digit(36), char::from_digit(11, 12));
    println!("{:?} {:?}", char::from_u32(0x1F980), char::from_u32(0xD800));
}

#[dpor::test]
fn splitting() {
    let line = "  key = value = more ;; end; ";
    println!("{:?}", line.split(';').collect::<Vec<_>>());
    println!("{:?}", line.split_whitespace().collect::<Vec<_>>());
    println!("{:?}", line.trim().splitn(2, '=').map(str::trim).collect::<Vec<_>>());
    println!("{:?}", line.rsplitn(2, "; ").collect::<Vec<_>>());
    println!("{:?}", line.split_terminator(';').count());
    println!("{:?}", "a1b22c".split(|c: char| c.is_ascii_digit()).collect::<Vec<_>>());
    println!("{:?}", "one\ntwo\r\n\nthree".lines().collect::<Vec<_>>());
    println!("{:?} {:?}", "path/to/file.rs".rsplit_once('/'), "file".split_once('.'));
    println!("{:?}", "abcXYZabc".matches("abc").count());
    println!("{:?}", "abcXYZabc".match_indices("bc").collect::<Vec<_>>());
    println!("{:?}", "xxabcxx".trim_matches('x').strip_prefix("ab"));
    println!("{:?}", "mississippi".split_inclusive("ss").collect::<Vec<_>>());
    println!("{:?} {:?}", "mississippi".find("ssip"), "mississippi".rfind(['s', 'm']));
}

#[dpor::test]
fn building() {
    let mut text = String::with_capacity(4);
    text.push_str("hello");
    text.insert(0, '<');
    text.insert_str(1, "≤");
    text.push('>');
    println!("{text} {:?} {:?}", text.remove(1), text.pop());
    text.extend(["a", "b"].iter().map(|s| s.to_ascii_uppercase()));
    text.retain(|c| c != 'l');
    text.replace_range(1..3, "[he]");
    println!("{text} {:?}", text.drain(..2).collect::<String>());
    println!("{text} {}", text.replace('e', "3").repeat(2));
    let tail = text.split_off(2);
    println!("{text:?} {tail:?} {}", text.clone() + &tail);
    println!("{}", ["x", "y", "z"].concat() + &["1", "2"].join("--"));
    text.truncate(1);
    text.make_ascii_uppercase();
    println!("{text:?} {}", "apple" < "apricot");
}

#[dpor::test]
fn parsing_numbers() {
    for text in ["42", "-17", "+5", "0x10", "", "-", "128", "999", " 1"] {
        match text.parse::<i8>() {
            Ok(n) => println!("{text:?} is {n}"),
            Err(error) => println!("{text:?}: {error} ({:?})", error.kind()),
        }
    }
    println!("{:?} {:?}", i64::from_str_radix("-zz", 36), u8::from_str_radix("102", 2));
    println!("{:?}", "340282366920938463463374607431768211455".parse::<u128>());
    for text in ["3.25", "1e-7", "-.5", "5.", "inf", "-NaN", "1e400", "4.9e-324", "2.4e-324", "e5", "1_0"] {
        match text.parse::<f64>() {
            Ok(x) => println!("{text:?} is {x:?} = {:#018x}", x.to_bits()),
            Err(error) => println!("{text:?}: {error}"),
        }
    }
    println!("{:?} {:?} {:?}", bool::from_str("true"), "yes".parse::<bool>(), "ab".parse::<char>());
    println!("{:?} {:?}", "127.0.0.1".parse::<std::net::Ipv4Addr>(), "::1".parse::<std::net::IpAddr>());
}

#[dpor::test]
fn utf8_and_bytes() {
    let bytes = vec![b'a', 0xC3, 0xA9, 0xFF, b'z', 0xE2, 0x82];
    match std::str::from_utf8(&bytes) {
        Ok(text) => println!("{text}"),
        Err(error) => println!("{error}; valid up to {}, length {:?}", error.valid_up_to(), error.error_len()),
    }
    println!("{:?}", String::from_utf8_lossy(&bytes));
    println!("{:?}", String::from_utf8(bytes[..3].to_vec()));
    println!("{:?}", String::from_utf16(&[0x68, 0xD83E, 0xDD80]));
    println!("{}", b"by\x00te\xFF".escape_ascii());
    let mut buffer = [0; 4];
    println!("{:?} {:?}", '€'.encode_utf8(&mut buffer).len(), buffer);
    println!("{:?}", c"nul-terminated".to_bytes_with_nul().len());
    println!("{:?}", std::ffi::CString::new("in\0side").map_err(|e| e.nul_position()));
}

fn without_tabs(text: &str) -> Cow<'_, str> {
    if text.contains('\t') { Cow::Owned(text.replace('\t', "    ")) } else { Cow::Borrowed(text) }
}

#[dpor::test]
fn copy_on_write() {
    for text in ["plain", "with\ttab"] {
        let clean = without_tabs(text);
        println!("{clean} {}", matches!(clean, Cow::Borrowed(_)));
    }
    let mut list: Cow<'_, [i32]> = Cow::Borrowed(&[1, 2, 3]);
    println!("{}", list.len());
    list.to_mut().push(4);
    println!("{list:?}");
    println!("{}", list.into_owned().iter().sum::<i32>());
    let mut text = Cow::from("abc");
    text += "def";
    println!("{text} {}", text == "abcdef");
}

#[dpor::test]
fn sorting_words() {
    let text = "It was the best of times, it was the worst of times";
    let mut words: Vec<String> =
        text.split(|c: char| !c.is_alphabetic()).filter(|w| !w.is_empty()).map(str::to_lowercase).collect();
    words.sort_by(|a, b| b.len().cmp(&a.len()).then_with(|| a.cmp(b)));
    words.dedup();
    println!("{words:?}");
    let mut letters: Vec<char> = text.chars().filter(char::is_ascii_lowercase).collect();
    letters.sort_unstable();
    println!("{}", letters.iter().collect::<String>());
    println!("{}", "Zebra".eq_ignore_ascii_case("zEBRA"));
}
