//! Excerpts of the user's source, as the compiler shows them.

use std::collections::HashMap;
use std::fs;
use std::path::PathBuf;

use dpor_engine::verdict::Location;

use crate::style::Style;

/// The source files of a workspace, each read once.
pub struct Sources {
    root: PathBuf,
    files: HashMap<String, Option<Vec<String>>>,
}

impl Sources {
    pub fn new(root: PathBuf) -> Sources {
        Sources { root, files: HashMap::new() }
    }

    /// A place with its line, or the place alone where the file cannot be read; `remark` comes after the place.
    ///
    /// ```text
    ///   --> src/lib.rs:3:5
    ///    |
    ///  3 |     assert!(false);
    ///    |     ^
    /// ```
    pub fn excerpt(&mut self, place: &Location, remark: &str, style: Style) -> String {
        let number = place.line.to_string();
        let margin = " ".repeat(number.len());
        let arrow = style.frame("-->");
        let bar = style.frame("|");
        let mut text = format!("{margin}{arrow} {}:{}:{}{remark}\n", place.file, place.line, place.column);
        if let Some(line) = self.line(place) {
            let before: String = line.chars().take(place.column.saturating_sub(1) as usize).collect();
            let indent = " ".repeat(without_tabs(&before).chars().count());
            text += &format!("{margin} {bar}\n");
            text += &format!("{} {bar} {}\n", style.frame(&number), without_tabs(line.trim_end()));
            text += &format!("{margin} {bar} {indent}{}\n", style.error("^"));
        }
        text
    }

    fn line(&mut self, place: &Location) -> Option<&str> {
        let root = &self.root;
        let lines = self.files.entry(place.file.clone()).or_insert_with(|| {
            let text = fs::read_to_string(root.join(&place.file)).ok()?;
            Some(text.lines().map(str::to_owned).collect())
        });
        let line = lines.as_ref()?.get(place.line.checked_sub(1)? as usize)?;
        Some(line)
    }
}

fn without_tabs(text: &str) -> String {
    text.replace('\t', "    ")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn excerpt(text: &str, line: u32, column: u32) -> String {
        let mut sources = Sources::new("/nowhere".into());
        sources.files.insert("a.rs".into(), Some(text.lines().map(str::to_owned).collect()));
        sources.excerpt(&Location { file: "a.rs".into(), line, column }, "", Style::plain())
    }

    #[test]
    fn the_caret_is_under_the_column() {
        assert_eq!(excerpt("fn a() {\n    b();\n}", 2, 5), " --> a.rs:2:5\n  |\n2 |     b();\n  |     ^\n");
        assert_eq!(excerpt("\té(x)", 1, 3), " --> a.rs:1:3\n  |\n1 |     é(x)\n  |      ^\n");
    }

    #[test]
    fn a_line_that_does_not_exist_leaves_the_place() {
        assert_eq!(excerpt("", 7, 1), " --> a.rs:7:1\n");
        let mut sources = Sources::new("/nowhere".into());
        let place = Location { file: "b.rs".into(), line: 12, column: 1 };
        assert_eq!(sources.excerpt(&place, " in thread 1", Style::plain()), "  --> b.rs:12:1 in thread 1\n");
    }
}
