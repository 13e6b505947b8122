//! What tests print and say, made harmless: text of theirs must not act on the terminal or on whatever reads the
//! report.

use std::borrow::Cow;
use std::io::{self, Write};

/// The text with characters made visible that a terminal acts on, and that change the order of what is beside them.
pub fn for_terminal(text: &str) -> Cow<'_, str> {
    let acts = |c: char| (c.is_control() && !matches!(c, '\n' | '\t')) || is_direction(c);
    if !text.contains(acts) {
        return Cow::Borrowed(text);
    }
    let shown = |c: char| if acts(c) { c.escape_unicode().to_string() } else { c.to_string() };
    // Lines may end as on other systems.
    Cow::Owned(text.replace("\r\n", "\n").chars().map(shown).collect())
}

/// Whether a character changes the direction of text.
fn is_direction(c: char) -> bool {
    matches!(c, '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}')
}

/// The text without characters that XML does not have. Of those, control characters are removed when it is written.
pub fn for_xml(text: &str) -> String {
    text.replace(['\u{fffe}', '\u{ffff}'], "\u{fffd}")
}

/// Takes away what makes a line a command of a GitHub workflow.
pub struct WithoutCommands<W: Write> {
    out: W,
    /// What is not written yet, because the line goes on.
    rest: Vec<u8>,
}

impl<W: Write> WithoutCommands<W> {
    pub fn new(out: W) -> WithoutCommands<W> {
        WithoutCommands { out, rest: Vec::new() }
    }

    /// Writes a command of ours.
    pub fn command(&mut self, command: &str) -> io::Result<()> {
        self.flush()?;
        writeln!(self.out, "{command}")
    }

    fn write_lines(&mut self, bytes: &[u8]) -> io::Result<()> {
        let text = String::from_utf8_lossy(bytes);
        for line in text.split_inclusive(['\n', '\r']) {
            let start = line.len() - line.trim_start().len();
            let (space, line) = line.split_at(start);
            let line = line.strip_prefix("::").map_or_else(|| line.to_owned(), |rest| format!(": :{rest}"));
            write!(self.out, "{space}{}", line.replace("##[", "## ["))?;
        }
        Ok(())
    }
}

impl<W: Write> Write for WithoutCommands<W> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.rest.extend_from_slice(bytes);
        if let Some(end) = self.rest.iter().rposition(|byte| *byte == b'\n') {
            let rest = self.rest.split_off(end + 1);
            let lines = std::mem::replace(&mut self.rest, rest);
            self.write_lines(&lines)?;
        }
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        let rest = std::mem::take(&mut self.rest);
        self.write_lines(&rest)?;
        self.out.flush()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nothing_acts_on_the_terminal() {
        assert_eq!(for_terminal("a\u{1b}[2Jb\r\nc\td\u{9b}\u{202e}\r"), "a\\u{1b}[2Jb\nc\td\\u{9b}\\u{202e}\\u{d}");
        assert_eq!(for_terminal("grün\n"), "grün\n");
    }

    #[test]
    fn no_line_is_a_command_of_a_workflow() {
        let mut out = Vec::new();
        let mut writer = WithoutCommands::new(&mut out);
        write!(writer, "a ::b\n  :").unwrap();
        write!(writer, ":stop-commands::x\r::y\nz ##[error]\n").unwrap();
        writer.command("::error::ours").unwrap();
        write!(writer, "::end").unwrap();
        writer.flush().unwrap();
        let expected = "a ::b\n  : :stop-commands::x\r: :y\nz ## [error]\n::error::ours\n: :end";
        assert_eq!(String::from_utf8(out).unwrap(), expected);
    }
}
