//! The options of `#[dpor::test(key = value, …)]`: which there are, and what each may be.

use crate::diagnostic::{list, Diagnostic};
use crate::literal;
use proc_macro::{Ident, Literal, Span, TokenStream, TokenTree};

/// What an option's value must be.
enum Expected {
    /// One of these words, or several with commas between them where `many`.
    Words { words: &'static [&'static str], many: bool },
    /// An integer in this range.
    Integer { least: u64, most: u64 },
    /// `true` or `false`.
    Flag,
    /// Kinds of errors, each alone or as `KIND in PATTERN`, with commas between them.
    Errors,
}

/// Every option, in the order of the documentation.
const OPTIONS: [(&str, Expected); 8] = [
    ("model", Expected::Words { words: &["rc11", "sc", "tso", "pso"], many: true }),
    ("buffer_bound", Expected::Integer { least: 0, most: u32::MAX as u64 }),
    ("equivalence", Expected::Words { words: &["trace", "reads-from"], many: false }),
    ("expect", Expected::Words { words: &ERROR_KINDS, many: false }),
    ("unroll", Expected::Integer { least: 1, most: u32::MAX as u64 }),
    ("max_executions", Expected::Integer { least: 1, most: u64::MAX }),
    ("spurious", Expected::Flag),
    ("allow", Expected::Errors),
];

const ERROR_KINDS: [&str; 15] = [
    "panic",
    "data-race",
    "use-after-free",
    "double-free",
    "invalid-free",
    "out-of-bounds",
    "uninitialized-read",
    "null-pointer",
    "misaligned",
    "memory-leak",
    "deadlock",
    "non-termination",
    "mixed-size-race",
    "undefined-behavior",
    "abort",
];

/// An option that was given, its value checked and in canonical form.
pub struct Setting {
    pub key: &'static str,
    pub value: String,
}

/// Parses the attribute's arguments; every mistake is reported, not only the first.
pub fn parse(arguments: TokenStream, errors: &mut Vec<Diagnostic>) -> Vec<Setting> {
    let mut settings: Vec<Setting> = Vec::new();
    for argument in split_at_commas(arguments) {
        match parse_setting(argument) {
            Ok((key, setting)) if settings.iter().any(|earlier| earlier.key == setting.key) => {
                errors.push(Diagnostic::new(key.span(), format!("`{}` is given more than once", setting.key)));
            }
            Ok((_, setting)) => settings.push(setting),
            Err(error) => errors.push(error),
        }
    }
    settings
}

fn split_at_commas(tokens: TokenStream) -> Vec<Vec<TokenTree>> {
    let mut arguments = vec![Vec::new()];
    for token in tokens {
        match &token {
            TokenTree::Punct(punct) if punct.as_char() == ',' => arguments.push(Vec::new()),
            _ => arguments.last_mut().expect("there is always a last argument").push(token),
        }
    }
    if arguments.last().is_some_and(Vec::is_empty) {
        arguments.pop();
    }
    arguments
}

fn parse_setting(argument: Vec<TokenTree>) -> Result<(Ident, Setting), Diagnostic> {
    let mut tokens = argument.into_iter();
    let key = match tokens.next() {
        Some(TokenTree::Ident(key)) => key,
        other => {
            let span = other.map_or_else(Span::call_site, |token| token.span());
            return Err(Diagnostic::new(span, format!("expected an option: {}", known_options())));
        }
    };
    let name = key.to_string();
    let Some((known, expected)) = OPTIONS.iter().find(|(known, _)| *known == name) else {
        return Err(Diagnostic::new(key.span(), format!("unknown option `{name}`: there are {}", known_options())));
    };
    let value = match tokens.next() {
        // A flag needs no value.
        None if matches!(expected, Expected::Flag) => "true".to_owned(),
        Some(TokenTree::Punct(punct)) if punct.as_char() == '=' => match (tokens.next(), tokens.next()) {
            (Some(value), None) => expected.check(known, &value)?,
            (Some(TokenTree::Punct(punct)), _) => return Err(expected.mismatch(known, punct.span())),
            (Some(_), Some(extra)) => return Err(Diagnostic::new(extra.span(), "expected a comma")),
            (None, _) => return Err(expected.mismatch(known, punct.span())),
        },
        Some(other) => return Err(expected.mismatch(known, other.span())),
        None => return Err(expected.mismatch(known, key.span())),
    };
    Ok((key, Setting { key: known, value }))
}

fn known_options() -> String {
    list(OPTIONS.iter().map(|(name, _)| format!("`{name}`")), "and")
}

impl Expected {
    /// The value in canonical form, or what is wrong with it.
    fn check(&self, key: &str, value: &TokenTree) -> Result<String, Diagnostic> {
        let canonical = match (self, value) {
            (Expected::Words { words, many }, TokenTree::Literal(value)) => check_words(words, *many, value),
            (Expected::Integer { least, most }, TokenTree::Literal(value)) => {
                literal::integer(value).filter(|value| (*least..=*most).contains(value)).map(|value| value.to_string())
            }
            (Expected::Errors, TokenTree::Literal(value)) => check_errors(value),
            (Expected::Flag, TokenTree::Ident(value)) => {
                Some(value.to_string()).filter(|value| value == "true" || value == "false")
            }
            _ => None,
        };
        canonical.ok_or_else(|| self.mismatch(key, value.span()))
    }

    fn mismatch(&self, key: &str, span: Span) -> Diagnostic {
        let message = match self {
            Expected::Words { words, many: false } => format!("`{key}` is one of {}", quoted(words)),
            Expected::Words { words, many: true } => {
                format!("`{key}` is one of {}, or several with commas between them", quoted(words))
            }
            Expected::Integer { least, most: u64::MAX } => format!("`{key}` is an integer and at least {least}"),
            Expected::Integer { least, most } => format!("`{key}` is an integer between {least} and {most}"),
            Expected::Flag => format!("`{key}` is `true` or `false`"),
            Expected::Errors => format!(
                "`{key}` is a list of errors, as in \"memory-leak, data-race in seqlock::\": the kinds are {}",
                quoted(&ERROR_KINDS)
            ),
        };
        Diagnostic::new(span, message)
    }
}

fn check_errors(value: &Literal) -> Option<String> {
    let value = literal::string(value)?;
    let is_error = |part: &str| match part.split_once(" in ") {
        Some((kind, pattern)) => ERROR_KINDS.contains(&kind.trim()) && !pattern.trim().is_empty(),
        None => ERROR_KINDS.contains(&part),
    };
    value.split(',').map(str::trim).all(is_error).then_some(value)
}

fn quoted(words: &[&str]) -> String {
    list(words.iter().map(|word| format!("\"{word}\"")), "or")
}

fn check_words(words: &[&str], many: bool, value: &Literal) -> Option<String> {
    let value = literal::string(value)?;
    let given: Vec<&str> = if many { value.split(',').map(str::trim).collect() } else { vec![&value] };
    given.iter().all(|word| words.contains(word)).then(|| given.join(","))
}
