//! The source that reports show.

use std::collections::HashMap;
use std::fs;
use std::ops::Range;
use std::path::{Path, PathBuf};

use dpor_engine::verdict::Location;

/// The source files of a workspace, each read once.
#[derive(Clone, Debug)]
pub struct Sources {
    root: PathBuf,
    files: HashMap<String, Option<String>>,
    /// Whether there are no others than those.
    complete: bool,
}

impl Sources {
    /// What is in the directory that the names of files are relative to.
    pub fn new(root: PathBuf) -> Sources {
        Sources { root, files: HashMap::new(), complete: false }
    }

    /// These files, and no others.
    pub fn of(files: impl IntoIterator<Item = (String, String)>) -> Sources {
        let files = files.into_iter().map(|(name, text)| (name, Some(text))).collect();
        Sources { root: PathBuf::new(), files, complete: true }
    }

    /// The directory that the names of files are relative to.
    pub fn root(&self) -> &Path {
        &self.root
    }

    /// Reads a file, unless that was done before.
    pub fn read(&mut self, file: &str) {
        if !self.complete && !self.files.contains_key(file) {
            let text = fs::read_to_string(self.root.join(file)).ok();
            self.files.insert(file.to_owned(), text);
        }
    }

    /// The text of a file that was read.
    pub fn text(&self, file: &str) -> Option<&str> {
        self.files.get(file)?.as_deref()
    }

    /// The bytes of what is done at a place of a file that was read; nothing where there is no such place.
    pub fn span(&self, place: &Location) -> Option<Range<usize>> {
        let text = self.text(&place.file)?;
        let mut lines = text.split_inclusive('\n');
        let before: usize = lines.by_ref().take(place.line.checked_sub(1)? as usize).map(str::len).sum();
        let line = lines.next()?.trim_end();
        let column = place.column.checked_sub(1)? as usize;
        let start = line.char_indices().nth(column).map(|(at, _)| at)?;
        let len = extent(&line[start..]);
        Some(before + start..before + start + len)
    }
}

/// How much of a line an operation takes that begins it: `shared.flag.load(Acquire)` of `shared.flag.load(Acquire) {`.
fn extent(text: &str) -> usize {
    let (mut depth, mut in_call) = (0, false);
    for (at, character) in text.char_indices() {
        match character {
            '(' | '[' => {
                depth += 1;
                // What is in parentheses at the beginning is no call: `(*node)` of `(*node).next.load(Acquire)`.
                in_call |= depth == 1 && character == '(' && !text[..at].trim_start_matches(['*', '&', '!']).is_empty();
            }
            ')' | ']' if depth == 0 => return at.max(1),
            ')' | ']' => {
                depth -= 1;
                if depth == 0 && character == ')' && (in_call || !text[at + 1..].starts_with('.')) {
                    return at + 1;
                }
            }
            _ if depth > 0 => {}
            '*' | '&' | '!' | '|' if at == 0 => {}
            _ if character.is_alphanumeric() || "_.:!".contains(character) => {}
            _ => return at.max(character.len_utf8().min(text.len())),
        }
    }
    text.len()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn sources(text: &str) -> Sources {
        let mut sources = Sources::new("/nowhere".into());
        sources.files.insert("a.rs".into(), Some(text.to_owned()));
        sources
    }

    fn span(text: &str, line: u32, column: u32) -> Option<String> {
        let sources = sources(text);
        let span = sources.span(&Location { file: "a.rs".into(), line, column })?;
        Some(text[span].to_owned())
    }

    #[test]
    fn an_operation_ends_with_its_arguments() {
        let text = "fn a() {\n    while !self.head.load(Relaxed).is_null() {}\n    é.b(x, y(z)); *p += 1\n}";
        for (line, column, expected) in [
            (2, 12, "self.head.load(Relaxed)"),
            (2, 5, "while"),
            (3, 5, "é.b(x, y(z))"),
            (3, 19, "*p"),
            (1, 1, "fn"),
            (4, 1, "}"),
        ] {
            assert_eq!(span(text, line, column).as_deref(), Some(expected), "{line}:{column}");
        }
        for (text, expected) in [
            ("(*node).next.load(Acquire).x()", "(*node).next.load(Acquire)"),
            ("*(*self.cell).value += 1", "*(*self.cell).value"),
            ("(a.b(c) + 1) * 2", "(a.b(c) + 1)"),
        ] {
            assert_eq!(span(text, 1, 1).as_deref(), Some(expected));
        }
        assert_eq!(span("let x = spawn(|| {\n", 1, 9).as_deref(), Some("spawn(|| {"));
    }

    #[test]
    fn a_place_that_does_not_exist_has_none() {
        assert_eq!(span("", 7, 1), None);
        assert_eq!(span("x\n", 1, 5), None);
        let mut sources = sources("x");
        sources.read("b.rs");
        assert_eq!(sources.text("b.rs"), None);
    }

    #[test]
    fn files_that_are_given_are_not_read() {
        let mut sources = Sources::of([("src/main.rs".to_owned(), "given".to_owned())]);
        ["src/main.rs", "Cargo.toml"].iter().for_each(|file| sources.read(file));
        assert_eq!((sources.text("src/main.rs"), sources.text("Cargo.toml")), (Some("given"), None));
    }
}
