//! `cargo dpor explain`: what the kinds of errors mean.

use std::io::{ErrorKind, Write, stdout};

use anyhow::{Result, bail};

use crate::PASSED;
use crate::args::ExplainArgs;

/// What is said about each kind: a text for people, in Markdown.
const TEXTS: [(&str, &str); 17] = [
    ("panic", include_str!("explain/panic.md")),
    ("data-race", include_str!("explain/data-race.md")),
    ("use-after-free", include_str!("explain/use-after-free.md")),
    ("double-free", include_str!("explain/double-free.md")),
    ("invalid-free", include_str!("explain/invalid-free.md")),
    ("out-of-bounds", include_str!("explain/out-of-bounds.md")),
    ("uninitialized-read", include_str!("explain/uninitialized-read.md")),
    ("null-pointer", include_str!("explain/null-pointer.md")),
    ("misaligned", include_str!("explain/misaligned.md")),
    ("memory-leak", include_str!("explain/memory-leak.md")),
    ("deadlock", include_str!("explain/deadlock.md")),
    ("non-termination", include_str!("explain/non-termination.md")),
    ("mixed-size-race", include_str!("explain/mixed-size-race.md")),
    ("undefined-behavior", include_str!("explain/undefined-behavior.md")),
    ("abort", include_str!("explain/abort.md")),
    ("incomplete", include_str!("explain/incomplete.md")),
    ("unsupported", include_str!("explain/unsupported.md")),
];

/// `cargo dpor explain`
pub fn explain(args: &ExplainArgs) -> Result<u8> {
    let Some(kind) = &args.kind else {
        return print(&format!("{}\n", list()));
    };
    let wanted = kind.trim_start_matches("error[").trim_end_matches(']');
    let Some((_, text)) = TEXTS.iter().find(|(name, _)| *name == wanted) else {
        bail!("unknown error kind `{kind}`\n\n{}", list());
    };
    print(text)
}

/// Prints a text. The reader, such as a pager, may close the pipe before its end.
fn print(text: &str) -> Result<u8> {
    match stdout().write_all(text.as_bytes()).and_then(|()| stdout().flush()) {
        Err(error) if error.kind() != ErrorKind::BrokenPipe => Err(error.into()),
        _ => Ok(PASSED),
    }
}

fn list() -> String {
    let names = TEXTS.map(|(name, _)| format!("    {name}\n")).concat();
    format!("Error kinds:\n\n{names}\nFor an explanation with an example: cargo dpor explain KIND")
}

#[cfg(test)]
mod tests {
    use dpor_engine::verdict::ErrorKind;

    use super::*;

    #[test]
    fn every_kind_is_explained() {
        let names = TEXTS.map(|(name, _)| name);
        let kinds = ErrorKind::ALL.map(ErrorKind::name);
        assert_eq!(names[..kinds.len()], kinds);
        assert_eq!(names[kinds.len()..], ["incomplete", "unsupported"]);
    }

    #[test]
    fn lines_are_not_too_long() {
        for (name, text) in TEXTS {
            assert!(text.lines().all(|line| line.chars().count() <= 130), "{name}");
        }
    }
}
