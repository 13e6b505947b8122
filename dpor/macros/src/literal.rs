//! The values of string and integer literals, which `proc_macro` gives only as source text.

use proc_macro::Literal;

/// The value of a string literal, plain or raw; `None` for any other literal.
pub fn string(literal: &Literal) -> Option<String> {
    let text = literal.to_string();
    if let Some(raw) = text.strip_prefix('r') {
        let raw = raw.trim_start_matches('#');
        let raw = raw.trim_end_matches('#');
        return Some(raw.strip_prefix('"')?.strip_suffix('"')?.to_owned());
    }
    unescape(text.strip_prefix('"')?.strip_suffix('"')?)
}

/// The value of an integer literal without a suffix; `None` for any other literal and for what exceeds 64 bits.
pub fn integer(literal: &Literal) -> Option<u64> {
    literal.to_string().replace('_', "").parse().ok()
}

/// Replaces the escape sequences of a string literal.
fn unescape(text: &str) -> Option<String> {
    let mut value = String::with_capacity(text.len());
    let mut rest = text.chars();
    while let Some(c) = rest.next() {
        if c != '\\' {
            value.push(c);
            continue;
        }
        match rest.next()? {
            'n' => value.push('\n'),
            'r' => value.push('\r'),
            't' => value.push('\t'),
            '0' => value.push('\0'),
            '\n' => rest = rest.as_str().trim_start().chars(),
            'x' => {
                let (digits, after) = rest.as_str().split_at(2);
                value.push(u8::from_str_radix(digits, 16).ok()?.into());
                rest = after.chars();
            }
            'u' => {
                let (digits, after) = rest.as_str().strip_prefix('{')?.split_once('}')?;
                value.push(char::from_u32(u32::from_str_radix(&digits.replace('_', ""), 16).ok()?)?);
                rest = after.chars();
            }
            other => value.push(other),
        }
    }
    Some(value)
}

#[cfg(test)]
mod tests {
    use super::unescape;

    #[test]
    fn escapes_have_the_value_the_language_gives_them() {
        assert_eq!(unescape(r#"a\n\t\\\"\'\0"#).unwrap(), "a\n\t\\\"'\0");
        assert_eq!(unescape(r"\x41\u{1F600}\u{0_0_e9}").unwrap(), "A\u{1F600}é");
        assert_eq!(unescape("one \\\n    line").unwrap(), "one line");
    }
}
