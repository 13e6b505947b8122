//! For GitHub's workflows: the text for people, and an annotation at the line of each error.

use std::io::{self, Write};
use std::path::{Path, PathBuf};

use dpor_engine::verdict::Location;

use super::human::Human;
use super::printable::{WithoutCommands, for_terminal};
use super::{Report, Summary, TestResult};
use crate::finding::Finding;
use crate::select::Selection;

pub struct Github<W: Write> {
    human: Human<WithoutCommands<W>>,
    root: PathBuf,
    /// The directory that GitHub's paths are relative to.
    repository: Option<PathBuf>,
}

impl<W: Write> Github<W> {
    pub fn new(human: Human<WithoutCommands<W>>, root: &Path, repository: Option<PathBuf>) -> Github<W> {
        Github { human, root: root.to_owned(), repository }
    }

    fn annotate(&mut self, finding: &Finding, result: &TestResult) -> io::Result<()> {
        let problem = &finding.problem;
        let mut properties = Vec::new();
        if let Some(Location { file, line, column }) = &problem.location {
            let file = self.path(file);
            properties.push(format!("file={},line={line},col={column}", escape_property(&file)));
        }
        let title = format!("{}: {} ({})", finding.kind.name(), result.test.name, result.settings.model);
        properties.push(format!("title={}", escape_property(&title)));
        let notes = problem.notes.iter().map(|note| match &note.location {
            Some(place) => format!("\n{}:{}: {}", self.path(&place.file), place.line, note.message),
            None => format!("\n{}", note.message),
        });
        let message = format!("{}{}", problem.message, notes.collect::<String>());
        self.human.out().command(&format!("::error {}::{}", properties.join(","), escape_message(&message)))
    }

    /// A path as it is in the repository.
    fn path(&self, file: &str) -> String {
        let whole = self.root.join(file);
        let within = self.repository.as_ref().and_then(|repository| whole.strip_prefix(repository).ok());
        within.map_or_else(|| file.to_owned(), |path| path.display().to_string())
    }
}

/// As GitHub wants it in messages.
fn escape_message(text: &str) -> String {
    for_terminal(text).replace('%', "%25").replace('\n', "%0A")
}

/// As GitHub wants it in properties.
fn escape_property(text: &str) -> String {
    escape_message(text).replace(':', "%3A").replace(',', "%2C")
}

impl<W: Write> Report for Github<W> {
    fn list(&mut self, selection: &Selection) -> io::Result<()> {
        self.human.list(selection)
    }

    fn begin(&mut self, selection: &Selection) -> io::Result<()> {
        self.human.begin(selection)
    }

    fn test(&mut self, result: &TestResult) -> io::Result<()> {
        self.human.test(result)?;
        for finding in &result.verdict.findings {
            self.annotate(finding, result)?;
        }
        Ok(())
    }

    fn replayed(&mut self, result: &TestResult) -> io::Result<()> {
        self.human.replayed(result)?;
        for finding in &result.verdict.findings {
            self.annotate(finding, result)?;
        }
        Ok(())
    }

    fn end(&mut self, summary: &Summary) -> io::Result<()> {
        self.human.end(summary)
    }
}

#[cfg(test)]
mod tests {
    use dpor_engine::verdict::Outcome;

    use super::*;
    use crate::report::{Details, fixture};
    use crate::style::Style;

    #[test]
    fn annotations_are_at_the_line_in_the_repository() {
        let (binary, test) = (fixture::binary(), fixture::test("model=tso"));
        let mut finding = fixture::finding();
        finding.problem.message = "100% gone,\nfor good: yes".into();
        let result = fixture::result(&binary, &test, Outcome::Failed, vec![finding]);
        let mut out = Vec::new();
        let root = Path::new("/home/me/repository/crates/stack");
        let human = Human::new(WithoutCommands::new(&mut out), Style::plain(), root.to_owned(), Details::default());
        Github::new(human, root, Some("/home/me/repository".into())).test(&result).unwrap();
        let text = String::from_utf8(out).unwrap();
        let annotation = text.lines().last().unwrap();
        assert_eq!(
            annotation,
            "::error file=crates/stack/src/lib.rs,line=41,col=13,title=use-after-free%3A tests%3A%3Apops (tso)\
             ::100%25 gone,%0Afor good: yes%0Acrates/stack/src/lib.rs:40: freed here"
        );
    }
}
